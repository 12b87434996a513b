"""Tests of `sinew check` (docs/check.md): each rule on a character with its fault planted, and on one without.

check.py [CLASS…]; run like cli.py."""
import json
import math
import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

import cli
import glb
import numpy as np
import person
import support
import trust


def character(name, *options):
    """A generated character, bound; made once per process."""
    folder = character.folder = getattr(character, "folder", None) or tempfile.TemporaryDirectory(prefix="sinew-check-")
    path = Path(folder.name) / ("-".join((name, *options)) + ".glb")
    if not path.exists():
        mesh = path.with_suffix(".mesh.glb")
        for done in (support.run(support.CHARACTERS, name, mesh, *options),
                     support.sinew("bind", mesh, "-o", path, "--quiet", "--threads", "2")):
            assert done.returncode == 0, done.stderr
    return path


class Skin:
    """Positions, joints and weights of a character's primitive; arrays to change before save."""

    def __init__(self, path):
        self.path = path
        self.doc = glb.Doc(path)
        self.names = [self.doc.json["nodes"][j]["name"] for j in self.doc.json["skins"][0]["joints"]]
        attributes = self.doc.json["meshes"][0]["primitives"][0]["attributes"]
        self.at = {k: attributes[k] for k in ("JOINTS_0", "WEIGHTS_0")}
        self.positions = self.doc.accessor(attributes["POSITION"])
        self.joints = self.doc.accessor(self.at["JOINTS_0"])
        self.weights = self.doc.accessor(self.at["WEIGHTS_0"])
        self.edit = lambda doc, data: None

    def joint(self, name):
        return self.names.index(name)

    def strongest(self):
        return self.joints[np.arange(len(self.joints)), self.weights.argmax(1)]

    def give(self, vertices, *row):
        """Gives vertices these (joint, weight)."""
        self.joints[vertices], self.weights[vertices] = 0, 0
        for k, (joint, weight) in enumerate(row):
            self.joints[vertices, k], self.weights[vertices, k] = joint, weight

    def save(self, path):
        def edit(doc, data):
            for key, array in (("JOINTS_0", self.joints), ("WEIGHTS_0", self.weights)):
                view = doc["bufferViews"][doc["accessors"][self.at[key]]["bufferView"]]
                start = view.get("byteOffset", 0)
                data[start:start + array.nbytes] = array.tobytes()
            self.edit(doc, data)

        return trust.rewrite(self.path, path, edit)


def cube(at, size, row_of_corner):
    """An edit that adds a closed cube with a row of (joint, weight) for each of its corners."""

    def edit(doc, data):
        corners = np.array([[at[a] + size * (k >> a & 1) for a in range(3)] for k in range(8)], np.float32)
        faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
        corner = [v for a, b, c, d in faces for v in (a, b, c, a, c, d)]
        rows = [row_of_corner(k) for k in range(8)]
        pad = lambda row, which: [e[which] for e in row] + [0] * (4 - len(row))
        doc["meshes"][0]["primitives"].append({
            "attributes": {
                "POSITION": person.add(doc, data, corners, 5126, "VEC3"),
                "JOINTS_0": person.add(doc, data, [pad(r, 0) for r in rows], 5121, "VEC4"),
                "WEIGHTS_0": person.add(doc, data, [pad(r, 1) for r in rows], 5126, "VEC4")},
            "indices": person.add(doc, data, np.array(corner).reshape(-1, 1), 5123, "SCALAR")})

    return edit


class CheckCase(cli.Case):
    def check(self, path, *options, code=None):
        done = support.sinew("check", path, "--threads", "2", *options)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def rules(self, path, *options):
        """Rule → its row of the results."""
        done = self.check(path, "--json", *options)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return {row["rule"]: row for row in json.loads(done.stdout)["rules"]}

    def alarms(self, path, *options):
        return {rule for rule, row in self.rules(path, *options).items() if row["alarm"]}

    def planted(self, plant, name="biped", options=()):
        skin = Skin(character(name, *options))
        plant(skin)
        return skin.save(self.at / "planted.glb")

    def raises(self, rule, plant, *options, name="biped", make=(), also=()):
        """The rule is silent on the clean character, and fires with the fault; `also`: rules that may fire too."""
        self.assertNotIn(rule, self.alarms(character(name, *make), *options))
        found = self.alarms(self.planted(plant, name, make), *options)
        self.assertIn(rule, found)
        self.assertLessEqual(found, {rule, *also})


