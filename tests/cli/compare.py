"""Tests of sinew compare (docs/quality.md, docs/compare-report.md).

compare.py [CLASS…]; the program under test is named by SINEW, the generator of characters by SINEW_CHARACTERS."""
import base64
import html.parser
import json
import re
import struct
import sys
from pathlib import Path

import numpy as np

import cli
import glb
import make
import support

TOOLS = support.CORPUS.parent / "tools"


class Case(cli.Case):
    def compare(self, a, b, *options, code=0):
        done = support.sinew("compare", a, b, *options)
        self.assertEqual(done.returncode, code, f"sinew compare {a} {b} {options}\n{done.stdout}{done.stderr}")
        return done

    def numbers(self, a, b, *options, **kwargs):
        return json.loads(self.compare(a, b, "--json", *options, **kwargs).stdout)

    def biped(self):
        """A generated person, bound softly and hard."""
        source = self.at / "biped.glb"
        self.assertEqual(support.run(support.CHARACTERS, "biped", source).returncode, 0)
        self.bind(source, out="soft.glb")
        self.bind(source, "--falloff", "0.5", out="hard.glb")
        return self.at / "soft.glb", self.at / "hard.glb"


def without_times(report):
    for key in ("seconds", "peak_memory_bytes"):
        del report[key]
    report["options"].pop("threads")
    return report


