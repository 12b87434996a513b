"""A mesh and the skeleton of another file, or of another mesh of its own: docs/notes/files.md.

rigs.py [CLASS…]; run like cli.py."""
import json

import bind_poses
import glb
import numpy as np
import person
import support


class SkeletonOfAnotherFile(bind_poses.PersonCase):
    POSED = {"arm_L": -75, "arm_R": 75, "leg_L": 40}

    def rig(self, rest, edit=None, **changes):
        return person.write(self.at / "rig.glb", [person.body(**changes)], rest=rest, edit=edit)

    def shirt(self, rig, *options):
        shirt = {k: v for k, v in person.body(inverse=None).items() if k != "owner"}
        return self.bound("shirt", [shirt], "--skeleton", rig, *options, edit=self.without_joints)

    @staticmethod
    def without_joints(doc, data):
        """Only the mesh."""
        doc["nodes"] = [{"name": "shirt", "mesh": 0}]
        doc["scenes"] = [{"nodes": [0]}]

    def by_name(self, path):
        """Weights: vertices × joints, in the order of person.NAMES."""
        dense = person.dense(path)
        names = [n.get("name") for n in glb.Doc(path).json["nodes"]]
        return np.stack([dense[:, names.index(n)] for n in person.NAMES], 1)

    def as_plain(self, rig, *options):
        plain = self.by_name(self.plain())
        got = self.shirt(rig, *options)
        self.assertLess(np.abs(plain - self.by_name(got)).sum(1).mean(), 0.001)
        return got

    def test_the_bind_pose(self):
        self.as_plain(self.rig(person.turned(self.POSED)))
        self.assertRegex(self.said.stdout, r"in the bind pose of its skin.*differs from at \d+ joints.*5 joints without")

    def test_in_another_unit(self):
        """A rig of centimetres below a node that scales it, bound lying down."""
        turn = np.array([[0.01, 0, 0, 0], [0, 0, -0.01, 0], [0, 0.01, 0, 0], [0, 0, 0, 1]])

        def edit(doc, data):
            doc["nodes"].append({"name": "Armature", "matrix": turn.T.reshape(-1).tolist(), "children": [0]})
            doc["scenes"] = [{"nodes": [len(doc["nodes"]) - 1, len(person.JOINTS)]}]

        back = np.linalg.inv(turn)
        mesh = person.body()
        positions = person.move(mesh["positions"], np.array([back] * len(mesh["positions"])))
        # Joints in centimetres along the axes of that space.
        world = back @ person.REST
        world[:, :3, :3] *= 0.01
        self.as_plain(self.rig(world, edit, positions=positions, inverse=np.linalg.inv(world)))

    def test_a_skin_that_no_mesh_wears(self):
        """The bind pose of the skin, if it has matrices; also in another unit."""

        def bare(doc, data):
            doc["nodes"] = doc["nodes"][: len(person.JOINTS)]
            doc["scenes"] = [{"nodes": [0]}]
            del doc["meshes"]

        def in_centimetres(doc, data):
            bare(doc, data)
            doc["nodes"].append({"name": "Armature", "scale": [0.01] * 3, "children": [0]})
            doc["scenes"] = [{"nodes": [len(person.JOINTS)]}]

        plain = self.by_name(self.bound("plain", [person.body()], "--include", "*"))
        world = person.turned(self.POSED)
        world[:, :3, 3] *= 100
        bind = person.REST.copy()
        bind[:, :3, 3] *= 100
        for rig in (self.rig(person.turned(self.POSED), bare), self.rig(world, in_centimetres, inverse=np.linalg.inv(bind))):
            got = self.by_name(self.shirt(rig, "--include", "*"))
            self.assertLess(np.abs(plain - got).sum(1).mean(), 0.001)
            self.assertRegex(self.said.stdout, r"in the bind pose of its skin.*differs from at \d+ joints")

        def without_matrices(doc, data):
            bare(doc, data)
            del doc["skins"][0]["inverseBindMatrices"]

        got = self.by_name(self.shirt(self.rig(person.REST, without_matrices), "--include", "*"))
        self.assertLess(np.abs(plain - got).sum(1).mean(), 0.001)
        self.assertIn("in the rest pose of its nodes", self.said.stdout)

    def test_without_a_skin_the_rest_pose(self):
        rig = person.write(self.at / "rig.glb", [person.body(inverse=None)])
        got = self.shirt(rig)
        self.assertIn("in the rest pose of its nodes", self.said.stdout)
        self.assertLess(np.abs(self.by_name(self.plain()) - self.by_name(got)).sum(1).mean(), 0.3)

    def test_axes_and_clips(self):
        """The clip moves the shirt as it moves the body of the rig."""
        matrices = person.REST.copy()
        matrices[3, :3, :3] = person.turned({"hips": 90})[0, :3, :3]  # axes of their own
        matrices[4, :3, :3] = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]

        def edit(doc, data):
            for node in doc["nodes"][: len(person.JOINTS)]:  # a clip needs translation and rotation
                m = np.array(node.pop("matrix")).reshape(4, 4).T
                node["translation"] = m[:3, 3].tolist()
                w = np.sqrt(max(0, 1 + m[0, 0] + m[1, 1] + m[2, 2])) / 2
                x, y, z = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
                node["rotation"] = [x / 4 / w, y / 4 / w, z / 4 / w, w]
            times = person.add(doc, data, np.array([[0.0], [1.0]]), 5126, "SCALAR")
            doc["accessors"][times].update(min=[0], max=[1])
            r = np.array(doc["nodes"][3]["rotation"])
            turns = np.array([r, [0.5, 0.5, 0.5, 0.5]])
            hips = np.array([person.AT[0], person.AT[0] + (0, 0.2, 0.1)])
            doc["animations"] = [
                {
                    "name": "wave",
                    "samplers": [
                        {"input": times, "output": person.add(doc, data, turns, 5126, "VEC4")},
                        {"input": times, "output": person.add(doc, data, hips, 5126, "VEC3")},
                    ],
                    "channels": [
                        {"sampler": 0, "target": {"node": 3, "path": "rotation"}},
                        {"sampler": 1, "target": {"node": 0, "path": "translation"}},
                    ],
                }
            ]

        rig = self.rig(matrices, edit, inverse=np.linalg.inv(matrices))
        got = glb.Doc(self.as_plain(rig, "--with-clips"))
        self.assertEqual([a["name"] for a in got.json["animations"]], ["wave"])
        names = [n.get("name") for n in got.json["nodes"]]
        source = glb.Doc(rig)
        for time in 0, 1:
            want = glb.world_matrices(source, glb.sampled(source, 0, time))
            have = glb.world_matrices(got, glb.sampled(got, 0, time))
            for j, name in enumerate(person.NAMES):
                np.testing.assert_allclose(have[names.index(name)], want[j], atol=1e-5, err_msg=f"{name} at {time}")

    def test_clips_need_a_file_with_clips(self):
        for source, words in (None, "give one"), (person.NAMES, "have no animations"):
            options = ["--with-clips"]
            if source:
                path = self.at / "s.json"
                path.write_text(json.dumps({"points": [{"name": "a", "parent": None, "position": [0, 0, 0]}]}))
                options += ["--skeleton", path]
            person.write(self.at / "in.glb", [person.body()])
            done = support.sinew("bind", self.at / "in.glb", "-o", self.at / "out.glb", *options)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)