class Check(CheckCase):
    """Each rule."""

    def test_clean_characters_raise_no_alarm(self):
        for name in ("caped", "robot") if support.SANITIZED else ("biped", "quadruped", "robot", "caped", "biped_controls"):
            with self.subTest(name):
                self.assertEqual(self.alarms(character(name)), set())
                self.check(character(name), "--strict", code=0)

    def test_a_check_of_nothing_is_refused(self):
        done = self.check(character("biped"), "--only", "stretch", "--skip", "stretch", code=2)
        self.assertIn("no rule is left to check", done.stderr)

    def test_several_files(self):
        sound, faulty, broken = character("biped"), self.planted(lambda skin: skin.weights.__imul__(0.5)), self.at / "b.glb"
        broken.write_bytes(b"glTF")
        done = support.sinew("check", broken, faulty, sound, sound)
        self.assertEqual(done.returncode, 3)
        self.assertIn("b.glb", done.stderr)
        self.assertIn("failed: 18 rules, 1 error, 0 warnings", done.stdout)
        self.assertIn("2 of 4 files passed", done.stdout)
        self.assertEqual(support.sinew("check", sound, faulty, "--quiet").returncode, 1)
        self.assertEqual(support.sinew("check", sound, sound).returncode, 0)
        lines = support.sinew("check", sound, faulty, "--json").stdout.splitlines()
        self.assertEqual([json.loads(line)["passed"] for line in lines], [True, False])
        self.assertIn("are for a single file", support.sinew("check", sound, faulty, "--html", self.at / "x.html").stderr)

    def test_unweighted(self):
        def plant(skin):
            skin.weights[[5, 900, 4000]] = 0

        self.raises("unweighted", plant, also={"bleed", "torn", "stretch", "volume"})
        row = self.rules(self.at / "planted.glb")["unweighted"]
        self.assertEqual((row["value"], [v["vertex"] for v in row["vertices"]]), (3, [5, 900, 4000]))

    def test_invalid(self):
        def plant(skin):
            skin.weights[10, 3] = -0.5
            skin.weights[20, 3] = math.nan

        self.raises("invalid", plant)
        self.assertEqual(self.rules(self.at / "planted.glb")["invalid"]["value"], 2)

    def test_sums(self):
        def plant(skin):
            skin.weights[:50] *= 0.9

        self.raises("sums", plant)
        row = self.rules(self.at / "planted.glb")["sums"]
        self.assertAlmostEqual(row["value"], 0.1, places=5)
        self.assertEqual(row["detail"], "50 vertices")

    def test_repeated(self):
        def plant(skin):
            skin.give([3, 4], (1, 0.5), (1, 0.5))

        self.raises("repeated", plant, also={"islands"})

    def test_influences(self):
        self.assertEqual(self.alarms(character("biped"), "--max", "influences=2"), {"influences"})

        def plant(skin):
            count = len(skin.weights)

            def edit(doc, data):
                attributes = doc["meshes"][0]["primitives"][0]["attributes"]
                five = np.zeros((count, 4), np.float32)
                five[7, 0] = skin.weights[7].min() / 2
                joints = np.full((count, 4), 20)
                attributes["JOINTS_1"] = person.add(doc, data, joints, 5121, "VEC4")
                attributes["WEIGHTS_1"] = person.add(doc, data, five, 5126, "VEC4")

            skin.give([7], (1, 0.3), (2, 0.3), (3, 0.2), (4, 0.1))
            skin.edit = edit

        self.raises("influences", plant, also={"sums", "islands"})
        self.assertEqual(self.rules(self.at / "planted.glb")["influences"]["value"], 5)

    def test_joints(self):
        self.assertEqual(self.alarms(character("biped"), "--max", "joints=52"), set())
        self.assertEqual(self.alarms(character("biped"), "--max", "joints=51"), {"joints"})

    def test_tiny(self):
        def plant(skin):
            one = skin.weights[:, 1] == 0
            skin.joints[one, 1] = (skin.joints[one, 0] + 1) % 50
            skin.weights[one, 1] = 5e-4

        self.raises("tiny", plant)

    def test_control_joints(self):
        def plant(skin):
            control = next(k for k, n in enumerate(skin.names) if "ik" in n.lower() or "ctrl" in n.lower())
            skin.give(range(100), (int(skin.joints[0, 0]), 0.8), (control, 0.2))

        self.raises("control-joints", plant, name="biped_controls", also={"bleed", "islands"})
        self.assertEqual(self.rules(self.at / "planted.glb")["control-joints"]["value"], 100)

    def test_torn(self):
        def plant(skin):
            skin.give([3, 4, 5], (0, 1.0))

        self.raises("torn", plant, make=("--non-indexed",), also={"islands", "stretch"})

    def test_islands(self):
        def plant(skin):
            foot = np.argsort(np.abs(skin.positions - skin.positions[skin.positions[:, 1].argmin()]).sum(1))[:6]
            skin.give(foot, (skin.joint("head"), 1.0))

        self.raises("islands", plant, also={"stretch"})
        row = self.rules(self.at / "planted.glb")["islands"]
        self.assertIn("'head'", row["detail"])

    def test_bleed(self):
        def plant(skin):
            # The legs follow the hands, crosswise.
            for a, b in (("upper_leg_L", "hand_R"), ("lower_leg_L", "hand_R"), ("foot_L", "hand_R"),
                         ("upper_leg_R", "hand_L"), ("lower_leg_R", "hand_L"), ("foot_R", "hand_L"),
                         ("spine", "toe_L"), ("chest", "toe_R"), ("hips", "head"), ("head", "toe_L")):
                skin.joints[skin.joints == skin.joint(a)] = skin.joint(b)

        self.raises("bleed", plant, also=set(self.rules(character("biped"))))

    def test_asymmetry(self):
        def plant(skin):
            for name in skin.names:
                if re.match(r"(index|middle|ring|pinky|thumb|lower_arm)_.*L$", name) or name == "hand_L":
                    skin.joints[skin.joints == skin.joint(name)] = skin.joint("upper_arm_L")

        self.raises("asymmetry", plant, also={"repeated", "bleed", "stretch"})

    def test_stretch(self):
        def plant(skin):
            some = np.random.default_rng(1).choice(len(skin.joints), len(skin.joints) // 20, replace=False)
            skin.give(some, (skin.joint("hand_L"), 1.0))

        self.raises("stretch", plant, also={"islands", "bleed", "asymmetry", "volume", "rigid-parts"})

    def test_volume(self):
        def plant(skin):
            # The front of the trunk follows a hand, its back a foot.
            trunk = np.isin(skin.strongest(), [skin.joint(n) for n in ("spine", "chest", "hips", "neck", "head")])
            front = skin.positions[:, 2] > 0
            skin.give(trunk & front, (skin.joint("hand_L"), 1.0))
            skin.give(trunk & ~front, (skin.joint("foot_L"), 1.0))

        self.raises("volume", plant, also={"islands", "bleed", "asymmetry", "stretch"})

    def test_rigid_parts(self):
        def plant(skin):
            skin.edit = cube((0.3, 1.0, 0.3), 0.03, lambda k: [(skin.joint("head" if k & 2 else "hips"), 1.0)])

        self.raises("rigid-parts", plant, also={"bleed", "stretch"})

        def rigid(skin):
            skin.edit = cube((0.3, 1.0, 0.3), 0.03, lambda k: [(skin.joint("head"), 1.0)])

        self.assertEqual(self.alarms(self.planted(rigid)), set())

    def test_bind_pose(self):
        def plant(skin):
            def edit(doc, data):
                node = next(n for n in doc["nodes"] if n["name"] == "lower_arm_L")
                node["translation"] = [x + 0.1 for x in node["translation"]]

            skin.edit = edit

        self.raises("bind-pose", plant)
        self.assertIn("_L'", self.rules(self.at / "planted.glb")["bind-pose"]["detail"])

    def test_skin(self):
        def set_skeleton(doc, data):
            doc["skins"][0]["skeleton"] = doc["skins"][0]["joints"][-1]

        def last_row(doc, data):
            view = doc["bufferViews"][doc["accessors"][doc["skins"][0]["inverseBindMatrices"]]["bufferView"]]
            data[view["byteOffset"] + 12:view["byteOffset"] + 16] = np.float32(0.5).tobytes()

        def no_skin(doc, data):
            doc["nodes"].append({"name": "second", "mesh": 0})
            doc["scenes"][0]["nodes"].append(len(doc["nodes"]) - 1)

        for edit, words in ((set_skeleton, "'skeleton' is not above all"), (last_row, "last row"), (no_skin, "no skin")):
            with self.subTest(words):
                self.raises("skin", lambda skin, edit=edit: setattr(skin, "edit", edit), also={"bind-pose"})
                self.assertIn(words, self.rules(self.at / "planted.glb")["skin"]["detail"])

        def outside(skin):
            skin.joints[5, 3], skin.weights[5, 3] = 200, 0

        if Skin(character("biped")).weights[5, 3] == 0:
            self.raises("skin", outside)


class CheckResults(CheckCase):
    """Options, formats, exit codes."""

    def faulty(self, level="error"):
        def plant(skin):
            skin.weights[:50] *= 0.9

        def warn(skin):
            one = skin.weights[:, 1] == 0
            skin.joints[one, 1], skin.weights[one, 1] = (skin.joints[one, 0] + 1) % 50, 5e-4

        return self.planted(plant if level == "error" else warn)

    def test_exit_codes_and_text(self):
        done = self.check(character("biped"), code=0)
        self.assertRegex(done.stdout, r"passed: 18 rules, 0 errors, 0 warnings")
        done = self.check(self.faulty(), code=1)
        self.assertRegex(done.stdout, r"error +sums +0\.1, at most 0\.01: .*\(50 vertices\)\n +at vertex \d+ of biped/0\n")
        self.assertEqual(self.check(self.faulty(), "--quiet", code=1).stdout, "")
        self.check(self.faulty("warning"), code=0)
        self.check(self.faulty("warning"), "--strict", code=1)
        self.check(self.at / "none.glb", code=3)

    def test_thresholds(self):
        path = self.faulty()
        self.check(path, "--max", "sums=0.2", code=0)
        self.check(path, "--max", "sums=off", code=0)
        self.check(path, "--skip", "sums", code=0)
        self.check(path, "--only", "torn", code=0)
        self.assertEqual(set(self.rules(path, "--only", "torn", "--only", "sums")), {"torn", "sums"})
        file = self.at / "limits.json"
        file.write_text('{"sums": null, "influences": 3}')
        self.assertEqual(self.alarms(path, "--thresholds", file), {"influences"})
        self.assertEqual(self.alarms(path, "--thresholds", file, "--max", "influences=4"), set())
        for options, words in ((("--max", "sum=1"), r"no rule 'sum' \(did you mean 'sums'"), (("--max", "sums"), "RULE=NUMBER"),
                               (("--max", "sums=-1"), "RULE=NUMBER"), (("--profile", "unitty"), "did you mean 'unity'"),
                               (("--skip", "x"), "no rule 'x'"), (("--fix",), "--fix -o OUT")):
            with self.subTest(options=options):
                self.assertRegex(self.check(path, *options, code=2).stderr, words)
        file.write_text('{"sums": "many"}')
        self.assertIn("a number from 0 up, or null", self.check(path, "--thresholds", file, code=3).stderr)

    def test_profiles(self):
        table = self.check("--rules", code=0).stdout
        for profile in ("unity", "unreal", "godot", "webgl", "mobile"):
            self.assertRegex(table, rf"{profile} +influences \d.*https://")
            rows = self.rules(character("biped"), "--profile", profile)
            self.assertEqual(rows["influences"]["threshold"], 8 if profile in ("unreal", "godot") else 4)
            joints = {"unreal": 256, "webgl": 256, "mobile": 90}.get(profile)
            self.assertEqual(rows["joints"]["threshold"], joints)

    def test_the_page_documents_every_rule_profile_and_key(self):
        page = (support.ROOT / "docs/check.md").read_text()
        table = self.check("--rules", code=0).stdout
        for line in table.split("\n\n")[0].splitlines():
            word, level, threshold = line.split()[:3]
            self.assertRegex(page, rf"(?m)^\| `{word}` \| {level} \| {threshold} \|")
        for source in re.findall(r"https://\S+", table):
            self.assertIn(source, page)
        report = json.loads(self.check(self.faulty(), "--json", code=1).stdout)
        documented = support.documented_keys(page.split("## JSON")[1])
        self.assertEqual(set(support.keys(report)) | {"fixed.normalised", "fixed.limited", "fixed.pruned", "fixed.welded"} - {"fixed"},
                         documented | {"fixed"})

    def test_sarif(self):
        self.check(self.faulty(), "--sarif", self.at / "a.sarif", code=1)
        log = json.loads((self.at / "a.sarif").read_text())
        self.assertEqual(log["version"], "2.1.0")
        run, = log["runs"]
        rules = [r["id"] for r in run["tool"]["driver"]["rules"]]
        self.assertEqual(len(rules), 18)
        result, = run["results"]
        self.assertEqual((result["ruleId"], result["level"], rules[result["ruleIndex"]]), ("sums", "error", "sums"))
        self.assertIn("0.1, at most 0.01", result["message"]["text"])
        place, = result["locations"]
        self.assertTrue(place["physicalLocation"]["artifactLocation"]["uri"].endswith("/planted.glb"))
        self.assertRegex(place["logicalLocations"][0]["fullyQualifiedName"], r"^biped/0/vertex \d+$")

    def test_sarif_agrees_with_its_schema(self):
        self.check(self.faulty(), "--sarif", self.at / "a.sarif", code=1)
        self.check(self.faulty(), "--max", "sums=1", "--sarif", self.at / "b.sarif", code=0)
        log = json.loads((self.at / "a.sarif").read_text())
        log["runs"][0]["results"][0]["level"] = "severe"
        (self.at / "c.sarif").write_text(json.dumps(log))
        checked = {}
        for name in "abc":
            try:
                checked[name] = support.run("node", support.HERE / "sarif.mjs", self.at / f"{name}.sarif")
            except FileNotFoundError:
                self.skipTest("there is no node")
            if checked[name].returncode == 77:
                self.skipTest("the schema of SARIF is not installed (cd tests && npm ci)")
        self.assertEqual((checked["a"].stdout, checked["a"].returncode), ("", 0))
        self.assertEqual((checked["b"].stdout, checked["b"].returncode), ("", 0))
        self.assertIn(".level should be equal to one of the allowed values", checked["c"].stdout)

    def test_html(self):
        path = self.faulty()
        named = self.at / "<b>&.glb"
        shutil.copy(path, named)
        self.check(named, "--html", self.at / "a.html", code=1)
        page = (self.at / "a.html").read_text()
        self.assertIn("<td>none</td>", page)  # joints: no limit
        self.assertIn("&lt;b&gt;&amp;.glb", page)
        self.assertNotIn("<b>&", page)
        self.assertIn("failed", page)
        if os.environ.get("SINEW_RENDER") == "ON":
            self.assertIn("data:image/png;base64,", page)

    def test_fix(self):
        def plant(skin):
            skin.weights[:50] *= 0.9
            skin.weights[60, 3] = -1
            skin.give([3, 4, 5], (1, 0.5), (1, 0.5))
            skin.give([9, 10, 11], (1, 0.9995), (2, 0.0005))

        path = self.planted(plant, options=("--non-indexed",))
        self.assertLessEqual({"sums", "invalid", "repeated", "torn"}, self.alarms(path))
        done = self.check(path, "--fix", "-o", self.at / "fixed.glb", "--max", "islands=off", code=0)
        self.assertRegex(done.stdout, r"fixed +48 vertices normalised, 0 limited, [1-9]\d* pruned, [1-9]\d* welded")
        self.assertFalse({"sums", "invalid", "repeated", "torn", "tiny"} & self.alarms(self.at / "fixed.glb"))
        self.sound("fixed.glb")
        messages = support.validate([self.at / "fixed.glb"])
        if messages is not None:
            self.assertEqual([m for m in messages[str(self.at / "fixed.glb")] if m.startswith("error")], [])
        self.check(character("biped"), "--fix", "-o", self.at / "two.glb", "--max", "influences=2", code=0)
        self.assertEqual(self.rules(self.at / "two.glb")["influences"]["value"], 2)
        # What is sound keeps its bits, up to tiny weights.
        before, after = Skin(character("robot")), self.at / "same.glb"
        self.check(character("robot"), "--fix", "-o", after, code=0)
        sound = (before.weights == 0) | (before.weights >= 1e-3)
        kept = sound.all(1)
        np.testing.assert_array_equal(before.weights[kept], Skin(after).weights[kept])


class CheckCorpus(CheckCase):
    LABELS = "corpus"

    def test_known_faults_of_real_files(self):
        for name, rules in (("q_crab/Crab.glb", {"unweighted", "invalid"}), ("khr_cesiumman/CesiumMan.glb", {"sums"}),
                            ("babylon_retarget/riggedMesh.glb", {"skin"}), ("valid_black_f2_casual/Black_F_2_Casual.glb", set())):
            path = support.CORPUS / name
            if not path.exists():
                self.skipTest(f"{path} is not there")
            with self.subTest(name):
                found = self.alarms(path)
                self.assertLessEqual(rules, found)
                if not rules:
                    self.assertEqual(found, set())


class Clean(CheckCase):
    """`sinew clean` (docs/clean.md)."""

    def clean(self, path, *options, code=0, out="clean.glb"):
        done = support.sinew("clean", path, "-o", self.at / out, "--threads", "2", *options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def bleeding(self):
        """A biped whose right foot follows the left hand by a half, at some vertices."""
        skin = Skin(character("biped"))
        foot = np.flatnonzero((skin.strongest() == skin.joint("foot_R")) & (skin.weights[:, 3] == 0))[::3]
        skin.weights[foot] *= 0.5
        skin.joints[foot, 3], skin.weights[foot, 3] = skin.joint("hand_L"), 0.5
        return skin.save(self.at / "bleeding.glb"), foot

    def error(self, path):
        """The mean L1 to the biped."""
        row = lambda skin: np.stack([np.where(skin.joints == j, skin.weights, 0).sum(1) for j in range(len(skin.names))], 1)
        return np.abs(row(Skin(path)) - row(Skin(character("biped")))).sum(1).mean()

    def test_bleeding_goes_and_only_weights_change(self):
        path, foot = self.bleeding()
        report = json.loads(self.clean(path, "--json", "--report", self.at / "r.json").stdout)
        self.assertEqual(json.loads((self.at / "r.json").read_text())["cleaned"], report["cleaned"])
        self.assertGreaterEqual(report["cleaned"]["pulled"], len(foot))
        self.assertLess(report["bleed"]["after"], report["bleed"]["before"])
        self.assertLess(self.error(self.at / "clean.glb"), 0.1 * self.error(path))
        self.sound("clean.glb")
        before, after = glb.Doc(path).json, glb.Doc(self.at / "clean.glb").json
        for key in ("nodes", "skins", "scenes"):
            self.assertEqual(before[key], after[key])
        page = (support.ROOT / "docs/clean.md").read_text()
        self.assertEqual(set(support.keys(report)), support.documented_keys(page.split("## The report")[1]))
        self.assertRegex(self.clean(path).stdout, r"bleed +[\d.]+ % before, [\d.]+ % after")

    def test_weights_of_another_mesh_at_the_same_place(self):
        path, _ = self.bleeding()
        report = json.loads(self.clean(character("biped"), "--weights-from", path, "--json").stdout)
        self.assertEqual(report["weights_from"], str(path))
        self.assertLess(self.error(self.at / "clean.glb"), 0.1 * self.error(path))
        before, after = glb.Doc(character("biped")), glb.Doc(self.at / "clean.glb")
        self.assertEqual(before.json["nodes"], after.json["nodes"])
        self.sound("clean.glb")
        # A mesh without a skin takes the skeleton of the other file.
        plain = character("biped").with_suffix("").with_suffix(".mesh.glb")
        self.clean(plain, "--weights-from", path, out="plain.glb")
        self.sound("plain.glb")

    def test_what_cannot_be_cleaned_names_the_remedy(self):
        path, _ = self.bleeding()
        bare = support.run(support.CHARACTERS, "biped", self.at / "bare.glb")
        self.assertEqual(bare.returncode, 0, bare.stderr)
        skin = Skin(path)
        skin.edit = lambda doc, data: doc["nodes"][doc["skins"][0]["joints"][skin.joint("foot_R")]].update(name="paw")
        for words, code, said in (
                ((path, "--strength", "9"), 2, "--strength"),
                ((path, "--max-influences", "9"), 2, "--max-influences"),
                ((self.at / "bare.glb",), 3, "sinew bind computes them"),
                ((path, "--weights-from", self.at / "bare.glb"), 3, "bare.glb: it has no weights to clean"),
                ((character("biped"), "--weights-from", skin.save(self.at / "paw.glb")), 3, "has no joint 'paw'"),
                ((path, "--weights-from", self.at / "clean.glb"), 2, "--weights-from")):
            with self.subTest(words):
                self.assertIn(said, self.clean(*words, code=code).stderr)
                self.assertFalse((self.at / "clean.glb").exists())


if __name__ == "__main__":
    support.main()
