"""Tests of the command line on small inputs (docs/conventions.md, docs/report.md).

cli.py [CLASS…]; the program under test is named by SINEW, the generator of characters by SINEW_CHARACTERS."""
import json
import os
import re
import struct
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import glb
import make
import support

FAST = ("--resolution", "64")
VOXEL_METHODS = ("surface-heat", "geodesic-voxel", "voxel-heat", "bounded-biharmonic", "pixel-geodesic")


class Case(unittest.TestCase):
    """A test case with its own folder, `self.at`."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sinew-cli-")
        self.addCleanup(folder.cleanup)
        self.at = Path(folder.name)

    def bar(self, **options):
        return make.glb(self.at / "bar.glb", **options)

    def bind(self, source, *options, code=0, out="out.glb", speed=FAST):
        """Binds and expects an exit code; returns the finished process."""
        if "--method" in options and options[options.index("--method") + 1] not in VOXEL_METHODS:
            speed = ()  # the method has no resolution
        done = support.sinew("bind", source, "-o", self.at / out, *speed, *options)
        self.assertEqual(done.returncode, code, f"sinew bind {source} {options}\n{done.stdout}{done.stderr}")
        return done

    def refuse(self, code, words, source, *options, out="out.glb", **kwargs):
        """Expects a failure with a message that has all the words, and that nothing was written."""
        before = sorted(os.listdir(self.at))
        done = self.bind(source, *options, code=code, out=out, **kwargs)
        self.assertEqual(sorted(os.listdir(self.at)), before, "a failed bind left or removed files")
        for word in words:
            self.assertRegex(done.stderr, re.compile(word, re.MULTILINE))
        self.assertEqual(done.stdout, "")
        self.assertLess(len(done.stderr.splitlines()), 12, "an error is a few lines, not a flood")
        return done

    def report(self, source, *options, **kwargs):
        path = self.at / "report.json"
        self.bind(source, "--report", path, *options, **kwargs)
        return json.loads(path.read_text())

    def weights(self, name="out.glb"):
        """Joint → weight by joint name, one dict per vertex of the first primitive."""
        doc = glb.Doc(self.at / name)
        node = next(n for n in doc.json["nodes"] if "skin" in n)
        names = [doc.json["nodes"][j]["name"] for j in doc.json["skins"][node["skin"]]["joints"]]
        joints, weights, _ = glb.weight_rows(doc, doc.json["meshes"][node["mesh"]]["primitives"][0])
        return [{names[j]: float(w) for j, w in zip(*row) if w} for row in zip(joints, weights)]

    def sound(self, name="out.glb", **kwargs):
        self.assertEqual(glb.weight_problems(glb.Doc(self.at / name), **kwargs), [])


class Usage(Case):
    def test_version(self):
        done = support.sinew("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout.strip(), r"^sinew \d+\.\d+\.\d+")

    def test_help_teaches_by_example(self):
        for args in (["--help"], ["bind", "--help"]):
            done = support.sinew(*args)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stdout, r"sinew bind \S+\.glb -o \S+\.glb")
            self.assertEqual(done.stderr, "")

    def test_the_program_without_a_command_prints_its_help(self):
        done = support.sinew()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"(?m)^  bind +Computes skin weights for a character and writes it back\.$")
        self.assertEqual(done.stderr, support.sinew("--help").stdout)

    def test_one_file_too_many(self):
        done = support.sinew("bind", "a.glb", "b.glb", "-o", "c.glb")
        self.assertEqual(done.returncode, 2)
        self.assertIn("takes no further file or word: b.glb (sinew batch binds many characters)", done.stderr)
        self.assertIn("it is a folder (name a file in it)", support.sinew("bind", self.at, "-o", self.at / "c.glb").stderr)

    def test_every_option_is_in_the_help(self):
        text = support.sinew("bind", "--help-advanced").stdout
        for option in """--output --skeleton --resolution --penalty --overshoot --falloff --lambda-min --lambda-max
            --falloff-law --max-influences --limit-rule --winding-numbers --voxelizer --heat --domain --deform-from --exclude --include
            --method --as-published --weight-format --weights-json --report --intersections --require-coverage --threads
            --memory-limit --json
            --quiet""".split():
            self.assertRegex(text, re.escape(option) + r"\b", option)

    def test_bad_usage(self):
        source = self.bar()
        for options, words in {
            ("--resolution", "100"): ["resolution", "power of two|32"],
            ("--resolution", "16"): ["resolution", "32"],
            ("--resolution", "many"): ["resolution"],
            ("--penalty", "0.5"): ["penalty", "1"],
            ("--penalty", "nan"): ["penalty"],
            ("--falloff", "1.5"): ["falloff", "1"],
            ("--falloff-law", "cubic"): ["--falloff-law cubic: choose inverse-power, .* or power "],
            ("--falloff-law", "linear"): ["surface-heat", "power", "geodesic-voxel"],
            ("--method", "geodesic-voxel", "--falloff-law", "power"): ["power", "distances"],
            ("--power", "0"): ["power", "0"],
            ("--lambda-min", "0"): ["lambda"],
            ("--lambda-min", "40"): ["lambda"],
            ("--max-influences", "9"): ["max-influences", "8"],
            ("--max-influences", "0"): ["max-influences"],
            ("--method", "foo"): ["--method foo: choose surface-heat, .* or [a-z-]+ \\("],
            ("--as-published",): ["method surface-heat does not read --as-published: .*geodesic-voxel"],
            ("--method", "geodesic-voxel", "--as-published", "--overshoot", "0.5"): ["as-published: .*overshoot"],
            ("--method", "geodesic-voxel", "--as-published", "--local-resolution"): ["as-published: .*local-resolution"],
            ("--method", "voxel-heat", "--domain", "sparse-boundary"): ["sparse-boundary is for geodesic-voxel"],
            ("--limit-rule", "chop"): ["--limit-rule chop: choose fade or cut \\("],
            ("--winding-numbers", "maybe"): ["--winding-numbers maybe: choose on or off \\("],
            ("--domain", "0"): ["--domain 0: choose sparse, uniform or sparse-boundary \\("],
            ("--deform-from", "guess"): ["--deform-from guess: choose auto, skin, names or all \\("],
            ("--weight-format", "f16"): ["--weight-format f16: choose f32, u16 or u8"],
            ("--memory-limit", "-1"): ["memory-limit", "4294967296"],
            ("--memory-limit", "4294967297"): ["memory-limit", "4294967296"],
            ("--memory-limit", "99999999999999999999"): ["memory-limit"],
            ("--require-coverage", "2"): ["require-coverage", "1"],
            ("--threads", "-1"): ["threads"],
            ("--no-such-option",): ["no-such-option"],
        }.items():
            with self.subTest(options=options):
                self.refuse(2, words, source, *options, speed=())

    def test_incomplete_commands_are_errors(self):
        for args in ([], ["bind"], ["bind", self.bar()], ["paint"]):
            with self.subTest(args=args):
                done = support.sinew(*args)
                self.assertEqual(done.returncode, 2)
                self.assertTrue(done.stderr)

    def test_an_unknown_command_is_named(self):
        done = support.sinew("bnd", self.bar(), "-o", self.at / "out.glb")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"no command 'bnd' \(did you mean 'bind'\?\)")

    def test_the_output_may_be_the_input(self):
        # The output replaces the input by a rename, so it is complete or unchanged.
        source = self.bar()
        self.bind(source, out="bar.glb")
        self.sound("bar.glb")


class BadInput(Case):
    def test_missing_file(self):
        self.refuse(3, ["nothing.glb"], self.at / "nothing.glb")

    def test_a_folder(self):
        (self.at / "folder.glb").mkdir()
        self.refuse(3, ["folder.glb"], self.at / "folder.glb")

    def test_not_a_model(self):
        for name, data in (("empty.glb", b""), ("text.glb", b"hello"), ("png.glb", b"\x89PNG\r\n\x1a\n" + bytes(64))):
            (self.at / name).write_bytes(data)
            self.refuse(3, [name], self.at / name)

    def test_truncated(self):
        data = self.bar().read_bytes()
        path = self.at / "cut.glb"
        for size in (4, 11, 12, 19, 20, 100, len(data) // 2, len(data) - 4, len(data) - 1):
            path.write_bytes(data[:size])
            with self.subTest(size=size):
                self.refuse(3, ["cut.glb"], path)

    def test_broken_documents(self):
        def accessor(i, **change):
            return lambda d: d["accessors"][i].update(change)

        def view(i, **change):
            return lambda d: d["bufferViews"][i].update(change)

        for name, (edit, words) in {
            "index past the end": (accessor(1, count=100000), ["accessor"]),
            "view past the end": (view(0, byteLength=10**9), ["[vV]iew|accessor"]),
            "no such view": (accessor(0, bufferView=99), ["accessor|[vV]iew"]),
            "no such accessor": (
                lambda d: d["meshes"][0]["primitives"][0]["attributes"].update(POSITION=77),
                ["accessor|POSITION"],
            ),
            "unknown component type": (accessor(0, componentType=5124), ["componentType|component type"]),
            "negative count": (accessor(0, count=-3), ["count|accessor"]),
            "huge count": (accessor(0, count=2**40), ["count|accessor|view"]),
            "joint is no node": (lambda d: d["skins"][0].update(joints=[1, 55]), ["joint|node"]),
            "no joints": (lambda d: d["skins"][0].update(joints=[]), ["joint"]),
            "cycle of nodes": (lambda d: d["nodes"][2].update(children=[1]), ["cycle|node"]),
            "required extension": (
                lambda d: d.update(extensionsUsed=["ACME_secret"], extensionsRequired=["ACME_secret"]),
                ["ACME_secret"],
            ),
            "glTF 1": (lambda d: d["asset"].update(version="1.0"), ["version|1.0"]),
            "no meshes": (lambda d: (d.pop("meshes"), d["nodes"][0].pop("mesh")), ["mesh|triangle"]),
            "meshes of the wrong type": (lambda d: d.update(meshes={"a": 1}), ["meshes"]),
        }.items():
            with self.subTest(name):
                self.refuse(3, ["bar.glb", *words], self.bar(edit=edit))

    def test_not_finite(self):
        for name, value in (("NaN", float("nan")), ("infinite", float("inf"))):
            doc, data = make.document()
            at = 5 * 12
            data = data[:at] + struct.pack("<f", value) + data[at + 4 :]
            path = make.gltf(self.at / "bar.gltf")
            path.with_suffix(".bin").write_bytes(data)
            with self.subTest(name):
                self.refuse(3, ["vertex 5\\b", "finite"], path)

    def test_missing_buffer(self):
        path = make.gltf(self.at / "bar.gltf")
        path.with_suffix(".bin").unlink()
        self.refuse(3, ["bar.bin"], path)

    def test_no_skeleton(self):
        self.refuse(2, ["skeleton"], make.obj(self.at / "bar.obj"))
        self.refuse(3, ["lost.json"], self.at / "bar.obj", "--skeleton", self.at / "lost.json")

    def test_bad_skeletons(self):
        source = make.obj(self.at / "bar.obj")
        bone = {"name": "a", "parent": -1, "head": [0, 0, 0], "tail": [0, 1, 0]}
        for name, (bones, words) in {
            "none": ([], ["bone|joint"]),
            "parent out of range": ([{**bone, "parent": 7}], ["parent", "a"]),
            "cycle": ([{**bone, "parent": 1}, {**bone, "name": "b", "parent": 0}], ["cycle"]),
            "short head": ([{**bone, "head": [0, 0]}], ["head"]),
            "no head": ([{k: v for k, v in bone.items() if k != "head"}], ["head"]),
        }.items():
            path = self.at / "bad.json"
            path.write_text(json.dumps({"bones": bones}))
            with self.subTest(name):
                self.refuse(3, ["bad.json", *words], source, "--skeleton", path)
        path = self.at / "bad.tgf"
        for text in ("", "1 0 0\n#\n", "1 0 0 0\n2 0 1 0\n#\n1 9\n", "1 0 0 zero\n#\n"):
            path.write_text(text)
            with self.subTest(text):
                self.refuse(3, ["bad.tgf"], source, "--skeleton", path)


class Output(Case):
    def test_an_existing_output_survives_a_failure(self):
        out = self.at / "out.glb"
        out.write_bytes(b"precious")
        self.refuse(3, [], self.at / "nothing.glb")
        self.assertEqual(out.read_bytes(), b"precious")

    def test_no_other_files_appear(self):
        source = self.bar()
        self.bind(source)
        self.assertEqual(sorted(os.listdir(self.at)), ["bar.glb", "out.glb"])

    def test_a_folder_that_does_not_exist(self):
        done = support.sinew("bind", self.bar(), "-o", self.at / "no/such/out.glb", *FAST)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("no/such", done.stderr)

    def test_a_report_that_cannot_be_written_is_a_failure(self):
        done = support.sinew("bind", self.bar(), "-o", self.at / "out.glb", "--report", self.at / "no/r.json", *FAST)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("no/r.json", done.stderr)
        self.assertFalse((self.at / "out.glb").exists())

    def test_outputs_overwrite_nothing_else(self):
        model, skeleton = make.gltf(self.at / "bar.gltf"), make.skeleton_json(self.at / "s.json")
        (self.at / "link").symlink_to(self.at)
        kept = {f: f.read_bytes() for f in (model, skeleton, model.with_suffix(".bin"))}
        for options, words in (
            (["--report", f"{self.at}/./out.glb"], ["--report", "--output"]),
            (["--report", self.at / "link/out.glb"], ["--report", "--output"]),
            (["--weights-json", f"{self.at}/link/../{self.at.name}/out.glb"], ["--weights-json", "--output"]),
            (["--report", self.at / "x", "--weights-json", f"{self.at}//x"], ["--report", "--weights-json"]),
            (["--report", model], ["--report", "the input"]),
            (["--report", self.at / "link/bar.bin"], ["--report", "refers to"]),
            (["--weights-json", skeleton, "--skeleton", skeleton], ["--weights-json", "--skeleton"]),
        ):
            with self.subTest(options=options):
                self.refuse(2, [*words, "would overwrite"], model, *options)
        self.assertEqual(kept, {f: f.read_bytes() for f in kept})
        self.bind(model, "--report", "/dev/null", "--weights-json", "/dev/null")

    def test_all_files_or_none(self):
        # /proc refuses new files when they are created; /dev/full refuses data when it is written.
        (self.at / "in").mkdir()
        model = make.gltf(self.at / "in/bar.gltf")
        for option in ("--report", "--weights-json"):
            for place in ("/proc/x.json", "/dev/full"):
                with self.subTest(option=option, place=place):
                    self.refuse(3, [place], model, option, place, out="out.gltf")
        report, weights = self.at / "r.json", self.at / "w.json"
        self.bind(model, "--report", report, "--weights-json", weights, out="out.gltf")
        self.assertEqual(sorted(os.listdir(self.at)), ["bar.bin", "in", "out.gltf", "r.json", "w.json"])

    def test_an_output_name_of_no_model_format_is_refused_before_the_work(self):
        source = self.at / "never read"
        self.refuse(2, ["out.dae", ".glb, .vrm, .gltf or .fbx"], source, out="out.dae")
        done = support.sinew("apply", source, "--weights", source, "-o", self.at / "out.obj")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("out.obj", done.stderr)

    def test_standard_output_that_is_full(self):
        for options in (["--json"], []):
            with self.subTest(options), open("/dev/full", "w") as full:
                args = [support.SINEW, "bind", self.bar(), "-o", self.at / "out.glb", *FAST, *options]
                done = subprocess.run(args, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn("standard output", done.stderr)

    def test_plain_lines_in_a_pipe(self):
        done = self.bind(self.bar())
        for stream in (done.stdout, done.stderr):
            self.assertNotRegex(stream, "[\r\x1b]")
        self.assertIn("out.glb", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_quiet(self):
        done = self.bind(self.bar(), "--quiet")
        self.assertEqual(done.stdout + done.stderr, "")

    def test_json(self):
        done = self.bind(self.bar(), "--json")
        self.assertEqual(json.loads(done.stdout)["counts"]["vertices"], make.RINGS * make.SIDES)
        self.assertEqual(done.stderr, "")

    def test_surgery(self):
        for skin in (True, False):
            source = self.bar(skin=skin)
            self.bind(source)
            self.sound()
            problems = glb.surgery_problems(glb.Doc(source), glb.Doc(self.at / "out.glb"), new_skin=not skin)
            self.assertEqual(problems, [])

    def test_text_gltf(self):
        source = make.gltf(self.at / "bar.gltf")
        self.bind(source, out="out.gltf")
        self.sound("out.gltf")
        self.assertEqual(glb.surgery_problems(glb.Doc(source), glb.Doc(self.at / "out.gltf")), [])

    def test_weights_json(self):
        path = self.at / "weights.json"
        self.bind(self.bar(), "--weights-json", path)
        data = json.loads(path.read_text())
        self.assertEqual(data["sinew"], "weights")
        rows = [{data["joints"][j]: w for j, w in row} for row in data["vertices"]]
        for ours, theirs in zip(rows, self.weights(), strict=True):
            self.assertEqual(ours.keys(), theirs.keys())
            for name in ours:
                self.assertAlmostEqual(ours[name], theirs[name], delta=1e-6)

    def apply(self, source, weights, code):
        before = sorted(os.listdir(self.at))
        done = support.sinew("apply", source, "--weights", weights, "-o", self.at / "applied.glb")
        self.assertEqual(done.returncode, code, done.stderr)
        if code:
            self.assertEqual(sorted(os.listdir(self.at)), before, "a failed apply left or removed files")
        return done.stderr

    def test_apply(self):
        path = self.at / "weights.json"
        self.bind(self.bar(), "--weights-json", path)
        self.apply(self.at / "bar.glb", path, 0)
        self.assertEqual(self.weights("applied.glb"), self.weights())
        os.remove(self.at / "applied.glb")
        data = json.loads(path.read_text())
        data["vertices"][7] = []
        path.write_text(json.dumps(data))
        self.assertRegex(self.apply(self.at / "bar.glb", path, 3), r"weights\.json: vertex 7 has no weights")

    def test_apply_to_two_skins(self):
        source, path = make.two_skins(self.at / "two.glb"), self.at / "weights.json"
        self.bind(source, "--deform-from", "all", "--weights-json", path)
        data = json.loads(path.read_text())
        second = len(data["vertices"]) // 2
        (row,) = {json.dumps([[j, 1]]) for j, name in enumerate(data["joints"]) if name == "lower"}
        data["vertices"][second + 3] = json.loads(row)
        path.write_text(json.dumps(data))
        self.assertRegex(
            self.apply(source, path, 3), rf"weights\.json: vertex {second + 3} .*'lower'.* not in the vertex's skin"
        )


class Oracle(Case):
    """Tests of the checks themselves: they detect wrong files."""

    def test_surgery(self):
        before = glb.Doc(self.bar())
        for name, edit in {
            "renamed node": lambda d: d["nodes"][1].update(name="x"),
            "renumbered nodes": lambda d: d["nodes"].reverse(),
            "new key": lambda d: d.update(animations=[]),
            "extras": lambda d: d["extras"]["kept"].pop(),
            "spelling": lambda d: d["extras"]["kept"].insert(0, d["extras"]["kept"].pop(0) + 1e-15),
            "generator": lambda d: d["asset"].update(generator="sinew"),
            "material": lambda d: d["meshes"][0]["primitives"][0].update(material=0),
            "accessor": lambda d: d["accessors"][0].update(name="p"),
            "attribute": lambda d: d["meshes"][0]["primitives"][0]["attributes"].update(NORMAL=0),
        }.items():
            with self.subTest(name):
                self.assertEqual(len(glb.surgery_problems(before, glb.Doc(self.bar(edit=edit)))), 1)
        for at, changed in ((100, True), (-12, False)):  # a position; a weight, which is at the end of the file
            data = bytearray(self.bar().read_bytes())
            at = at if at < 0 else len(data) - len(before.buffers[0]) + at
            data[at] ^= 1
            path = self.at / "changed.glb"
            path.write_bytes(data)
            self.assertEqual(bool(glb.surgery_problems(before, glb.Doc(path))), changed)

    def test_weights(self):
        doc = glb.Doc(self.bar())
        self.assertEqual(glb.weight_problems(doc), [])
        for attribute, row in (
            ("WEIGHTS_0", (0.5, 0.49, 0, 0)),
            ("WEIGHTS_0", (0.4, 0.6, 0, 0)),
            ("WEIGHTS_0", (1.5, -0.5, 0, 0)),
            ("WEIGHTS_0", (float("nan"), 1, 0, 0)),
            ("WEIGHTS_0", (1, 0, 0, 0)),  # leaves joint 1 in an unused slot
            ("JOINTS_0", (0, 0, 0, 0)),
            ("JOINTS_0", (0, 2, 0, 0)),
        ):
            with self.subTest(f"{attribute} {row}"):
                doc = glb.Doc(self.at / "bar.glb")
                accessor = doc.json["meshes"][0]["primitives"][0]["attributes"][attribute]
                view, first, step, size, _ = doc.element_ranges(accessor)
                start = doc.json["bufferViews"][view]["byteOffset"] + first + 7 * step
                raw = struct.pack("<4f" if size == 16 else "<4B", *row)
                doc.buffers[0] = doc.buffers[0][:start] + raw + doc.buffers[0][start + size :]
                self.assertTrue(glb.weight_problems(doc))
        self.assertTrue(glb.weight_problems(glb.Doc(self.bar(skin=False))))


class Report(Case):
    def test_keys_are_documented_both_ways(self):
        text = (support.ROOT / "docs/report.md").read_text()
        documented = support.documented_keys(text)
        report = self.report(self.bar(), "--intersections")
        real = {re.sub(r"^seconds\.(?!total$).*", "seconds.*", k) for k in support.keys(report, "")}
        self.assertEqual(real - documented, set(), "in the report, not in docs/report.md")
        self.assertEqual(documented - real, set(), "in docs/report.md, not in the report")

    def test_numbers(self):
        report = self.report(self.bar())
        vertices = make.RINGS * make.SIDES
        counts = report["counts"]
        self.assertEqual((counts["meshes"], counts["primitives"], counts["parts"]), (1, 1, 1))
        self.assertEqual((counts["vertices"], counts["triangles"]), (vertices, len(make.bar()[1])))
        self.assertEqual((counts["joints"], counts["deforming_joints"], counts["bones"]), (2, 2, 2))
        self.assertEqual(set(report["defects"].values()), {0})
        voxels = report["voxels"]
        self.assertEqual(voxels["boundary"] + voxels["interior"] + voxels["exterior"], 64**3)
        self.assertEqual((voxels["components"], voxels["bridged_components"]), (1, 0))
        coverage = report["coverage"]
        self.assertEqual((coverage["share"], coverage["weighted"]), (1, vertices))
        self.assertEqual(report["snapped_joints"], [])
        self.assertEqual(report["options"]["resolution"], 64)
        self.assertGreater(report["peak_memory_bytes"], 1 << 20)
        self.assertGreaterEqual(report["seconds"].pop("total") + 0.05, sum(report["seconds"].values()))

    def test_intersections(self):
        """Intersections are counted on request: two bars through each other."""
        positions, triangles = make.bar()[:2]
        lines = [f"v {x} {y} {z}" for x, y, z in positions]
        # The second lies across the first, at half of its height.
        lines += [f"v {y - 1.03} {x + 1.01} {z + 0.02}" for x, y, z in positions]
        n = len(positions)
        lines += [f"f {a + k} {b + k} {c + k}" for k in (1, n + 1) for a, b, c in triangles]
        source = self.at / "cross.obj"
        source.write_text("\n".join(lines))
        skeleton = self.at / "cross.json"
        skeleton.write_text(json.dumps({"bones": [{"name": "a", "head": [0, 0.1, 0], "tail": [0, 1.9, 0]}]}))
        options = ("--skeleton", skeleton)
        plain = self.report(source, *options)["defects"]
        self.assertNotIn("intersecting_triangles", plain)
        self.assertNotIn("nonmanifold_vertices", plain)
        report = self.report(source, *options, "--intersections")
        self.assertGreater(report["defects"]["intersecting_triangles"], 8)
        self.assertLess(report["defects"]["intersecting_triangles"], len(triangles))
        self.assertIn("intersections", report["seconds"])
        done = self.bind(source, *options, "--intersections")
        self.assertRegex(done.stdout, rf"mesh .*{report['defects']['intersecting_triangles']} intersecting triangles")
        self.assertEqual(report["defects"]["nonmanifold_vertices"], 0)
        self.assertEqual(self.report(self.bar(), "--intersections")["defects"]["intersecting_triangles"], 0)
        # Two triangles that meet at one corner.
        source.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv -1 0 0\nv -1 1 0\nf 1 2 3\nf 1 4 5\n")
        self.assertEqual(self.report(source, *options, "--intersections")["defects"]["nonmanifold_vertices"], 1)
        self.refuse(2, ["--intersections", "--report"], self.bar(), "--intersections", "--quiet")

    def test_coverage_gate(self):
        # The joint of the second skin is excluded, so the method reaches none of that skin's vertices.
        source, options = make.two_skins(self.at / "two.glb"), ("--deform-from", "all", "--exclude", "other")
        self.bind(source, *options[:2])
        report = self.report(source, *options, code=1)
        vertices = make.RINGS * make.SIDES
        coverage = report["coverage"]
        self.assertEqual((coverage["share"], coverage["weighted"], coverage["euclidean"]), (0.5, vertices, vertices))
        self.sound()
        done = self.bind(source, *options, code=1)
        self.assertRegex(done.stderr, rf"^sinew: {vertices} vertices were not reached by the method.* 0\.5")
        self.bind(source, *options, "--require-coverage", "0.5")

    def test_unused_vertices_are_not_counted(self):
        def edit(doc):
            # Removes both caps, which come last, and the triangles of the last ring.
            doc["accessors"][1]["count"] -= 3 * (2 * (make.SIDES - 2) + 2 * make.SIDES)

        coverage = self.report(self.bar(edit=edit))["coverage"]
        self.assertEqual(coverage["unused"], make.SIDES)
        self.assertEqual((coverage["share"], coverage["euclidean"], coverage["none"]), (1, 0, 0))

    def test_json_is_the_report(self):
        done = self.bind(self.bar(), "--json", "--report", self.at / "r.json")
        a, b = json.loads(done.stdout), json.loads((self.at / "r.json").read_text())
        for report in (a, b):
            del report["seconds"], report["peak_memory_bytes"]
        self.assertEqual(a, b)


class Options(Case):
    def test_weights_are_where_the_bones_are(self):
        self.bind(self.bar())
        for (_, y, _), row in zip(make.bar()[0], self.weights(), strict=True):
            if abs(y - 1) > 0.4:
                self.assertGreater(row["upper" if y > 1 else "lower"], 0.9, f"y = {y}: {row}")

    def test_formats(self):
        for name in ("f32", "u16", "u8"):
            with self.subTest(name):
                self.bind(self.bar(), "--weight-format", name)
                self.sound(weight_format=name)

    def test_influence_limits(self):
        joints = [(f"j{i}", i - 1, (0, 0.05 + 0.2 * i, 0)) for i in range(10)]
        source = self.bar(joints=joints)
        for limit, sets in (("1", 1), ("4", 1), ("5", 2), ("8", 2), ("all", 3)):
            with self.subTest(limit):
                self.bind(source, "--max-influences", limit, "--deform-from", "all", "--learned", "0")
                self.sound(max_influences=0 if limit == "all" else int(limit))
                self.assertEqual(max(len(row) for row in self.weights()), len(joints) if limit == "all" else int(limit))
                (mesh,) = glb.Doc(self.at / "out.glb").json["meshes"]
                got = [n for n in mesh["primitives"][0]["attributes"] if n.startswith("WEIGHTS_")]
                self.assertEqual(len(got), sets)

    def test_options_have_an_effect(self):
        """Each option changes the weights or the voxels."""
        joints = [(f"j{i}", i - 1, (0, 0.05 + 0.2 * i, 0)) for i in range(10)]
        source = self.bar(joints=joints)
        base = ("--deform-from", "all", "--method", "geodesic-voxel")
        self.bind(source, *base)
        plain = self.weights()
        for option, value in {
            "--penalty": "1",
            "--overshoot": "0",
            "--falloff": "0.6",
            "--lambda-min": "2",
            "--lambda-max": "90",
            "--falloff-law": "inverse-quadratic",
            "--limit-rule": "cut",
            "--resolution": "128",
        }.items():
            with self.subTest(option):
                report = self.report(source, *base, option, value, speed=FAST * (option != FAST[0]))
                got = report["options"][option[2:].replace("-", "_")]
                self.assertEqual(str(got).removesuffix(".0"), value)
                self.assertNotEqual(self.weights(), plain)
        self.bind(source, "--deform-from", "all")
        plain = self.weights()
        for option, value in {"--falloff": "0.6", "--lambda-min": "2", "--power": "2", "--heat-transfer": "1"}.items():
            with self.subTest(option + " of heat"):
                self.bind(source, "--deform-from", "all", option, value)
                self.assertNotEqual(self.weights(), plain)
        caped = self.at / "caped.glb"
        self.assertEqual(support.run(support.CHARACTERS, "caped", caped).returncode, 0)
        plain = self.report(caped)["voxels"]
        uniform, vote = self.report(caped, "--domain", "uniform"), self.report(caped, "--winding-numbers", "off")
        self.assertEqual(uniform["options"]["domain"], "uniform")
        self.assertGreater(uniform["voxels"]["leaves"], plain["leaves"])
        self.assertFalse(vote["options"]["winding_numbers"])
        self.assertLess(vote["voxels"]["ambiguous_inside"], plain["ambiguous_inside"])
        self.assertEqual(self.report(source, "--threads", "2")["options"]["threads"], 2)

    def test_memory_limit(self):
        self.refuse(3, ["512", "limit of 1 MB"], self.bar(), "--memory-limit", "1", "--resolution", "512", speed=())
        self.bind(self.bar(), "--memory-limit", "4000")

    def test_automatic_resolution(self):
        report = self.report(self.bar(), "--resolution", "auto", speed=())
        options = report["options"]
        self.assertIn(options["resolution"], (64, 128))
        self.assertIn("thick", options["resolution_reason"])
        self.assertIn("resolution", report["seconds"])
        self.assertEqual(self.report(self.bar())["options"]["resolution_reason"], "")
        self.refuse(2, ["pixel-geodesic", "--resolution auto"], self.bar(), "--method", "pixel-geodesic", "--resolution", "auto",
                    speed=())

    def test_local_resolution(self):
        biped = self.at / "biped.glb"
        self.assertEqual(support.run(support.CHARACTERS, "biped", biped).returncode, 0)
        hands = self.report(biped, "--resolution", "64", "--local-resolution", speed=())
        self.assertTrue(hands["options"]["local_resolution"])
        self.assertEqual(hands["options"]["resolution"], 64)
        self.assertRegex(hands["options"]["resolution_reason"], r"^128 for about \d+ % of the surface \('.*else 64$")
        plain = self.report(self.bar(), "--resolution", "256", "--local-resolution", speed=())["options"]
        self.assertTrue(plain["local_resolution"])
        self.assertIn("everywhere", plain["resolution_reason"])
        chosen = self.report(biped, "--resolution", "auto", speed=())["options"]
        self.assertTrue(chosen["local_resolution"], chosen["resolution_reason"])
        self.refuse(2, ["local-resolution", "geodesic-voxel"], self.bar(), "--method", "voxel-heat", "--local-resolution")
        self.refuse(2, ["512"], self.bar(), "--resolution", "1024", "--local-resolution", speed=())


class Joints(Case):
    JOINTS = [
        ("root", -1, (0, 0, 0)),
        ("lower", 0, (0, 0.1, 0)),
        ("upper", 1, (0, 1.0, 0)),
        ("ik_target", 0, (0.8, 1.0, 0)),
        ("hand_slot", 2, (0, 1.5, 0)),
    ]

    def used(self):
        return {name for row in self.weights() for name in row}

    def reasons(self, *options):
        report = self.report(self.bar(joints=self.JOINTS), *options)
        self.assertEqual(report["counts"]["joints"], len(self.JOINTS))
        deforming = {j["name"] for j in report["joints"] if j["deforms"]}
        self.assertLessEqual(self.used(), deforming)
        self.assertEqual(report["counts"]["deforming_joints"], len(deforming))
        return {j["name"]: (j["deforms"], j["reason"]) for j in report["joints"]}

    def test_names(self):
        reasons = self.reasons("--deform-from", "names")
        self.assertEqual(reasons["ik_target"], (False, "control_name"))
        self.assertEqual(reasons["hand_slot"], (False, "slot_name"))
        self.assertTrue(reasons["lower"][0] and reasons["upper"][0])

    def test_skin(self):
        # make.glb gives weight to the first two joints only.
        reasons = self.reasons("--deform-from", "skin")
        self.assertEqual({n for n, (deforms, _) in reasons.items() if deforms}, {"root", "lower"})
        self.assertEqual(reasons["upper"][1], "unused_by_skin")

    def test_all(self):
        self.assertEqual({d for d, _ in self.reasons("--deform-from", "all").values()}, {True})

    def test_globs(self):
        reasons = self.reasons("--deform-from", "all", "--exclude", "*_*", "--include", "hand_*")
        self.assertEqual(reasons["ik_target"], (False, "excluded"))
        self.assertEqual(reasons["hand_slot"], (True, "included"))

    def test_excluding_every_joint_is_an_error(self):
        self.refuse(2, ["joint"], self.bar(), "--exclude", "*")


class Threads(Case):
    """The output is the same on one thread and on two."""

    def test_same_bytes(self):
        sources = [self.bar()]
        if Path(support.CHARACTERS).exists():
            sources.append(self.at / "caped.glb")
            self.assertEqual(support.run(support.CHARACTERS, "caped", sources[-1]).returncode, 0)
        for source in sources:
            with self.subTest(source.name):
                outs = []
                for i, threads in enumerate(("1", "2", "2", "5")):
                    self.bind(source, "--threads", threads, out=f"{i}.glb")
                    outs.append((self.at / f"{i}.glb").read_bytes())
                self.assertEqual(len(set(outs)), 1)


class Vectors(Case):
    """The output is the same with any vector instructions (SINEW_VECTORS, docs/performance.md)."""

    def test_same_bytes(self):
        source = self.bar()
        if Path(support.CHARACTERS).exists():
            source = self.at / "caped.glb"
            self.assertEqual(support.run(support.CHARACTERS, "caped", source).returncode, 0)
        for options in (["--method", "geodesic-voxel"], ["--method", "surface-heat"],
                        ["--method", "closest-distance", "--max-influences", "all"]):
            with self.subTest(" ".join(options)):
                outs = []
                for vectors in ("none", "avx2", "avx512"):
                    out = self.at / f"{vectors}.glb"
                    done = support.run(support.SINEW, "bind", source, "-o", out, *options,
                                       env={**os.environ, "SINEW_VECTORS": vectors})
                    self.assertEqual(done.returncode, 0, done.stderr)
                    outs.append(out.read_bytes())
                self.assertEqual(len(set(outs)), 1)


class DefectsCase(Case):
    """Generated characters bind completely, or are refused with the stated error."""

    # Errors of the file reader. The generator's list has those of the library, which checks later.
    REFUSED = {
        "nan": r"mesh '\w+' primitive 0 vertex \d+: its position is not finite",
        "infinite": r"mesh '\w+' primitive 0 vertex \d+: its position is not finite",
        "empty": r"there is no mesh to bind",
        "bad_index": r"mesh '\w+' primitive 0: index \d+ is \d+, but there are \d+ vertices",
    }

    def bind_all(self, beginning):
        """Binds the characters whose names begin so."""
        listing = support.run(support.CHARACTERS, "--list")
        self.assertEqual(listing.returncode, 0, listing.stderr)
        lines = [line for line in listing.stdout.splitlines() if line.startswith(beginning)]
        self.assertGreater(len(lines), 10)
        made = support.run(support.CHARACTERS, "--all", self.at)
        self.assertEqual(made.returncode, 0, made.stderr)
        with ThreadPoolExecutor(2) as pool:
            for line, problems in zip(lines, pool.map(self.problems, range(len(lines)), lines)):
                with self.subTest(line):
                    self.assertEqual(problems, [])

    def problems(self, number, line):
        source = self.at / f"{line.split()[0]}.glb"
        out, report = (self.at / f"{number}.{n}" for n in ("out.glb", "json"))
        done = support.sinew("bind", source, "-o", out, "--report", report, *FAST)
        if "must be refused" in line:
            words = f"^sinew: error: {re.escape(str(source))}: {self.REFUSED[line.split()[0].split('+')[1]]}"
            if done.returncode != 3 or not re.search(words, done.stderr):
                return [f"exit {done.returncode} instead of 3 with {words}: {done.stderr}"]
            return ["a refused character left an output"] if out.exists() else []
        if done.returncode != 0:
            return [f"exit {done.returncode}: {done.stderr}"]
        coverage = json.loads(report.read_text())["coverage"]
        return [f"coverage {coverage}"] * (coverage["share"] != 1 or coverage["none"] != 0) + glb.weight_problems(
            glb.Doc(out)
        )


class Defects(DefectsCase):
    def test_every_character_with_every_defect(self):
        self.bind_all("")


class DefectsOfOne(DefectsCase):
    """Under the sanitizers: the others run the same code on other shapes."""
    def test_one_character_of_several_parts_with_every_defect(self):
        self.bind_all("caped")


class Skeletons(Case):
    """Tests with the mesh and its skeleton in two files."""
    def check(self, source, skeleton, last):
        report = self.report(source, "--skeleton", skeleton)
        self.assertEqual(report["coverage"]["share"], 1)
        self.sound()
        doc = glb.Doc(self.at / "out.glb")
        (mesh,) = doc.json["meshes"]
        at = doc.accessor(mesh["primitives"][0]["attributes"]["POSITION"])
        for (_, y, _), row in zip(at, self.weights(), strict=True):
            if y > 1.4:
                self.assertGreater(sum(row.get(n, 0) for n in last), 0.9, f"y = {y}: {row}")
        messages = support.validate([self.at / "out.glb"])
        if messages is None:
            print("skipped: gltf-validator is not installed")
        else:
            found = messages[str(self.at / "out.glb")]
            self.assertEqual({k for k in found if k.startswith(("error", "warning"))}, set())

    def test_obj_and_json(self):
        self.check(make.obj(self.at / "bar.obj"), make.skeleton_json(self.at / "s.json"), ["upper"])

    def test_obj_and_tgf(self):
        source, skeleton = make.obj(self.at / "bar.obj"), make.tgf(self.at / "s.tgf")
        report = self.report(source, "--skeleton", skeleton)
        names = [j["name"] for j in report["joints"]]
        # Two edges are two bones. The last vertex is the end of a bone and has none.
        self.assertEqual(names, ["joint_1", "joint_2", "joint_3"])
        self.assertEqual([j["reason"] for j in report["joints"]], ["deforms", "deforms", "excluded"])
        self.assertEqual(report["counts"]["bones"], 2)
        self.check(source, skeleton, names[1:2])
        report = self.report(source, "--skeleton", skeleton, "--include", "joint_3")
        self.assertEqual(report["counts"]["bones"], 3)

    def test_static_glb_and_json(self):
        # A mesh without any other node.
        def mesh_only(doc):
            doc["nodes"] = doc["nodes"][:1]
            doc["scenes"][0]["nodes"] = [0]

        source = self.bar(skin=False, edit=mesh_only)
        self.check(source, make.skeleton_json(self.at / "s.json"), ["upper"])

    def test_parts_in_files_of_their_own_fit(self):
        """Milcho (2011): a model may be loaded in parts. With stated tails, each part has the weights of the whole."""
        positions, triangles = make.bar()
        skeleton = self.at / "s.json"
        skeleton.write_text(json.dumps({"bones": [
            {"name": "lower", "head": [0, 0.1, 0], "tail": [0, 0.9, 0]},
            {"name": "upper", "parent": "lower", "head": [0, 0.9, 0], "tail": [0, 1.9, 0]},
        ]}))
        for method in ("connectivity", "closest-distance"):
            rows = {}
            for name, low, high in (("whole", 0, 2), ("legs", 0, 1), ("trunk", 1, 2)):
                faces = [t for t in triangles if all(low - 1e-6 < positions[i][1] < high + 1e-6 for i in t)]
                used = sorted({i for t in faces for i in t})
                lines = ["v {} {} {}".format(*positions[i]) for i in used]
                lines += ["f {} {} {}".format(*(1 + used.index(i) for i in t)) for t in faces]
                source = self.at / f"{name}.obj"
                source.write_text("\n".join(lines))
                self.bind(source, "--skeleton", skeleton, "--method", method)
                for i, row in zip(used, self.weights(), strict=True):
                    self.assertEqual(rows.setdefault(i, row), row, f"{method}, {name}, vertex {i}")
            self.assertGreater(sum(len(row) > 1 for row in rows.values()), make.SIDES)

    def test_a_file_with_a_skin_takes_no_other_skeleton(self):
        self.refuse(2, ["skin"], self.bar(), "--skeleton", make.skeleton_json(self.at / "s.json"))


class Pose(Case):
    """sinew pose, against linear blending in numpy."""

    def pose(self, source, *options, code=0, out="posed.obj"):
        done = support.sinew("pose", source, "-o", self.at / out, *options)
        self.assertEqual(done.returncode, code, f"sinew pose {source} {options}\n{done.stdout}{done.stderr}")
        return done

    def joints(self, **joints):
        path = self.at / "pose.json"
        path.write_text(json.dumps({"joints": joints}))
        return path

    def biped(self):
        source = self.at / "biped.glb"
        self.assertEqual(support.run(support.CHARACTERS, "biped", source).returncode, 0)
        self.bind(source, out="bound.glb")
        return self.at / "bound.glb"

    def test_a_pose_equals_numpy(self):
        source = self.biped()
        doc = glb.Doc(source)
        names = {n.get("name"): i for i, n in enumerate(doc.list("nodes"))}
        turns = {"upper_arm_L": (0, 0, 0.5, 0.5), "upper_leg_R": (0.3, 0.1, -0.2, 0.9), "head": (0, 0.6, 0, 0.8)}
        self.assertLessEqual(set(turns), set(names))
        shift = [0.1, 0.2, -0.3]
        pose = {name: {"quaternion": q} for name, q in turns.items()}
        pose["head"]["translate"] = shift
        # Nodes of a generated character have no rotation, so their axes are the scene's.
        moved = {}
        for name, q in turns.items():
            moved[names[name]] = {"rotation": q}
        at = doc.json["nodes"][names["head"]]["translation"]
        moved[names["head"]]["translation"] = [a + b for a, b in zip(at, shift)]
        expected = glb.skinned(doc, moved)
        self.pose(source, "--pose", self.joints(**pose))
        self.assertLess(abs(glb.obj_positions(self.at / "posed.obj") - expected).max(), 1e-5)
        self.assertGreater(abs(glb.skinned(doc) - expected).max(), 0.1)

        # The same as GLB, and as degrees.
        self.pose(source, "--pose", self.joints(**pose), out="posed.glb")
        out = glb.Doc(self.at / "posed.glb")
        self.assertLess(abs(out.accessor(0) - expected).max(), 1e-5)
        self.assertNotIn("skins", out.json)
        self.pose(source, "--pose", self.joints(upper_arm_L={"rotate": [0, 0, 90]}))
        expected = glb.skinned(doc, {names["upper_arm_L"]: {"rotation": (0, 0, 1, 1)}})
        self.assertLess(abs(glb.obj_positions(self.at / "posed.obj") - expected).max(), 1e-5)
        self.pose(source, "--pose", self.joints(upper_arm_L={"rotate": [0, 0, 90]}), "--skinning", "dqs", out="d.obj")
        difference = abs(glb.obj_positions(self.at / "d.obj") - expected).max()
        self.assertTrue(1e-3 < difference < 0.2, difference)

    def test_the_rest_pose_keeps_every_bit(self):
        source = self.biped()
        before = glb.Doc(source)
        node = next(n for n in before.list("nodes") if "skin" in n)
        position = before.json["meshes"][node["mesh"]]["primitives"][0]["attributes"]["POSITION"]
        for skinning in ("lbs", "dqs"):
            self.pose(source, "--pose", self.joints(), "--skinning", skinning, out="rest.glb")
            rest = glb.Doc(self.at / "rest.glb").accessor(0)
            self.assertEqual(rest.tobytes(), before.accessor(position).tobytes())

    def test_errors(self):
        source = self.bar()
        for options, code, words in (
            (["--pose", self.joints(uper={"rotate": [0, 0, 0]})], 3, ["uper", "did you mean 'upper'"]),
            (["--clip", "walk"], 2, ["walk", "no animations"]),
            ([], 2, ["--pose", "--clip"]),
            (["--time", "1"], 2, ["--time requires --clip"]),
            (["--pose", self.at / "none.json"], 3, ["none.json"]),
        ):
            with self.subTest(options=options):
                done = self.pose(source, *options, code=code)
                for word in words:
                    self.assertIn(word, done.stderr)
                self.assertFalse((self.at / "posed.obj").exists())
        self.assertIn(".obj", self.pose(source, "--pose", self.joints(), out="a.fbx", code=2).stderr)
        self.assertIn("another file", self.pose(source, "--pose", self.joints(), out="bar.glb", code=2).stderr)
        unbound = make.glb(self.at / "unbound.glb", skin=False)
        self.assertIn("no weights", self.pose(unbound, "--pose", self.joints(), code=3).stderr)
        scaled = self.joints(upper={"scale": [2, 2, 2]})
        self.assertIn("dual quaternions", self.pose(source, "--pose", scaled, "--skinning", "dqs", code=3).stderr)
        self.pose(source, "--pose", scaled)
        self.assertRegex(support.sinew("pose", "--help").stdout, r"--clip Walk --time 0\.4")

    def test_clips_of_real_characters(self):
        tried = 0
        for name in ("khr_fox", "khr_riggedsimple", "khr_cesiumman", "q_horse"):
            source = next(iter(sorted((support.CORPUS / name).glob("*.gl*"))), None)
            if source is None:
                continue
            doc = glb.Doc(source)
            if not doc.list("animations") or sum("skin" in n for n in doc.list("nodes")) != 1:
                continue
            clip = doc.json["animations"][0]
            end = max(doc.accessor(s["input"]).max() for s in clip["samplers"])
            moved = glb.sampled(doc, 0, 0.4 * end)
            if moved is None:
                continue
            tried += 1
            expected = glb.skinned(doc, moved)
            with self.subTest(name):
                done = self.pose(source, "--clip", "0", "--time", repr(float(0.4 * end)), out=f"{name}.obj")
                self.assertNotIn("clamped", done.stdout)
                got = glb.obj_positions(self.at / f"{name}.obj")
                self.assertEqual(got.shape, expected.shape)
                size = (expected.max(axis=0) - expected.min(axis=0)).max()
                self.assertLess(abs(got - expected).max(), 1e-5 * max(size, 1))
                self.assertIn("clamped", self.pose(source, "--clip", "0", "--time", "1e6").stdout)
                self.assertIn("clips: 0", self.pose(source, "--clip", "no such clip", code=2).stderr)
        if not tried:
            self.skipTest("no corpus with animations (SINEW_CORPUS)")


class Validator(Case):
    """The Khronos validator reports no new messages for written files."""

    def test_no_new_messages(self):
        pairs = []
        sources = [self.bar(), make.gltf(self.at / "text.gltf"), make.glb(self.at / "unskinned.glb", skin=False)]
        for name in ("biped", "quadruped", "robot", "caped"):
            source = self.at / f"{name}.glb"
            self.assertEqual(support.run(support.CHARACTERS, name, source).returncode, 0)
            sources.append(source)
        for source in sources:
            for options in ([], ["--weight-format", "u8", "--max-influences", "8"], ["--weight-format", "u16"]):
                out = f"{len(pairs)}{source.suffix}"
                self.bind(source, *options, out=out)
                pairs.append((str(source), str(self.at / out)))
        messages = support.validate(sorted({f for pair in pairs for f in pair}))
        if messages is None:
            self.skipTest("gltf-validator is not installed")
        for before, after in pairs:
            with self.subTest(after):
                self.assertEqual(support.new_messages(messages[before], messages[after]), {})


if __name__ == "__main__":
    support.main()
