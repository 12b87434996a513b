"""Tests of `sinew cutout`: pictures to meshes with weights, and the files that it writes. Run like cli.py."""
import json
import math
import os
import re
import struct
import zlib

import numpy as np

import cli
import figures
import glb
import support
from png import read_png, write_png


class Case(cli.Case):
    def files(self, bones=figures.BONES, picture=None, **more):
        picture_path = write_png(self.at / "figure.png", figures.gingerbread() if picture is None else picture)
        bones_path = self.at / "bones.json"
        bones_path.write_text(json.dumps({"bones": bones, **more}))
        return picture_path, bones_path

    def layered(self, **arm):
        write_png(self.at / "body.png", figures.draw(200, 320, (100, 50, 100, 280, 30)))
        write_png(self.at / "arm.png", figures.draw(60, 160, (30, 30, 30, 130, 16)))
        path = self.at / "layered.json"
        path.write_text(
            json.dumps(
                {
                    "bones": [
                        {"name": "trunk", "head": [100, 280], "tail": [100, 180]},
                        {"name": "chest", "parent": "trunk", "head": [100, 180], "tail": [100, 60]},
                        {"name": "arm", "parent": "chest", "head": [90, 90], "tail": [90, 150]},
                        {"name": "hand", "parent": "arm", "head": [90, 150], "tail": [90, 210]},
                    ],
                    "layers": [
                        {"name": "front", "image": "arm.png", "bones": ["arm", "hand"], "offset": [60, 70], "order": 5, **arm},
                        {"image": "body.png", "bones": ["trunk", "chest"], "order": 1},
                    ],
                }
            )
        )
        return path

    def cutout(self, *args, code=0, out="out.glb"):
        done = support.sinew("cutout", *args, "-o", self.at / out)
        self.assertEqual(done.returncode, code, f"sinew cutout {args}\n{done.stdout}{done.stderr}")
        return done

    def refused(self, code, words, *args, out="out.glb"):
        before = sorted(os.listdir(self.at))
        done = self.cutout(*args, code=code, out=out)
        self.assertEqual(sorted(os.listdir(self.at)), before, "a failed cutout left or removed files")
        self.assertRegex(done.stderr, words)
        self.assertEqual(done.stdout, "")
        self.assertLess(len(done.stderr.splitlines()), 6)

    def layers_of(self, name="out.glb"):
        """Per node with a skin: its name, positions, uvs, triangles, weights by joint name, the picture's bytes."""
        doc = glb.Doc(self.at / name)
        for node in doc.json["nodes"]:
            if "skin" not in node:
                continue
            primitive = doc.json["meshes"][node["mesh"]]["primitives"][0]
            names = [doc.json["nodes"][j]["name"] for j in doc.json["skins"][node["skin"]]["joints"]]
            joints, weights, _ = glb.weight_rows(doc, primitive)
            material = doc.json["materials"][primitive["material"]]
            texture = doc.json["textures"][material["pbrMetallicRoughness"]["baseColorTexture"]["index"]]
            yield {
                "name": node["name"],
                "positions": doc.accessor(primitive["attributes"]["POSITION"]),
                "uvs": doc.accessor(primitive["attributes"]["TEXCOORD_0"]),
                "triangles": doc.accessor(primitive["indices"]).reshape(-1, 3),
                "weights": [{names[j]: float(w) for j, w in zip(*row) if w} for row in zip(joints, weights)],
                "png": doc.view(doc.json["images"][texture["source"]]["bufferView"]),
                "material": material,
                "bones": names,
            }


