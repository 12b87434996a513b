"""Tests that nothing wrong passes in silence: inputs that do not fit each other, limits, signals, names of strangers.

trust.py [CLASS…]; run like cli.py."""
import json
import math
import os
import re
import resource
import signal
import struct
import subprocess
import threading
import time
from pathlib import Path

import cli
import foreign
import glb
import make
import numpy as np
import person
import support


def rewrite(source, target, edit):
    """A copy of a GLB after edit(json, data), which may append to the bytearray of its buffer."""
    doc = glb.Doc(source)
    data = bytearray(doc.buffers[0])
    edit(doc.json, data)
    doc.json["buffers"][0]["byteLength"] = len(data)
    target.write_bytes(make.packed(doc.json, data))
    return target


def with_triangles(source, target, corners):
    """The character with more triangles (N × 3 corners) in a primitive of its own."""

    def edit(doc, data):
        points = np.array(corners, np.float32).reshape(-1, 3)
        node = next(n for n in doc["nodes"] if "mesh" in n)
        attributes = {"POSITION": person.add(doc, data, points, 5126, "VEC3")}
        if any("JOINTS_0" in p["attributes"] for p in doc["meshes"][node["mesh"]]["primitives"]):
            attributes["JOINTS_0"] = person.add(doc, data, np.zeros((len(points), 4)), 5121, "VEC4")
            attributes["WEIGHTS_0"] = person.add(doc, data, [(1, 0, 0, 0)] * len(points), 5126, "VEC4")
        doc["meshes"][node["mesh"]]["primitives"].append({"attributes": attributes})

    return rewrite(source, target, edit)


class TrustCase(cli.Case):
    def biped(self):
        path = self.at / "biped.glb"
        self.assertEqual(support.run(support.CHARACTERS, "biped", path).returncode, 0)
        return path

    def dense(self, name="out.glb"):
        """Weights of the first primitive, vertices × joints."""
        doc = glb.Doc(self.at / name)
        node = next(n for n in doc.json["nodes"] if "skin" in n)
        joints, weights, _ = glb.weight_rows(doc, doc.json["meshes"][node["mesh"]]["primitives"][0])
        out = np.zeros((len(joints), len(doc.json["skins"][node["skin"]]["joints"])))
        np.add.at(out, (np.arange(len(joints))[:, None], joints), weights)
        return out

    def obj_and_skeleton(self, source):
        """Mesh and skeleton of a GLB in files of their own."""
        doc = glb.Doc(source)
        lines, first = [], 1
        for primitive in doc.json["meshes"][0]["primitives"]:
            positions = doc.accessor(primitive["attributes"]["POSITION"])
            lines += ["v %.9g %.9g %.9g" % tuple(p) for p in positions]
            corners = doc.accessor(primitive["indices"]).reshape(-1, 3)
            lines += ["f %d %d %d" % tuple(c + first) for c in corners]
            first += len(positions)
        obj = self.at / "mesh.obj"
        obj.write_text("\n".join(lines) + "\n")
        nodes, world = doc.json["nodes"], glb.world_matrices(doc)
        parent = {c: i for i, n in enumerate(nodes) for c in n.get("children", [])}
        points = []
        for i, node in enumerate(nodes):
            if "mesh" in node:
                continue
            above = nodes[parent[i]]["name"] if i in parent else None
            points.append({"name": node["name"], "parent": above, "position": [float(x) for x in world[i][:3, 3]]})
        return obj, points

    def skeleton(self, points, scale=1.0, shift=(0, 0, 0)):
        path = self.at / "skeleton.json"
        moved = [{**p, "position": [scale * x + d for x, d in zip(p["position"], shift)]} for p in points]
        path.write_text(json.dumps({"points": moved}))
        return path


