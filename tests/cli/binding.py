"""Tests of --save-binding, --reuse and sinew pose --binding (docs/binding.md).

binding.py [CLASS…]; the program under test is named by SINEW, the generator of characters by SINEW_CHARACTERS."""
import json
import struct

import cli
import make
import support


class Case(cli.Case):
    def kept(self, source, *options):
        """Binds, keeps the binding, and returns its path."""
        path = self.at / "kept.binding"
        self.bind(source, "--save-binding", path, *options)
        return path

    def reuse(self, source, *options, **kwargs):
        return self.bind(source, "--reuse", self.at / "kept.binding", *options, speed=(), **kwargs)

    def reuse_report(self, source, *options, **kwargs):
        path = self.at / "reused.json"
        self.reuse(source, "--report", path, *options, **kwargs)
        return json.loads(path.read_text())

    def open_bar(self, name="open.glb"):
        """The bar without its caps: other triangles over the same vertices."""

        def edit(doc):
            doc["accessors"][1]["count"] -= 3 * 2 * (make.SIDES - 2)

        return make.glb(self.at / name, edit=edit)

    def scan(self, scale=1.0, extra=(), name="scan.obj"):
        """The bar as OBJ, scaled, with more triangles given as corners."""
        positions, triangles = make.bar()
        lines = ["v %.9g %.9g %.9g" % tuple(scale * c for c in p) for p in positions]
        lines += ["v %.9g %.9g %.9g" % p for p in extra]
        lines += ["f %d %d %d" % tuple(i + 1 for i in t) for t in triangles]
        lines += ["f %d %d %d" % tuple(len(positions) + k + c for c in (1, 2, 3)) for k in range(0, len(extra), 3)]
        (self.at / name).write_text("\n".join(lines) + "\n")
        return self.at / name


