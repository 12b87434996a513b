#!/usr/bin/env python3
"""The programs for Windows, in wine, against the program of build/release. scripts/windows runs this."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/windows"
WINE = os.environ["SINEW_WINE"]
LINUX = os.environ.get("SINEW", str(ROOT / "build/release/sinew"))
CHARACTERS = os.environ.get("SINEW_CHARACTERS", str(ROOT / "build/release/tests/characters/sinew_characters"))
NAMES = ("biped", "caped", "quadruped", "robot")
METHODS = ("surface-heat", "geodesic-voxel", "voxel-heat", "bone-heat", "bounded-biharmonic", "mesh-geodesic",
           "connectivity", "closest-distance", "closest-hierarchy")
# Libraries of every Windows.
OF_THE_SYSTEM = {"KERNEL32.dll", "msvcrt.dll", "SHELL32.dll"}


def run(*args, **kwargs):
    # Not by pipes: processes that wine leaves running for later programs would keep them open.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        done = subprocess.run([str(a) for a in args], stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=600,
                              **kwargs)
        for file in (out, err):
            file.seek(0)
        done.stdout, done.stderr = out.read(), err.read()
        return done


def windows(*args, program="sinew.exe", **kwargs):
    return run(WINE, BUILD / program, *args, **kwargs)


def linux(*args, **kwargs):
    done = run(LINUX, *args, **kwargs)
    assert done.returncode == 0, done.stderr
    return done


def without(report, *names):
    """A report without what differs from run to run: times, memory, and names of files."""
    if isinstance(report, dict):
        return {k: without(v, *names) for k, v in report.items() if k not in names}
    return [without(v, *names) for v in report] if isinstance(report, list) else report


class Windows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.at = Path(cls.folder.name)
        for name in NAMES:
            run(CHARACTERS, name, cls.at / f"{name}.glb", check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def on_both(self, *args, code=0):
        """Runs both programs in folders of their own, with the characters beside them; returns the two folders."""
        folders = []
        for program in (windows, run_linux):
            folder = Path(tempfile.mkdtemp(dir=self.at))
            done = program(*args, cwd=folder)
            self.assertEqual(done.returncode, code, (done.stdout + done.stderr).decode())
            (folder / "stdout").write_bytes(done.stdout)
            (folder / "stderr").write_bytes(done.stderr)
            folders.append(folder)
        return folders

    def same_files(self, *args, code=0, reports=()):
        """Both programs write the same files and print the same; `reports` are compared as JSON without times."""
        one, two = self.on_both(*args, code=code)
        names = sorted(p.name for p in two.iterdir())
        self.assertEqual(sorted(p.name for p in one.iterdir()), names)
        for name in names:
            a, b = (one / name).read_bytes(), (two / name).read_bytes()
            if name in reports:
                a, b = (json.dumps(without(json.loads(text), "seconds", "peak_memory_bytes")) for text in (a, b))
            self.assertTrue(a == b, f"{' '.join(map(str, args))}: {name} differs: {a[:300]} {b[:300]}")
        return one

    def test_needs_only_what_every_windows_has(self):
        for name in ("sinew.exe", "sinew_c.dll"):
            said = run("x86_64-w64-mingw32-objdump", "-p", BUILD / name).stdout.decode()
            self.assertLessEqual(set(re.findall(r"DLL Name: (\S+)", said)), OF_THE_SYSTEM, name)

    def test_exports_the_functions_of_the_header(self):
        said = run("x86_64-w64-mingw32-objdump", "-p", BUILD / "sinew_c.dll").stdout.decode()
        exported = re.findall(r"^\s+\[ *\d+\] (?:\+base\[ *\d+\] +[0-9a-f]+ )?(\w+)$", said, re.M)
        declared = re.findall(r"^[a-z].*?[ *](snw_\w+)\(", (ROOT / "capi/sinew.h").read_text(), re.M)
        self.assertEqual(sorted(exported), sorted(set(declared)))

    def test_the_wheel_has_the_library(self):
        wheel, = (ROOT / "build/wheel-windows").glob("*.whl")
        self.assertRegex(wheel.name, r"^sinew-[\d.]+-py3-none-win_amd64\.whl$")
        with zipfile.ZipFile(wheel) as files:
            libraries = [name for name in files.namelist() if re.search(r"\.(dll|so|pyd)", name)]
            self.assertEqual(libraries, ["sinew/sinew_c.dll"])
            self.assertEqual(files.read("sinew/sinew_c.dll"), (BUILD / "capi/sinew_c.dll").read_bytes())
            about, = (name for name in files.namelist() if name.endswith(".dist-info/WHEEL"))
            self.assertIn("Tag: py3-none-win_amd64", files.read(about).decode())

    def test_programs_in_c(self):
        for program in ("arrays.exe", "bar.exe"):
            done = windows(program=program, cwd=self.at)
            self.assertEqual(done.returncode, 0, f"{program}: {done.stderr.decode()}")

    def test_binds_to_the_same_bytes(self):
        for name in NAMES:
            for method in METHODS:
                with self.subTest(character=name, method=method):
                    options = ["--resolution", "64"] if method in ("geodesic-voxel", "voxel-heat", "bounded-biharmonic") else []
                    self.same_files("bind", self.at / f"{name}.glb", "-o", "out.glb", "--method", method, "--quiet", *options)

    def test_does_not_depend_on_threads_or_the_processor(self):
        model = self.at / "biped.glb"
        for words in (["--threads", "1"], ["--threads", "3"]):
            self.same_files("bind", model, "-o", "out.glb", "--quiet", *words)
        windows("bind", model, "-o", "plain.glb", "--quiet", cwd=self.at, env={**os.environ, "SINEW_VECTORS": "none"})
        windows("bind", model, "-o", "best.glb", "--quiet", cwd=self.at)
        self.assertEqual((self.at / "plain.glb").read_bytes(), (self.at / "best.glb").read_bytes())

    def test_threads_always_meet(self):
        # std::barrier of libstdc++ let one run of 25 wait for ever (src/core/barrier.h).
        for _ in range(80):
            done = windows("bind", self.at / "robot.glb", "-o", "out.glb", "--threads", "3", "--quiet", cwd=self.at)
            self.assertEqual(done.returncode, 0)

    def test_commands(self):
        model, bound = self.at / "biped.glb", self.at / "bound.glb"
        linux("bind", model, "-o", bound, "--quiet")
        linux("bind", model, "-o", self.at / "other.glb", "--method", "closest-distance", "--quiet")
        joint = json.loads(linux("inspect", bound, "--json").stdout)["joints"][3]["name"]
        edits, pose = self.at / "edits.json", self.at / "pose.json"
        edits.write_text(json.dumps({"edits": [{"op": "smooth", "length": 0.02}]}))
        pose.write_text(json.dumps({"joints": {joint: {"rotate": [30, 0, 10]}}}))
        self.same_files("inspect", bound)
        self.same_files("inspect", bound, "--json", reports=["stdout"])
        self.same_files("check", bound, "--json", reports=["stdout"])
        self.same_files("pose", bound, "--pose", pose, "-o", "posed.obj")
        self.same_files("pose", bound, "--pose", pose, "-o", "posed.glb")
        linux("pose", bound, "--pose", pose, "-o", self.at / "plain.obj")
        self.same_files("rig", self.at / "plain.obj", "-o", "rigged.glb", "--json", reports=["stdout"])
        self.same_files("transfer", bound, model, "-o", "moved.glb", "--report", "r.json", "--quiet", reports=["r.json"])
        self.same_files("apply", bound, "--edits", edits, "-o", "edited.glb")
        self.same_files("compare", bound, self.at / "other.glb", "--json", reports=["stdout"])
        self.same_files("compare", bound, self.at / "other.glb", "--max-l1", "0.0001", "--quiet", code=1)
        self.same_files("bind", model, "-o", "out.glb", "--report", "report.json", "--weights-json", "weights.json",
                        "--save-binding", "kept.binding", "--quiet", reports=["report.json"])

    def test_paths_in_any_language(self):
        folder = self.at / "Zoë, 猫 und 🦊"
        folder.mkdir()
        (folder / "Größe.glb").write_bytes((self.at / "robot.glb").read_bytes())
        out = folder / "Ergebnis-é.glb"
        done = windows("bind", folder / "Größe.glb", "-o", out, "--method", "closest-distance", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(json.loads(done.stdout)["input"].endswith("Größe.glb"))
        linux("bind", folder / "Größe.glb", "-o", folder / "linux.glb", "--method", "closest-distance", "--quiet")
        self.assertEqual(out.read_bytes(), (folder / "linux.glb").read_bytes())
        done = windows("bind", folder / "fehlt-ü.glb", "-o", out)
        self.assertEqual(done.returncode, 3)
        self.assertIn("fehlt-ü.glb: No such file or directory", done.stderr.decode())

    def test_files_appear_whole_or_not_at_all(self):
        folder = self.at / "files"
        folder.mkdir()
        model = folder / "in.glb"
        model.write_bytes((self.at / "robot.glb").read_bytes())
        # In place, beside a file that a process left which was killed.
        (folder / ".sinew-999999-0.tmp").write_bytes(b"left")
        done = windows("bind", model, "-o", model, "--method", "closest-distance", "--quiet")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertNotEqual(model.read_bytes(), (self.at / "robot.glb").read_bytes())
        self.assertEqual([p.name for p in folder.iterdir()], ["in.glb"])
        # Neither file where one cannot be written.
        for bad, wanted in ((folder / "no/report.json", "there is no folder"), (folder, "is a folder")):
            done = windows("bind", model, "-o", folder / "out.glb", "--report", bad, "--method", "closest-distance")
            self.assertEqual(done.returncode, 3)
            self.assertIn(wanted, done.stderr.decode())
        for word in (folder, folder / "missing.glb"):
            self.assertEqual(windows("bind", word, "-o", folder / "out.glb").returncode, 3)
        self.assertEqual([p.name for p in folder.iterdir()], ["in.glb"])

    def test_files_outside_the_folder_are_not_read(self):
        document = {"asset": {"version": "2.0"}, "buffers": [{"byteLength": 4, "uri": ""}]}
        for uri in ("C:/secret.bin", "/secret.bin", "\\secret.bin", "..\\secret.bin", "..%5Csecret.bin", "a/..\\..\\b", "C:b"):
            document["buffers"][0]["uri"] = uri
            (self.at / "outside.gltf").write_text(json.dumps(document))
            done = windows("inspect", "outside.gltf", cwd=self.at)
            self.assertEqual(done.returncode, 3, uri)
            self.assertIn("does not stay in the folder", done.stderr.decode(), uri)

    def test_says_what_it_cannot_do(self):
        for command in ("batch", "studio"):
            done = windows(command, "some", "-o", "words")
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr.decode(), rf"^sinew: error: sinew {command} is not available on Windows \(.*\)\n$")
        (self.at / "model.dae").write_bytes(b"<COLLADA/>")
        done = windows("inspect", "model.dae", cwd=self.at)
        self.assertEqual(done.returncode, 3)
        self.assertIn("without assimp", done.stderr.decode())


def run_linux(*args, **kwargs):
    return run(LINUX, *args, **kwargs)


if __name__ == "__main__":
    unittest.main(verbosity=2)
