"""Levels of detail, hidden meshes and several characters in one file: docs/notes/files.md.

levels.py [CLASS…]; run like cli.py."""
import bind_poses
import glb
import numpy as np
import person
import support


class LevelsCase(bind_poses.PersonCase):
    def level(self, name, bones=person.BONES, **shape):
        positions, triangles, owner = person.tubes(bones, **{"radius": 0.07, "rings": 4, "sides": 5, **shape})
        return {"name": name, "positions": positions, "triangles": triangles, "owner": owner}

    def undisturbed(self, meshes, words, *options, edit=None):
        """The first mesh, the body, has the weights that it has alone; the others have those of the body nearby."""
        plain = self.plain()
        got = self.bound("many", meshes, *options, edit=edit)
        self.assertLess(person.apart(plain, got), 1e-6)
        self.assertRegex(self.said.stdout, words)
        body = meshes[0]["positions"]
        for mesh in range(1, len(meshes)):
            near = ((meshes[mesh]["positions"][:, None] - body[None]) ** 2).sum(2).argmin(1)
            self.assertLess(np.abs(person.dense(got, mesh) - person.dense(got)[near]).sum(1).mean(), 0.25)
        together = self.bound("many", meshes, "--together", edit=edit)
        self.assertGreater(person.apart(plain, together), 1e-3)
        return got