class Cutout(Case):
    def test_a_picture_becomes_a_textured_mesh_with_weights(self):
        picture, bones = self.files()
        done = self.cutout(picture, "--bones", bones, "--report", self.at / "r.json")
        self.assertRegex(done.stdout, r"^cut out 1 layer: \d+ vertices, \d+ triangles, 7 bones in ")
        (layer,) = self.layers_of()
        self.assertEqual(layer["name"], "figure")
        self.assertEqual(layer["png"], picture.read_bytes())
        self.assertEqual(layer["material"]["alphaMode"], "MASK")
        p, uv = layer["positions"], layer["uvs"]
        # y up, a hundred pixels a unit, texture coordinates from the upper left corner.
        np.testing.assert_allclose(p[:, 0] * 100, uv[:, 0] * 200, atol=1e-3)
        np.testing.assert_allclose(p[:, 1] * 100, (1 - uv[:, 1]) * 320, atol=1e-3)
        self.assertAlmostEqual(float(p[:, 1].max()) * 100, 320 - 14, delta=1)
        t = p[layer["triangles"]][:, :, :2].astype(float)
        u, v = t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]
        area = 0.5 * (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
        self.assertGreater(area.min(), 0)
        report = json.loads((self.at / "r.json").read_text())
        self.assertAlmostEqual(area.sum() * 1e4, report["layers"][0]["area"], delta=1)
        self.assertAlmostEqual(area.sum() * 1e4, report["layers"][0]["pixels"], delta=0.01 * area.sum() * 1e4)
        self.assertGreater(report["layers"][0]["smallest_angle"], 20)
        for place, row in zip(p * 100, layer["weights"]):
            self.assertLessEqual(len(row), 4)
            self.assertAlmostEqual(sum(row.values()), 1, delta=1e-5)
            if place[1] < 40 and place[0] < 98:
                self.assertGreater(row.get("leg.R", 0), 0.95)
            if place[1] < 170 and place[0] < 62:
                self.assertGreater(row.get("hand.R", 0), 0.7)

    def test_gltf_and_modes(self):
        picture, bones = self.files()
        self.cutout(picture, "--bones", bones, "--alpha-mode", "blend", "--pixels-per-unit", "1", out="out.gltf")
        (layer,) = self.layers_of("out.gltf")
        self.assertEqual(layer["material"]["alphaMode"], "BLEND")
        self.assertGreater(layer["positions"].max(), 250)
        self.cutout(picture, "--bones", bones, "--max-influences", "8")
        (layer,) = self.layers_of()
        self.assertGreater(max(len(row) for row in layer["weights"]), 4)

    def test_layers_bend_apart_on_one_skeleton(self):
        self.cutout(self.layered())
        back, front = self.layers_of()
        self.assertEqual((back["name"], front["name"]), ("body", "front"))
        self.assertEqual((back["bones"], front["bones"]), (["trunk", "chest"], ["arm", "hand"]))
        # The front layer is nearer to the viewer, at its offset.
        self.assertLess(back["positions"][:, 2].max(), front["positions"][:, 2].min())
        self.assertAlmostEqual(front["positions"][:, 0].min() * 100, 60 + 14, delta=1)
        self.assertAlmostEqual(front["positions"][:, 1].max() * 100, 320 - 70 - 14, delta=1)
        doc = glb.Doc(self.at / "out.glb")
        self.assertEqual(len(doc.json["skins"]), 2)
        self.assertEqual(sum("skin" in n for n in doc.json["nodes"]), 2)
        # "all" is also the default.
        self.cutout(self.layered(bones="all"))
        _, front = self.layers_of()
        self.assertEqual(len(front["bones"]), 4)

    def test_smoothness_spreads_and_may_be_of_one_bone(self):
        shared = []
        for options in (("--smoothness", "3"), ("--smoothness", "40")):
            picture, bones = self.files(bones=figures.BONES[:-1])
            self.cutout(picture, "--bones", bones, *options)
            (layer,) = self.layers_of()
            shared.append(sum(1 - max(row.values()) for row in layer["weights"]))
        self.assertGreater(shared[1], 2 * shared[0])
        reach = []
        for smoothness in (4, 60):
            arm = {**figures.BONES[-1], "smoothness": smoothness}
            picture, bones = self.files(bones=figures.BONES[:-1] + [arm])
            self.cutout(picture, "--bones", bones, "--smoothness", "4")
            (layer,) = self.layers_of()
            reach.append(sum(row.get("arm.L", 0) for row in layer["weights"]))
        self.assertGreater(reach[1], 1.2 * reach[0])

    def test_pictures_of_weights_and_of_the_pose(self):
        picture, bones = self.files(bones=figures.BONES[:3])
        pose = self.at / "pose.json"
        pose.write_text(json.dumps({"joints": {"leg.L": {"rotate": [0, 0, 90]}}}))
        options = ("--bones", bones, "--picture", self.at / "w.png", "--pose", pose, "--posed", self.at / "p.png")
        self.cutout(picture, *options)
        weights = read_png(self.at / "w.png")
        self.assertEqual(weights.shape, (320, 200, 4))
        red, green, blue = weights[130, 100], weights[30, 100], weights[290, 118]
        self.assertTrue(red[0] > 200 and green[1] > 200 and blue[2] > 200, (red, green, blue))
        self.assertEqual(weights[5, 5, 3], 0)
        # Rotated counter-clockwise by 90 degrees, the left leg, on the right of the picture, points to the right.
        posed = read_png(self.at / "p.png")
        self.assertEqual(read_png(picture)[185, 190, 3], 0)
        self.assertGreater(posed.shape[1], 220)
        self.assertEqual(posed[185, 190, 3], 255)
        self.assertEqual(posed[290, 130, 3], 0)
        first = [(self.at / n).read_bytes() for n in ("w.png", "p.png", "out.glb")]
        self.cutout(picture, *options, "--threads", "1")
        self.assertEqual([(self.at / n).read_bytes() for n in ("w.png", "p.png", "out.glb")], first)

    def test_bones_outside_snap_and_islands_are_bridged(self):
        two = figures.draw(200, 100, (50, 50, 50.1, 50, 30), (140, 50, 140.1, 50, 35))
        bones = [{"name": "a", "head": [40, 50], "tail": [60, 50]}, {"name": "b", "head": [5, 5], "tail": [9, 5]}]
        picture, path = self.files(bones=bones, picture=two)
        done = self.cutout(picture, "--bones", path, "--report", self.at / "r.json")
        self.assertIn("layer 'figure': bone 'b' lies outside the outline; it starts from the nearest pixel", done.stdout)
        (layer,) = json.loads((self.at / "r.json").read_text())["layers"]
        self.assertEqual((layer["islands"], layer["components"], layer["bridged_components"]), (2, 2, 1))
        self.assertEqual(layer["snapped_bones"], ["b"])
        self.assertGreater(layer["coverage"]["bridged"], 5)
        self.assertEqual(layer["coverage"]["share"], 1)

    def test_the_report_is_documented_and_numbers_hold(self):
        path = self.layered()
        done = self.cutout(path, "--json", "--require-coverage", "1")
        report = json.loads(done.stdout)

        def keys(value, at):
            if isinstance(value, dict):
                for k, v in value.items():
                    yield from keys(v, f"{at}.{k}" if at else k)
            elif isinstance(value, list):
                for v in value or [0]:
                    yield from keys(v, at + "[]")
            else:
                yield at

        text = (support.ROOT / "docs/cutout.md").read_text()
        documented = support.documented_keys(text.split("## The report")[1])
        self.assertEqual(set(keys(report, "")), documented)
        self.assertEqual(self.cutout(path, "--quiet").stdout, "")
        self.assertEqual([l["name"] for l in report["layers"]], ["body", "front"])
        self.assertEqual(report["counts"]["vertices"], sum(l["vertices"] for l in report["layers"]))

    def test_an_existing_flat_mesh_is_weighted_by_rasterising(self):
        picture, bones = self.files()
        self.cutout(picture, "--bones", bones, "--neighbours", "4", "--smoothness", "15")
        (layer,) = self.layers_of()
        obj, skeleton = self.at / "flat.obj", self.at / "flat.json"
        lines = ["v {:.6f} {:.6f} 0".format(*p[:2]) for p in layer["positions"]]
        lines += ["f {} {} {}".format(*(t + 1)) for t in layer["triangles"]]
        obj.write_text("\n".join(lines))

        def lifted(point):
            return [point[0] / 100, (320 - point[1]) / 100, 0]

        bones = [{**b, "head": lifted(b["head"]), "tail": lifted(b["tail"])} for b in figures.BONES]
        skeleton.write_text(json.dumps({"bones": bones}))
        done = support.sinew(
            "bind", obj, "--skeleton", skeleton, "-o", self.at / "flat.glb", "--method", "pixel-geodesic",
            "--resolution", "1024", "--deform-from", "all", "--report", self.at / "r.json",
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads((self.at / "r.json").read_text())
        self.assertEqual((report["method"], report["options"]["neighbours"]), ("pixel-geodesic", 4))
        self.assertEqual((report["voxels"]["boundary"], report["voxels"]["components"]), (0, 1))
        self.assertEqual(report["coverage"]["share"], 1)
        for place, row in zip(layer["positions"] * 100, self.weights("flat.glb")):
            if place[1] < 40 and place[0] < 98:
                self.assertGreater(row.get("leg.R", 0), 0.9)

    def test_the_output_can_be_posed_and_compared(self):
        self.cutout(self.layered())
        pose = self.at / "pose.json"
        pose.write_text(json.dumps({"joints": {"hand": {"rotate": [0, 0, 45]}}}))
        done = support.sinew("pose", self.at / "out.glb", "--pose", pose, "-o", self.at / "posed.glb")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_validator_reports_nothing(self):
        picture, bones = self.files()
        self.cutout(picture, "--bones", bones, out="one.glb")
        self.cutout(picture, "--bones", bones, "--alpha-mode", "blend", "--max-influences", "8", out="one.gltf")
        self.cutout(self.layered(), out="two.glb")
        files = [self.at / n for n in ("one.glb", "one.gltf", "two.glb")]
        messages = support.validate(files)
        if messages is None:
            self.skipTest("gltf-validator is not installed")
        for file in files:  # except a hint on sizes that are not powers of two
            self.assertEqual(set(messages[str(file)]) - {"info IMAGE_NPOT_DIMENSIONS"}, set())


class Spine(Case):
    def evaluate(self, data, slot, poses={}):
        """Vertices of a mesh attachment, computed as a runtime does."""
        world = []
        names = {}
        for bone in data["bones"]:
            angle = math.radians(bone.get("rotation", 0) + poses.get(bone["name"], 0))
            c, s = math.cos(angle), math.sin(angle)
            local = np.array([[c, -s, bone.get("x", 0)], [s, c, bone.get("y", 0)], [0, 0, 1]])
            parent = world[names[bone["parent"]]] if "parent" in bone else np.eye(3)
            names[bone["name"]] = len(world)
            world.append(parent @ local)
        mesh = data["skins"][0]["attachments"][slot][slot]
        out, at, values = [], 0, mesh["vertices"]
        while at < len(values):
            n = values[at]
            place, total = np.zeros(3), 0
            for k in range(n):
                bone, x, y, w = values[at + 1 + 4 * k : at + 5 + 4 * k]
                place += w * (world[bone] @ (x, y, 1))
                total += w
            self.assertAlmostEqual(total, 1, delta=1e-5)
            out.append(place[:2])
            at += 1 + 4 * n
        return np.array(out), mesh

    def test_the_bind_pose_gives_the_outline_back(self):
        picture, bones = self.files()
        self.cutout(picture, "--bones", bones, out="figure.json")
        data = json.loads((self.at / "figure.json").read_text())
        self.assertEqual(data["skeleton"]["spine"][:2], "4.")
        seen = set()
        for bone in data["bones"]:
            self.assertTrue(not seen or bone["parent"] in seen, "parents come before children")
            seen.add(bone["name"])
        self.assertEqual(len(data["bones"]), 8)
        lengths = {b["name"]: b.get("length", 0) for b in data["bones"]}
        self.assertAlmostEqual(lengths["leg.L"], 115, delta=1e-3)

        points, mesh = self.evaluate(data, "figure")
        self.assertEqual((mesh["type"], mesh["width"], mesh["height"]), ("mesh", 200, 320))
        self.assertNotIn("path", mesh)  # the picture is beside the file and has the name of the attachment
        uvs = np.array(mesh["uvs"]).reshape(-1, 2)
        np.testing.assert_allclose(points[:, 0], 200 * uvs[:, 0], atol=2e-3)
        np.testing.assert_allclose(points[:, 1], 320 * (1 - uvs[:, 1]), atol=2e-3)
        # The hull comes first and is the outer edge: its area is the area of all triangles.
        hull = points[: mesh["hull"]]
        x, y = hull[:, 0], hull[:, 1]
        t = points[np.array(mesh["triangles"]).reshape(-1, 3)]
        u, v = t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]
        area = 0.5 * (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]).sum()
        self.assertAlmostEqual(0.5 * (x * np.roll(y, -1) - np.roll(x, -1) * y).sum(), area, delta=1)
        edges = np.array(mesh["edges"]).reshape(-1, 2)
        self.assertEqual(len(edges), mesh["hull"])
        self.assertTrue((edges % 2 == 0).all() and edges.max() == 2 * (mesh["hull"] - 1))
        self.assertGreater(abs(np.abs(x).max()), 100)

        # The same positions as in glTF, and a bone moves its vertices.
        self.cutout(picture, "--bones", bones)
        (layer,) = self.layers_of()
        np.testing.assert_allclose(points, layer["positions"][:, :2] * 100, atol=2e-3)
        turned, _ = self.evaluate(data, "figure", {"leg.L": 90})
        moved = np.hypot(*(turned - points).T)
        for row, far, place in zip(layer["weights"], moved, points):
            if row.get("leg.L", 0) > 0.999:
                self.assertAlmostEqual(far, math.sqrt(2) * math.hypot(place[0] - 118, place[1] - 135), delta=0.5)

    def test_layers_are_slots_in_draw_order(self):
        self.cutout(self.layered(), out="layered_out.json")
        data = json.loads((self.at / "layered_out.json").read_text())
        self.assertEqual([s["name"] for s in data["slots"]], ["body", "front"])
        points, mesh = self.evaluate(data, "front")
        self.assertEqual(mesh["path"], "arm")
        self.assertEqual((mesh["width"], mesh["height"]), (60, 160))
        self.assertAlmostEqual(points[:, 0].min(), 74, delta=1)

    def test_holes_and_islands_are_edges(self):
        ring = figures.draw(200, 200, (100, 100, 100.1, 100, 80), cut=[(110, 100, 110.1, 100, 40)])
        picture, bones = self.files(bones=[{"name": "a", "head": [25, 100], "tail": [60, 100]}], picture=ring)
        self.cutout(picture, "--bones", bones, out="ring.json")
        points, mesh = self.evaluate(json.loads((self.at / "ring.json").read_text()), "figure")
        self.assertGreater(len(mesh["edges"]) // 2, mesh["hull"])
        self.assertGreater(len(points), len(mesh["edges"]) // 2)


class CutoutHostile(Case):
    def test_pictures(self):
        picture, bones = self.files()
        whole = picture.read_bytes()
        bad = self.at / "bad.png"
        for cut in (0, 4, 20, 33, 60, len(whole) // 2):
            bad.write_bytes(whole[:cut])
            self.refused(3, r"sinew: error: .*bad\.png: is (a damaged PNG|not a PNG)", bad, "--bones", bones)
        bad.write_bytes(b"\xff\xd8\xff\xe0" + bytes(100))
        self.refused(3, r"bad\.png: is not a PNG", bad, "--bones", bones)
        wide = write_png(self.at / "wide.png", np.full((1, 5000, 4), 255, np.uint8))
        self.refused(3, r"wide\.png: 5000 x 1 pixels: more than 4096", wide, "--bones", bones)
        # A picture whose header states a huge size without data.
        body = struct.pack(">IIBBBBB", 1 << 30, 1 << 30, 8, 6, 0, 0, 0)
        bad.write_bytes(whole[:8] + struct.pack(">I", 13) + b"IHDR" + body + struct.pack(">I", zlib.crc32(b"IHDR" + body)))
        self.refused(3, r"bad\.png: ", bad, "--bones", bones)
        empty = write_png(self.at / "empty.png", np.zeros((8, 8, 4), np.uint8))
        self.refused(3, "layer 'empty': no pixel of the picture is opaque enough", empty, "--bones", bones)
        self.refused(3, r"absent\.png", self.at / "absent.png", "--bones", bones)
        self.refused(3, "limit of 1 MB", picture, "--bones", bones, "--memory-limit", "1")

    def test_a_picture_without_transparency_is_a_rectangle_with_a_warning(self):
        picture, bones = self.files(picture=np.full((320, 200, 4), 255, np.uint8))
        self.assertIn("every pixel is opaque", self.cutout(picture, "--bones", bones).stdout)

    def test_bones(self):
        picture, path = self.files()
        for text, words in (
            ("", "bones.json"),
            ("[]", "object"),
            ("{}", "no bone"),
            ('{"bones":[{"head":[1,2,3]}]}', 'entry 0 of "bones": "head" must be two numbers'),
            ('{"bones":[{"name":"a"}]}', "bone 0 \\('a'\\) has no \"head\""),
            ('{"bones":[{"name":"a","head":[1,null]}]}', "bone 0"),
            ('{"bones":[{"name":"a","head":[1,2],"smoothness":0}]}', "'a': \"smoothness\" must be above 0"),
            ('{"bones":[{"name":"a","head":[1,2],"smoothness":"x"}]}', "'a': \"smoothness\" must be a number"),
            ('{"bones":[{"name":"a","head":[1,2],"parent":"b"}]}', "which is in no bone"),
            ('{"bones":[{"name":"a","head":[1,2],"deform":false}]}', "deform"),
        ):
            path.write_text(text)
            self.refused(3, words, picture, "--bones", path)

    def test_layers(self):
        path = self.layered()
        good = json.loads(path.read_text())

        def refused(words, code=3, **change):
            path.write_text(json.dumps({**good, **change}))
            self.refused(code, words, path)

        refused('"layers" must be a list', layers=[])
        refused("layer 0 must be an object", layers=[1])
        refused('layer 0 needs an "image"', layers=[{}])
        refused("layer 0 .'x'.: .*x.png", layers=[{"image": "x.png"}])
        refused("there is no bone 'tail'", layers=[{"image": "arm.png", "bones": ["tail"]}])
        refused('"bones" is empty', layers=[{"image": "arm.png", "bones": []}])
        refused('"offset" must be two numbers', layers=[{"image": "arm.png", "offset": [1]}])
        refused("at most 16384 each way", layers=[{"image": "arm.png", "offset": [60000, 0]}])
        refused("two layers are called 'arm'", layers=[{"image": "arm.png"}, {"image": "arm.png"}])
        path.write_text(json.dumps(good))
        picture = self.at / "arm.png"
        self.refused(2, "has layers, which name their own pictures", picture, "--bones", path)
        self.refused(2, "contains bones", path, "--bones", path)
        self.refused(2, "would overwrite a picture of the figure", path, "--picture", self.at / "arm.png")

    def test_options(self):
        picture, bones = self.files()
        both = (picture, "--bones", bones)
        self.refused(2, "a picture needs --bones", picture)
        self.refused(2, r"output must be \.glb or \.gltf", *both, out="out.obj")
        self.refused(2, "alpha threshold", *both, "--alpha", "0")
        self.refused(2, "tolerance", *both, "--tolerance", "-1")
        self.refused(2, "spacing", *both, "--spacing", "1")
        self.refused(2, "smoothness", *both, "--smoothness", "-3")
        self.refused(2, "--neighbours 6: choose 8 or 4", *both, "--neighbours", "6")
        self.refused(2, "--posed PNG and --pose FILE must be given together", *both, "--posed", self.at / "p.png")
        self.refused(2, "would overwrite", *both, "--picture", picture)
        pose = self.at / "pose.json"
        pose.write_text('{"joints": {"leg.X": {}}}')
        self.refused(3, "there is no joint 'leg.X'", *both, "--pose", pose, "--posed", self.at / "p.png")
        done = support.sinew("cutout", "--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("sinew cutout hero.png --bones bones.json -o hero.glb", done.stdout)


if __name__ == "__main__":
    support.main()
