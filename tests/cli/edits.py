"""Tests of sinew bind --edits, --lock, --only-missing and sinew apply --edits (docs/edits.md)."""
import base64
import json
import re
import struct

import glb
import make
import support
from cli import Case

BAR = 8 * 13  # vertices; from y = 0 to 2, joints at 0.1 and 1


class Edits(Case):
    def edits(self, name="e.json", **lists):
        path = self.at / name
        path.write_text(json.dumps({"sinew": "edits", **lists}))
        return path

    def bound(self, *options, source=None, **lists):
        self.bind(source or self.bar(), "--edits", self.edits(**lists), *options)
        self.sound()
        return self.weights()

    def plain(self, *options):
        self.bind(self.bar(), *options, out="plain.glb")
        return self.weights("plain.glb")

    def height(self):
        return [y for _, y, _ in make.bar()[0]]

    def test_ops(self):
        plain, y = self.plain(), self.height()
        top = {"box": [[-1, 1.9, -1], [1, 3, 1]]}
        for edit, expected in (
            ({"op": "set", "joint": "lower", "value": 0.25}, lambda w: 0.25),
            ({"op": "add", "joint": "lower", "value": 0.25}, lambda w: min(1, w + 0.25)),
            ({"op": "scale", "joints": "lower", "value": 0.5}, lambda w: w * 0.5),
            ({"op": "replace", "joints": "upper", "with": "lower"}, lambda w: 1),
        ):
            with self.subTest(edit=edit):
                # In the middle both joints have weight.
                middle = {"box": [[-1, 0.9, -1], [1, 1.1, 1]]}
                for v, row in enumerate(self.bound(edits=[{**edit, "select": middle}])):
                    before = plain[v].get("lower", 0)
                    wanted = expected(before) if 0.9 <= y[v] <= 1.1 else before
                    self.assertAlmostEqual(row.get("lower", 0), wanted, 5)
        # A joint without weight gets the value, and the others share the rest.
        for v, row in enumerate(self.bound(edits=[{"op": "set", "joint": "lower", "value": 0.5, "select": top}])):
            self.assertAlmostEqual(row.get("lower", 0), 0.5 if y[v] > 1.9 else plain[v].get("lower", 0), 5)

    def test_answers(self):
        """Pins by vertex and by point, a part with the rows of the file, a border that moves."""
        plain, y = self.plain(), self.height()
        pins = [{"vertex": 0, "weights": {"lower": 0.25, "upper": 0.75}},
                {"point": make.bar()[0][BAR - 1], "weights": {"lower": 1}}]
        rows = self.bound(edits=[{"op": "pin", "pins": pins, "reach": 0.04}])
        self.assertAlmostEqual(rows[0]["upper"], 0.75, 5)
        self.assertEqual(rows[BAR - 1], {"lower": 1})
        self.assertEqual([v for v in range(BAR) if y[v] == 1 and rows[v] != plain[v]], [])
        rows = self.bound(edits=[{"op": "border", "joints": ["lower", "upper"], "shift": 0.2}])
        moved = [row.get("lower", 0) - old.get("lower", 0) for row, old in zip(rows, plain)]
        self.assertGreaterEqual(min(moved), -1e-6)
        self.assertGreater(max(moved), 0.1)
        kept = self.at / "out.glb"
        back = self.edits(edits=[{"op": "set", "joint": "lower", "value": 1}, {"op": "assign", "as": "file"}])
        done = support.sinew("apply", kept, "--edits", back, "-o", self.at / "back.glb")
        self.assertEqual(done.returncode, 0, done.stderr)
        for row, old in zip(self.weights("back.glb"), rows):
            self.assertAlmostEqual(row.get("lower", 0), old.get("lower", 0), 5)

    def test_answers_that_cannot_be(self):
        """Each names the entry, and nothing is written."""
        self.bind(self.bar())

        def pin(*rows):
            return {"op": "pin", "pins": [{"vertex": 0, "weights": row} for row in rows]}

        parts = {"op": "assign", "joint": "lower", "parts": True, "select": {"vertices": [3]}}
        border = {"op": "border", "joints": ["lower", "upper"], "shift": 0.1}
        for lists, said in (
            ({"lock": {"select": {"vertices": [0]}}, "edits": [pin({"lower": 1})]}, "edit 1: pin: pin 1: the vertex 0 is locked"),
            ({"edits": [pin({"lower": 1}, {"upper": 1})]}, "edit 1: pin: pins 1 and 2 are at one place and disagree"),
            ({"edits": [pin({"lower": 0.5})]}, "edit 1: pin: pin 1: weights must add up to 1, not to 0.5"),
            ({"edits": [parts]}, "edit 1: assign: the part at vertex 0 is 100 % of the surface, the whole body"),
            ({"edits": [{"op": "set", "joint": "lower", "value": 1}, border]},
             "edit 2: border: the joints 'lower' and 'upper' do not touch"),
        ):
            with self.subTest(said=said):
                done = support.sinew("apply", self.at / "out.glb", "--edits", self.edits(**lists), "-o", self.at / "no.glb")
                self.assertEqual(done.returncode, 3)
                self.assertIn(said, done.stderr)
                self.assertFalse((self.at / "no.glb").exists())
        for edit, joint in ((pin({"upper": 1}), "pin: pin 1"), ({**parts, "joint": "upper"}, "assign: \"joint\""),
                            (border, "border: \"joints\"")):
            self.refuse(3, [re.escape(f"edit 1: {joint}: the joint 'upper' does not deform")], self.bar(), "--exclude", "upper",
                        "--edits", self.edits(edits=[edit]), out="no.glb")

    def test_questions(self):
        self.bind(self.bar())
        done = support.sinew("questions", self.at / "out.glb", "--top", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 3)
        done = support.sinew("questions", self.at / "out.glb", "--json")
        asked = json.loads(done.stdout)["questions"]
        self.assertEqual({q["kind"] for q in asked} - {"part", "border", "place"}, set())
        for q in asked:
            self.assertTrue(set(q["joints"]) <= {"lower", "upper"})
        pins = [{"point": q["point"], "weights": {"lower": 1}} for q in asked]
        edits = self.edits(edits=[{"op": "pin", "pins": pins}])
        done = support.sinew("apply", self.at / "out.glb", "--edits", edits, "-o", self.at / "answered.glb")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.weights("answered.glb")
        for q in asked:
            self.assertEqual(rows[q["vertex"]], {"lower": 1})
        done = support.sinew("questions", self.at / "missing.glb")
        self.assertNotEqual(done.returncode, 0)

    def test_brush(self):
        plain, y = self.plain(), self.height()
        place = [0, 1.5, 0]
        brush = {"points": [place], "radius": 0.4, "through": True, "curve": "linear"}
        stroke = {"op": "set", "joint": "lower", "value": 1, "select": {"brush": brush}}
        changed = 0
        for v, row in enumerate(self.bound(edits=[stroke])):
            x, h, z = make.bar()[0][v]
            distance = (x * x + (h - 1.5) ** 2 + z * z) ** 0.5
            share = max(0, 1 - distance / 0.4)
            before = plain[v].get("lower", 0)
            self.assertAlmostEqual(row.get("lower", 0), before + share * (1 - before), 4)
            changed += share > 0
        self.assertGreater(changed, 3)
        # Half of the strength; locked joints; what faces up.
        half = {**stroke, "select": {"brush": {**brush, "strength": 0.5, "strengths": [0.5]}}}
        for v, row in enumerate(self.bound(edits=[half])):
            x, h, z = make.bar()[0][v]
            share = 0.25 * max(0, 1 - (x * x + (h - 1.5) ** 2 + z * z) ** 0.5 / 0.4)
            before = plain[v].get("lower", 0)
            self.assertAlmostEqual(row.get("lower", 0), before + share * (1 - before), 4)
        self.assertEqual(self.bound(edits=[{**stroke, "locked": ["upper"]}])[BAR - 1], plain[BAR - 1])
        self.assertEqual(self.bound(edits=[{"op": "sharpen"}, {"op": "relax", "steps": 2}]) == plain, False)

    def test_weight_that_no_joint_can_take(self):
        report = self.report(
            self.bar(), "--edits", self.edits(edits=[
                {"op": "set", "joint": "upper", "value": 1},
                {"op": "scale", "joints": "upper", "value": 0}]))
        self.assertEqual(len(report["edits"]), 2)
        self.assertRegex(report["edits"][1], rf"\b{BAR} unchanged")
        self.assertTrue(all(row == {"upper": 1} for row in self.weights()))

    def test_smooth_is_a_length(self):
        plain, y = self.plain(), self.height()
        wide = self.bound(edits=[{"op": "smooth", "length": 0.5}])
        step = lambda rows: max(
            abs(rows[v].get("upper", 0) - rows[v + 8].get("upper", 0)) for v in range(0, BAR - 8))
        self.assertLess(step(wide), step(plain))
        near = self.bound(edits=[{"op": "smooth", "length": 1e-3}])
        for a, b in zip(plain, near):
            self.assertAlmostEqual(a.get("upper", 0), b.get("upper", 0), 5)

    def test_mirror(self):
        joints = [("root", -1, (0, 0.1, 0)), ("spine", 0, (0, 1, 0)),
                  ("arm_l", 1, (0.2, 1.5, 0)), ("arm_r", 1, (-0.2, 1.5, 0))]
        source = self.bar(joints=joints)
        top = {"box": [[0.01, 1.4, -1], [1, 3, 1]]}
        self.bind(source, "--deform-from", "all", "--edits",
                  self.edits(edits=[{"op": "set", "joint": "arm_l", "value": 0.7, "select": top},
                                    {"op": "mirror", "from": "left"}]))
        rows, at = self.weights(), make.bar()[0]
        swap = {"arm_l": "arm_r", "arm_r": "arm_l"}
        for v, (x, y, z) in enumerate(at):
            other = min(range(BAR), key=lambda u: (at[u][0] + x) ** 2 + (at[u][1] - y) ** 2 + (at[u][2] - z) ** 2)
            mirrored = {swap.get(j, j): w for j, w in rows[other].items()}
            for j in {*rows[v], *mirrored}:
                self.assertAlmostEqual(rows[v].get(j, 0), mirrored.get(j, 0), 4, (v, rows[v], mirrored))
            if x < -0.01 and y > 1.4:
                self.assertGreaterEqual(rows[v]["arm_r"], 0.7 - 1e-4)  # 1 where no other joint has weight

    def test_falloff_by_joint_vertex_values_and_paint(self):
        plain, y = self.plain(), self.height()
        hard = self.plain("--falloff", "0.9")
        by_joint = self.bound(falloff=[{"value": 0.9, "joints": "*"}])
        by_place = self.bound(falloff=[{"value": 0.9, "select": {"box": [[-1, 0, -1], [1, 1.05, 1]]}}])
        by_list = self.bound(falloff=[{"values": [0.9 if h < 1.05 else None for h in y]}])
        self.assertNotEqual(hard, plain)
        for v in range(BAR):
            for row, wanted in ((by_joint[v], hard[v]), (by_place[v], (hard if y[v] < 1.05 else plain)[v]),
                                (by_list[v], (hard if y[v] < 1.05 else plain)[v])):
                self.assertAlmostEqual(row.get("lower", 0), wanted.get("lower", 0), 5)

        def paint(doc):  # red = 1 in the lower half
            data = b"".join(struct.pack("<4f", 1 if h < 1.05 else 0, 0, 0, 1) for h in y)
            doc["buffers"].append({"byteLength": len(data), "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()})
            doc["bufferViews"].append({"buffer": 1, "byteLength": len(data)})
            doc["accessors"].append(
                {"bufferView": len(doc["bufferViews"]) - 1, "componentType": 5126, "count": BAR, "type": "VEC4"})
            doc["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = len(doc["accessors"]) - 1

        painted = self.bound(source=self.bar(edit=paint), falloff=[{"paint": "r", "from": 0.1, "to": 0.9}])
        for v in range(BAR):
            self.assertAlmostEqual(painted[v].get("lower", 0), (hard if y[v] < 1.05 else plain)[v].get("lower", 0), 5)

    def test_rigid_regions(self):
        y = self.height()
        rows = self.bound(rigid=[{"joints": "upper", "select": {"box": [[-1, 0, -1], [1, 0.9, 1]]}}])
        for v, row in enumerate(rows):
            if y[v] < 0.9:
                self.assertEqual(row, {"upper": 1})
        rows = self.bound(rigid=[{"joints": ["lower"], "select": {"mesh": "bar"}}])
        self.assertTrue(all(row == {"lower": 1} for row in rows))

    def test_a_region_says_what_the_binding_does_not_keep(self):
        done = support.run(support.CHARACTERS, "biped", self.at / "biped.glb")
        self.assertEqual(done.returncode, 0, done.stderr)
        edits = self.edits(rigid=[{"joints": ["head", "foot_L"], "select": {"sphere": {"center": [0, 0, 0], "radius": 9}}}])
        warned = "rigid 1: at "
        for options, says in (((), True), (("--max-influences", "all"), False)):
            done = self.bind(self.at / "biped.glb", "--edits", edits, "--method", "closest-distance", "--save-binding",
                             self.at / "kept", *options, "--report", self.at / "r.json")
            self.assertEqual(warned in done.stdout, says)
            report = json.loads((self.at / "r.json").read_text())
            self.assertEqual(any(w.startswith(warned) for w in report["warnings"]), says)
            (self.at / "p.json").write_text(json.dumps({"joints": {}}))
            posed = support.sinew("pose", self.at / "biped.glb", "--binding", self.at / "kept", "--edits", edits, "--pose",
                                  self.at / "p.json", "-o", self.at / "p.obj")
            self.assertEqual((posed.returncode, "warning: " + warned in posed.stdout), (0, says), posed.stderr)

    def test_locks_and_only_missing(self):
        # In the file both joints have weight 1/2 at every vertex.
        rows = self.bound("--lock", "lower")
        for row in rows:
            self.assertAlmostEqual(row["lower"], 0.5, 6)
        rows = self.bound(lock={"select": {"vertices": [0, "8-15"]}})
        plain = self.plain()
        for v, row in enumerate(rows):
            self.assertAlmostEqual(row.get("lower", 0), 0.5 if v == 0 or 8 <= v < 16 else plain[v].get("lower", 0), 5)
        self.bind(self.bar(), "--only-missing")
        self.assertTrue(all(abs(row["lower"] - 0.5) < 1e-6 for row in self.weights()))

        def empty_ring(doc):  # vertices 8 to 15 have no weights
            data = b"".join(struct.pack("<4f", *((0,) * 4 if 8 <= v < 16 else (0.5, 0.5, 0, 0))) for v in range(BAR))
            doc["buffers"].append(
                {"byteLength": len(data), "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()})
            doc["bufferViews"].append({"buffer": 1, "byteLength": len(data)})
            accessor = doc["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"]
            doc["accessors"][accessor]["bufferView"] = len(doc["bufferViews"]) - 1

        make.glb(self.at / "holes.glb", edit=empty_ring)
        done = self.bind(self.at / "holes.glb", "--only-missing")
        self.assertIn(f"{BAR - 8} of {BAR} vertices keep the weights of the file", done.stdout)
        for v, row in enumerate(self.weights()):
            self.assertAlmostEqual(row.get("lower", 0), plain[v].get("lower", 0) if 8 <= v < 16 else 0.5, 5)
        self.refuse(2, ["nothing to lock"], self.bar(skin=False), "--lock", "lower")

    def test_apply(self):
        edits = self.edits(edits=[{"op": "set", "joint": "lower", "value": 0.1}])
        done = support.sinew("apply", self.bar(), "--edits", edits, "-o", self.at / "out.glb")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{BAR} vertices changed", done.stdout)
        self.sound()
        self.assertTrue(all(abs(row["lower"] - 0.1) < 1e-6 for row in self.weights()))
        for lists, words in (({"falloff": [{"value": 1, "joints": "*"}]}, "sinew bind"),
                             ({"rigid": [{"joints": "lower", "select": {"mesh": "*"}}]}, "sinew bind")):
            done = support.sinew("apply", self.bar(), "--edits", self.edits(**lists), "-o", self.at / "no.glb")
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)
            self.assertFalse((self.at / "no.glb").exists())
        done = support.sinew("apply", self.bar(), "-o", self.at / "no.glb")
        self.assertEqual(done.returncode, 2)

    def test_falloff_follows_the_pose(self):
        """An elbow that is hard when bent. At rest it equals the binding; bent, a bind with that hardness."""
        source, kept = self.bar(), self.at / "bar.binding"
        self.bind(source, "--save-binding", kept)
        self.bind(source, "--falloff", "0.9", out="hard.glb")
        edits = self.edits(falloff=[{"angles": [[0, 0.1], [60, 0.9]], "joints": "*"}])
        for degrees, like in ((0, "out.glb"), (60, "hard.glb")):
            # Both joints rotate against their parents.
            turn = {"rotate": [degrees, 0, 0]}
            (self.at / "p.json").write_text(json.dumps({"joints": {"lower": turn, "upper": turn}}))
            for out, options in (("posed.obj", (source, "--binding", kept, "--edits", edits)),
                                 ("wanted.obj", (self.at / like,))):
                done = support.sinew("pose", *options, "--pose", self.at / "p.json", "-o", self.at / out)
                self.assertEqual(done.returncode, 0, done.stderr)
            posed, wanted = (glb.obj_positions(self.at / n) for n in ("posed.obj", "wanted.obj"))
            self.assertLess(abs(posed - wanted).max(), 1e-4, degrees)
        done = support.sinew("pose", source, "--edits", edits, "--pose", self.at / "p.json", "-o", self.at / "x.obj")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--binding", done.stderr)

    def test_a_region_follows_the_pose_alone(self):
        """The upper half is hard if `upper` is bent: there it equals a bind with that hardness."""
        source, kept, y = self.bar(), self.at / "bar.binding", self.height()
        base = ("--method", "geodesic-voxel")
        self.bind(source, *base, "--save-binding", kept)
        self.bind(source, *base, "--falloff", "0.9", out="hard.glb")
        edits = self.edits(falloff=[{"angles": [[0, 0.1], [60, 0.9]], "joints": "upper",
                                     "select": {"box": [[-1, 1, -1], [1, 3, 1]]}}])

        def posed(out, degrees, *options):
            (self.at / "p.json").write_text(json.dumps({"joints": {"upper": {"rotate": [degrees, 0, 0]}}}))
            done = support.sinew("pose", *options, "--pose", self.at / "p.json", "-o", self.at / out)
            self.assertEqual(done.returncode, 0, done.stderr)
            return glb.obj_positions(self.at / out)

        upper = [v for v in range(BAR) if y[v] >= 1]
        lower = [v for v in range(BAR) if y[v] < 1]
        for degrees in (0, 30, 60, 90):
            with_edits = posed("edited.obj", degrees, source, "--binding", kept, "--edits", edits)
            plain, hard = posed("plain.obj", degrees, self.at / "out.glb"), posed("hard.obj", degrees, self.at / "hard.glb")
            self.assertLess(abs(with_edits - plain)[lower].max(), 1e-6, degrees)
            if degrees == 0:
                self.assertLess(abs(with_edits - plain).max(), 1e-6)
            else:
                self.assertGreater(abs(with_edits - plain)[upper].max(), 1e-3, degrees)
            self.assertEqual(abs(with_edits - hard)[upper].max() < 1e-4, degrees != 30)

    def test_hardness_of_joints_is_alpha_under_every_law(self):
        for options in (("--method", "geodesic-voxel"), ("--method", "mesh-geodesic"),
                        ("--method", "closest-distance", "--falloff-law", "exponential"), ()):
            plain, hard = self.plain(*options), self.plain(*options, "--falloff", "0.9")
            rows = self.bound(*options, falloff=[{"hardness": 0.9, "joints": "*"}])
            self.assertNotEqual(plain, hard)
            for row, wanted in zip(rows, hard):
                self.assertAlmostEqual(row.get("lower", 0), wanted.get("lower", 0), 5, options)

    def test_errors_name_the_edit(self):
        box = {"box": [[-9, -9, -9], [9, 9, 9]]}
        brush = {"points": [[0, 1, 0]], "radius": 0.4}
        stroke = lambda **select: {"op": "set", "joint": "lower", "value": 1, "select": select}
        for lists, words in (
            ({"edit": []}, ["\"edit\" is not known"]),
            ({"edits": [{"op": "sett"}]}, ["edits 1", "set, add, scale"]),
            ({"edits": [{"op": "set", "joint": "lower"}]}, ["needs \"value\""]),
            ({"edits": [{"op": "set", "joint": "lower", "value": 2}]}, ["from 0 to 1"]),
            ({"edits": [{"op": "smooth", "length": -0.1}]}, ["\"length\" must be a number above 0"]),
            ({"edits": [{"op": "multiply", "joints": "lower", "value": -1}]}, ["\"value\" must be a number from 0 up"]),
            ({"edits": [{"op": "set", "joint": "loer", "value": 1}]}, ["no joint 'loer'", "did you mean 'lower'"]),
            ({"edits": [{"op": "set", "joint": "*er", "value": 1}]}, ["must be one joint"]),
            ({"edits": [{"op": "set", "joint": "lower", "value": 1, "seelct": box}]}, ["seelct"]),
            ({"edits": [{"op": "set", "joint": "lower", "value": 1, "select": {"vertices": [BAR]}}]},
             [f"no vertex {BAR}"]),
            ({"edits": [{"op": "set", "joint": "lower", "value": 1, "select": {"mesh": "hat"}}]}, ["hat", "'bar'"]),
            ({"edits": [{"op": "set", "joint": "lower", "value": 1, "select": {"paint": "r"}}]}, ["COLOR_0"]),
            ({"edits": [{"op": "set", "joint": "lower", "value": 1, "select": {"box": [[8, 8, 8], [9, 9, 9]]}}]},
             ["selects no vertex"]),
            ({"edits": [{"op": "mirror", "from": "left"}]}, ["edit 1", "mirror"]),
            ({"edits": [{"op": "smooth", "length": 0}]}, ["length"]),
            ({"falloff": [{"value": 0.5}, {"value": 7, "joints": "lower"}]}, ["alpha", "7"]),
            ({"falloff": [{"value": 0.5, "paint": "r"}]}, ["one of"]),
            ({"falloff": [{"values": [1, 2]}]}, [str(BAR)]),
            ({"falloff": [{"angles": [[90, 1], [10, 0]], "joints": "upper"}]}, ["rising"]),
            ({"falloff": [{"angles": [[0, 1]], "select": box}]}, ["falloff 1", "needs \"joints\""]),
            ({"falloff": [{"angles": [[0, 1]], "joints": "*er", "select": box}]}, ["must be one joint", "2 are called"]),
            ({"falloff": [{"value": 1, "joints": "lower", "select": box}]}, ["select", "beside \"angles\""]),
            ({"falloff": [{"hardness": 0.5, "select": box}]}, ["hardness", "for vertices give \"value\""]),
            ({"falloff": [{"hardness": 2, "joints": "lower"}]}, ["hardness", "from 0 to 1"]),
            ({"rigid": [{"joints": "lower"}]}, ["rigid 1", "select"]),
            ({"lock": {"jonts": "lower"}}, ["jonts"]),
            ({"edits": [stroke(brush={"points": [[0, 1, 0]]})]}, ["must be {"]),
            ({"edits": [stroke(brush={**brush, "curve": "round"})]}, ["must be smooth, linear, sharp, dome or"]),
            ({"edits": [stroke(brush={**brush, "facing": []})]}, ["a list of 1, one for each point"]),
            ({"edits": [stroke(brush={**brush, "through": 1})]}, ["must be true or false"]),
            ({"edits": [{"op": "sharpen", "symmetric": True}]}, ["goes with a selection by"]),
            ({"edits": [{**stroke(brush=brush), "symmetric": True}]}, ["edit 1: symmetric: ", "no mirror plane"]),
            ({"edits": [{"op": "pin"}]}, ["edits 1: pin needs \"pins\""]),
            ({"edits": [{"op": "pin", "pins": [{"vertex": 0}]}]}, ["edits 1: \"pins\" 1 must be {"]),
            ({"edits": [{"op": "pin", "pins": [{"vertex": BAR, "weights": {"lower": 1}}]}]}, ["from 0 to"]),
            ({"edits": [{"op": "pin", "pins": [{"vertex": 0, "weights": {"loer": 1}}]}]}, ["no joint 'loer'"]),
            ({"edits": [{"op": "pin", "pins": [{"vertex": 0, "weights": {"lower": 0.5}}]}]},
             ["edit 1: pin: pin 1: ", "add up to 1"]),
            ({"edits": [{"op": "assign", "joint": "lower", "as": "file"}]}, ["edit 1: assign needs"]),
            ({"edits": [{"op": "assign", "joint": "lower", "parts": True}]}, ["edit 1: assign: ", "the whole body"]),
            ({"edits": [{"op": "border", "joints": ["lower"]}]}, ["must be a list of 2 joints"]),
            ({"edits": [{"op": "border", "joints": ["lower", "upper"]}]}, ["edit 1: border needs \"shift\""]),
            ({"edits": [{"op": "relax", "steps": 1.5}]}, ["must be a whole number"]),
            ({"edits": [{**stroke(brush=brush), "locked": "nobody"}]}, ["no joint 'nobody'"]),
            ({"rigid": [{"joints": "lower", "select": {"brush": brush}}]}, ["possible for \"edits\" only"]),
        ):
            with self.subTest(lists=lists):
                self.refuse(3 if "7" not in words else 2, [re.escape(w) for w in words], self.bar(), "--edits",
                            self.edits(**lists))
        (self.at / "e.json").write_text("{")
        self.refuse(3, ["e.json"], self.bar(), "--edits", self.at / "e.json")

    def test_threads_change_no_byte(self):
        source = self.at / "biped.glb"
        done = support.run(support.CHARACTERS, "biped", source)
        self.assertEqual(done.returncode, 0, done.stderr)
        edits = self.edits(edits=[{"op": "smooth", "length": 0.05}, {"op": "mirror", "from": "left"}])
        for n in ("1", "3"):
            self.bind(source, "--edits", edits, "--threads", n, out=f"{n}.glb")
        self.assertEqual((self.at / "1.glb").read_bytes(), (self.at / "3.glb").read_bytes())


if __name__ == "__main__":
    support.main()
