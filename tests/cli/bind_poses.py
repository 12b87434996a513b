"""Files whose matrices are not those of a textbook: docs/notes/files.md lists the kinds.

bind_poses.py [CLASS…]; run like cli.py."""
import json

import cli
import glb
import numpy as np
import person
import support


class PersonCase(cli.Case):
    METHOD = ("--method", "geodesic-voxel")

    def bound(self, name, meshes, *options, **how):
        """Binds a person; the path of the result."""
        person.write(self.at / f"{name}.glb", meshes, **how)
        self.said = self.bind(self.at / f"{name}.glb", *self.METHOD, *options, out=f"{name}.out.glb")
        return self.at / f"{name}.out.glb"

    def plain(self):
        return self.bound("plain", [person.body()])

    def rest(self, path):
        doc = glb.Doc(path)
        return np.vstack([glb.skinned(doc, node=n) for n in doc.json["nodes"] if "skin" in n and "mesh" in n])


    def still(self, name, *options):
        """The file that is written shows at rest what the input does, by its own matrices. Ends get weights."""
        got = self.at / f"{name}.ends.glb"
        self.bind(self.at / f"{name}.glb", *self.METHOD, *options, out=got.name)
        self.assertGreater(person.dense(got)[:, person.ENDS].sum(), 5)
        np.testing.assert_allclose(self.rest(got), self.rest(self.at / f"{name}.glb"), atol=1e-4)
        self.assertEqual(glb.weight_problems(glb.Doc(got)), [])