class FarTriangles(TrustCase):
    """What is no part of the character takes no voxels from it."""

    FAR = [[(170, 1, 0), (171, 1, 0), (170, 2, 0)]]

    def near_weights_stay(self, corners, *options):
        source = self.biped()
        self.bind(source, *options, out="near.glb")
        far = with_triangles(source, self.at / "far.glb", corners)
        report = self.report(far, *options)
        apart = np.abs(self.dense() - self.dense("near.glb")).sum(1)
        self.assertLess(apart.max(), 1e-6, f"{(apart > 0.5).mean():.0%} of the vertices differ")
        self.assertRegex("\n".join(report["warnings"]), r"triangles lie far from the skeleton \(up to .* times its size")
        self.assertEqual(report["coverage"]["share"], 1)
        self.assertEqual(report["coverage"]["unused"], 0)
        self.sound()
        return report

    def test_one_triangle(self):
        for options in (), ("--method", "geodesic-voxel"), ("--method", "voxel-heat"):
            with self.subTest(options):
                self.near_weights_stay(self.FAR, *options)

    def test_three_heights_away(self):
        self.near_weights_stay([[(0, 6, 0), (0.1, 6, 0), (0, 6.1, 0)]], "--method", "geodesic-voxel")

    def test_ground_plane(self):
        a, b, c, d = (-100, -0.01, -100), (100, -0.01, -100), (100, -0.01, 100), (-100, -0.01, 100)
        self.near_weights_stay([[a, c, b], [a, d, c]])

    def test_without_area(self):
        self.near_weights_stay([[(170, 1, 0)] * 3])
        self.near_weights_stay([[(170, 1, 0), (340, 2, 0), (510, 3, 0)]])

    def test_a_corner_that_was_torn_out(self):
        # The triangles are a part of the body.
        source = self.biped()

        def tear(doc, data):
            accessor = doc["accessors"][doc["meshes"][0]["primitives"][0]["attributes"]["POSITION"]]
            at = doc["bufferViews"][accessor["bufferView"]].get("byteOffset", 0) + accessor.get("byteOffset", 0)
            struct.pack_into("<3f", data, at, 300, 0, 0)
            accessor["max"][0] = 300

        report = self.report(rewrite(source, self.at / "torn.glb", tear))
        self.assertRegex("\n".join(report["warnings"]), "triangles lie far from the skeleton")
        self.bind(source, out="whole.glb")
        apart = np.abs(self.dense() - self.dense("whole.glb")).sum(1)
        self.assertLess((apart > 0.1).mean(), 0.01)

    def test_resolution_is_chosen_for_the_character(self):
        source = self.biped()
        far = with_triangles(source, self.at / "far.glb", self.FAR)
        chosen = [self.report(m, "--resolution", "auto", speed=())["options"]["resolution_reason"] for m in (source, far)]
        self.assertEqual(*chosen)

    def test_a_moved_joint_and_another_mesh(self):
        source = self.biped()
        far = with_triangles(source, self.at / "far.glb", self.FAR)
        self.bind(source, "--method", "geodesic-voxel", "--save-binding", self.at / "kept.binding", out="near.glb")
        done = support.sinew("bind", far, "-o", self.at / "out.glb", "--reuse", self.at / "kept.binding")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(np.abs(self.dense() - self.dense("near.glb")).sum(1).max(), 1e-5)

    def test_a_mirror_edit_has_the_same_tolerances(self):
        # Of the whole box, a hundredth of a percent is the width of an arm.
        source = self.biped()
        far = with_triangles(source, self.at / "far.glb", [[(1700, 1, 0), (1701, 1, 0), (1700, 2, 0)]])
        edits = self.at / "edits.json"
        edits.write_text(json.dumps({"edits": [{"op": "mirror", "from": "left"}]}))
        self.bind(source, "--edits", edits, out="near.glb")
        self.report(far, "--edits", edits)
        self.assertLess(np.abs(self.dense() - self.dense("near.glb")).sum(1).max(), 1e-6)

    def test_a_transfer_reaches_as_far(self):
        # A target that is farther from the character than a match may be, but not than a share of the plane.
        source = self.biped()
        far = with_triangles(source, self.at / "far.glb", self.FAR)
        obj, points = self.obj_and_skeleton(source)
        lines = [line.split() for line in obj.read_text().splitlines()]
        (self.at / "coat.obj").write_text("".join(
            "v %.9g %s %.9g\n" % (3 * float(w[1]), w[2], 3 * float(w[3])) if w[0] == "v" else " ".join(w) + "\n" for w in lines))
        method = ("--method", "closest-distance")
        self.bind(self.at / "coat.obj", "--skeleton", self.skeleton(points), *method, out="coat.glb")
        coverage = []
        for model in (source, far):
            self.bind(model, *method, out="bound.glb")
            done = support.sinew("transfer", self.at / "bound.glb", self.at / "coat.glb", "-o", self.at / "moved.glb", "--json",
                                 "--require-coverage", "0")
            self.assertEqual(done.returncode, 0, done.stderr)
            coverage.append({k: v for k, v in json.loads(done.stdout)["coverage"].items()})
        self.assertEqual(*coverage)

    def test_bones_shorter_than_voxels_are_counted(self):
        report = self.report(self.biped(), "--resolution", "32", speed=())
        self.assertRegex("\n".join(report["warnings"]), r"\d+ of \d+ bones are shorter than a voxel \(which is 0\.\d+")