class Keep(Case):
    def test_the_same_file_from_its_own_distances(self):
        bar = self.bar()
        kept = self.kept(bar)
        first = (self.at / "out.glb").read_bytes()
        report = self.reuse_report(bar, out="again.glb")
        self.assertEqual((self.at / "again.glb").read_bytes(), first)
        self.assertEqual(report["reused"], "table")
        self.assertIn("binding", report["seconds"])
        self.assertFalse({"topology", "voxelize", "octree", "distances"} & set(report["seconds"]))
        self.assertEqual(report["options"]["resolution"], 64)
        self.assertEqual(report["coverage"]["weighted"], make.RINGS * make.SIDES)
        self.assertRegex(self.reuse(bar).stdout, "^bound from kept distances")
        # The file that bind wrote has the same mesh.
        self.assertEqual(self.reuse_report(self.at / "again.glb", out="third.glb")["reused"], "table")
        self.assertEqual(self.report(bar)["reused"], "no")
        self.assertGreater(kept.stat().st_size, 1000)

    def test_falloff_and_limit_can_be_changed(self):
        bar = self.bar()
        self.kept(bar, "--falloff", "0.3", "--max-influences", "1")
        for options in (
            ("--falloff", "0.7", "--max-influences", "2"),
            ("--falloff", "0.3", "--power", "2", "--max-influences", "2", "--limit-rule", "cut"),
        ):
            self.bind(bar, *options, out="direct.glb")
            self.reuse(bar, *options, out="reused.glb")
            self.assertEqual((self.at / "direct.glb").read_bytes(), (self.at / "reused.glb").read_bytes())
        # Options that are not given keep the values of the bind.
        self.bind(bar, "--falloff", "0.3", "--max-influences", "2", out="direct.glb")
        self.reuse(bar, "--max-influences", "2", out="reused.glb")
        self.assertEqual((self.at / "direct.glb").read_bytes(), (self.at / "reused.glb").read_bytes())
        self.reuse(bar, "--max-influences", "all", code=2)

    def test_another_law_of_distance(self):
        bar = self.bar()
        distance = ("--method", "geodesic-voxel")
        self.kept(bar, *distance)
        for options in (
            ("--falloff-law", "exponential", "--smoothness", "0.2", "--max-influences", "2", "--limit-rule", "cut"),
        ):
            self.bind(bar, *distance, *options, out="direct.glb")
            self.reuse(bar, *options, out="reused.glb")
            self.assertEqual((self.at / "direct.glb").read_bytes(), (self.at / "reused.glb").read_bytes())

    def test_another_mesh_in_the_volume(self):
        self.kept(self.bar(), "--method", "geodesic-voxel")
        whole = self.weights()
        done = self.reuse(self.open_bar())
        self.assertRegex(done.stdout, "^bound in a kept volume")
        self.assertEqual(self.weights(), whole)
        self.sound()
        report = self.reuse_report(self.open_bar())
        self.assertEqual(report["reused"], "volume")
        self.assertEqual(report["defects"]["holes"], 2)
        self.assertIn("distances", report["seconds"])
        self.assertNotIn("voxelize", report["seconds"])
        self.assertEqual(report["farthest_outside"], 0)

    def test_vertices_outside_are_bound_and_reported(self):
        skeleton = make.skeleton_json(self.at / "s.json")
        self.kept(self.scan(), "--skeleton", skeleton)
        far = self.scan(extra=((0, 1.8, 0.6), (0.1, 1.8, 0.6), (0, 1.9, 0.6)), name="far.obj")
        report = self.reuse_report(far, "--skeleton", skeleton)
        self.assertEqual((report["coverage"]["outside"], report["coverage"]["share"]), (3, 1))
        self.assertAlmostEqual(report["farthest_outside"], 0.35, delta=0.05)
        self.assertRegex(report["warnings"][0], "3 vertices lie outside")
        self.assertGreater(self.weights()[-1]["upper"], 0.99)

    def test_several_skins(self):
        two = make.two_skins(self.at / "two.glb")
        self.kept(two, "--deform-from", "all")
        first = (self.at / "out.glb").read_bytes()
        self.reuse(two, out="again.glb")
        self.assertEqual((self.at / "again.glb").read_bytes(), first)

    def test_idle_joints_stay_idle(self):
        bar = self.bar()
        self.kept(bar, "--exclude", "upper")
        report = self.reuse_report(self.open_bar())
        self.assertEqual([j["deforms"] for j in report["joints"]], [True, False])
        self.assertEqual(report["joints"][1]["reason"], "excluded")
        self.assertEqual({tuple(row) for row in self.weights()}, {("lower",)})

    def test_threads_change_no_byte(self):
        bar = self.bar()
        one = self.kept(bar, "--threads", "1").read_bytes()
        self.assertEqual(self.kept(bar, "--threads", "3").read_bytes(), one)

    def test_a_reused_binding_can_be_saved_again(self):
        self.kept(self.bar())
        self.reuse(self.open_bar(), "--save-binding", self.at / "open.binding")
        first = (self.at / "out.glb").read_bytes()
        done = self.bind(self.open_bar(), "--reuse", self.at / "open.binding", speed=())
        self.assertRegex(done.stdout, "^bound from kept distances")
        self.assertEqual((self.at / "out.glb").read_bytes(), first)

    def test_methods_without_a_volume(self):
        bar = self.bar()
        for method in ("connectivity", "closest-distance"):
            self.kept(bar, "--method", method)
            first = (self.at / "out.glb").read_bytes()
            self.reuse(bar)
            self.assertEqual((self.at / "out.glb").read_bytes(), first)
            done = self.reuse(self.open_bar(), code=2, out="other.glb")
            self.assertRegex(done.stderr, f"keeps no volume \\({method}\\)")

    def test_poses_from_a_binding(self):
        bar = self.bar()
        kept = self.kept(bar, "--falloff", "0.6")
        pose = self.at / "pose.json"
        pose.write_text(json.dumps({"joints": {"upper": {"rotate": [0, 0, 70]}}}))

        def posed(source, *options, code=0):
            out = self.at / "posed.obj"
            done = support.sinew("pose", source, "--pose", pose, "-o", out, *options)
            self.assertEqual(done.returncode, code, done.stderr)
            return out.read_bytes() if code == 0 else done.stderr

        bound = posed(self.at / "out.glb")
        self.assertNotEqual(posed(bar), bound)
        self.assertEqual(posed(bar, "--binding", kept), bound)
        weights = self.at / "w.json"
        weights.write_text("{}")
        self.assertIn("cannot be combined", posed(bar, "--binding", kept, "--weights", weights, code=2))
        self.assertIn("not a binding", posed(bar, "--binding", bar, code=3))