class Levels(LevelsCase):
    def test_named_lod(self):
        for names in (
            ("body_LOD0", "body_LOD1", "body_LOD2"), ("LOD0 Body", "Lod1 Body", "lod2 body"),
            ("body.001", "body.001_LOD1", "body.001_LOD2"), ("Body7", "LOD1_Body7", "LOD2_Body7"),
            ("Body_LOD0_3", "Body_LOD0_3_LOD1", "Body_LOD0_3_LOD2"),
        ):  # fmt: skip
            coarse = [self.level(names[1]), self.level(names[2], rings=3, sides=4)]
            body = person.body(name=names[0])
            self.undisturbed([body, *coarse], "2 meshes are coarser levels of detail")

    def test_named_by_a_number(self):
        self.undisturbed([person.body(name="Body"), self.level("Body.001")], "1 mesh is a coarser level of detail")

    def test_named_by_quality_and_not_at_all(self):
        """Words, spellings of them, equal names, other names: the surfaces decide. In either order of the meshes."""
        for fine, coarse in (
            ("Body_high", "Body_low"), ("Body-HP", "Body-LP"), ("BodyHiRes", "Body lo res"), ("Body", "body_lowpoly"),
            ("Body", "Body"), ("", ""), ("Body", "Cube.003"), ("Body.LOD0", "Body.LOD1"), ("BodyLOD00", "BodyLOD01"),
            ("Body000", "Body001"), ("Body_LOD 0", "LOD-1"),
        ):  # fmt: skip
            body, level = person.body(name=fine), self.level(coarse)
            self.undisturbed([body, level], "1 mesh is a coarser level of detail")
            got = self.bound("turned", [level, body])
            self.assertLess(person.apart(self.plain(), got, 0, 1), 1e-6)

    def test_with_fewer_joints(self):
        """A level whose skin lacks hands and ends: their weights go to the joints above."""
        keep = [j for j, name in enumerate(person.NAMES) if not name.startswith("hand") and not name.endswith("_end")]

        def edit(doc, data):
            doc["skins"][1]["joints"] = keep
            doc["skins"][1]["inverseBindMatrices"] = person.add(
                doc, data, np.linalg.inv(person.REST)[keep].transpose(0, 2, 1).reshape(-1, 16), 5126, "MAT4")

        level = self.level("body_LOD1")
        where = {j: i for i, j in enumerate(keep)}
        level["owner"] = np.array([where.get(j, where.get(person.JOINTS[j][1])) for j in level["owner"]])
        plain = self.plain()
        got = self.bound("many", [person.body(name="body_LOD0"), level], edit=edit)
        self.assertLess(person.apart(plain, got), 1e-6)
        self.assertRegex(self.said.stdout, "1 mesh is a coarser level of detail")
        fine = person.dense(got)
        for j in reversed(range(len(person.JOINTS))):
            if j not in keep:
                fine[:, person.JOINTS[j][1]] += fine[:, j]
                fine[:, j] = 0
        near = ((level["positions"][:, None] - person.body()["positions"][None]) ** 2).sum(2).argmin(1)
        self.assertLess(np.abs(person.dense(got, 1) - fine[near]).sum(1).mean(), 0.25)

    def test_in_groups(self):
        """Meshes of one name below nodes that are named after the level."""

        def edit(doc, data):
            n = len(doc["nodes"])
            doc["nodes"] += [{"name": "LOD0", "children": [n - 2]}, {"name": self.group, "children": [n - 1]}]
            doc["scenes"][0]["nodes"] = [0, n, n + 1]

        for self.group in "LOD1", "lod_2":
            self.undisturbed([person.body(name="Body"), self.level("Body")], "1 mesh is a coarser level", edit=edit)

    def test_listed(self):
        def edit(doc, data):
            nodes = doc["nodes"]
            nodes[-2]["extensions"] = {"MSFT_lod": {"ids": [len(nodes) - 1]}}
            doc["extensionsUsed"] = ["MSFT_lod"]
            doc["scenes"][0]["nodes"].pop()

        self.undisturbed([person.body(), self.level("far away")], "1 mesh is", edit=edit)

    def test_no_levels(self):
        """Names with numbers or words at other places, and a coat that leaves the head free."""
        left = self.level("sleeve1", person.BONES[3:5], radius=0.12)
        right = self.level("sleeve2", person.BONES[5:7], radius=0.12)
        high = self.level("leg_high", person.BONES[7:8], radius=0.12)
        low = self.level("leg_low", person.BONES[8:9], radius=0.12)
        coat = self.level("coat", person.BONES[:2] + person.BONES[3:], radius=0.1)
        tips = [self.level(f"tips{k}", [(4, 12), (6, 13)], radius=0.02, rings=2) for k in range(3)]  # of both hands
        for k, tip in enumerate(tips):
            tip["positions"] = tip["positions"] * (1, 0.2, 0.2) + (0, 1.1 + 0.01 * k, 0.03 * k)
        self.bound("many", [person.body(), left, right, high, low, coat, *tips])
        self.assertNotIn("level", self.said.stdout)


    def test_by_transfer(self):
        """A vertex on the surface between vertices of the body has the mean of their weights, by every kind of table."""
        body = person.body(name="body_LOD0")
        level = self.level("body_LOD1", radius=0.08, rings=5, sides=7)
        for method in "surface-heat", "geodesic-voxel":
            person.write(self.at / "many.glb", [body, level])
            self.bind(self.at / "many.glb", "--method", method, "--max-influences", "8", out="many.out.glb")
            fine, got = person.dense(self.at / "many.out.glb"), person.dense(self.at / "many.out.glb", 1)
            near = np.argsort(((level["positions"][:, None] - body["positions"][None]) ** 2).sum(2))[:, :6]
            mixed = got[got.max(1) < 0.98]
            self.assertLess(np.mean(np.abs(fine[None] - mixed[:, None]).sum(2).min(1) < 1e-3), 0.6)
            self.assertLess(np.maximum(got - fine[near].max(1), 0).sum(1).mean(), 0.02)  # within the weights around it

    def test_bound_in_steps_and_rigged(self):
        """`rig` fits its template to what is shown, and binds as `bind` does."""
        def edit(doc, data):
            doc["scenes"][0]["nodes"].pop()

        hidden = self.level("draft", radius=0.3)
        for name, meshes, how in ("one", [person.body()], {}), ("two", [person.body(), hidden], {"edit": edit}):
            for mesh in meshes:
                mesh["inverse"] = None
            person.write(self.at / f"{name}.glb", meshes, **how)
            done = support.sinew("rig", self.at / f"{name}.glb", "--template", "biped", "-o", self.at / f"{name}.out.glb")
            self.assertEqual(done.returncode, 0, done.stderr)
        rows = []
        for name in "one", "two":  # by name: the numbers of new nodes differ
            nodes = glb.Doc(self.at / f"{name}.out.glb").json["nodes"]
            dense = person.dense(self.at / f"{name}.out.glb")
            rows.append({n["name"]: dense[:, k] for k, n in enumerate(nodes) if dense[:, k].any()})
        self.assertEqual(rows[0].keys(), rows[1].keys())
        for name in rows[0]:
            np.testing.assert_allclose(rows[0][name], rows[1][name], atol=1e-6)