class Placeholders(PersonCase):
    """Joints without weights whose inverse bind matrices are placeholders."""

    def changed(self, edit):
        inverse = np.linalg.inv(person.REST)
        edit(inverse)
        return [person.body(inverse=inverse)]

    def as_plain(self, edit, count=len(person.ENDS)):
        plain = self.plain()
        got = self.bound("changed", self.changed(edit))
        self.assertLess(person.apart(plain, got), 0.001)
        self.still("changed", "--include", "*")
        report = self.report(self.at / "changed.glb", *self.METHOD)
        said = [w for w in report["warnings"] if "without weights" in w]
        self.assertEqual(len(said), 1, report["warnings"])
        self.assertTrue(said[0].startswith(f"{count} joint"), said[0])
        self.assertIn(said[0], support.sinew("inspect", self.at / "changed.glb").stdout)

    def test_identity(self):
        def edit(inverse):
            inverse[person.ENDS] = np.eye(4)

        self.as_plain(edit)

    def test_the_matrix_of_another_joint(self):
        def edit(inverse):
            inverse[person.ENDS] = inverse[0]

        self.as_plain(edit)

    def test_zeros(self):
        inverse = np.linalg.inv(person.REST)
        inverse[person.ENDS] = 0
        person.write(self.at / "zeros.glb", [person.body(inverse=inverse)])
        self.still("zeros", "--include", "*")

    def test_no_matrices_for_the_last_joints(self):
        person.write(self.at / "fewer.glb", [person.body(inverse=np.linalg.inv(person.REST)[: min(person.ENDS)])])
        got = self.at / "fewer.ends.glb"
        self.bind(self.at / "fewer.glb", *self.METHOD, "--include", "*", out=got.name)
        plain = self.plain()
        np.testing.assert_allclose(self.rest(got), self.rest(plain), atol=1e-4)

    def test_a_chain_of_them(self):
        """Hands without weights, and their ends."""
        hands = [person.NAMES.index(n) for n in ("hand_L", "hand_R")]

        def edit(inverse):
            inverse[person.ENDS + hands] = np.eye(4) * 0.01 + np.diag((0, 0, 0, 0.99))

        positions, triangles, owner = person.tubes()
        for hand in hands:
            owner[owner == hand] = hand - 1
        inverse = np.linalg.inv(person.REST)
        plain = self.bound("plain", [person.body(owner=owner)])
        edit(inverse)
        got = self.bound("changed", [person.body(owner=owner, inverse=inverse)])
        self.assertLess(person.apart(plain, got), 0.001)

    def test_a_second_skin_says_it_right(self):
        """One skin lists all joints, with placeholders for those of the other."""
        positions, triangles, owner = person.tubes(person.ARMS)
        inverse = np.linalg.inv(person.REST)
        partly = inverse.copy()
        partly[[3, 4, 5, 6]] = np.eye(4)
        trunk = dict(zip(("positions", "triangles", "owner"), person.tubes(person.BONES[:3] + person.BONES[7:])))
        arms = {"name": "arms", "positions": positions, "triangles": triangles, "owner": owner}
        plain = self.bound("plain", [{"name": "trunk", **trunk}, arms])
        got = self.bound("changed", [{"name": "trunk", **trunk, "inverse": partly}, arms])
        for mesh in 0, 1:
            self.assertLess(person.apart(plain, got, mesh), 0.001)
        got = self.at / "spread.glb"  # arms have weights in the trunk, by matrices that were placeholders
        self.bind(self.at / "changed.glb", "--method", "closest-distance", out=got.name)
        self.assertGreater(person.dense(got)[:, [3, 5]].sum(), 0.3)
        np.testing.assert_allclose(self.rest(got), self.rest(self.at / "changed.glb"), atol=1e-4)

    def test_a_skin_of_one_joint_and_placeholders(self):
        """An eye moves with the head alone, and its skin has no other matrices but those above the head."""
        sides = person.tubes([(2, 11)], radius=0.02, rings=3)
        eye = {"name": "eye", **dict(zip(("positions", "triangles", "owner"), sides))}
        eye["owner"] = np.full(len(sides[0]), person.ENDS[0])  # an end of its own
        inverse = np.linalg.inv(person.REST)
        partly, ends = inverse.copy(), inverse.copy()
        partly[:, 1, 3] -= 3  # bound in another place
        partly[[j for j in range(len(inverse)) if j not in (0, 1, 2, person.ENDS[0])]] = np.eye(4)
        ends[person.ENDS] = np.eye(4)
        plain = self.bound("plain", [person.body(), eye])
        for order in (0, 1), (1, 0):
            both = [person.body(inverse=ends), {**eye, "positions": eye["positions"] + (0, 3, 0), "inverse": partly}]
            got = self.bound("changed", [both[k] for k in order])
            for mesh in 0, 1:
                self.assertLess(person.apart(plain, got, mesh, order.index(mesh)), 0.001)

    def test_zeros_in_a_file_without_weights(self):
        inverse = np.linalg.inv(person.REST)
        inverse[person.ENDS] = 0
        got = self.bound("zeros", [person.body(inverse=inverse, owner=None)], "--include", "*")
        np.testing.assert_allclose(self.rest(got), self.rest(self.plain()), atol=1e-4)

    def test_the_root(self):
        """A root without weights above the hips, whose matrix is the identity or that of another joint. The mesh was
        bound elsewhere, so that only the nodes put the root right."""
        away = np.eye(4)
        away[:3, 3] = 3, 1, -2
        mesh = person.body(inverse=np.linalg.inv(person.REST) @ away)
        mesh["positions"] = mesh["positions"] - away[:3, 3]

        def with_root(matrix):
            def edit(doc, data):
                doc["nodes"].append({"name": "root", "children": [0]})
                doc["scenes"][0]["nodes"][0] = len(doc["nodes"]) - 1
                skin = doc["skins"][0]
                skin["joints"].append(len(doc["nodes"]) - 1)
                inverse = np.vstack([mesh["inverse"], [matrix]])
                skin["inverseBindMatrices"] = person.add(doc, data, inverse.transpose(0, 2, 1).reshape(-1, 16), 5126, "MAT4")

            return edit

        for options in (), ("--include", "*"):
            good = self.bound("good", [mesh], *options, edit=with_root(away))
            for name, matrix in ("identity", np.eye(4)), ("another", mesh["inverse"][2]), ("zero", np.zeros((4, 4))):
                got = self.bound(name, [mesh], *options, edit=with_root(matrix))
                self.assertLess(person.apart(good, got), 0.001)
                boxes = [json.loads(support.sinew("inspect", self.at / f"{f}.glb", "--json").stdout)["box"] for f in ("good", name)]
                np.testing.assert_allclose(boxes[1], boxes[0], atol=1e-4)
                np.testing.assert_allclose(self.rest(got), self.rest(good), atol=1e-4)

    def test_a_pose_is_no_placeholder(self):
        """Ends that the rest pose of the nodes turns stay where their matrices say."""
        person.write(self.at / "posed.glb", [person.body()], rest=person.turned({"arm_L": 70, "hand_R": 30}))
        report = self.report(self.at / "posed.glb", *self.METHOD)
        self.assertFalse([w for w in report["warnings"] if "without weights" in w])


