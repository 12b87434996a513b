"""Tests of `sinew render`: every view writes a PNG of the right size that is not empty; bad requests are refused.

render.py [CLASS…]; run like cli.py. SINEW_RENDER (ON or OFF): whether the program under test was built to draw."""
import json
import os
import re

import numpy as np

import cli
import support
from png import read_png

DRAWS = os.environ.get("SINEW_RENDER", "ON") == "ON"


def colours(picture):
    return np.unique(picture.reshape(-1, 3), axis=0)


class RenderCase(cli.Case):
    def character(self, name="biped"):
        plain, bound = self.at / f"{name}.glb", self.at / f"{name}.bound.glb"
        self.assertEqual(support.run(support.CHARACTERS, name, plain).returncode, 0)
        self.assertEqual(support.sinew("bind", plain, "-o", bound, *cli.FAST).returncode, 0)
        return plain, bound

    def draw(self, source, *options, out="out.png", size="240x180"):
        done = support.sinew("render", source, "-o", self.at / out, "--size", size, *options)
        if done.returncode == 3 and "OpenGL: " in done.stderr:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, f"{options}\n{done.stdout}{done.stderr}")
        picture = read_png(self.at / out)
        self.assertEqual("{1}x{0}".format(*picture.shape), size)
        return picture

    def refuse_picture(self, code, words, source, *options, out="out.png"):
        before = sorted(os.listdir(self.at))
        done = support.sinew("render", source, "-o", self.at / out, *options)
        self.assertEqual((done.returncode, done.stdout), (code, ""), f"{options}\n{done.stderr}")
        for word in words:
            self.assertRegex(done.stderr, re.compile(word))
        self.assertEqual(sorted(os.listdir(self.at)), before, "a failed render left files")


class Render(RenderCase):
    LABELS = "cli gl"

    def setUp(self):
        super().setUp()
        if not DRAWS:
            self.skipTest("built without pictures")

    def test_every_view(self):
        plain, bound = self.character()
        seen = {}
        for view in ("joints", "strongest", "influences", "surface"):
            seen[view] = self.draw(bound, "--view", view)
        seen["joint"] = self.draw(bound, "--joint", "hand_L")
        seen["distance"] = self.draw(plain, "--view", "distance", "--joint", "hand_L", "--resolution", "64")
        seen["heat"] = self.draw(plain, "--view", "heat", "--joint", "hand_L", "--resolution", "64")
        seen["voxels"] = self.draw(plain, "--view", "voxels", "--cut", "z=0.5", "--resolution", "64")
        seen["defects"] = self.draw(plain, "--view", "defects")
        seen["overlay"] = self.draw(bound, "--view", "surface", "--skeleton-overlay", "on")
        seen["zoom"] = self.draw(bound, "--zoom", "hand_L")
        for view, picture in seen.items():
            self.assertGreater(len(colours(picture)), 30, view)
        pictures = [picture.tobytes() for picture in seen.values()]
        self.assertEqual(len(set(pictures)), len(pictures), "two views gave one picture")

    def test_poses_and_sheets(self):
        _, bound = self.character()
        pose = self.at / "wave.json"
        pose.write_text(json.dumps({"joints": {"upper_arm_L": {"rotate": [0, 0, 60]}}}))
        rest = self.draw(bound, "--from", "front", "--view", "surface")
        done = support.sinew("render", bound, "-o", self.at / "p.png", "--pose", pose, "--size", "240x180")
        self.assertRegex(done.stdout, "drew 2 panels at 240 x 180")
        self.assertFalse(np.array_equal(rest, read_png(self.at / "p.png")))
        done = support.sinew("render", bound, "-o", self.at / "s.png", "--sheet", "--size", "240x180", "--skinning", "dqs")
        panels = int(re.match(r"drew (\d+) panels", done.stdout)[1])
        self.assertGreaterEqual(panels, 8)

    def test_views_backgrounds_and_panels(self):
        _, bound = self.character()
        dark = self.draw(bound, "--background", "dark")
        self.assertLess(dark[0, 0].sum(), 150)
        light = self.draw(bound)
        self.assertGreater(light[0, 0].sum(), 700)
        done = support.sinew(
            "render", bound, "-o", self.at / "m.png", "--from", "left", "--from", "top", "--yaw", "20", "--joint",
            "hand_L", "--joint", "hand_R", "--columns", "3", "--size", "300x200", "--title", "Hände")  # fmt: skip
        self.assertRegex(done.stdout, "drew 6 panels at 300 x 200", done.stderr)
        self.assertEqual(support.sinew("render", bound, "-o", self.at / "q.png", "--quiet").stdout, "")

    def test_defects(self):
        """A box that intersects the body is red; without the box the picture is not."""
        plain, _ = self.character("robot")
        clean = self.at / "bar.glb"
        self.assertEqual(support.run(support.CHARACTERS, "bar", clean).returncode, 0)

        def red(picture):
            r, g = picture[..., 0].astype(int), picture[..., 1].astype(int)
            return (r > 2 * g + 20).mean()

        self.assertGreater(red(self.draw(plain, "--view", "defects", "--no-legend", "--from", "front")), 0.0005)
        self.assertEqual(red(self.draw(clean, "--view", "defects", "--no-legend", "--from", "front")), 0)

    def test_heat(self):
        """The hand of an arm that heats is bright, the rest of the body is dark."""
        plain, _ = self.character("biped")
        look = ("--view", "heat", "--resolution", "64", "--no-legend", "--from", "front")

        def bright(picture):  # pixels of pale yellow to orange
            r, b = picture[..., 0].astype(int), picture[..., 2].astype(int)
            return (r > b + 60) & (r > 150)

        left, right = (bright(self.draw(plain, *look, "--joint", joint)) for joint in ("lower_arm_L", "lower_arm_R"))
        middle = left.shape[1] // 2
        self.assertGreater(left[:, middle:].sum(), 30)  # the character's left is on the right
        self.assertEqual(left[:, :middle].sum(), 0)
        self.assertGreater(right[:, :middle].sum(), 30)
        self.assertEqual(right[:, middle:].sum(), 0)

    def test_vote_and_winding_numbers(self):
        """Each word is a panel; the vote alone leaves holes in the visible interior."""
        plain, _ = self.character("caped")
        voxels = ("--view", "voxels", "--cut", "z=0.5", "--resolution", "64", "--no-legend")
        one = {word: self.draw(plain, *voxels, "--winding-numbers", word) for word in ("on", "off", "marked")}
        self.assertEqual(len({picture.tobytes() for picture in one.values()}), 3)

        def interior(picture):  # pixels of the interior's colour, a light yellow
            r, b = picture[..., 0].astype(int), picture[..., 2].astype(int)
            return (r > b + 20).sum()

        self.assertGreater(interior(one["on"]), interior(one["off"]))
        done = support.sinew("render", plain, "-o", self.at / "both.png", *voxels, "--winding-numbers", "off",
                             "--winding-numbers", "on", "--size", "300x200")  # fmt: skip
        self.assertRegex(done.stdout, "drew 2 panels at 300 x 200", done.stderr)

    def test_pictures_are_reproducible(self):
        _, bound = self.character("robot")
        self.draw(bound, "--threads", "1", out="a.png")
        self.draw(bound, "--threads", "2", out="b.png")
        self.assertEqual((self.at / "a.png").read_bytes(), (self.at / "b.png").read_bytes())

    def test_characters_of_the_corpus(self):
        if not support.CORPUS.is_dir():
            self.skipTest("no corpus")
        for name in ("khr_fox/Fox.glb", "hand_webxr_left/left.glb", "vrm_godette/Godette_vrm_v4.vrm"):
            picture = self.draw(support.CORPUS / name)
            self.assertGreater(len(colours(picture)), 200, name)


