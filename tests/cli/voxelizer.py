"""`--voxelizer hardware`: the same weights as without it, or an error that says what is missing.

voxelizer.py [CLASS…]; SINEW_GL says whether the program under test was built with OpenGL (ON or OFF); the rest is named
as for cli.py."""
import os

import cli
import support


class Voxelizer(cli.Case):
    LABELS = "cli gl"

    def test_others_are_refused(self):
        self.refuse(2, ["--voxelizer gpu: choose cpu or hardware$"], self.bar(), "--voxelizer", "gpu")

    if os.environ.get("SINEW_GL") == "OFF":

        def test_a_build_without_opengl_says_so(self):
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

        def test_without_a_driver_the_error_says_what_to_install(self):
            source = self.bar()
            before = sorted(os.listdir(self.at))
            # The loader of drivers finds none.
            env = dict(os.environ, __EGL_VENDOR_LIBRARY_FILENAMES="/nowhere.json")
            done = support.sinew(
                "bind", source, "-o", self.at / "out.glb", *cli.FAST, "--voxelizer", "hardware", env=env)
            self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
            self.assertRegex(done.stderr, r"OpenGL: .*libegl1")
            self.assertEqual(sorted(os.listdir(self.at)), before)


if __name__ == "__main__":
    support.main()
