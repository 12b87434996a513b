"""Tests of `--voxelizer hardware`: the same weights as without it, or an error that names the missing part.

voxelizer.py [CLASS…]; run like cli.py. SINEW_GL (ON or OFF): whether the program under test was built with OpenGL."""
import os

import cli
import support


class Voxelizer(cli.Case):
    LABELS = "cli gl"

    def test_other_methods_are_refused(self):
        self.refuse(2, ["--voxelizer gpu: choose cpu or hardware"], self.bar(), "--voxelizer", "gpu")

    if os.environ.get("SINEW_GL") == "OFF":

        def test_a_build_without_opengl_is_an_error(self):
            words = ["voxelizer hardware: this build of sinew has no OpenGL", "voxelizer cpu", "libepoxy-dev"]
            self.refuse(2, words, self.bar(), "--voxelizer", "hardware")

    else:

        def test_hardware_gives_the_same_file(self):
            source = self.at / "caped.glb"
            self.assertEqual(support.run(support.CHARACTERS, "caped", source).returncode, 0)
            done = support.sinew("bind", source, "-o", self.at / "try.glb", *cli.FAST, "--voxelizer", "hardware")
            if done.returncode == 3 and "OpenGL: " in done.stderr:
                self.skipTest(done.stderr.strip())
            reports = {}
            for voxelizer in ("cpu", "hardware"):
                report = reports[voxelizer] = self.report(source, "--voxelizer", voxelizer, out=f"{voxelizer}.glb")
                self.assertEqual(report["options"]["voxelizer"], voxelizer)
                self.assertIn("voxelize", report["seconds"])
            self.assertGreater(reports["cpu"]["voxels"]["ambiguous"], 0)
            self.assertEqual(reports["cpu"]["voxels"], reports["hardware"]["voxels"])
            self.assertEqual((self.at / "cpu.glb").read_bytes(), (self.at / "hardware.glb").read_bytes())

        def test_a_missing_driver_is_an_error_with_a_remedy(self):
            source = self.bar()
            before = sorted(os.listdir(self.at))
            # The driver loader finds no driver.
            env = dict(os.environ, __EGL_VENDOR_LIBRARY_FILENAMES="/nowhere.json")
            done = support.sinew(
                "bind", source, "-o", self.at / "out.glb", *cli.FAST, "--voxelizer", "hardware", env=env)
            self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
            self.assertRegex(done.stderr, r"OpenGL: .*libegl1")
            self.assertEqual(sorted(os.listdir(self.at)), before)


if __name__ == "__main__":
    support.main()
