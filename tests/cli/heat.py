"""Tests of `--heat hardware`: the weights of the solver within 1e-3, or an error that names the missing part.

heat.py [CLASS…]; run like cli.py. SINEW_GL (ON or OFF): whether the program under test was built with OpenGL."""
import os

import cli
import support

HEAT = ("--method", "voxel-heat")


class HeatHardware(cli.Case):
    LABELS = "cli gl"

    def test_other_methods_are_refused(self):
        self.refuse(2, ["--heat gpu: choose cpu or hardware"], self.bar(), *HEAT, "--heat", "gpu")
        for method in ("surface-heat", "bone-heat", "bounded-biharmonic"):
            self.refuse(2, [f"{method} does not read --heat", "voxel-heat"], self.bar(), "--method", method,
                        "--heat", "hardware")

    def test_cpu_is_the_default(self):
        report = self.report(self.bar(), *HEAT)
        self.assertEqual(report["options"]["heat"], "cpu")

    if os.environ.get("SINEW_GL") == "OFF":

        def test_a_build_without_opengl_is_an_error(self):
            words = ["heat hardware: this sinew was built without OpenGL", "heat cpu", "libepoxy-dev"]
            self.refuse(2, words, self.bar(), *HEAT, "--heat", "hardware")

    else:

        def hardware(self, source, *options, out):
            path = self.at / "report.json"
            done = support.sinew("bind", source, "-o", self.at / out, *cli.FAST, *HEAT, "--heat", "hardware", "--report",
                                 path, *options)
            if done.returncode == 3 and "OpenGL: " in done.stderr:
                self.skipTest(done.stderr.strip())
            self.assertEqual(done.returncode, 0, done.stderr)
            return done

        def test_hardware_gives_the_weights_of_the_solver(self):
            source = self.at / "caped.glb"
            self.assertEqual(support.run(support.CHARACTERS, "caped", source).returncode, 0)
            for options in ((), ("--iterations", "30")):
                done = self.hardware(source, *options, out="hardware.glb")
                there = self.weights("hardware.glb")
                report = self.report(source, *HEAT, *options, out="cpu.glb")
                here = self.weights("cpu.glb")
                self.assertEqual(report["options"]["heat"], "cpu")
                self.assertEqual(len(here), len(there))
                worst = max(abs(a.get(j, 0) - b.get(j, 0)) for a, b in zip(here, there) for j in a | b)
                self.assertLess(worst, 1e-3)
                self.sound("hardware.glb")
                if "llvmpipe" in done.stderr:
                    self.assertRegex(done.stderr, "heat hardware: llvmpipe.*heat cpu is faster")

        def test_a_kept_binding_records_the_hardware(self):
            source, kept = self.bar(), self.at / "kept.binding"
            self.hardware(source, "--save-binding", kept, out="first.glb")
            # Reusing the binding needs no driver.
            env = dict(os.environ, __EGL_VENDOR_LIBRARY_FILENAMES="/nowhere.json")
            path = self.at / "again.json"
            done = support.sinew("bind", source, "-o", self.at / "second.glb", "--reuse", kept, "--report", path,
                                 env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('"heat": "hardware"', path.read_text())
            self.assertEqual((self.at / "first.glb").read_bytes(), (self.at / "second.glb").read_bytes())

        def test_a_missing_driver_is_an_error_with_a_remedy(self):
            source = self.bar()
            before = sorted(os.listdir(self.at))
            # The driver loader finds no driver.
            env = dict(os.environ, __EGL_VENDOR_LIBRARY_FILENAMES="/nowhere.json")
            done = support.sinew("bind", source, "-o", self.at / "out.glb", *cli.FAST, *HEAT, "--heat", "hardware", env=env)
            self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
            self.assertRegex(done.stderr, r"OpenGL: .*libegl1.*use heat cpu")
            self.assertEqual(sorted(os.listdir(self.at)), before)


if __name__ == "__main__":
    support.main()
