"""What lives on the surface, from outside: `--method bone-heat`.

surface.py [CLASS…]; the rest is named as for cli.py."""
import math

import cli
import make
import support


class BoneHeat(cli.Case):
    METHOD = ("--method", "bone-heat", "--deform-from", "all")

    def test_heat_falls_exponentially_along_the_bar(self):
        report = self.report(self.bar(), *self.METHOD)
        self.assertEqual(report["method"], "bone-heat")
        self.assertEqual(report["options"]["heat_transfer"], 4)
        self.assertEqual((report["options"]["falloff_law"], report["options"]["power"]), ("power", 1))
        self.assertEqual(report["coverage"]["weighted"], report["counts"]["vertices"])
        self.assertEqual(report["warnings"], [])
        self.assertIn("heat", report["seconds"])
        # The joint between the bones is at y = 1, and every vertex is RADIUS away from the axis. From ring to ring heat
        # falls by the root of (L + M H) w = 0 for vertices in a row.
        spacing = 2 / (make.RINGS - 1)
        q = 4 * (spacing / make.RADIUS) ** 2
        fall = 1 + q / 2 - math.sqrt(q + q**2 / 4)
        for (_, y, _), row in zip(make.bar()[0], self.weights(), strict=True):
            far = 0.5 * fall ** (abs(y - 1) / spacing)
            self.assertAlmostEqual(row.get("upper", 0), far if y < 1 else 1 - far, delta=0.01, msg=f"y = {y}")
        self.sound()

    def test_options_change_what_they_say(self):
        source = self.bar()
        self.bind(source, *self.METHOD)
        plain = self.weights()
        for options in (("--heat-transfer", "0.3"), ("--power", "2")):
            self.bind(source, *self.METHOD, *options)
            self.assertNotEqual(plain, self.weights(), options)
        self.bind(source, *self.METHOD, speed=("--resolution", "128"))
        self.assertEqual(plain, self.weights(), "no voxels take part")

    def test_what_does_not_fit_is_refused(self):
        source = self.bar()
        self.refuse(2, ["heat transfer", "above 0"], source, *self.METHOD, "--heat-transfer", "0")
        self.refuse(2, ["bone-heat", "power"], source, *self.METHOD, "--falloff-law", "linear")

    def test_memory_is_estimated_before_the_work(self):
        source = self.at / "quadruped.glb"
        self.assertEqual(support.run(support.CHARACTERS, "quadruped", source).returncode, 0)
        self.refuse(3, ["bone-heat may need .* MB"], source, *self.METHOD, "--memory-limit", "2", speed=())

    def test_parts_that_see_no_bone_are_counted(self):
        source = self.at / "caped.glb"
        self.assertEqual(support.run(support.CHARACTERS, "caped", source).returncode, 0)
        report = self.report(source, "--method", "bone-heat")
        self.assertEqual(report["coverage"]["share"], 1)
        self.assertEqual(report["coverage"]["none"], 0)
        self.assertGreater(report["coverage"]["bridged"], 100)
        self.assertTrue(any(f"({report['coverage']['bridged']} vertices)" in w for w in report["warnings"]))
        self.sound()


if __name__ == "__main__":
    support.main()