class Refusals(Case):
    def refuse_reuse(self, code, words, source, *options):
        return self.refuse(code, words, source, "--reuse", self.at / "kept.binding", *options, speed=())

    def test_options_that_need_other_distances(self):
        bar = self.bar()
        self.kept(bar)
        for options in (
            ("--resolution", "128"),
            ("--method", "connectivity"),
            ("--penalty", "2"),
            ("--overshoot", "0"),
            ("--exclude", "upper"),
            ("--deform-from", "all"),
        ):
            with self.subTest(options):
                self.refuse_reuse(2, [options[0], "--reuse"], bar, *options, "--falloff", "0.2")

    def test_another_space_or_skeleton(self):
        skeleton = make.skeleton_json(self.at / "s.json")
        self.kept(self.scan(), "--skeleton", skeleton)
        big = self.scan(scale=100, name="big.obj")
        self.refuse_reuse(3, ["another space", r"\d+ % of the vertices"], big, "--skeleton", skeleton)
        # A small mesh at the foot of the bar is inside the volume.
        report = self.reuse_report(self.scan(scale=0.01, name="small.obj"), "--skeleton", skeleton)
        self.assertRegex(report["warnings"][0], "0.01.* times .*another unit")
        other = json.loads(skeleton.read_text())
        other["bones"][1]["name"] = "top"
        skeleton.write_text(json.dumps(other))
        self.refuse_reuse(3, ["'top' is 'upper' in the binding"], self.scan(), "--skeleton", skeleton)

    def test_bad_bindings(self):
        bar = self.bar()
        kept = self.kept(bar)
        whole = kept.read_bytes()
        for content, words in (
            (b"", "not a binding"),
            (bar.read_bytes(), "not a binding"),
            (whole[:-1], "checksum"),
            (whole[: len(whole) // 2], "checksum"),
            (whole[:200] + bytes([whole[200] ^ 1]) + whole[201:], "checksum"),
            (whole[:8] + struct.pack("<I", 9) + whole[12:], "version 9"),
        ):
            kept.write_bytes(content)
            self.refuse_reuse(3, ["kept.binding: binding: .*" + words], bar)
        kept.unlink()
        self.refuse_reuse(3, ["cannot read .*kept.binding"], bar)

    def test_outputs_do_not_overwrite_inputs(self):
        bar = self.bar()
        kept = self.kept(bar)
        before = bar.read_bytes(), kept.read_bytes()
        self.refuse(2, ["--save-binding .* would overwrite the input"], bar, "--save-binding", bar)
        self.refuse(2, ["would overwrite"], bar, "--save-binding", self.at / "r.json", "--report", self.at / "r.json")
        self.refuse_reuse(2, ["--save-binding .* would overwrite --reuse"], bar, "--save-binding", kept)
        self.refuse(3, ["no folder"], bar, "--save-binding", self.at / "none/kept.binding")
        self.assertEqual((bar.read_bytes(), kept.read_bytes()), before)

    def test_a_failed_bind_saves_no_binding(self):
        bar = self.bar()
        bad = self.at / "bad.glb"
        bad.write_bytes(bar.read_bytes()[:500])
        self.refuse(3, ["bad.glb"], bad, "--save-binding", self.at / "kept.binding")


if __name__ == "__main__":
    support.main()