class RenderRefusals(RenderCase):
    def test_help_teaches_by_example(self):
        done = support.sinew("render", "--help")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"sinew render \S+\.glb -o \S+\.png")

    def test_bad_options_are_refused(self):
        source = self.bar()
        for options, words in (
            (["--size", "12"], ["--size 12: give WIDTHxHEIGHT"]),
            (["--size", "9000x100"], ["64 to 8192"]),
            (["--size", "100x100x"], ["--size"]),
            (["--from", "below"], ["front, back, left"]),
            (["--view", "sound"], ["joints, joint"]),
            (["--view", "heat"], ["--joint NAME"]),
            (["--view", "joint"], ["--joint NAME"]),
            (["--view", "surface", "--joint", "a"], ["--joint needs"]),
            (["--view", "voxels", "--cut", "w=0.5"], ["--cut w=0.5"]),
            (["--view", "voxels", "--cut", "x=1.5"], ["between 0 and 1"]),
            (["--cut", "x=0.5"], ["--cut needs --view voxels"]),
            (["--winding-numbers", "off"], ["--winding-numbers needs --view voxels"]),
            (["--view", "voxels", "--winding-numbers", "maybe"], ["--winding-numbers maybe: choose on, off or marked"]),
            (["--view", "voxels", "--sheet"], ["remove"]),
            (["--sheet", "--clip", "0"], ["remove"]),
            (["--resolution", "100", "--view", "voxels"], ["resolution"]),
            (["--background", "pink"], ["light or dark"]),
        ):
            self.refuse_picture(2, words, source, *options)

    def test_bad_files_are_refused(self):
        source = self.at / "bare.glb"
        self.assertEqual(support.run(support.CHARACTERS, "bar", source).returncode, 0)
        self.refuse_picture(3, ["sinew bind", "--view surface"], source)
        self.refuse_picture(3, ["nothing.glb"], self.at / "nothing.glb")
        self.refuse_picture(2, [r"end in .png"], source, "--view", "surface", out="out.jpg")
        self.refuse_picture(3, ["no folder"], source, "--view", "surface", out="none/out.png")
        self.refuse_picture(2, ["there is no joint 'nose'"], source, "--view", "distance", "--joint", "nose")
        png = self.at / "in.png"
        png.write_bytes(source.read_bytes())
        done = support.sinew("render", png, "-o", png, "--view", "surface")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(png.read_bytes(), source.read_bytes())

    def test_without_a_driver_or_opengl(self):
        source = self.bar()
        if DRAWS:
            env = dict(os.environ, __EGL_VENDOR_LIBRARY_FILENAMES="/nowhere.json")
            words = r"OpenGL: .*libegl1"
        else:
            env, words = None, "this build of sinew cannot draw pictures"
        done = support.sinew("render", source, "-o", self.at / "out.png", "--view", "surface", env=env)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertRegex(done.stderr, words)
        self.assertFalse((self.at / "out.png").exists())


if __name__ == "__main__":
    support.main()
