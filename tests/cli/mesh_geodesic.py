"""`--method mesh-geodesic` from outside: its options are heard, its weights follow from the way along the mesh.

mesh_geodesic.py [CLASS…]; the rest is named as for cli.py."""
import cli
import make
import support


def spline(t):
    return 1 - 3 * t**2 + 2 * t**3 if t < 1 else 0


class MeshGeodesic(cli.Case):
    JOINTS = [("low", -1, (0, 0.4, 0)), ("high", 0, (0, 1.4, 0))]

    def test_weights_are_the_spline_of_the_way_along_the_bar(self):
        source = self.bar(joints=self.JOINTS)
        report = self.report(source, "--method", "mesh-geodesic", "--deform-from", "all")
        self.assertEqual(report["method"], "mesh-geodesic")
        self.assertEqual(report["options"]["falloff_law"], "cubic-hermite")
        self.assertEqual((report["options"]["rings"], report["options"]["all_pairs"]), ("joint", False))
        self.assertEqual(report["coverage"]["share"], 1)
        self.assertIn("edges", report["seconds"])
        # The threshold is half of the bar, which is 2 long. `high` is a leaf: its plane is that of the bone before.
        for (_, y, _), row in zip(make.bar()[0], self.weights(), strict=True):
            low, high = spline(abs(y - 0.4)), spline(abs(y - 1.4))
            self.assertAlmostEqual(row.get("high", 0), high / (low + high), delta=2e-3, msg=f"y = {y}")

    def test_options_change_what_they_say(self):
        source = self.bar(joints=self.JOINTS)
        base = ("--method", "mesh-geodesic", "--deform-from", "all")
        self.bind(source, *base)
        plain = self.weights()
        self.bind(source, *base, "--all-pairs")
        for a, b in zip(plain, self.weights(), strict=True):
            self.assertEqual(a.keys(), b.keys())
            for joint in a:
                self.assertAlmostEqual(a[joint], b[joint], delta=1e-5)
        for options in (("--rings", "bone"), ("--falloff-law", "linear"), ("--threshold", "0.3")):
            self.bind(source, *base, *options)
            self.assertNotEqual(plain, self.weights(), options)

    def test_what_does_not_combine_is_refused(self):
        self.refuse(2, ["mesh-geodesic", "surface-heat"], self.bar(), "--all-pairs")
        self.refuse(2, ["mesh-geodesic", "connectivity"], self.bar(), "--method", "connectivity", "--rings", "bone")
        self.refuse(2, ["--rings edge: choose joint or bone$"], self.bar(), "--rings", "edge")

    def test_a_figure_of_loose_parts_is_covered(self):
        source = self.at / "robot.glb"
        self.assertEqual(support.run(support.CHARACTERS, "robot", source).returncode, 0)
        report = self.report(source, "--method", "mesh-geodesic")
        self.assertEqual(report["coverage"]["share"], 1)
        self.assertEqual(report["coverage"]["none"], 0)
        self.assertGreater(report["voxels"]["components"], 10)
        self.sound()


if __name__ == "__main__":
    support.main()