class TwoPoses(PersonCase):
    """Skins that share joints and were bound in different poses."""

    DOWN = {"arm_L": -75, "arm_R": 75}

    def sleeves(self, pose, bones=person.ARMS, **changes):
        """Wider tubes around the arms, bound in a pose."""
        matrices = person.turned(pose)
        positions, triangles, owner = person.tubes(bones, radius=0.1, rings=5)
        positions = person.move(positions, (matrices @ np.linalg.inv(person.REST))[owner])
        return {"name": "sleeves", "positions": positions, "triangles": triangles, "owner": owner,
                "inverse": np.linalg.inv(matrices), **changes}  # fmt: skip

    def as_together(self, meshes, reference, tolerance=0.001):
        """The same weights as where all skins have one pose, and nothing moves at rest."""
        together = self.bound("together", reference)
        got = self.bound("changed", meshes)
        for mesh in range(len(meshes)):
            self.assertLess(person.apart(together, got, mesh), tolerance)
        self.assertRegex(self.said.stdout + self.said.stderr, "in another pose than skin . \\(mesh '")
        np.testing.assert_allclose(self.rest(got), self.rest(self.at / "changed.glb"), atol=1e-4)
        self.bind(got, *self.METHOD, out="again.glb")  # what is written has one pose
        for mesh in range(len(meshes)):
            self.assertLess(person.apart(got, self.at / "again.glb", mesh), tolerance)
        return got

    def test_arms_down(self):
        self.as_together([person.body(), self.sleeves(self.DOWN)], [person.body(), self.sleeves({})])

    def test_the_largest_skin_gives_the_pose(self):
        self.as_together([self.sleeves(self.DOWN), person.body()], [self.sleeves({}), person.body()])

    def test_three_poses(self):
        legs = person.BONES[7:]
        other = {"leg_L": 30, "leg_R": -30}
        self.as_together(
            [person.body(), self.sleeves(self.DOWN), self.sleeves(other, legs)],
            [person.body(), self.sleeves({}), self.sleeves({}, legs)],
        )

    def test_at_rest_in_another_pose(self):
        """What the nodes at rest show stays where it is, whichever skin's pose it is, or none's."""
        for pose in self.DOWN, {"arm_L": 40, "hand_R": -50}:
            legs = self.sleeves({"leg_L": 20}, person.BONES[7:])
            got = self.bound("posed", [person.body(), self.sleeves(self.DOWN), legs], rest=person.turned(pose))
            body = len(person.body()["positions"])
            want = self.rest(self.at / "posed.glb")[body:]
            np.testing.assert_allclose(self.rest(got)[body:], want, atol=1e-4)

    def test_normals_and_shapes_move_too(self):
        sleeves = self.sleeves(self.DOWN)
        count = len(sleeves["positions"])
        shape = np.random.default_rng(1).normal(size=(count, 3)) * 0.05
        normal = shape / np.linalg.norm(shape, axis=1)[:, None]

        def edit(doc, data):
            primitive = doc["meshes"][1]["primitives"][0]
            primitive["attributes"]["NORMAL"] = person.add(doc, data, normal, 5126, "VEC3")
            primitive["targets"] = [{"POSITION": person.add(doc, data, shape, 5126, "VEC3")}]

        def drawn(path, weight):
            """Points and normals of the sleeves at rest."""
            doc = glb.Doc(path)
            node = next(n for n in doc.json["nodes"] if n.get("mesh") == 1)
            primitive, skin = doc.json["meshes"][1]["primitives"][0], doc.json["skins"][node["skin"]]
            inverse = doc.accessor(skin["inverseBindMatrices"]).astype(float).reshape(-1, 4, 4).transpose(0, 2, 1)
            world = glb.world_matrices(doc)
            joints, weights, _ = glb.weight_rows(doc, primitive)
            move = np.einsum("vk,vkrc->vrc", weights, (np.stack([world[j] for j in skin["joints"]]) @ inverse)[joints])
            points = doc.accessor(primitive["attributes"]["POSITION"]) + weight * doc.accessor(primitive["targets"][0]["POSITION"])
            turn = np.linalg.inv(move[:, :3, :3]).transpose(0, 2, 1)
            normals = np.einsum("vrc,vc->vr", turn, doc.accessor(primitive["attributes"]["NORMAL"]))
            return person.move(points, move), normals / np.linalg.norm(normals, axis=1)[:, None]

        got = self.bound("shapes", [person.body(), sleeves], edit=edit)
        for weight in 0, 1:
            for a, b in zip(drawn(self.at / "shapes.glb", weight), drawn(got, weight)):
                np.testing.assert_allclose(b, a, atol=1e-5)

    def test_a_pose_of_joints_that_nothing_uses(self):
        """Matrices that differ for joints without weights are no other pose."""
        sleeves = self.sleeves({})
        sleeves["inverse"][[7, 8, 9, 10]] = np.eye(4)
        together = self.bound("together", [person.body(), self.sleeves({})])
        got = self.bound("changed", [person.body(), sleeves])
        self.assertLess(person.apart(together, got, 1), 0.001)
        self.assertNotIn("another pose", self.said.stdout + self.said.stderr)

    def test_without_weights_an_error_names_both(self):
        person.write(self.at / "in.glb", [person.body(), self.sleeves(self.DOWN, owner=None)])
        got = support.sinew("bind", self.at / "in.glb", "-o", self.at / "out.glb")
        self.assertEqual(got.returncode, 3, got.stderr)
        self.assertRegex(got.stderr, "skin 1 \\(mesh 'sleeves'\\) and skin 0 \\(mesh 'body'\\)")
        self.assertFalse((self.at / "out.glb").exists())

    def test_check_says_so(self):
        person.write(self.at / "in.glb", [person.body(), self.sleeves(self.DOWN)])
        done = support.sinew("check", self.at / "in.glb", "--only", "other-pose")
        vertices = len(self.sleeves({})["positions"])
        self.assertRegex(done.stdout, f"warning +other-pose +{vertices} vertices, at most 0")

    def test_drawn_as_a_viewer_does(self):
        """Also vertices with weights of several joints."""

        def edit(doc, data):
            sleeves = doc["meshes"][1]["primitives"][0]["attributes"]
            owner = self.sleeves({})["owner"]
            other = np.array([max(parent, 0) for _, parent, _ in person.JOINTS])[owner]
            rows = np.zeros((len(owner), 4))
            rows[:, 0], rows[:, 1] = owner, other
            sleeves["JOINTS_0"] = person.add(doc, data, rows, 5121, "VEC4")
            sleeves["WEIGHTS_0"] = person.add(doc, data, [(0.6, 0.4, 0, 0)] * len(owner), 5126, "VEC4")

        source = person.write(self.at / "in.glb", [person.body(), self.sleeves(self.DOWN)], edit=edit)
        for pose in {}, {"arm_L": {"quaternion": [0, 0, 0.5, 0.8660254]}}:
            (self.at / "pose.json").write_text(json.dumps({"sinew": "pose", "joints": pose}))
            done = support.sinew("pose", source, "--pose", self.at / "pose.json", "-o", self.at / "posed.obj")
            self.assertEqual(done.returncode, 0, done.stderr)
            moved = {person.NAMES.index(n): {"rotation": p["quaternion"]} for n, p in pose.items()}
            doc = glb.Doc(source)
            for node in doc.json["nodes"][: len(person.JOINTS)]:
                node["translation"] = node.pop("matrix")[12:15]
            want = np.vstack([glb.skinned(doc, moved, n) for n in doc.json["nodes"] if "skin" in n])
            np.testing.assert_allclose(glb.obj_positions(self.at / "posed.obj"), want, atol=1e-4)