class OtherSpace(TrustCase):
    """A skeleton in another place or unit than the mesh is one error."""

    def test_scale(self):
        mesh, points = self.obj_and_skeleton(self.biped())
        self.bind(mesh, "--skeleton", self.skeleton(points), out="plain.glb")
        for scale, words in ((0.01, "100 times smaller"), (100, "100 times larger"), (1 / 300, "times smaller"),
                             (1000, "1000 times larger"), (0.1, "10 times smaller"), (1 / 0.0254, "times larger")):
            with self.subTest(scale=scale):
                skeleton = self.skeleton(points, scale)
                done = self.refuse(3, [f"the skeleton is .*{words} than the mesh", "--skeleton-scale"], mesh, "--skeleton",
                                   skeleton, "--quiet")
                factor = re.search(r"--skeleton-scale ([\d.e+-]+)", done.stderr)[1]
                self.bind(mesh, "--skeleton", skeleton, "--skeleton-scale", factor, out="scaled.glb")
                if scale in (0.01, 100):
                    self.assertLess(np.abs(self.dense("scaled.glb") - self.dense("plain.glb")).sum(1).mean(), 1e-3)

    def test_place(self):
        mesh, points = self.obj_and_skeleton(self.biped())
        for shift in ((5, 0, 0), (0, -40, 0), (0, 0, 1e4)):
            with self.subTest(shift=shift):
                self.refuse(3, ["the skeleton lies beside the mesh", "scene units"], mesh, "--skeleton",
                            self.skeleton(points, 1, shift), "--quiet")
        self.bind(mesh, "--skeleton", self.skeleton(points, 1, (5, 0, 0)), "--fit-check", "off")

    def test_the_scale_is_for_a_skeleton_file(self):
        self.refuse(2, ["--skeleton-scale"], self.bar(), "--skeleton-scale", "2")
        for bad in ("0", "-1", "nan", "inf"):
            self.refuse(2, ["skeleton-scale"], make.obj(self.at / "bar.obj"), "--skeleton",
                        make.skeleton_json(self.at / "s.json"), "--skeleton-scale", bad)

    def test_parts_of_a_character_are_no_other_space(self):
        # A small part worn by a whole skeleton.
        _, points = self.obj_and_skeleton(self.biped())
        head = max((p["position"] for p in points), key=lambda p: p[1])
        hat = self.at / "hat.obj"
        corners = [(-0.05, 0, 0), (0.05, 0, 0), (0, 0, 0.05), (0, 0.08, 0)]
        hat.write_text("".join("v %g %g %g\n" % tuple(c + h for c, h in zip(p, head)) for p in corners)
                       + "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
        self.bind(hat, "--skeleton", self.skeleton(points))


class Props(TrustCase):
    """A prop is no character."""

    def prop(self, *names):
        def edit(doc):
            at = len(doc["nodes"])
            doc["nodes"] += [{"name": n, "children": [at + i + 1]} for i, n in enumerate(names)]
            doc["nodes"][-1]["children"] = [0]
            doc["nodes"] = [{k: v for k, v in n.items()} for n in doc["nodes"]]
            doc["scenes"][0]["nodes"] = [at]

        return make.glb(self.at / "prop.glb", joints=[], skin=False, edit=edit)

    def test_nodes_at_one_place_are_refused(self):
        for names in (("root",), ("Armature", "root"), ("root", "pelvis", "joint")):
            with self.subTest(names):
                source = self.prop(*names)
                self.refuse(3, ["a prop, not a character", "--skeleton FILE", "--prop"], source)
                self.bind(source, "--prop")
                self.sound()

    def groups(self, names, of_meshes=True, edit=None):
        """Groups at places of their own below a root, each with a mesh, or beside the mesh."""

        def change(doc):
            root = len(doc["nodes"])
            doc["nodes"].append({"name": names[0], "children": []})
            for k, name in enumerate(names[1:]):
                group = {"name": name, "translation": [0.1 * k, 0.4 * k, 0]}
                doc["nodes"][root]["children"].append(len(doc["nodes"]))
                doc["nodes"].append(group)
                if of_meshes:
                    group["children"] = [len(doc["nodes"])]
                    doc["nodes"].append({"name": f"part {k}", "mesh": 0, "scale": [0.3, 0.3, 0.3]})
            if of_meshes:
                del doc["nodes"][0]["mesh"]
            doc["scenes"][0]["nodes"] = [0, root]
            if edit:
                edit(doc)

        return make.glb(self.at / "groups.glb", joints=[], skin=False, edit=change)

    CAR = ("Car", "Body", "WheelFrontLeft", "WheelFrontRight", "WheelRearLeft", "WheelRearRight", "DoorLeft", "HeadLights")

    def test_groups_of_meshes_are_refused(self):
        for names in (self.CAR, ("root", "lid", "box"), ("Lamp", "base", "arm", "shade"), ("Forest", "tree.001", "tree.002")):
            with self.subTest(names):
                source = self.groups(names)
                self.refuse(3, ["groups of its meshes", "this is a prop", "--skeleton FILE", "--prop"], source)
                self.bind(source, "--prop", "--fit-check", "off")
                self.sound()

    def test_characters_are_not(self):
        # Named parts of a character; a skeleton beside its mesh, whatever its names; a few things in its hands.
        body = ("Robot", "Torso", "Head", "LeftArm", "RightArm", "LeftLeg", "RightLeg")
        self.bind(self.groups(body), "--fit-check", "off")
        self.bind(self.groups(("thing", "Bone", "Bone.001")), "--fit-check", "off")
        self.bind(self.groups(self.CAR, of_meshes=False), "--fit-check", "off")

        def held(doc):
            doc["nodes"][3]["children"] = [len(doc["nodes"])]
            doc["nodes"].append({"name": "sword", "mesh": 0})

        self.bind(self.groups(self.CAR, of_meshes=False, edit=held), "--fit-check", "off")

    def test_a_skeleton_makes_it_a_character(self):
        self.bind(self.prop("root"), "--skeleton", make.skeleton_json(self.at / "s.json"))


class Scenes(TrustCase):
    """A mesh and its new skin are in one scene."""

    def test_a_skeleton_outside_of_the_scene_is_refused(self):
        def edit(doc):
            doc["scenes"][0]["nodes"] = [0]

        source = make.glb(self.at / "apart.glb", skin=False, edit=edit)
        self.refuse(3, ["scene 0 has a mesh, but not the skeleton below 'lower'", "add node 1"], source)
        self.bind(source, "--skeleton", make.skeleton_json(self.at / "s.json"))
        self.sound()

    def test_other_scenes_do_not_matter(self):
        def edit(doc):
            doc["nodes"].append({"name": "elsewhere"})
            doc["scenes"].append({"nodes": [len(doc["nodes"]) - 1]})
            doc["scenes"].append({"nodes": [1]})

        source = make.glb(self.at / "more.glb", skin=False, edit=edit)
        self.bind(source)
        self.bind(make.glb(self.at / "none.glb", skin=False, edit=lambda doc: [doc.pop("scenes"), doc.pop("scene")]))


class TwoSkins(TrustCase):
    """One mesh that is worn with several skins."""

    def worn_twice(self, second):
        def edit(doc):
            matrices = 2
            if second == [2, 3]:  # without that of the first joint
                matrices = len(doc["accessors"])
                doc["accessors"].append({**doc["accessors"][2], "byteOffset": 64, "count": 2})
            doc["skins"].append({"joints": second, "inverseBindMatrices": matrices})
            doc["nodes"].append({"name": "second", "mesh": 0, "skin": 1})
            doc["scenes"][0]["nodes"].append(len(doc["nodes"]) - 1)

        return make.glb(self.at / "worn.glb", joints=[*make.JOINTS, ("other", -1, (0, 0.5, 0))], edit=edit)

    def test_a_copy_for_each_skin(self):
        for second in ([3, 2, 1], [2, 3]):
            with self.subTest(second):
                source = self.worn_twice(second)
                before = support.validate([source])
                self.bind(source)
                out = glb.Doc(self.at / "out.glb")
                self.sound()
                worn = [n for n in out.json["nodes"] if "skin" in n]
                self.assertEqual([n["skin"] for n in worn], [0, 1])
                self.assertEqual([n["mesh"] for n in worn], [0, 1])
                for node in worn:
                    joints, _, _ = glb.weight_rows(out, out.json["meshes"][node["mesh"]]["primitives"][0])
                    self.assertLess(joints.max(), len(out.json["skins"][node["skin"]]["joints"]))
                if before:
                    after = support.validate([self.at / "out.glb"])
                    self.assertEqual(support.new_messages(*before.values(), *after.values()), {})

    def test_skins_with_the_same_joints_share_the_mesh(self):
        self.bind(self.worn_twice([1, 2, 3]))
        self.assertEqual(len(glb.Doc(self.at / "out.glb").json["meshes"]), 1)

    def test_a_bound_file_is_bound_again(self):
        source = self.worn_twice([2, 3])
        self.bind(source, "--deform-from", "all", out="once.glb")
        self.bind(self.at / "once.glb", "--deform-from", "all", out="twice.glb")
        self.assertEqual((self.at / "once.glb").read_bytes(), (self.at / "twice.glb").read_bytes())


class Numbers(TrustCase):
    def test_nan_is_no_number(self):
        source = self.bar()
        for options in (("--require-coverage", "nan"), ("--skeleton-scale", "nan"), ("--penalty", "nan")):
            self.refuse(2, [options[0][2:]], source, *options)
        picture = ("-o", self.at / "p.png")
        for args in (("compare", source, source, "--max-l1", "nan"), ("compare", source, source, "--max-distance", "nan"),
                     ("compare", source, source, "--min-agreement", "NaN"), ("compare", source, source, "--threshold", "nan"),
                     ("compare", source, source, "--random-degrees", "nan"), ("render", source, *picture, "--yaw", "nan"),
                     ("render", source, *picture, "--pitch", "nan"),
                     ("pose", source, "-o", self.at / "p.glb", "--clip", "0", "--time", "nan"),
                     ("transfer", source, source, "-o", self.at / "p.glb", "--distance", "nan"),
                     ("transfer", source, source, "-o", self.at / "p.glb", "--angle", "nan"),
                     ("transfer", source, source, "-o", self.at / "p.glb", "--require-coverage", "nan")):
            with self.subTest(args[-2:]):
                done = support.sinew(*args)
                self.assertEqual(done.returncode, 2, f"{args}\n{done.stdout}{done.stderr}")

    def test_far_from_the_origin_matrices_are_still_inverted(self):
        # A character that stands 1e7 units from the origin of its skeleton, and one in a very small unit.
        def move(doc, data):
            accessor = doc["accessors"][doc["skins"][0]["inverseBindMatrices"]]
            at = doc["bufferViews"][accessor["bufferView"]].get("byteOffset", 0)
            for j in range(accessor["count"]):
                matrix = np.frombuffer(bytes(data[at + 64 * j : at + 64 * j + 64]), "<f4").reshape(4, 4).copy()
                matrix[3, 0] -= 2e13  # the translation, in columns
                data[at + 64 * j : at + 64 * j + 64] = matrix.astype("<f4").tobytes()

        source = rewrite(self.bar(), self.at / "moved.glb", move)
        done = support.sinew("bind", source, "-o", self.at / "out.glb", *cli.FAST)
        self.assertNotIn("cannot be inverted", done.stdout + done.stderr)


class Resources(TrustCase):
    def refused_child(self, path, *options):
        started = time.monotonic()
        done = support.sinew("bind", path, "-o", self.at / "out.glb", *options)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertNotIn("out.glb", os.listdir(self.at))
        return done, time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10

    @support.without_sanitizers
    def test_a_foreign_file_keeps_to_the_memory_limit(self):
        if not foreign.has_assimp():
            self.skipTest("sinew was built without assimp")
        bomb = self.at / "bomb.off"
        bomb.write_text("OFF\n100000000 100000000 100000000\n")
        done, _, peak = self.refused_child(bomb, "--memory-limit", "500")
        self.assertRegex(done.stderr, r"bomb\.off: reading it takes more than 500 MB.*--memory-limit")
        self.assertLess(peak, 1500)
        done, _, peak = self.refused_child(bomb)
        self.assertRegex(done.stderr, r"bomb\.off: reading it takes more than 2048 MB")
        self.assertLess(peak, 3500)

    def test_the_reader_ends_with_the_program(self):
        if not foreign.has_assimp():
            self.skipTest("sinew was built without assimp")
        slow = self.at / "slow.off"
        with slow.open("w") as file:
            file.write("OFF\n900000 0 0\n" + "0 0 0\n" * 900000)
        for how, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)):
            process = subprocess.Popen([support.SINEW, "bind", slow, "-o", self.at / "out.glb"], stderr=subprocess.PIPE)
            child = self.child_of(process.pid)
            if child is None:  # it was read already: nothing to stop
                process.communicate(timeout=60)
                continue
            process.send_signal(how)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, code)
            for _ in range(600):
                if not Path(f"/proc/{child}").exists() or "Z" in self.state_of(child):
                    break
                time.sleep(0.05)
            else:
                self.fail(f"the reader outlives {how}")

    @staticmethod
    def state_of(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return "Z"

    @staticmethod
    def child_of(pid):
        """The first child process; None if the process ends without one."""
        while True:
            try:
                listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            except OSError:
                return None
            if listed:
                return int(listed[0])
            if Resources.state_of(pid) == "Z":
                return None

    def test_any_number_of_threads(self):
        source = self.bar()
        self.bind(source, "--threads", "1", out="one.glb")
        self.bind(source, "--threads", "100000")
        self.assertEqual((self.at / "one.glb").read_bytes(), (self.at / "out.glb").read_bytes())

    @support.without_sanitizers
    def test_threads_that_cannot_be_started(self):
        source = self.bar()
        self.bind(source, "--threads", "1", out="one.glb")
        for megabytes in (160, 200, 300, 600):
            def limit():
                resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
                resource.setrlimit(resource.RLIMIT_STACK, (64 << 20, 64 << 20))

            with self.subTest(megabytes=megabytes):
                done = support.sinew("bind", source, "-o", self.at / "out.glb", "--threads", "1024", *cli.FAST, preexec_fn=limit)
                if done.returncode == 3:  # too little for the program itself
                    self.assertIn("out of memory", done.stderr)
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual((self.at / "one.glb").read_bytes(), (self.at / "out.glb").read_bytes())
        self.assertEqual(done.returncode, 0, "600 MB are enough for this mesh")

    @support.without_sanitizers
    def test_time_does_not_grow_with_the_square_of_joints(self):
        # Processor time, which does not depend on what else the machine does: a minute before, some seconds now.
        count, mesh = 65534, make.obj(self.at / "bar.obj")
        for place in (lambda i: [0.2 * math.sin(i), 2 * (i * 0.618 % 1), 0.2 * math.cos(i)], lambda i: [0, min(i, 1), 0]):
            path = self.at / "many.json"
            path.write_text(json.dumps({"points": [{"name": f"j{i}", "parent": i - 1 if i else None, "position": place(i)}
                                                   for i in range(count)]}))
            done = support.sinew("bind", mesh, "-o", self.at / "out.glb", "--skeleton", path, "--quiet", *cli.FAST,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (6, 6)), timeout=900)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_only_files_are_read(self):
        pipe = self.at / "pipe.bin"
        os.mkfifo(pipe)
        model = make.gltf(self.at / "bar.gltf")
        for buffer in ("pipe.bin", "zero.bin"):
            (self.at / "zero.bin").unlink(missing_ok=True)
            (self.at / "zero.bin").symlink_to("/dev/zero")
            doc = json.loads(model.read_text())
            doc["buffers"][0]["uri"] = buffer
            (self.at / "other.gltf").write_text(json.dumps(doc))
            with self.subTest(buffer):
                done = support.sinew("bind", self.at / "other.gltf", "-o", self.at / "out.glb", "--follow-links", timeout=60)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertRegex(done.stderr, f"{buffer}: it is a pipe, a device or a socket")
        for path in (pipe, Path("/dev/zero")):
            done = support.sinew("bind", path, "-o", self.at / "out.glb", timeout=60)
            self.assertEqual(done.returncode, 3, done.stderr)
        done = support.sinew("bind", self.bar(), "-o", self.at / "out.glb", "--joint-options", pipe, timeout=60)
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_a_file_larger_than_the_limit(self):
        large = self.at / "large.glb"
        with large.open("wb") as file:
            file.truncate(3 << 20)
        done, _, _ = self.refused_child(large, "--memory-limit", "2")
        self.assertRegex(done.stderr, "large.glb is larger than the limit of 2 MB")