class BesideASkin(bind_poses.PersonCase):
    """A mesh on a node without a skin, in a file with one."""

    def shirt(self, place=None, bones=person.BONES[:7]):
        positions, triangles, owner = person.tubes(bones, radius=0.1, rings=5)
        out = {"name": "shirt", "positions": positions, "triangles": triangles, "inverse": None}
        if place is not None:
            out["positions"] = person.move(positions, np.array([np.linalg.inv(place)] * len(positions)))
        return out, {**out, "positions": positions, "owner": owner, "inverse": np.linalg.inv(person.REST)}

    def as_skinned(self, place=None, edit=None, rest=person.REST):
        """The shirt gets the weights that it gets with a skin of its own; the body keeps its weights."""
        shirt, skinned = self.shirt(place)

        def placed(doc, data):
            if place is not None:
                doc["nodes"][-1]["matrix"] = place.T.reshape(-1).tolist()
            if edit:
                edit(doc, data)

        together = self.bound("together", [person.body(), skinned])
        got = self.bound("in", [person.body(), shirt], "--only-missing", edit=placed, rest=rest)
        np.testing.assert_array_equal(person.dense(got), person.dense(self.at / "in.glb"))
        self.assertLess(person.apart(together, got, 1), 0.001)
        np.testing.assert_allclose(self.rest(got), self.rest(together), atol=1e-5)
        before = support.validate([self.at / "in.glb"])
        if before:
            after = support.validate([got])
            new = support.new_messages(*before.values(), *after.values())
            # Viewers ignore the transform of a node with a skin, and nodes are never changed.
            new.pop("warning NODE_SKINNED_MESH_LOCAL_TRANSFORMS", None)
            self.assertEqual(new, {})
        return got

    def test_a_shirt(self):
        self.as_skinned()

    def test_on_a_node_that_is_scaled_and_turned(self):
        place = person.turned({"hips": 25})[0]
        place[:3, :3] *= 0.1
        self.as_skinned(place)

    def test_body_in_another_space(self):
        """The body was bound in centimetres, which its matrices tell."""
        shirt, skinned = self.shirt()
        unit = np.diag((0.01, 0.01, 0.01, 1))
        body = person.body(inverse=np.linalg.inv(person.REST) @ unit)
        body["positions"] = body["positions"] * 100
        together = self.bound("together", [person.body(), skinned])
        got = self.bound("in", [body, shirt], "--only-missing")
        self.assertLess(person.apart(together, got, 1), 0.02)
        np.testing.assert_allclose(self.rest(got), self.rest(together), atol=1e-4)

    def test_left_out_otherwise(self):
        shirt, _ = self.shirt()
        got = self.bound("in", [person.body(), shirt])
        self.assertNotIn("skin", glb.Doc(got).json["nodes"][-1])
        self.assertRegex(self.said.stdout, r"left as they are: --only-missing binds them \(first: 'shirt'\)")

    def test_a_hat_on_a_joint_follows_it(self):
        """It has its joint already."""
        shirt, _ = self.shirt(bones=person.BONES[2:3])

        def on_head(doc, data):
            doc["nodes"][2]["children"].append(len(doc["nodes"]) - 1)
            doc["scenes"][0]["nodes"].pop()

        got = self.bound("in", [person.body(), shirt], "--only-missing", edit=on_head)
        self.assertNotIn("skin", glb.Doc(got).json["nodes"][-1])
        self.assertRegex(self.said.stdout, r"left as they are: they hang on joints \(first: 'shirt'\)")


if __name__ == "__main__":
    support.main()