class Stretched(PersonCase):
    """A scale or shear that all inverse bind matrices of a skin share."""

    def as_plain(self, stretch, in_order=False):
        """stretch: from the space of the positions to that of the world."""
        plain = self.plain()
        back = np.linalg.inv(stretch)
        mesh = person.body(inverse=np.linalg.inv(person.REST) @ stretch)
        mesh["positions"] = person.move(mesh["positions"], np.array([back] * len(mesh["positions"])))
        got = self.bound("changed", [mesh])
        apart = person.apart(plain, got)
        self.assertLess(apart, 0.02)
        np.testing.assert_allclose(self.rest(self.at / "changed.out.glb"), self.rest(plain), atol=1e-5)
        boxes = [json.loads(support.sinew("inspect", self.at / f, "--json").stdout)["box"]
                 for f in ("plain.glb", "changed.glb")]  # fmt: skip
        sizes = [np.subtract(high, low) for low, high in boxes]
        order = np.array if in_order else sorted
        np.testing.assert_allclose(order(sizes[1]), order(sizes[0]), rtol=1e-4)
        return apart

    def test_scaled_by_axis(self):
        self.as_plain(np.diag((1, 3, 0.5, 1.0)))

    def test_quantised_by_axis(self):
        """Positions within 0 to 1 along each axis, as KHR_mesh_quantization has them."""
        stretch = np.diag((1.9, 1.8, 0.2, 1.0))
        stretch[:3, 3] = (-0.95, 0, -0.1)
        self.as_plain(stretch)

    def test_sheared(self):
        turn = person.turned({"hips": 30})[0]
        turn[:3, 3] = 0
        self.as_plain(turn @ np.diag((1, 2.5, 1, 1.0)) @ turn.T)

    def test_turned(self):
        """Turned out of the axes, and mirrored, sheared and in centimetres too."""
        turn = person.turned({"hips": 30})[0]
        turn[:3, 3] = 0
        shear = np.diag((100, -100, 100, 1.0))
        shear[0, 1] = 60
        for stretch in turn, turn @ shear:
            got = self.as_plain(stretch, in_order=True)
            self.assertLess(got, 0.002)

    def test_a_bind_space_in_another_unit(self):
        """Bound lying down, in centimetres: `inspect` says the sizes of the world, axis by axis."""
        stretch = np.array([[0.01, 0, 0, 0], [0, 0, 0.01, 0], [0, -0.01, 0, 0], [0, 0, 0, 1]])
        self.as_plain(stretch, in_order=True)

    def test_scaled_and_posed(self):
        """The rest pose of the nodes is another one than that of the bind."""
        stretch = np.diag((1, 3, 0.5, 1.0))
        mesh = person.body(inverse=np.linalg.inv(person.REST) @ stretch)
        mesh["positions"] = mesh["positions"] / (1, 3, 0.5)
        got = self.bound("changed", [mesh], rest=person.turned({"arm_L": 40, "leg_R": -20, "spine": 10}))
        self.assertLess(person.apart(self.plain(), got), 0.02)


if __name__ == "__main__":
    support.main()