class HeldCase(TrustCase):
    def writing(self, model=None, out="out.glb"):
        """The program while it waits at a pipe that is one of its outputs, with the others written but not renamed."""
        pipe = self.at / "report.pipe"
        if not pipe.exists():
            os.mkfifo(pipe)
        process = subprocess.Popen(
            [support.SINEW, "bind", model or self.bar(), "-o", self.at / out, "--report", pipe, "--quiet", *cli.FAST],
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        while process.poll() is None and not self.temporary():
            time.sleep(0.01)
        # Wait until it stands still at the pipe: then all is computed.
        while process.poll() is None and Path(f"/proc/{process.pid}/wchan").exists():
            if Resources.state_of(process.pid) == "S" and self.at_pipe(process.pid):
                break
            time.sleep(0.01)
        self.assertIsNone(process.poll())
        return process

    @staticmethod
    def at_pipe(pid):
        # Opening a pipe for writing waits for a reader.
        return Path(f"/proc/{pid}/syscall").read_text().split()[0] in ("2", "257", "56")

    def temporary(self):
        return [f for f in os.listdir(self.at) if f.startswith(".sinew-")]


class SharedNames(HeldCase):
    """Files that share the name of a buffer are not mixed, whatever the order of events."""

    def test_two_binds_at_a_time(self):
        for folder, height in (("a", 1.0), ("b", 1.4)):
            (self.at / folder).mkdir()
            def lift(doc, height=height):
                doc["nodes"][2]["translation"][1] = height
            make.gltf(self.at / folder / "model.gltf", buffer="scene.bin",
                      joints=[("lower", -1, (0, 0, 0)), ("upper", 0, (0, height, 0))], edit=lift)
        held = self.writing(self.at / "a/model.gltf", "hero.gltf")
        self.bind(self.at / "b/model.gltf", out="orc.gltf")
        (self.at / "report.pipe").read_bytes()  # now the first one goes on
        _, said = held.communicate(timeout=60)
        self.assertEqual(held.returncode, 3)
        self.assertIn("scene.bin is another file than the one that", said.decode())
        self.assertEqual((self.at / "scene.bin").read_bytes(), (self.at / "b/scene.bin").read_bytes())
        self.assertEqual(sorted(p.name for p in self.at.iterdir() if p.is_file()), ["orc.gltf", "scene.bin"])


class Leftovers(HeldCase):
    """Nothing is left behind, whatever ends the program."""

    def test_a_limit_on_the_size_of_files(self):
        source = self.bar()
        before = sorted(os.listdir(self.at))
        done = support.run("prlimit", "--fsize=2048", support.SINEW, "bind", source, "-o", self.at / "out.glb", *cli.FAST)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(sorted(os.listdir(self.at)), before)

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            with self.subTest(number):
                process = self.writing()
                process.send_signal(number)
                try:
                    process.communicate(timeout=0.3)
                except subprocess.TimeoutExpired:
                    process.send_signal(number)  # the first one was to cancel, and the pipe is still waited for
                    process.communicate(timeout=60)
                self.assertIn(process.returncode, (-number, 128 + number))
                self.assertEqual(self.temporary(), [])
                self.assertNotIn("out.glb", os.listdir(self.at))

    def test_the_next_run_removes_what_was_killed(self):
        process = self.writing()
        process.kill()
        process.communicate(timeout=60)
        self.assertEqual(len(self.temporary()), 1)
        alive = self.writing()
        own = [f for f in self.temporary() if f"-{alive.pid}-" in f]
        self.assertEqual(self.temporary(), own, "the file of the dead process is still there")
        (self.at / ".sinew-1-0.tmp").write_text("")  # of a process that lives
        (self.at / ".sinew-notes.tmp").write_text("")  # not ours
        self.bind(self.at / "bar.glb", out="other.glb")
        self.assertEqual(sorted(self.temporary()), sorted([*own, ".sinew-1-0.tmp", ".sinew-notes.tmp"]))
        alive.kill()
        alive.communicate(timeout=60)


class Streams(TrustCase):
    def run_with(self, *args, **kwargs):
        return subprocess.run([support.SINEW, *map(str, args)], timeout=300, **kwargs)

    def test_full_output_writes_no_files(self):
        source = self.bar()
        self.bind(source, out="bound.glb")
        bound = self.at / "bound.glb"
        (self.at / "pose.json").write_text('{"joints": {"upper": {"rotate": [30, 0, 0]}}}')
        commands = [
            ("bind", source, "-o", self.at / "new.glb", *cli.FAST), ("bind", source, "-o", self.at / "new.glb", "--json", *cli.FAST),
            ("apply", bound, "-o", self.at / "new.glb", "--edits", self.edits()),
            ("pose", bound, "-o", self.at / "new.glb", "--pose", self.at / "pose.json"),
            ("transfer", bound, source, "-o", self.at / "new.glb"),
            ("compare", bound, bound, "--report", self.at / "new.json"),
        ]
        before = sorted(os.listdir(self.at))
        for command in commands:
            with self.subTest(command[0]), open("/dev/full", "w") as full:
                done = self.run_with(*command, stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn("standard output", done.stderr)
                self.assertEqual(sorted(os.listdir(self.at)), before)

    def edits(self):
        path = self.at / "edits.json"
        path.write_text('{"sinew": "edits", "edits": [{"op": "smooth", "length": 0.2}]}')
        return path

    def test_a_closed_pipe(self):
        read, write = os.pipe()
        os.close(read)
        done = self.run_with("bind", self.bar(), "-o", self.at / "out.glb", *cli.FAST, stdout=write, stderr=subprocess.PIPE)
        os.close(write)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(os.listdir(self.at), ["bar.glb"])

    def test_no_streams(self):
        source = self.bar()
        for closed in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)):
            for options in (("--quiet",), ()):
                def close():
                    for stream in closed:
                        os.close(stream)

                with self.subTest(closed=closed, options=options):
                    (self.at / "out.glb").unlink(missing_ok=True)
                    done = self.run_with("bind", source, "-o", self.at / "out.glb", *cli.FAST, *options, preexec_fn=close,
                                         stdin=None, stdout=None, stderr=None)
                    full = 1 in closed and not options
                    self.assertEqual(done.returncode, 3 if full else 0)
                    self.assertEqual((self.at / "out.glb").exists(), not full)
                    if not full:
                        self.sound()
                    # An error has no stream to go to either.
                    done = self.run_with("bind", self.at / "nothing.glb", "-o", self.at / "out.glb", preexec_fn=close)
                    self.assertEqual(done.returncode, 3)

    def test_a_link_stays(self):
        source = self.bar()
        (self.at / "there").mkdir()
        for target in ("there/model.glb", str(self.at / "there/absolute.glb")):
            link = self.at / "link.glb"
            link.symlink_to(target)
            second = self.at / "second.glb"
            second.symlink_to("link.glb")
            with self.subTest(target):
                self.bind(source, out="second.glb")
                self.assertTrue(link.is_symlink() and second.is_symlink())
                self.assertTrue((self.at / target).is_file())
                self.sound("link.glb")
            link.unlink(), second.unlink()
        circle = self.at / "circle.glb"
        circle.symlink_to("circle.glb")
        self.assertEqual(support.sinew("bind", source, "-o", circle, *cli.FAST).returncode, 3)

    def test_a_mark_of_byte_order_is_left_out(self):
        model = make.gltf(self.at / "bar.gltf")
        model.write_bytes(b"\xef\xbb\xbf" + model.read_bytes())
        for out in ("out.glb", "out.gltf"):
            self.bind(model, out=out)
            self.assertTrue(glb.Doc(self.at / out).text.startswith(b"{"), out)


