"""Tests of sinew pose beyond positions: materials, normals and tangents, rigid props.

posed.py [CLASS…], as cli.py."""
import base64
import json

import numpy as np

import glb
import make
import support
from cli import Case

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


def unit(v):
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def dressed(path, external=None):
    """The bar with normals, tangents, coordinates, colours, a shape, a material with an image, and a rigid prop on
    `upper`: the bar at half its size."""
    positions = np.array(make.bar()[0], dtype="<f4")
    n = len(positions)
    normals = unit(positions * (1, 0, 1)).astype("<f4")
    tangents = np.hstack([np.tile([0, 1, 0], (n, 1)), np.full((n, 1), -1)]).astype("<f4")
    uvs = (positions[:, :2] * (2, 0.5)).astype("<f4")
    colors = (np.arange(4 * n) % 251).astype("u1").reshape(n, 4)
    bump = np.tile([0, 0, 0.25], (n, 1)).astype("<f4")
    lean = np.tile([0, 0.5, 0], (n, 1)).astype("<f4")
    parts = [(normals, 5126, "VEC3"), (tangents, 5126, "VEC4"), (uvs, 5126, "VEC2"), (colors, 5121, "VEC4"),
             (bump, 5126, "VEC3"), (lean, 5126, "VEC3")]

    def edit(doc):
        data = b""
        slots = []
        for values, component, kind in parts:
            raw = values.tobytes()
            doc["bufferViews"].append({"buffer": 1, "byteOffset": len(data), "byteLength": len(raw), "target": 34962})
            doc["accessors"].append({"bufferView": len(doc["bufferViews"]) - 1, "componentType": component, "count": n,
                                     "type": kind})
            slots.append(len(doc["accessors"]) - 1)
            data += raw
        for slot in slots[4:]:
            del doc["bufferViews"][doc["accessors"][slot]["bufferView"]]["target"]
        doc["accessors"][slots[3]]["normalized"] = True
        doc["accessors"][slots[4]].update(min=[0, 0, 0.25], max=[0, 0, 0.25])
        doc["buffers"].append({"byteLength": len(data),
                               "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()})
        image = {"uri": external or "data:image/png;base64," + base64.b64encode(PNG).decode()}
        doc["images"] = [image]
        doc["samplers"] = [{"wrapS": 33071}]
        doc["textures"] = [{"source": 0, "sampler": 0}]
        doc["materials"] = [{"name": "skin", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}, "doubleSided": True}]
        primitive = doc["meshes"][0]["primitives"][0]
        rigid = {k: v for k, v in primitive["attributes"].items() if k == "POSITION"}
        primitive["attributes"].update(NORMAL=slots[0], TANGENT=slots[1], TEXCOORD_0=slots[2], COLOR_0=slots[3])
        primitive["material"] = 0
        primitive["targets"] = [{"POSITION": slots[4], "NORMAL": slots[5]}]
        doc["meshes"][0]["weights"] = [0]
        doc["meshes"].append({"name": "prop", "primitives": [{"attributes": rigid, "indices": 1, "material": 0}]})
        doc["nodes"].append({"name": "prop", "mesh": 1, "translation": [0, 1, 0], "scale": [0.5, 0.5, 0.5]})
        doc["nodes"][2]["children"] = [len(doc["nodes"]) - 1]

    make.glb(path, edit=edit)
    return path, positions, normals, tangents


class Posed(Case):
    def pose(self, source, out="posed.glb", code=0, options=(), **joints):
        path = self.at / "pose.json"
        path.write_text(json.dumps({"joints": joints}))
        done = support.sinew("pose", source, "--pose", path, "-o", self.at / out, *options)
        self.assertEqual(done.returncode, code, done.stderr)
        return done if code else glb.Doc(self.at / out)

    def test_materials_and_props_are_written(self):
        source, positions, normals, tangents = dressed(self.at / "dressed.glb")
        before = glb.Doc(source)
        for name in ("posed.glb", "posed.gltf"):
            doc = self.pose(source, name, upper={"rotate": [0, 0, 90]})
            with self.subTest(name):
                for key in ("skins", "animations"):
                    self.assertNotIn(key, doc.json)
                for key in ("materials", "textures", "samplers", "images"):
                    self.assertEqual(doc.json[key], before.json[key])
                self.assertEqual([n["name"] for n in doc.json["nodes"]], ["bar", "prop"])
                new = doc.json["meshes"][0]["primitives"][0]
                old = before.json["meshes"][0]["primitives"][0]
                self.assertEqual(set(new), {"attributes", "indices", "material"})
                self.assertEqual(
                    set(new["attributes"]), {"POSITION", "NORMAL", "TANGENT", "TEXCOORD_0", "COLOR_0"})
                for same in ("TEXCOORD_0", "COLOR_0"):
                    self.assertEqual(doc.accessor(new["attributes"][same]).tobytes(),
                                     before.accessor(old["attributes"][same]).tobytes())
                self.assertEqual(doc.accessor(new["indices"]).tobytes(), before.accessor(old["indices"]).tobytes())
                # Half of the weight of every vertex rotates about (0, 1, 0).
                turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
                mean = (np.eye(3) + turn) / 2
                centre = np.array([0, 1, 0])
                expected = (positions + (positions - centre) @ turn.T + centre) / 2
                self.assertLess(abs(doc.accessor(new["attributes"]["POSITION"]) - expected).max(), 1e-6)
                expected = unit(normals @ np.linalg.inv(mean))
                self.assertLess(abs(doc.accessor(new["attributes"]["NORMAL"]) - expected).max(), 1e-6)
                got = doc.accessor(new["attributes"]["TANGENT"])
                self.assertLess(abs(got[:, :3] - unit(tangents[:, :3] @ mean.T)).max(), 1e-6)
                self.assertEqual(set(got[:, 3]), {-1})
                bounds = doc.json["accessors"][new["attributes"]["POSITION"]]
                raw = doc.accessor(new["attributes"]["POSITION"])
                self.assertEqual([np.float32(x) for x in bounds["min"]], list(raw.min(axis=0)))
                self.assertEqual([np.float32(x) for x in bounds["max"]], list(raw.max(axis=0)))
                # The prop is 1 m above `upper` and rotates with it.
                prop = glb.world_matrices(doc)[1] @ np.array([0, 2, 0, 1])
                self.assertLess(abs(prop[:3] - (-2, 1, 0)).max(), 1e-6)
        messages = support.validate([source, *(self.at / f"posed.{x}" for x in ("glb", "gltf"))])
        if messages:
            for name in ("posed.glb", "posed.gltf"):
                self.assertEqual(support.new_messages(messages[str(source)], messages[str(self.at / name)]), {})

    def test_the_rest_pose_keeps_the_bits(self):
        source, positions, normals, tangents = dressed(self.at / "dressed.glb")
        doc = self.pose(source)
        attributes = doc.json["meshes"][0]["primitives"][0]["attributes"]
        for name, values in (("POSITION", positions), ("NORMAL", normals), ("TANGENT", tangents)):
            self.assertEqual(doc.accessor(attributes[name]).tobytes(), values.tobytes(), name)

    def test_shapes_move_normals(self):
        source, _, normals, _ = dressed(self.at / "dressed.glb")
        doc, data = glb.Doc(source), source.read_bytes()
        text = doc.text.replace(b'"weights": [0]', b'"weights": [1]')
        self.assertEqual(len(text), len(doc.text))
        source.write_bytes(data.replace(doc.text, text))
        out = self.pose(source)
        attributes = out.json["meshes"][0]["primitives"][0]["attributes"]
        self.assertLess(abs(out.accessor(attributes["NORMAL"]) - unit(normals + (0, 0.5, 0))).max(), 1e-6)

    def test_images_beside_the_file(self):
        (self.at / "skin.png").write_bytes(PNG)
        source, *_ = dressed(self.at / "dressed.glb", external="skin.png")
        away = self.at / "away"
        away.mkdir()
        doc = self.pose(source, "away/posed.glb")
        image = doc.json["images"][0]
        self.assertEqual((image["mimeType"], bytes(doc.view(image["bufferView"]))), ("image/png", PNG))
        self.assertEqual([p.name for p in away.iterdir()], ["posed.glb"])

    def test_the_joint_that_dual_quaternions_refuse_is_named(self):
        source = self.bar()
        done = self.pose(source, code=3, options=("--skinning", "dqs"), upper={"scale": [2, 1, 1]})
        self.assertIn("joint 'upper' is scaled", done.stderr)

    def test_two_skins(self):
        source = make.two_skins(self.at / "two.glb")
        weights = self.at / "bound.glb"
        self.bind(source, "--include", "other", out="bound.glb")
        doc = self.pose(weights, upper={"rotate": [0, 0, 90]}, other={"translate": [3, 0, 0]})
        self.assertEqual([n["name"] for n in doc.json["nodes"]], ["bar", "second"])
        second = doc.accessor(doc.json["meshes"][1]["primitives"][0]["attributes"]["POSITION"])
        self.assertLess(abs(second - np.array(make.bar()[0]) - (3, 0, 0)).max(), 1e-6)

    def test_posed_characters_of_the_corpus_add_no_validator_messages(self):
        pairs = []
        for name in ("q_robot_expressive", "kaykit_knight", "khr_brainstem", "vrm_godette", "valid_aian_f1_medi"):
            source = next(iter(sorted((support.CORPUS / name).glob("*.[gv][lr]*"))), None)
            if source is None or ".decoded" in source.name:
                continue
            clip = ("--clip", "0", "--time", "0.3") if glb.Doc(source).list("animations") else ()
            if not clip:
                (self.at / "rest.json").write_text('{"joints":{}}')
                clip = ("--pose", self.at / "rest.json")
            out = self.at / f"{name}.glb"
            done = support.sinew("pose", source, *clip, "-o", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            pairs.append((source, out))
        messages = support.validate([f for pair in pairs for f in pair]) if pairs else None
        if not messages:
            self.skipTest("no corpus (SINEW_CORPUS) or no gltf-validator")
        for source, out in pairs:
            with self.subTest(source.name):
                new = support.new_messages(messages[str(source)], messages[str(out)])
                # Validator messages on normals may come from the clip, so they are ignored.
                self.assertEqual({k: v for k, v in new.items() if not k.startswith("info")}, {})


if __name__ == "__main__":
    support.main()
