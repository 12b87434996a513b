"""Tests of methods over voxels that solve for a field (`--method voxel-heat`, `bounded-biharmonic`).

volume.py [CLASS…]; run like cli.py."""
import cli
import support


class VoxelHeat(cli.Case):
    def figure(self, name):
        source = self.at / f"{name}.glb"
        self.assertEqual(support.run(support.CHARACTERS, name, source).returncode, 0)
        return source

    def test_a_caped_figure_is_covered(self):
        report = self.report(self.figure("caped"), "--method", "voxel-heat")
        self.assertEqual(report["method"], "voxel-heat")
        self.assertEqual(report["coverage"]["share"], 1)
        self.assertEqual(report["coverage"]["none"], 0)
        self.assertEqual((report["options"]["falloff_law"], report["options"]["power"]), ("power", 1.5))
        self.assertEqual((report["options"]["cooling"], report["options"]["iterations"]), (250, 0))
        self.assertIn("heat", report["seconds"])
        self.sound()

    def test_options_have_their_effect(self):
        source = self.bar()
        base = ("--method", "voxel-heat", "--deform-from", "all")
        self.bind(source, *base)
        plain = self.weights()
        for options in (("--power", "4"), ("--cooling", "20"), ("--iterations", "20"), ("--domain", "uniform")):
            self.bind(source, *base, *options)
            self.assertNotEqual(plain, self.weights(), options)

    def test_harder_power_gives_the_strongest_more(self):
        source = self.bar()
        sums = []
        for power in ("0.5", "1.5", "6"):
            self.bind(source, "--method", "voxel-heat", "--power", power)
            sums.append(sum(max(row.values()) for row in self.weights()))
        self.assertEqual(sums, sorted(sums))
        self.assertLess(sums[0], sums[2])

    def test_refusals(self):
        bar, heat = self.bar(), ("--method", "voxel-heat")
        self.refuse(2, ["--cooling: .* 0 needs --iterations"], bar, *heat, "--cooling", "0")
        self.refuse(2, ["iterations -1 is not within"], bar, *heat, "--iterations", "-1")
        self.refuse(2, ["iterations", "voxel-heat", "surface-heat"], bar, "--iterations", "10")
        self.refuse(2, ["voxel-heat does not measure distances", "power"], bar, *heat, "--falloff-law", "linear")
        self.refuse(3, ["may need", "limit of 1 MB"], bar, *heat, "--memory-limit", "1")


class BoundedBiharmonic(cli.Case):
    METHOD = ("--method", "bounded-biharmonic", "--deform-from", "all")

    def test_its_own_resolution_and_law(self):
        report = self.report(self.bar(), *self.METHOD, speed=())
        self.assertEqual(report["options"]["resolution"], 64)
        self.assertEqual((report["options"]["falloff_law"], report["options"]["power"]), ("power", 1))
        self.assertEqual(report["coverage"]["share"], 1)
        self.assertEqual(report["warnings"], [])
        self.assertIn("energy", report["seconds"])
        self.sound()

    def test_resolutions_agree_on_a_bar(self):
        rows = []
        for resolution in ("32", "64"):
            self.bind(self.bar(), *self.METHOD, "--resolution", resolution, speed=())
            rows.append(self.weights())
        for a, b in zip(*rows, strict=True):
            for joint in a | b:
                self.assertAlmostEqual(a.get(joint, 0), b.get(joint, 0), delta=0.06)

    def test_refusals(self):
        self.refuse(2, ["bounded-biharmonic does not measure"], self.bar(), *self.METHOD, "--falloff-law", "linear")
        self.refuse(2, ["iterations", "voxel-heat"], self.bar(), *self.METHOD, "--iterations", "3")
        self.refuse(3, ["may need", "limit of 1 MB"], self.bar(), *self.METHOD, "--memory-limit", "1")


if __name__ == "__main__":
    support.main()