class Names(TrustCase):
    """Names of strangers in messages."""

    NAMES = ("\x1b]0;owned\x07\x1b[2J", "a\nsinew: error: forged", "\r\x08\x7f", "\u202egnp.exe", "\u2028line", "\x9b31m")

    def clean(self, done, most=4000):
        for stream in (done.stdout, done.stderr):
            self.assertNotRegex(stream, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]")
            self.assertNotRegex(stream, "(?m)^sinew: error: forged")
            self.assertLess(len(stream), most)

    def named(self, name):
        def edit(doc):
            doc["nodes"][1]["name"] = name
            doc["meshes"][0]["name"] = name
            doc["nodes"].append({"name": name, "mesh": 0})  # a rigid mesh: a warning with its name
            doc["scenes"][0]["nodes"].append(len(doc["nodes"]) - 1)

        return make.glb(self.at / "named.glb", edit=edit)

    def test_in_warnings(self):
        for name in self.NAMES:
            with self.subTest(name):
                done = self.bind(self.named(name))
                self.assertIn("\\x", done.stdout)
                self.clean(done)

    def test_in_errors(self):
        for name in self.NAMES:
            def edit(doc):
                doc["nodes"][1]["name"] = name
                doc["nodes"][1]["extras"] = {"sinew_tail": "here"}

            with self.subTest(name):
                done = self.refuse(3, ["sinew_tail"], make.glb(self.at / "bad.glb", edit=edit))
                self.assertIn("\\x", done.stderr)
                self.clean(done)

    def test_of_files(self):
        for name in ("\x1b[31mred.glb", "new\nline.glb", b"\xff\xfe.glb"):
            path = os.path.join(os.fsencode(self.at), os.fsencode(name))
            Path(os.fsdecode(path)).write_bytes(b"glTF")
            done = subprocess.run([support.SINEW, b"bind", path, b"-o", os.fsencode(self.at / "out.glb")], capture_output=True)
            self.assertEqual(done.returncode, 3)
            text = done.stderr.decode("utf-8")
            self.assertRegex(text, r"\\x")
            self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f]")
            self.assertEqual(text.count("\n"), 1)

    def test_quotes_have_an_end(self):
        long = "x" * (1 << 20)
        broken = self.at / "broken.gltf"
        broken.write_text('{"asset": "' + long)
        self.clean(self.refuse(3, ["not valid JSON"], broken), 2000)
        self.clean(self.bind(self.named(long)))
        bones = self.at / "bones.json"
        bones.write_text(json.dumps({"bones": [{"name": long, "head": [0, 0, 0], "tail": "no"}]}))
        self.clean(self.refuse(3, ["bones.json"], make.obj(self.at / "bar.obj"), "--skeleton", bones), 2000)
        bones.write_text("1 0 0 0\n2 0 " + long + " 0\n#\n")
        self.clean(self.refuse(3, ["not a finite number"], self.at / "bar.obj", "--skeleton", bones), 2000)
        edits = self.at / "edits.json"
        for text in ({long: 1}, {"sinew": "edits", "lock": {"joints": [long]}}, {"sinew": "edits", "edits": [{"op": long}]}):
            edits.write_text(json.dumps(text))
            self.clean(self.refuse(3, ["edits.json"], self.bar(), "--edits", edits), 2000)
        options = self.at / "options.json"
        for text in ({"joints": {long: {}}}, {"joints": {"lower": {long: 1}}}):
            options.write_text(json.dumps(text))
            self.clean(self.refuse(3, ["options.json"], self.bar(), "--joint-options", options), 2000)


if __name__ == "__main__":
    support.main()
