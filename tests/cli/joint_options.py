"""Tests of `--joint-options` and of shapes in skeleton JSON.

joint_options.py [CLASS…]; run like cli.py."""
import json

import cli
import glb
import make
import support


class JointOptions(cli.Case):
    def options(self, joints):
        path = self.at / "joints.json"
        path.write_text(json.dumps({"joints": joints}))
        return ("--joint-options", path)

    def test_a_box_owns_its_vertices(self):
        source = self.bar()
        self.bind(source, "--deform-from", "all")
        before = self.weights()
        # The bar is from y = 0 to y = 2. `upper` is at 1, and its box starts at 0.4.
        box = {"shape": {"box": [1, 0.6, 1]}}
        for method in ("geodesic-voxel", "closest-distance", "connectivity"):
            self.bind(source, "--deform-from", "all", "--method", method,
                      *self.options({"upper": box, "lower": {"shape": {"sphere": 0.05}}}))
            self.sound()
            for (_, y, _), row in zip(make.bar()[0], self.weights(), strict=True):
                if 0.45 < y < 1.55:
                    self.assertEqual(row, {"upper": 1}, f"{method}, y = {y}")
        self.assertNotEqual(before, self.weights())

    def test_tail_deform_range_and_hardness_have_an_effect(self):
        joints = [("lower", -1, (0, 0.1, 0)), ("upper", 0, (0, 1.0, 0)), ("ik_top", 1, (0, 1.9, 0))]
        source = self.bar(joints=joints)
        plain = self.report(source, "--deform-from", "names")
        reason = {j["name"]: j["reason"] for j in plain["joints"]}
        self.assertEqual(reason["ik_top"], "control_name")
        weights = self.weights()
        report = self.report(source, "--deform-from", "names", "--method", "geodesic-voxel",
                             *self.options({"ik_*": {"deform": True}, "lower": {"deform": False}}))
        self.assertEqual({j["name"]: j["reason"] for j in report["joints"]},
                         {"lower": "excluded", "upper": "deforms", "ik_top": "included"})
        self.assertEqual({n for row in self.weights() for n in row}, {"upper", "ik_top"})
        for joint in ({"hardness": 1}, {"tail": [0.2, 0.5, 0]}):
            self.bind(source, "--deform-from", "names", *self.options({"upper": joint}))
            self.assertNotEqual(self.weights(), weights, joint)
        self.bind(source, "--deform-from", "names", "--method", "connectivity")
        weights = self.weights()
        self.bind(source, "--deform-from", "names", "--method", "connectivity", *self.options({"*r": {"range": [0, 1]}}))
        self.assertNotEqual(self.weights(), weights)
        self.assertEqual({len(row) for row in self.weights()}, {1})
        # Hardness also acts under a law whose shape is a length.
        base = ("--deform-from", "names", "--method", "mesh-geodesic")
        self.bind(source, *base)
        weights = self.weights()
        report = self.report(source, *base, *self.options({"*r": {"hardness": 1}}))
        self.assertFalse(any("hardness" in w for w in report["warnings"]), report["warnings"])
        hard = self.weights()
        self.assertNotEqual(hard, weights)
        self.bind(source, *base, "--falloff", "1")
        self.assertEqual(self.weights(), hard)

    def test_a_tail_ends_the_bone(self):
        joints = [("lower", -1, (0, 0.1, 0)), ("upper", 0, (0, 1.7, 0))]
        source = self.bar(joints=joints)
        positions = make.bar()[0]
        # "lower" ends at 0.3 instead of at the next joint, so vertices halfway between follow "upper".
        tail = self.options({"lower": {"tail": [0, 0.3, 0]}, "upper": {"tail": [0, 1.9, 0]}})
        for method in ("surface-heat", "geodesic-voxel", "connectivity", "closest-distance", "closest-hierarchy",
                       "bone-heat", "voxel-heat", "bounded-biharmonic", "mesh-geodesic"):
            how = ["--deform-from", "all", "--method", method]
            if method == "mesh-geodesic":
                how += ["--rings", "bone"]
            with self.subTest(method):
                self.bind(source, *how)
                links = self.weights()
                self.bind(source, *how, *tail)
                stated = self.weights()
                self.assertNotEqual(links, stated)
                for (_, y, _), row in zip(positions, stated, strict=True):
                    if 1.2 < y < 1.5:
                        self.assertGreater(row.get("upper", 0), 0.5, f"y = {y}")
                    if y < 0.6:
                        self.assertGreater(row.get("lower", 0), 0.5, f"y = {y}")
        # null removes a tail that the file states.
        def stating(doc):
            for node in doc["nodes"]:
                if node.get("name") == "lower":
                    node["extras"] = {"sinew_tail": [0, 0.2, 0]}

        self.bind(source, "--deform-from", "all", "--method", "connectivity")
        links = self.weights()
        stated = make.glb(self.at / "stated.glb", joints=joints, edit=stating)
        self.bind(stated, "--deform-from", "all", "--method", "connectivity")
        self.assertNotEqual(self.weights(), links)
        self.bind(stated, "--deform-from", "all", "--method", "connectivity", *self.options({"lower": {"tail": None}}))
        self.assertEqual(self.weights(), links)
        self.bind(source, "--deform-from", "all", "--method", "connectivity",
                  *self.options({"lower": {"tail": [0, 0.3, 0]}}))
        by_options = self.weights()
        self.bind(stated, "--deform-from", "all", "--method", "connectivity")
        for a, b in zip(self.weights(), by_options, strict=True):
            self.assertEqual(a.keys(), b.keys())
            for name in a:
                self.assertAlmostEqual(a[name], b[name], places=5)

    def test_a_tail_in_skeleton_json_ends_the_bone(self):
        # A flat strip, so that pixel-geodesic can bind it too.
        strip, skeleton = self.at / "strip.obj", self.at / "s.json"
        rows = range(41)
        lines = [f"v {x} {k / 20} 0" for k in rows for x in (-0.1, 0.1)]
        lines += [f"f {2 * k + 1} {2 * k + 2} {2 * k + 4} {2 * k + 3}" for k in rows[:-1]]
        strip.write_text("\n".join(lines) + "\n")
        for method in ("pixel-geodesic", "connectivity", "bone-heat"):
            for tail, upper in ((None, 0), ([0, 0.3, 0], 1), ([0, 1.7, 0], 0)):
                bones = [{"name": "lower", "head": [0, 0.1, 0], "tail": tail},
                         {"name": "upper", "parent": "lower", "head": [0, 1.7, 0], "tail": [0, 1.9, 0]}]
                skeleton.write_text(json.dumps({"bones": bones}))
                report = self.report(strip, "--skeleton", skeleton, "--method", method)
                self.assertEqual(report["counts"]["bones"], 2)
                placed = glb.Doc(self.at / "out.glb")
                at = placed.accessor(placed.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"])
                for (_, y, _), row in zip(at, self.weights(), strict=True):
                    if 1.2 < y < 1.37:
                        self.assertEqual(round(row.get("upper", 0)), upper, f"{method}, {tail}, y = {y}: {row}")
        # The written file states the ends of bones: binding it again changes nothing.
        skeleton.write_text(json.dumps({"bones": [{**bones[0], "tail": [0.05, 0.5, 0]}, bones[1]]}))
        self.bind(strip, "--skeleton", skeleton, "--method", "connectivity", out="first.glb")
        first = glb.Doc(self.at / "first.glb")
        self.assertEqual([n["name"] for n in first.json["nodes"] if "sinew_tail" in n.get("extras", {})],
                         ["lower", "upper"])
        self.bind(self.at / "first.glb", "--method", "connectivity")
        self.assertEqual(len(self.weights()), len(self.weights("first.glb")))
        for a, b in zip(self.weights(), self.weights("first.glb"), strict=True):
            self.assertEqual(a.keys(), b.keys())
            for name in a:
                self.assertAlmostEqual(a[name], b[name], places=5)

    def test_errors_name_the_joint(self):
        source = self.bar()
        for joints, words in (
            ({"uper": {}}, ["joints.json", "uper", r"did you mean 'upper'\?"]),
            ({"arm_*": {}}, [r"arm_\*"]),
            ({"upper": {"hard": 1}}, ["\"hard\"", "hardness"]),
            ({"upper": {"shape": {"cone": 1}}}, ["shape", "sphere"]),
            ({"upper": {"shape": {"box": [1, 1, 1], "axes": [[1, 0, 0], [1, 0, 0], [0, 0, 1]]}}}, ["upper", "right angles"]),
        ):
            self.refuse(3, words, source, *self.options(joints))
        missing = self.at / "nowhere.json"
        self.refuse(3, ["nowhere.json"], source, "--joint-options", missing)
        (self.at / "joints.json").write_text("{")
        self.refuse(3, ["joints.json", "JSON"], source, "--joint-options", self.at / "joints.json")
        self.refuse(2, ["--joint-options"], source, "--joint-options", self.at / "joints.json",
                    "--report", self.at / "joints.json")

    def test_three_boxes_bind_a_robot(self):
        source, rig = self.at / "robot.glb", self.at / "boxes.json"
        self.assertEqual(support.run(support.CHARACTERS, "robot", source).returncode, 0)
        doc = glb.Doc(source)
        # As an OBJ: the robot without its skeleton.
        (primitive,) = doc.json["meshes"][0]["primitives"]
        at, corners = doc.accessor(primitive["attributes"]["POSITION"]), doc.accessor(primitive["indices"])
        flat = [c[0] if isinstance(c, (list, tuple)) else int(c) for c in corners]
        lines = [f"v {x} {y} {z}" for x, y, z in at]
        lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in zip(flat[0::3], flat[1::3], flat[2::3])]
        (self.at / "robot.obj").write_text("\n".join(lines) + "\n")
        third = max(y for _, y, _ in at) / 3
        rig.write_text(json.dumps({"points": [
            {"name": f"box{k}", "position": [0, float((k + 0.5) * third), 0], "shape": {"box": [3, float(third / 2), 3]}}
            for k in range(3)]}))
        report = self.report(self.at / "robot.obj", "--skeleton", rig)
        self.assertEqual(report["coverage"]["share"], 1)
        self.assertEqual(report["counts"]["deforming_joints"], 3)
        self.sound()
        placed = glb.Doc(self.at / "out.glb")
        (mesh,) = placed.json["meshes"]
        positions = placed.accessor(mesh["primitives"][0]["attributes"]["POSITION"])
        for (_, y, _), row in zip(positions, self.weights(), strict=True):
            if min(abs(y - third), abs(y - 2 * third)) > 0.1:
                self.assertGreater(row.get(f"box{min(2, int(y / third))}", 0), 0.9, f"y = {y}: {row}")


if __name__ == "__main__":
    support.main()