class Compare(Case):
    def test_a_file_and_itself(self):
        bar = self.bar()
        done = self.compare(bar, bar)
        self.assertIn("the weights are the same", done.stdout)
        self.assertLess(len(done.stdout.splitlines()), 30)
        report = self.numbers(bar, bar)
        self.assertEqual((report["l1"]["mean"], report["precision"], report["recall"]), (0, 1, 1))
        self.assertEqual((report["limb"], report["worst_vertices"]), (None, []))
        self.assertEqual(report["histogram"][0], make.RINGS * make.SIDES)

    def test_numbers_equal_python(self):
        bar = self.bar()
        self.bind(bar)
        report = self.numbers(bar, self.at / "out.glb")
        a, b = self.weights("bar.glb"), self.weights("out.glb")
        names = ("lower", "upper")
        l1 = sorted(sum(abs(p.get(j, 0) - q.get(j, 0)) for j in names) for p, q in zip(a, b))
        n = len(l1)
        self.assertAlmostEqual(report["l1"]["mean"], sum(l1) / n, 6)
        self.assertAlmostEqual(report["l1"]["median"], (l1[(n - 1) // 2] + l1[n // 2]) / 2, 6)
        self.assertAlmostEqual(report["l1"]["max"], l1[-1], 6)
        pairs = [(p.get(j, 0) > 1e-4, q.get(j, 0) > 1e-4) for p, q in zip(a, b) for j in names]
        both = pairs.count((True, True))
        self.assertAlmostEqual(report["precision"], both / sum(q for _, q in pairs), 9)
        self.assertAlmostEqual(report["recall"], both / sum(p for p, _ in pairs), 9)
        agree = sum(max(names, key=lambda j: p.get(j, 0)) == max(names, key=lambda j: q.get(j, 0)) for p, q in zip(a, b))
        self.assertAlmostEqual(report["strongest_agreement"], agree / n, 9)
        for joint in report["joints"]:
            self.assertAlmostEqual(joint["mass_a"], sum(p.get(joint["name"], 0) for p in a), 4)
            self.assertAlmostEqual(joint["mass_b"], sum(q.get(joint["name"], 0) for q in b), 4)
        shares = [joint["l1_share"] for joint in report["joints"]]
        self.assertEqual(shares, sorted(shares, reverse=True))
        worst = report["worst_vertices"][0]
        self.assertAlmostEqual(worst["l1"], l1[-1], 5)
        self.assertEqual(worst["primitive"], "bar/0")
        self.assertEqual({i["joint"]: i["weight"] for i in worst["a"]}, a[worst["vertex"]])
        positions = make.bar()[0]
        for got, expected in zip(worst["position"], positions[worst["vertex"]]):
            self.assertAlmostEqual(got, expected, 5)

    def test_keys_are_documented_both_ways(self):
        text = (support.ROOT / "docs/compare-report.md").read_text()
        documented = support.documented_keys(text)
        a, b = self.biped()
        gates = ("--max-l1", "2", "--max-distance", "100", "--min-agreement", "0", "--max-unweighted", "0")
        real = set(support.keys(self.numbers(a, b, *gates), ""))
        # B's keys are A's.
        real = {re.sub(r"^b\.", "a.", re.sub(r"^(poses|worst_vertices)\[\]\.b", r"\1[].a", k)) for k in real}
        self.assertEqual(real - documented, set(), "in the report, not in docs/compare-report.md")
        self.assertEqual(documented - real, set(), "in docs/compare-report.md, not in the report")

    def test_report_and_json_and_threads(self):
        a, b = self.biped()
        self.compare(a, b, "--report", self.at / "r.json")
        first = without_times(json.loads((self.at / "r.json").read_text()))
        for threads in (1, 3):
            self.assertEqual(without_times(self.numbers(a, b, "--threads", threads)), first)
        self.assertIsNotNone(first["symmetry"])
        self.assertEqual(first["symmetry"]["joint_share"], 1)
        self.assertGreater(first["b"]["dirichlet"], first["a"]["dirichlet"])  # harder is less smooth
        self.assertEqual(first["deformation"]["random"]["poses"], 10)
        self.assertGreater(first["deformation"]["standard"]["poses"], 3)

    def test_gates(self):
        a, b = self.bar(), self.at / "out.glb"
        self.bind(a)
        self.compare(a, a, "--max-l1", "0", "--max-distance", "0", "--min-agreement", "1", "--max-unweighted", "0")
        for option, value in (("--max-l1", "0.0001"), ("--max-distance", "0.001"), ("--min-agreement", "0.9999")):
            done = self.compare(a, b, option, value, "--report", self.at / "r.json", code=1)
            self.assertRegex(done.stderr, rf"^sinew: the comparison fails {option} {value}: the value is ")
            self.assertEqual(json.loads((self.at / "r.json").read_text())["gates"][0]["passed"], False)

    def test_measures_can_be_left_out(self):
        bar = self.bar()
        report = self.numbers(bar, bar, "--no-bleed", "--no-standard-poses", "--random-poses", "3", "--worst", "0")
        self.assertIsNone(report["a"]["bleed"])
        self.assertEqual([p["name"] for p in report["poses"]], ["random 1", "random 2", "random 3"])
        self.assertIsNone(report["symmetry"])  # a bar of two joints along y has no left and right side
        self.assertIsNone(report["a"]["symmetry_error"])

    def test_given_poses(self):
        bar = self.bar()
        self.bind(bar)
        bend = self.at / "bend.json"
        bend.write_text(json.dumps({"joints": {"upper": {"translate": [0.5, 0, 0]}}}))
        report = self.numbers(bar, self.at / "out.glb", "--poses", bend, "--no-standard-poses")
        self.assertEqual([(p["name"], p["kind"]) for p in report["poses"]], [("bend", "given")])
        # A vertex moves by its weight on the joint; the box is 0.5, 2, 0.5.
        a, b = self.weights("bar.glb"), self.weights("out.glb")
        off = [0.5 * abs(p.get("upper", 0) - q.get("upper", 0)) / 4.5**0.5 * 100 for p, q in zip(a, b)]
        self.assertAlmostEqual(report["poses"][0]["max"], max(off), 3)
        self.assertAlmostEqual(report["poses"][0]["mean"], sum(off) / len(off), 3)
        self.assertEqual(report["deformation"]["given"]["poses"], 1)
        self.assertEqual(report["deformation"]["random"]["poses"], 0)
        bend.write_text(json.dumps({"joints": {"uper": {}}}))
        self.assertIn("did you mean 'upper'", self.compare(bar, bar, "--poses", bend, code=3).stderr)

    def test_weights_json(self):
        bar = self.bar()
        self.bind(bar, "--weights-json", self.at / "w.json")
        self.assertEqual(
            without_times(self.numbers(bar, self.at / "w.json")) | {"other": ""},
            without_times(self.numbers(bar, self.at / "out.glb")) | {"other": ""},
        )

    def test_joints_by_name(self):
        bar = self.bar()
        # The same skin with the joints in the other order.
        turned = make.glb(self.at / "turned.glb", joints=[("upper", -1, (0, 1.0, 0)), ("lower", 0, (0, 0.1, 0))])
        report = self.numbers(bar, turned)
        self.assertEqual(report["l1"]["max"], 0)
        self.assertRegex(" ".join(report["notes"]), "matched by name")
        # The weight of a joint that the reference lacks counts as a difference.
        renamed = make.glb(self.at / "renamed.glb", joints=[("lower", -1, (0, 0.1, 0)), ("top", 0, (0, 1.0, 0))])
        report = self.numbers(bar, renamed)
        self.assertEqual((report["only_in_reference"], report["only_in_other"]), (["upper"], ["top"]))
        self.assertAlmostEqual(report["l1"]["mean"], 1, 6)
        self.assertEqual(report["counts"]["joints"], 3)
        self.assertRegex(" ".join(report["notes"]), "1 joints of .* are not in the reference, 1 of them with weight")

    def test_vertices_in_another_order(self):
        source = self.at / "caped.glb"
        self.assertEqual(support.run(support.CHARACTERS, "caped", source).returncode, 0)
        self.bind(source, out="a.glb")
        self.bind(source, out="a.fbx")
        done = self.compare(self.at / "a.glb", self.at / "a.fbx")
        self.assertIn("vertices in another order: they are matched by their places", done.stdout)
        self.assertLess(self.numbers(self.at / "a.glb", self.at / "a.fbx")["l1"]["max"], 1e-5)

    def test_a_bind_pose_in_another_space(self):
        """The same character with its bind pose in centimetres, as the inverse bind matrices say."""
        a, _ = self.biped()
        doc = glb.Doc(a)
        data = bytearray(doc.buffers[0])
        def scaled(accessor, columns, factor):
            view, of = doc.json["bufferViews"][accessor["bufferView"]], accessor["type"]
            width = {"VEC3": 3, "MAT4": 16}[of]
            start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
            step = view.get("byteStride") or 4 * width
            for n in range(accessor["count"]):
                values = np.frombuffer(bytes(data[start + n * step:start + n * step + 4 * width]), "<f4").copy()
                values[columns] *= factor
                data[start + n * step:start + n * step + 4 * width] = values.tobytes()
        accessors = doc.json["accessors"]
        for number in {p["attributes"]["POSITION"] for m in doc.json["meshes"] for p in m["primitives"]}:
            scaled(accessors[number], [0, 1, 2], 100)
            for key in "min", "max":
                accessors[number][key] = [100 * x for x in accessors[number][key]]
        for skin in doc.json["skins"]:
            scaled(accessors[skin["inverseBindMatrices"]], list(range(12)), 0.01)
        b = self.at / "centimetres.glb"
        b.write_bytes(make.packed(doc.json, data))
        done = self.compare(a, b)
        self.assertNotIn("note: positions", done.stdout)
        self.assertNotIn("other positions", done.stdout)

    def test_bad_input(self):
        bar = self.bar()
        fox = self.at / "other.glb"
        self.assertEqual(support.run(support.CHARACTERS, "robot", fox).returncode, 0)
        self.bind(fox, out="other.glb")
        unbound = make.glb(self.at / "unbound.glb", skin=False)
        (self.at / "bad.json").write_text('{"sinew":"weights","joints":["lower"],"vertices":[]}')
        before = sorted(p.name for p in self.at.iterdir())
        for a, b, code, words in (
            (bar, fox, 3, ["104 vertices", "other.glb", "one mesh"]),
            (bar, unbound, 3, ["unbound.glb", "no weights"]),
            (unbound, bar, 3, ["unbound.glb", "reference has no weights"]),
            (bar, self.at / "none.glb", 3, ["none.glb"]),
            (bar, self.at / "bad.json", 3, ["bad.json"]),
        ):
            with self.subTest(b=b):
                done = self.compare(a, b, "--report", self.at / "r.json", "--html", self.at / "r.html", code=code)
                for word in words:
                    self.assertIn(word, done.stderr)
                self.assertEqual(done.stdout, "")
        for options, words in (
            (["--report", bar], ["--report", "would overwrite the reference"]),
            (["--report", self.at / "x", "--html", self.at / "x"], ["--html", "would overwrite --report"]),
            (["--html", self.at / "none/x.html"], ["cannot be written"]),
            (["--random-poses", "1001"], ["1000"]),
            (["--random-degrees", "181"], ["180"]),
            (["--threshold", "0.6"], ["0.5"]),
            (["--bleed-resolution", "100"], ["power of two"]),
            (["--max-l1", "3"], ["--max-l1"]),
            (["--skinning", "x"], ["skinning"]),
        ):
            with self.subTest(options=options):
                done = support.sinew("compare", bar, bar, *options)
                self.assertIn(done.returncode, (2, 3))
                for word in words:
                    self.assertIn(word, done.stderr)
        self.assertEqual(sorted(p.name for p in self.at.iterdir()), before)

    def test_help(self):
        text = support.sinew("compare", "--help").stdout
        self.assertRegex(text, r"sinew compare \S+\.glb \S+\.glb")
        for option in """--report --html --render --size --no-pictures --json --quiet --max-l1 --max-distance --min-agreement --max-unweighted --poses
            --random-poses --random-degrees --seed --no-standard-poses --skinning --threshold --worst --bleed-resolution
            --no-bleed --threads""".split():
            self.assertIn(option, text)
        self.assertEqual(self.compare(self.bar(), self.bar(), "--quiet").stdout, "")


class Tags(html.parser.HTMLParser):
    """Checks that tags are closed in order, and keeps what a browser would load or run."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.links, self.text = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.links += [v for k, v in attributes if k in ("src", "href", "xlink:href", "data", "action")]
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


class Page(Case):
    """sinew compare --html."""

    def page(self, a, b, *options):
        self.compare(a, b, "--html", self.at / "r.html", *(options or ["--no-pictures"]))
        text = (self.at / "r.html").read_text()
        tags = Tags()
        tags.feed(text)
        tags.close()
        self.assertEqual(tags.open, [])
        self.assertNotIn("script", tags.seen)
        for link in tags.links:
            self.assertTrue(link.startswith("data:image/png;base64,"), link[:60])
        self.assertNotRegex(text, r"url\(|@import|https?:")
        return text, tags

    def test_is_complete_and_self_contained(self):
        a, b = self.biped()
        text, tags = self.page(a, b)
        report = self.numbers(a, b)
        for section in ("Headline", "L1 over the vertices", "chain that differs most", "Poses", "Joints", "Worst vertices"):
            self.assertRegex(text, f"<h2>[^<]*{section}")
        self.assertIn("prefers-color-scheme: dark", text)
        words = " ".join(tags.text)
        self.assertIn(f"mean {report['l1']['mean']:.4f}", words)
        rows = {name: len(re.findall("<tr>", part)) - 1 for name, part in
                re.findall(r'<table id="(\w+)">(.*?)</table>', text, re.S)}
        self.assertEqual(rows["poses"], len(report["poses"]))
        self.assertEqual(rows["joints"], len(report["joints"]))
        self.assertEqual(rows["worst"], 20)
        # As many lines as joints of the chain, solid and dashed; as many bars as steps.
        self.assertEqual(len(re.findall(r'class="curve c\d" d="M[\d.]+,[\d.]+ L', text)), len(report["limb"]["joints"]))
        self.assertEqual(len(re.findall(r'class="curve c\d dashed"', text)), len(report["limb"]["joints"]))
        self.assertEqual(text.count('class="bar"'), len(report["histogram"]))

    def test_names_are_text(self):
        evil = '<img src=x onerror="alert(1)">&\'\u0001'
        bar = make.glb(self.at / "evil.glb", joints=[(evil, -1, (0, 0.1, 0)), ("upper", 0, (0, 1.0, 0))])
        self.bind(bar, "--deform-from", "all")
        text, tags = self.page(bar, self.at / "out.glb")
        self.assertNotIn("<img src=x", text)
        self.assertIn("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;&#39;", text)

    def test_equal_weights_also_make_a_page(self):
        self.page(self.bar(), self.bar())

    def test_pictures(self):
        bar = self.bar()
        self.bind(bar)
        done = support.sinew("compare", bar, self.at / "out.glb", "--render", self.at / "r.png", "--size", "320x300")
        if done.returncode == 3:
            # Without OpenGL a message comes before the work, and the page has no pictures.
            self.assertFalse((self.at / "r.png").exists())
            self.assertIn("OpenGL", done.stderr)
            text, _ = self.page(bar, self.at / "out.glb", "--size", "320x300")
            self.assertRegex(text, "<h2>Pictures</h2>\\s*<p>None: ")
            self.skipTest("OpenGL is missing: " + done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        png = (self.at / "r.png").read_bytes()
        self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", png[16:24]), (320, 300))
        text, tags = self.page(bar, self.at / "out.glb", "--size", "320x300")
        self.assertEqual(len(tags.links), 1)
        self.assertEqual(base64.b64decode(tags.links[0].split(",", 1)[1]), png)
        text, tags = self.page(bar, self.at / "out.glb", "--no-pictures")
        self.assertEqual(tags.links, [])
        for options, words in (
            (["--render", self.at / "r.jpg"], "end in .png"),
            (["--size", "10x10"], "64 to 8192"),
            (["--size", "big"], "WIDTHxHEIGHT"),
        ):
            self.assertIn(words, self.compare(bar, bar, *options, code=2).stderr)


class Score(Case):
    """Compares measures with tools/score.py beside the corpus, which shares no code with sinew."""

    NAMES = ("kaykit_knight", "q_man_adventurer", "m2m_human_female", "q_horse", "khr_cesiumman")

    def poses_as_json(self, np, score, d):
        """The scorer's random poses in the joints' own axes: files of pose JSON."""
        files = []
        for n, transforms in enumerate(score.poses(d)):
            joints = {}
            for i, name in enumerate(d["names"]):
                parent = d["parent"][i]
                turn = np.linalg.inv(transforms[parent]) @ transforms[i] if parent >= 0 else transforms[i]
                x, y = d["rot"][i][:, 0], d["rot"][i][:, 1]
                x = x / np.linalg.norm(x)
                y = y - x * (x @ y)
                y /= np.linalg.norm(y)
                axes = np.stack([x, y, np.cross(x, y)], axis=1)
                r = axes.T @ turn[:3, :3] @ axes
                w = np.sqrt(max(0.0, 1 + np.trace(r))) / 2  # at most 25 degrees: w is large
                q = [(r[2, 1] - r[1, 2]) / (4 * w), (r[0, 2] - r[2, 0]) / (4 * w), (r[1, 0] - r[0, 1]) / (4 * w), w]
                node = d["joint_nodes"][i]
                # The scorer calls a node without a name "7", sinew "node 7".
                joints[f"node {node}" if name == str(node) else name] = {"quaternion": [float(c) for c in q]}
            files.append(self.at / f"pose{n}.json")
            files[-1].write_text(json.dumps({"joints": joints}))
        return files

    def test_five_characters(self):
        try:
            import numpy as np
        except ImportError:
            self.skipTest("numpy is not installed")
        if not (TOOLS / "score.py").exists():
            self.skipTest(f"there is no {TOOLS}/score.py (SINEW_CORPUS)")
        sys.path.insert(0, str(TOOLS))
        import score

        for name in self.NAMES:
            source = next(p for p in sorted((support.CORPUS / name).iterdir()) if p.suffix in (".glb", ".gltf"))
            with self.subTest(name):
                out = f"{name}.glb"
                self.bind(source, "--deform-from", "skin", out=out, speed=("--resolution", "128"))
                reference = score.load(str(source))
                expected = score.metrics(reference, score.read(reference, str(self.at / out)))
                options = [o for f in self.poses_as_json(np, score, reference) for o in ("--poses", f)]
                got = self.numbers(source, self.at / out, *options)
                self.assertEqual(got["counts"]["vertices"], len(reference["V"]))
                for key, value in {
                    "l1": got["l1"]["mean"],
                    "l1_p95": got["l1"]["p95"],
                    "prec": got["precision"],
                    "rec": got["recall"],
                    "top1": got["strongest_agreement"],
                    "avgdist": got["deformation"]["given"]["mean"],
                    "maxdist": got["deformation"]["given"]["mean_max"],
                }.items():
                    self.assertAlmostEqual(value, expected[key], delta=1e-4, msg=key)
                self.assertEqual(got["b"]["unweighted"], expected["unweighted"])
                self.assertEqual(got["b"]["max_influences"], expected["max_influences"])


if __name__ == "__main__":
    support.main()