class Hidden(LevelsCase):
    def test_in_no_scene(self):
        def edit(doc, data):
            doc["scenes"][0]["nodes"].pop()

        self.undisturbed([person.body(), self.level("draft", radius=0.15)], "1 mesh is shown by no scene", edit=edit)

    def test_hidden_by_its_node(self):
        def edit(doc, data):
            doc["nodes"][-1]["extensions"] = {"KHR_node_visibility": {"visible": False}}
            doc["extensionsUsed"] = ["KHR_node_visibility"]

        self.undisturbed([person.body(), self.level("draft", radius=0.15)], "1 mesh is shown by no scene", edit=edit)

    def test_all_of_them(self):
        """A file whose scene is empty is bound as one that shows everything."""

        def edit(doc, data):
            doc["scenes"][0]["nodes"] = []

        got = self.bound("many", [person.body()], edit=edit)
        self.assertLess(person.apart(self.plain(), got), 1e-6)


class Characters(LevelsCase):
    def two(self, shift):
        """Two persons with joints of their own."""

        def edit(doc, data):
            n = len(person.JOINTS)
            first = len(doc["nodes"])
            for node in doc["nodes"][:n]:
                copy = {**node, "name": "b." + node["name"]}
                copy.pop("children", None)
                if "children" in node:
                    copy["children"] = [c + first for c in node["children"]]
                doc["nodes"].append(copy)
            moved = np.array(doc["nodes"][first]["matrix"])
            moved[12:15] += shift
            doc["nodes"][first]["matrix"] = moved.tolist()
            doc["scenes"][0]["nodes"].append(first)
            doc["skins"][1]["joints"] = [j + first for j in range(n)]

        other = self.level("other", radius=0.12)
        other["positions"] = other["positions"] + shift
        world = person.REST.copy()
        world[:, :3, 3] += shift
        return [person.body(), {**other, "inverse": np.linalg.inv(world)}], edit

    def test_at_one_place(self):
        for shift in (0, 0, 0), (0.1, 0, 0.05):
            meshes, edit = self.two(np.array(shift))
            got = self.bound("two", meshes, edit=edit)
            self.assertRegex(self.said.stdout, "2 characters with skeletons of their own are bound apart")
            self.assertLess(person.apart(self.plain(), got), 1e-6)
            alone = self.bound("alone", [self.level("other", radius=0.12)])
            np.testing.assert_allclose(
                np.sort(person.dense(got, 1), 1)[:, -4:], np.sort(person.dense(alone), 1)[:, -4:], atol=0.02
            )

    def test_kept_bindings(self):
        """With a kept volume they are bound as one, and the file says which vertices follow."""
        meshes = [person.body(name="body_LOD0"), self.level("body_LOD1")]
        kept = self.at / "kept.binding"
        got = self.bound("many", meshes, "--save-binding", kept)
        self.assertLess(person.apart(self.plain(), got), 1e-6)
        again = self.at / "again.glb"
        done = support.sinew("bind", self.at / "many.glb", "-o", again, "--reuse", kept)
        self.assertEqual(done.returncode, 0, done.stderr)
        for mesh in 0, 1:
            self.assertLess(person.apart(got, again, mesh), 1e-6)
        self.assertEqual(glb.weight_problems(glb.Doc(again)), [])

    def test_another_mesh_in_a_kept_volume(self):
        """What is not shown takes its rows from the body there, too, and is not outside of the volume."""
        def edit(doc, data):
            doc["scenes"][0]["nodes"].pop()

        kept = self.at / "kept.binding"
        plain = self.bound("plain", [person.body()], "--save-binding", kept)
        draft = self.level("draft", radius=0.3)
        person.write(self.at / "two.glb", [person.body(), draft], edit=edit)
        said = support.sinew("bind", self.at / "two.glb", "-o", self.at / "again.glb", "--reuse", kept)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertNotIn("outside", said.stdout)
        self.assertLess(person.apart(plain, self.at / "again.glb"), 1e-6)
        fresh = self.bound("fresh", [person.body(), draft], edit=edit)
        self.assertLess(person.apart(fresh, self.at / "again.glb", 1), 1e-6)



if __name__ == "__main__":
    support.main()
