"""Tests of `--method mesh-geodesic`: its options, and weights that follow from distances along the mesh.

mesh_geodesic.py [CLASS…]; run like cli.py."""
import json

import cli
import make
import support


def spline(t):
    return 1 - 3 * t**2 + 2 * t**3 if t < 1 else 0


class MeshGeodesic(cli.Case):
    JOINTS = [("low", -1, (0, 0.4, 0)), ("high", 0, (0, 1.4, 0))]

    def test_weights_are_the_spline_of_the_distance_along_the_bar(self):
        source = self.bar(joints=self.JOINTS)
        report = self.report(source, "--method", "mesh-geodesic", "--deform-from", "all")
        self.assertEqual(report["method"], "mesh-geodesic")
        self.assertEqual(report["options"]["falloff_law"], "cubic-hermite")
        self.assertEqual((report["options"]["rings"], report["options"]["all_pairs"]), ("joint", False))
        self.assertEqual(report["coverage"]["share"], 1)
        self.assertIn("edges", report["seconds"])
        # The threshold is half of the bar, whose length is 2. `high` is a leaf, so its plane follows its parent's bone.
        for (_, y, _), row in zip(make.bar()[0], self.weights(), strict=True):
            low, high = spline(abs(y - 0.4)), spline(abs(y - 1.4))
            self.assertAlmostEqual(row.get("high", 0), high / (low + high), delta=2e-3, msg=f"y = {y}")

    def test_options_have_their_effect(self):
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

    def test_invalid_combinations_are_refused(self):
        self.refuse(2, ["mesh-geodesic", "surface-heat"], self.bar(), "--all-pairs")
        self.refuse(2, ["mesh-geodesic", "connectivity"], self.bar(), "--method", "connectivity", "--rings", "bone")
        self.refuse(2, ["--rings edge: choose joint, bone or axes \\("], self.bar(), "--rings", "edge")

    def test_the_limit_of_influences(self):
        heights = [0.1 + 0.2 * k for k in range(10)]
        source = self.bar(joints=[(f"j{k}", k - 1, (0, y, 0)) for k, y in enumerate(heights)])
        base = ("--method", "mesh-geodesic", "--deform-from", "all", "--threshold", "100")
        kept = self.at / "four.binding"
        self.bind(source, *base, "--save-binding", kept)
        for limit in ("1", "2", "4", "8", "all"):
            self.bind(source, *base, "--max-influences", limit)
            most = 10 if limit == "all" else int(limit)
            rows = self.weights()
            # Weights below 1e-4 are dropped. The threshold is so large that no joint is.
            self.assertEqual(max(len(row) for row in rows), most)
            for (_, y, _), row in zip(make.bar()[0], rows, strict=True):
                way = sorted((abs(y - h), k) for k, h in enumerate(heights))
                reach = way[most][0] if most < 10 else 200
                shares = {f"j{k}": spline(d / reach) for d, k in way[:most]}
                if way[0][0] > 0.999 * reach:
                    continue  # all at the reach: a tie
                for joint, share in shares.items():
                    self.assertAlmostEqual(row.get(joint, 0), share / sum(shares.values()), delta=1e-3,
                                           msg=f"y = {y}, {limit}")
            if limit != "all":
                self.bind(source, "--reuse", kept, "--max-influences", limit, out="again.glb", speed=())
                self.assertEqual(self.weights("again.glb"), rows)

    def test_planes_of_single_joints_and_of_their_axes(self):
        source = self.bar(joints=self.JOINTS)
        base = ("--method", "mesh-geodesic", "--deform-from", "all")
        self.bind(source, *base)
        plain = self.weights()
        options = self.at / "joints.json"

        def with_plane(plane, *more):
            options.write_text(json.dumps({"joints": {"high": {"plane": plane}}}))
            self.bind(source, *base, "--joint-options", options, *more)
            return self.weights()

        # The joints' own axes are the scene's, and the bar lies along y.
        self.assertEqual(self.report(source, *base, "--rings", "axes")["options"]["rings"], "axes")
        self.assertEqual(self.weights(), plain)
        for plane in ("y", [0, 3, 0], [0, -1, 0]):
            self.assertEqual(with_plane(plane), plain)
            self.assertEqual(with_plane(plane, "--rings", "axes"), plain)
        for plane in ([0.4, 1, 0], "x"):
            self.assertNotEqual(with_plane(plane), plain, plane)
        # The plane is kept with the binding.
        slanted, kept = with_plane([0.4, 1, 0], "--save-binding", self.at / "k.binding"), self.at / "k.binding"
        self.bind(source, "--reuse", kept, speed=())
        self.assertEqual(self.weights(), slanted)
        for plane in ("w", [0, 0, 0], [1, 2], 3):
            options.write_text(json.dumps({"joints": {"high": {"plane": plane}}}))
            self.refuse(3, ["joint 'high'", "plane", "x, y or z"], source, *base, "--joint-options", options)
        # Also in a skeleton file, where the axes are those of the scene.
        make.obj(self.at / "bar.obj")
        bones = [{"name": "low", "head": [0, 0.4, 0]}, {"name": "high", "parent": "low", "head": [0, 1.4, 0]}]
        rows = []
        for plane in (None, "y", [0.4, 1, 0]):
            bones[1]["plane"] = plane
            (self.at / "rig.json").write_text(json.dumps({"bones": bones}))
            self.bind(self.at / "bar.obj", "--skeleton", self.at / "rig.json", *base)
            rows.append(self.weights())
        self.assertEqual(rows[0], rows[1])
        self.assertNotEqual(rows[0], rows[2])

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
