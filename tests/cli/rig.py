"""Tests of `sinew rig` (docs/rig.md).

rig.py [CLASS…]; run like cli.py."""
import json
import re

import cli
import glb
import make
import support


class Rig(cli.Case):
    def setUp(self):
        super().setUp()
        # The mesh of the generated biped as OBJ.
        source = self.at / "biped.glb"
        made = support.run(support.CHARACTERS, "biped", source)
        self.assertEqual(made.returncode, 0, made.stderr)
        doc = glb.Doc(source)
        self.obj = self.at / "hero.obj"
        lines, first = [], 1
        for mesh in doc.list("meshes"):
            for primitive in mesh["primitives"]:
                points = doc.accessor(primitive["attributes"]["POSITION"])
                faces = doc.accessor(primitive["indices"]).reshape(-1, 3)
                lines += [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in points]
                lines += [f"f {a + first} {b + first} {c + first}" for a, b, c in faces]
                first += len(points)
        self.obj.write_text("\n".join(lines) + "\n")

    def rig(self, *args, code=0):
        done = support.sinew("rig", *args)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_a_rigged_and_bound_character(self):
        out = self.at / "hero.glb"
        done = self.rig(self.obj, "-o", out)
        self.assertRegex(done.stdout, r"placed 21 joints of template biped\n  fit       good \(0\.\d\d\): 5 of 5 limbs")
        doc = glb.Doc(out)
        self.assertEqual(glb.weight_problems(doc), [])
        names = [doc.json["nodes"][j]["name"] for j in doc.json["skins"][0]["joints"]]
        self.assertIn("forearm.L", names)
        messages = support.validate([out])
        if messages is not None:
            self.assertEqual({k: n for k, n in messages[str(out)].items() if k.startswith("error")}, {})

    def test_warnings_of_the_bind_are_told(self):
        # A sheet has no volume: the joints lie outside of it.
        sheet = self.at / "sheet.obj"
        sheet.write_text("".join(f"v {x} {y} 0\n" for y in range(5) for x in range(3)) + "".join(
            f"f {3 * y + x + 1} {3 * y + x + 2} {3 * y + x + 5} {3 * y + x + 4}\n" for y in range(4) for x in range(2)))
        done = self.rig(sheet, "-o", self.at / "sheet.glb", "--report", self.at / "r.json")
        warnings = json.loads((self.at / "r.json").read_text())["warnings"]
        self.rig(sheet, "-o", self.at / "sheet.json", "--quiet")
        bound = support.sinew("bind", sheet, "--skeleton", self.at / "sheet.json", "-o", self.at / "b.glb", "--json")
        self.assertEqual(warnings, json.loads(bound.stdout)["warnings"])
        self.assertTrue(warnings)
        self.assertEqual(done.stdout.count("  warning   "), len(warnings))

    def test_the_skeleton_alone_binds_to_the_same_file(self):
        skeleton, one, two = self.at / "hero.json", self.at / "one.glb", self.at / "two.glb"
        self.rig(self.obj, "-o", skeleton, "--quiet")
        self.rig(self.obj, "-o", one, "--quiet")
        done = support.sinew("bind", self.obj, "--skeleton", skeleton, "-o", two, "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(one.read_bytes(), two.read_bytes())

    def test_keys_are_documented_both_ways(self):
        report = json.loads(self.rig(self.obj, "-o", self.at / "a.json", "--json").stdout)
        self.rig(self.obj, "-o", self.at / "a.json", "--report", self.at / "r.json", "--quiet")
        self.assertEqual(json.loads((self.at / "r.json").read_text()), report)
        page = (support.ROOT / "docs/rig.md").read_text()
        self.assertEqual(support.documented_keys(page.split("## JSON")[1]), set(support.keys(report)))

    def test_templates_are_documented(self):
        page = (support.ROOT / "docs/rig.md").read_text()
        listed = re.findall(r"^  +([a-z]+): ", self.rig("--help").stdout, flags=re.M)
        self.assertEqual(len(listed), 7)
        for name in listed:
            self.assertIn(f"| {name} |", page)

    def test_refusals_write_nothing(self):
        out = self.at / "out.glb"
        self.assertIn("has a skin", self.rig(make.glb(self.at / "skinned.glb"), "-o", out, code=3).stderr)
        self.assertIn("did you mean 'biped'", self.rig(self.obj, "--template", "bipd", "-o", out, code=2).stderr)
        self.assertIn("resolution 100", self.rig(self.obj, "--resolution", "100", "-o", out, code=2).stderr)
        self.rig(self.obj, "-o", self.at / "out.txt", code=2)
        (self.at / "empty.obj").write_text("v 0 0 0\n")
        self.rig(self.at / "empty.obj", "-o", out, code=3)
        self.assertEqual([p for p in self.at.iterdir() if p.name.startswith("out")], [])

    def test_a_gate_on_the_fit(self):
        out = self.at / "spider.json"
        done = self.rig(self.obj, "--template", "fish", "-o", out, "--require-confidence", "0.5", code=1)
        self.assertIn("poor", done.stdout)
        self.assertTrue(out.exists())


if __name__ == "__main__":
    support.main()
