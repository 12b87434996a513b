"""Tests of files as other programs write them: structures that must not change the weights, and faults that bind repairs.

kinds.py [CLASS…], as cli.py. docs/notes/files.md describes the kinds; every file here is generated."""
import json
import tempfile
from pathlib import Path

import numpy as np

import foreign
import glb
import make
import support
from cli import Case

# A figure: joint, parent, place in the world. The x axis points to the figure's left.
FIGURE = [("hips", None, (0, 0.95, 0)), ("spine", "hips", (0, 1.2, 0)), ("head", "spine", (0, 1.45, 0)),
          ("arm_L", "spine", (0.15, 1.4, 0)), ("hand_L", "arm_L", (0.5, 1.4, 0)),
          ("arm_R", "spine", (-0.15, 1.4, 0)), ("hand_R", "arm_R", (-0.5, 1.4, 0)),
          ("leg_L", "hips", (0.1, 0.9, 0)), ("foot_L", "leg_L", (0.1, 0.45, 0)),
          ("leg_R", "hips", (-0.1, 0.9, 0)), ("foot_R", "leg_R", (-0.1, 0.45, 0))]
LIMBS = [((0, 0.85, 0), (0, 1.5, 0), 0.13), ((0, 1.45, 0), (0, 1.7, 0), 0.09), ((0.1, 1.4, 0), (0.65, 1.4, 0), 0.06),
         ((-0.1, 1.4, 0), (-0.65, 1.4, 0), 0.06), ((0.1, 0.95, 0), (0.1, 0.05, 0), 0.08),
         ((-0.1, 0.95, 0), (-0.1, 0.05, 0), 0.08)]


def tube(a, b, radius, rings=7, sides=8):
    """Points and triangles of a closed tube from a to b."""
    a, b = np.array(a, float), np.array(b, float)
    along = (b - a) / np.linalg.norm(b - a)
    u = np.cross(along, (0, 0, 1))
    v = np.cross(along, u)
    angles = 2 * np.pi * np.arange(sides) / sides
    circle = radius * (np.outer(np.cos(angles), u) + np.outer(np.sin(angles), v))
    points = np.vstack([a + (b - a) * t + circle for t in np.linspace(0, 1, rings)] + [[a], [b]])
    quads = [(r * sides + k, r * sides + (k + 1) % sides, (r + 1) * sides + k, (r + 1) * sides + (k + 1) % sides)
             for r in range(rings - 1) for k in range(sides)]
    faces = [f for p, q, r, s in quads for f in ((p, q, r), (q, s, r))]
    last, top = (rings - 1) * sides, rings * sides
    faces += [(top, (k + 1) % sides, k) for k in range(sides)]
    faces += [(top + 1, last + k, last + (k + 1) % sides) for k in range(sides)]
    return points, np.array(faces)


def joined(shapes):
    """Several (points, faces) as one."""
    points, faces, first = [], [], 0
    for p, f in shapes:
        points.append(p)
        faces.append(np.array(f) + first)
        first += len(p)
    return np.vstack(points), np.vstack(faces)


def body():
    return joined(tube(*limb) for limb in LIMBS)


class Gltf:
    """A glTF document under construction; nodes are referred to by number."""

    def __init__(self):
        self.json = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": []}], "nodes": [], "meshes": [],
                     "accessors": [], "bufferViews": []}
        self.bytes = b""

    def accessor(self, values, component, kind, **more):
        values = np.ascontiguousarray(values, glb.DTYPES[component])
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.bytes), "byteLength": values.nbytes})
        self.bytes += values.tobytes() + b"\0" * (-values.nbytes % 4)
        self.json["accessors"].append({"bufferView": len(self.json["bufferViews"]) - 1, "componentType": component,
                                       "count": len(values), "type": kind, **more})
        return len(self.json["accessors"]) - 1

    def node(self, name, parent=None, **more):
        self.json["nodes"].append({"name": name, **more})
        number = len(self.json["nodes"]) - 1
        above = self.json["scenes"][0]["nodes"] if parent is None else self.json["nodes"][parent].setdefault("children", [])
        above.append(number)
        return number

    def mesh(self, points, faces, name="mesh", **attributes):
        """A mesh of one primitive. attributes: numbers of accessors."""
        points = np.asarray(points, np.float32)
        bounds = {"min": points.min(axis=0).tolist(), "max": points.max(axis=0).tolist()}
        position = self.accessor(points, 5126, "VEC3", **bounds)
        index = self.accessor(np.ravel(faces), 5125, "SCALAR")
        self.json["meshes"].append({"name": name, "primitives": [{"attributes": {"POSITION": position, **attributes},
                                                                  "indices": index}]})
        return len(self.json["meshes"]) - 1

    def skeleton(self, joints=FIGURE, parent=None):
        """Nodes of these joints: {name: number}."""
        place = {name: np.array(at, float) for name, _, at in joints}
        made = {}
        for name, above, at in joints:
            offset = place[name] - (place[above] if above else 0)
            made[name] = self.node(name, made[above] if above else parent, translation=offset.tolist())
        return made

    def save(self, path):
        data = dict(self.json, buffers=[{"byteLength": len(self.bytes)}])
        path.write_bytes(make.packed(data, self.bytes))
        return path


def weights(path, mesh):
    """Rows of a mesh's weights (by its name) with the names of the joints: V × {joint: weight}."""
    doc = glb.Doc(path)
    number = next(i for i, m in enumerate(doc.list("meshes")) if m["name"] == mesh)
    node = next(n for n in doc.list("nodes") if n.get("mesh") == number and "skin" in n)
    joints = doc.json["skins"][node["skin"]]["joints"]
    names = [doc.json["nodes"][j]["name"] for j in joints]
    rows = []
    for primitive in doc.json["meshes"][number]["primitives"]:
        index, weight, _ = glb.weight_rows(doc, primitive)
        for row, values in zip(index, weight):
            rows.append({})
            for j, w in zip(row, values):
                if w:
                    rows[-1][names[j]] = rows[-1].get(names[j], 0) + float(w)
    return rows


def distance(rows, others):
    """Mean L1 between the weights of the same vertices."""
    assert len(rows) == len(others)
    return np.mean([sum(abs(a.get(k, 0) - b.get(k, 0)) for k in a | b) for a, b in zip(rows, others)])


class KindCase(Case):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="sinew-kinds-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def bind(self, gltf, *options, name="in.glb"):
        """Binds a document; returns the path of the output and the report."""
        source, out = self.folder / name, self.folder / ("out-" + name)
        if gltf is not None:
            gltf.save(source)
        done = support.sinew("bind", source, "-o", out, "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out, json.loads(done.stdout)


class MeshesOnJoints(KindCase):
    """What hangs on a joint does not cut off the skeleton of a file without a skin."""

    def figure(self, hang=None):
        g = Gltf()
        joints = g.skeleton(parent=g.node("Armature"))
        g.node("body", mesh=g.mesh(*body(), name="body"))
        if hang:
            hang(g, joints)
        return g

    def check(self, hang, joints=11):
        plain, _ = self.bind(self.figure(), name="plain.glb")
        out, report = self.bind(self.figure(hang))
        self.assertEqual(report["counts"]["joints"], joints)
        self.assertLess(distance(weights(plain, "body"), weights(out, "body")), 1e-6)

    @staticmethod
    def belt(g):
        return g.mesh(*tube((0, -0.03, 0), (0, 0.03, 0), 0.15, rings=2), name="belt")

    def test_a_belt_below_the_hips(self):
        self.check(lambda g, joints: g.node("belt", joints["hips"], mesh=self.belt(g)))

    def test_a_mesh_on_the_joint_itself(self):
        for joint in ("hips", "spine"):
            with self.subTest(joint):
                self.check(lambda g, joints: g.json["nodes"][joints[joint]].update(mesh=self.belt(g)))

    def test_a_camera_on_the_joint_itself(self):
        def hang(g, joints):
            g.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1}}]
            g.json["nodes"][joints["spine"]].update(camera=0)

        self.check(hang)

    def test_a_prop_on_a_root_at_the_origin(self):
        """Controls of the feet hang on the root, beside the largest branch; the body is elsewhere."""
        for prop in False, True:
            g = Gltf()
            root = g.node("Root")
            g.skeleton(parent=root)
            for side in -1, 1:
                g.node(f"Foot.{side}", root, translation=[0.1 * side, 0, 0.1])
            g.node("body", mesh=g.mesh(*body(), name="body"))
            if prop:
                g.node("disc", root, mesh=self.belt(g))
            out, report = self.bind(g, name=f"root{prop}.glb")
            self.assertEqual(report["counts"]["joints"], 14)
            rows = weights(out, "body")
            if prop:
                self.assertLess(distance(plain, rows), 1e-6)
            plain = rows

    def test_a_body_below_a_nameless_holder_is_no_joint(self):
        g = Gltf()
        top = g.node("Character")
        g.skeleton(parent=top)
        g.node("body", top, mesh=g.mesh(*body(), name="body"))
        _, report = self.bind(g)
        self.assertEqual(report["counts"]["joints"], 11)


class DefaultMorphs(KindCase):
    """Morph weights that are not 0 in the file: its visible shape is bound, measured, drawn and posed."""

    LIFT = np.array((0, 0, 0.5))

    def figure(self, morph=None):
        """A figure in its place; with `morph` its base shape is elsewhere, and a target of weight 1 brings it back."""
        g = Gltf()
        g.skeleton()
        points, faces = body()
        mesh = g.mesh(points if morph is None else points - self.LIFT, faces, name="body")
        node = g.node("body", mesh=mesh)
        if morph is not None:
            kind, where = morph
            if kind == "floats":
                target = g.accessor(np.tile(self.LIFT, (len(points), 1)), 5126, "VEC3")
            else:  # normalised integers
                target = g.accessor(np.tile([0, 0, 16384], (len(points), 1)), 5122, "VEC3", normalized=True)
            g.json["meshes"][mesh]["primitives"][0]["targets"] = [{"POSITION": target}]
            weight = 1.0 if kind == "floats" else 0.5 * 32767 / 16384
            g.json["meshes"][mesh]["weights"] = [weight if where == "mesh" else 0.0]
            if where == "node":
                g.json["nodes"][node]["weights"] = [weight]
        return g

    def test_weights_are_those_of_the_visible_shape(self):
        plain, _ = self.bind(self.figure(), name="plain.glb")
        for morph in (("floats", "mesh"), ("floats", "node"), ("integers", "mesh")):
            with self.subTest(morph):
                out, _ = self.bind(self.figure(morph))
                self.assertLess(distance(weights(plain, "body"), weights(out, "body")), 1e-3)

    def test_a_pose_moves_the_visible_shape_once(self):
        out, _ = self.bind(self.figure(("floats", "mesh")))
        posed, pose = self.folder / "posed.obj", self.folder / "pose.json"
        pose.write_text('{"joints": {"hips": {"rotate": [0, 0, 0]}}}')
        done = support.sinew("pose", out, "--pose", pose, "-o", posed)
        self.assertEqual(done.returncode, 0, done.stderr)
        np.testing.assert_allclose(glb.obj_positions(posed), body()[0], atol=1e-5)

    def test_inspect_measures_it(self):
        source = self.figure(("floats", "node")).save(self.folder / "in.glb")
        done = support.sinew("inspect", source, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertAlmostEqual(json.loads(done.stdout)["box"][0][2], body()[0][:, 2].min(), 5)


class RigidParts(KindCase):
    """In a file without a skin, a mesh below a joint follows that joint whole."""

    ROBOT = [("root", None, (0, 0, 0)), ("spine", "root", (0, 0.5, 0)), ("upper_arm_L", "spine", (0.3, 0.9, 0)),
             ("forearm_L", "upper_arm_L", (0.9, 0.9, 0)), ("hand_L", "forearm_L", (1.5, 0.9, 0)),
             ("head", "spine", (0, 1.2, 0))]
    # A part reaches beyond its own joint, as shells of real robots do.
    PARTS = {"spine": ((0, 0.4, 0), (0, 1.25, 0), 0.3), "upper_arm_L": ((0.2, 0.9, 0), (1.0, 0.9, 0), 0.1),
             "forearm_L": ((0.8, 0.9, 0), (1.55, 0.9, 0), 0.12), "hand_L": ((1.45, 0.9, 0), (1.8, 0.9, 0), 0.15),
             "head": ((0, 1.1, 0), (0, 1.6, 0), 0.2)}

    def robot(self, joints=ROBOT, parts=PARTS, on_joints=False, scale=1):
        g = Gltf()
        nodes = g.skeleton(joints, g.node("Armature"))
        place = {name: np.array(at, float) for name, _, at in joints}
        for joint, shape in parts.items():
            points, faces = tube(*shape)
            mesh = g.mesh((points - place[joint]) / scale, faces, name="part of " + joint)
            if on_joints:
                g.json["nodes"][nodes[joint]]["mesh"] = mesh
            else:
                g.node("part of " + joint, nodes[joint], mesh=mesh, **({"scale": [scale] * 3} if scale != 1 else {}))
        return g, nodes

    def check(self, gltf, *options, parts=PARTS):
        out, report = self.bind(gltf, *options)
        for joint in parts:
            self.assertEqual({n for row in weights(out, "part of " + joint) for n in row}, {joint})
        self.assertIn(f"{len(parts)} meshes below joints follow them whole", " ".join(report["warnings"]))
        return out

    def test_parts_below_their_joints(self):
        self.check(self.robot()[0])
        self.check(self.robot(scale=0.5)[0])
        self.check(self.robot()[0], "--method", "geodesic-voxel")

    def test_parts_on_their_joints(self):
        out = self.check(self.robot(on_joints=True)[0])
        # At rest nothing moves: the file has the matrices of the parts' own places.
        doc = glb.Doc(out)
        points = np.vstack([glb.skinned(doc, node=n) for n in doc.list("nodes") if "mesh" in n])
        wanted = np.vstack([tube(*shape)[0] for shape in self.PARTS.values()])
        np.testing.assert_allclose(np.sort(points, axis=0), np.sort(wanted, axis=0), atol=1e-5)

    def test_a_part_on_a_joint_named_like_a_slot(self):
        joints = [*self.ROBOT, ("weapon_slot", "hand_L", (1.6, 0.9, 0))]
        parts = {**self.PARTS, "weapon_slot": ((1.6, 0.9, 0), (1.6, 1.6, 0), 0.05)}
        self.check(self.robot(joints, parts)[0], parts=parts)

    def test_groups_between_a_part_and_its_joint(self):
        """Nodes at the joint's place that only group meshes are no joints; one that a clip moves is."""
        for clip in False, True:
            g, nodes = self.robot(parts={p: self.PARTS[p] for p in ("spine", "upper_arm_L", "forearm_L", "hand_L")})
            groups = g.node("geometry", g.node("group", nodes["head"]))
            points, faces = tube(*self.PARTS["head"])
            g.node("part of head", groups, mesh=g.mesh(points - (0, 1.2, 0), faces, name="part of head"))
            if clip:
                times = g.accessor([0, 1], 5126, "SCALAR", min=[0], max=[1])
                turns = g.accessor([(0, 0, 0, 1), (0, 0.6, 0, 0.8)], 5126, "VEC4")
                g.json["animations"] = [{"samplers": [{"input": times, "output": turns}],
                                         "channels": [{"sampler": 0, "target": {"node": groups, "path": "rotation"}}]}]
            out, _ = self.bind(g)
            self.assertEqual({n for row in weights(out, "part of head") for n in row}, {"geometry" if clip else "head"})

    def test_other_meshes_are_bound_as_before(self):
        g, _ = self.robot(parts={"head": self.PARTS["head"], "hand_L": self.PARTS["hand_L"]})
        g.node("suit", mesh=g.mesh(*joined(tube(*self.PARTS[p]) for p in ("spine", "upper_arm_L", "forearm_L")), name="suit"))
        out = self.check(g, parts=("head", "hand_L"))
        self.assertLessEqual({"spine", "upper_arm_L", "forearm_L"}, {n for row in weights(out, "suit") for n in row})

    def test_a_body_on_the_hips_is_no_part(self):
        g = Gltf()
        nodes = g.skeleton()
        g.node("body", nodes["hips"], translation=[0, -0.95, 0], mesh=g.mesh(*body(), name="body"))
        out, _ = self.bind(g)
        self.assertEqual(len({n for row in weights(out, "body") for n in row}), 11)

    def test_the_option_binds_parts_as_others(self):
        out, report = self.bind(self.robot()[0], "--bind-parts")
        self.assertNotIn("follow them whole", " ".join(report["warnings"]))
        self.assertEqual({len(s["joints"]) for s in glb.Doc(out).list("skins")}, {6})


class MirroredInstances(KindCase):
    """A mesh whose node mirrors it is not inside out after bind and pose."""

    LEGS = [("hips", None, (0, 1.2, 0)), ("leg_L", "hips", (0.3, 1, 0)), ("shin_L", "leg_L", (0.3, 0.5, 0)),
            ("leg_R", "hips", (-0.3, 1, 0)), ("shin_R", "leg_R", (-0.3, 0.5, 0))]

    @staticmethod
    def volume(points, faces):
        a, b, c = (points[faces[:, k]] for k in range(3))
        return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6

    def pose(self, bound, kind):
        pose, out = self.folder / "pose.json", self.folder / ("posed" + kind)
        pose.write_text(json.dumps({"joints": {"shin_L": {"rotate": [10, 0, 0]}}}))
        done = support.sinew("pose", bound, "--pose", pose, "-o", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out

    def test_no_part_is_inside_out(self):
        turned = [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
        for how in ({"scale": [-1, 1, 1]}, {"matrix": turned}, "group"):
            with self.subTest(how):
                g = Gltf()
                g.skeleton(self.LEGS, g.node("Armature"))
                boot = g.mesh(*tube((0.3, 0.9, 0), (0.3, 0.1, 0), 0.1), name="boot")
                g.node("boot_L", mesh=boot)
                if how == "group":
                    g.node("boot_R", g.node("mirror", scale=[-1, 1, 1]), mesh=boot)
                else:
                    g.node("boot_R", mesh=boot, **how)
                bound, _ = self.bind(g)
                doc = glb.Doc(self.pose(bound, ".glb"))
                self.assertEqual(len(doc.list("meshes")), 2)
                for _, _, primitive in doc.primitives():
                    points = doc.accessor(primitive["attributes"]["POSITION"]).astype(float)
                    self.assertGreater(self.volume(points, doc.accessor(primitive["indices"]).reshape(-1, 3)), 0.01)
                obj = self.pose(bound, ".obj")
                faces = [line.split()[1:4] for line in obj.read_text().splitlines() if line.startswith("f ")]
                self.assertGreater(self.volume(glb.obj_positions(obj), np.array(faces, int) - 1), 0.03)


    def test_matrices_that_mirror(self):
        """A viewer turns triangles where the node mirrors, not where inverse bind matrices do."""
        flip = np.diag([-1.0, 1, 1, 1])
        for node in False, True:
            g = Gltf()
            names = g.skeleton(parent=g.node("Armature", **({"scale": [-1, 1, 1]} if node else {})))
            points, faces = body()
            stored = points if node else points @ flip[:3, :3]
            place = {name: np.array(at) for name, _, at in FIGURE}
            owner = [min(range(len(FIGURE)), key=lambda j: np.linalg.norm(place[FIGURE[j][0]] - p)) for p in points]
            joints = np.zeros((len(points), 4), int)
            joints[:, 0] = owner
            mesh = g.mesh(stored, faces, name="body", JOINTS_0=g.accessor(joints, 5121, "VEC4"),
                          WEIGHTS_0=g.accessor(np.tile([1, 0, 0, 0], (len(points), 1)), 5126, "VEC4"))
            inverse = np.tile(np.eye(4), (len(FIGURE), 1, 1))
            inverse[:, :3, 3] = [-place[name] for name, _, _ in FIGURE]
            if not node:
                inverse = inverse @ flip
            g.json["skins"] = [{"joints": list(names.values()), "inverseBindMatrices":
                                g.accessor(inverse.transpose(0, 2, 1).reshape(-1, 16), 5126, "MAT4")}]
            g.node("body", 0 if node else None, mesh=mesh, skin=0)
            bound, _ = self.bind(g)
            pose, out = self.folder / "pose.json", self.folder / "posed.glb"
            pose.write_text(json.dumps({"joints": {}}))
            self.assertEqual(support.sinew("pose", bound, "--pose", pose, "-o", out).returncode, 0)
            doc = glb.Doc(out)
            for _, _, primitive in doc.primitives():
                shown = doc.accessor(primitive["attributes"]["POSITION"]).astype(float)
                self.assertGreater(self.volume(shown, doc.accessor(primitive["indices"]).reshape(-1, 3)), 0.01)


class DamagedWeights(KindCase):
    """bind replaces the weights, so faults of the old ones are warnings that name the place."""

    def bar(self):
        """A skinned bar of three joints, and the number of its vertices."""
        g = Gltf()
        names = g.skeleton([("a", None, (0, 0, 0)), ("b", "a", (0, 0.5, 0)), ("c", "b", (0, 1, 0))])
        points, faces = tube((0, 0, 0), (0, 1.5, 0), 0.1, rings=13)
        n = len(points)
        joints = np.zeros((n, 4), int)
        joints[:, 0] = np.clip(points[:, 1] / 0.5, 0, 2)
        self.joints = joints
        shares = np.tile([1, 0, 0, 0], (n, 1))
        mesh = g.mesh(points, faces, name="bar", JOINTS_0=g.accessor(joints, 5121, "VEC4"),
                      WEIGHTS_0=g.accessor(shares, 5126, "VEC4"))
        self.matrices = np.tile(np.eye(4), (3, 1, 1))
        self.matrices[:, 3, 1] = 0, -0.5, -1  # columns first
        g.json["skins"] = [{"joints": list(names.values()), "inverseBindMatrices":
                            g.accessor(self.matrices.reshape(3, 16), 5126, "MAT4")}]
        g.node("bar", mesh=mesh, skin=0)
        return g, n

    def attributes(self, g):
        return g.json["meshes"][0]["primitives"][0]["attributes"]

    def expect(self, g, *warnings, options=()):
        good, _ = self.bar()
        plain, _ = self.bind(good, "--deform-from", "all", name="plain.glb")
        out, report = self.bind(g, "--deform-from", "all", *options)
        for warning in warnings:
            self.assertIn(warning, " ".join(report["warnings"]))
        self.assertLess(distance(weights(plain, "bar"), weights(out, "bar")), 1e-3)
        self.assertEqual(glb.weight_problems(glb.Doc(out)), [])
        return out

    def test_matrices_past_the_end_of_the_buffer(self):
        """They are left out, and nothing that is written behind the old end becomes matrices."""
        g, _ = self.bar()
        view = g.json["bufferViews"][g.json["accessors"][g.json["skins"][0]["inverseBindMatrices"]]["bufferView"]]
        view["byteOffset"] += 180  # of 192 bytes at the end of the buffer
        out, report = self.bind(g, "--deform-from", "all", "--max-influences", "8")
        self.assertIn("the matrices are left out", " ".join(report["warnings"]))
        self.assertIn("1 buffer views reach past the end", " ".join(report["notes"]))
        done = support.sinew("inspect", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the matrices are left out", done.stdout)

    def test_a_joint_past_the_skin(self):
        g, _ = self.bar()
        self.joints[5, 0] = 77
        self.attributes(g)["JOINTS_0"] = g.accessor(self.joints, 5121, "VEC4")
        self.expect(g, "mesh 'bar' primitive 0: 1 weights of the file are on joints that its skin of 3 does not have",
                    "vertex 5, joint 77")

    def test_joints_of_other_types(self):
        for component in (5126, 5120, 5122):
            g, _ = self.bar()
            self.attributes(g)["JOINTS_0"] = g.accessor(self.joints, component, "VEC4")
            self.expect(g, "mesh 'bar' primitive 0: JOINTS_0 must be u8 or u16")

    def test_accessors_that_are_too_short_or_of_another_shape(self):
        for name, values, kind, warning in (
                ("JOINTS_0", lambda n: np.zeros((n - 9, 4)), "VEC4", "JOINTS_0 has "),
                ("WEIGHTS_0", lambda n: np.ones((n - 9, 4)), "VEC4", "WEIGHTS_0 has "),
                ("WEIGHTS_0", lambda n: np.ones((n, 3)), "VEC3", "WEIGHTS_0 must be VEC4")):
            g, n = self.bar()
            self.attributes(g)[name] = g.accessor(values(n), 5126 if name == "WEIGHTS_0" else 5121, kind)
            self.expect(g, warning, "the file's weights of this primitive are left out")

    def test_an_accessor_that_ends_past_its_buffer(self):
        g, n = self.bar()
        g.json["accessors"][self.attributes(g)["WEIGHTS_0"]]["count"] = n + 9
        self.expect(g, "the file's weights of this primitive are left out")

    def test_matrices_that_cannot_be_read(self):
        """They are those of the rest pose."""
        for fault in ({"inverseBindMatrices": 99}, {"inverseBindMatrices": None}, {"inverseBindMatrices": "x"}):
            g, _ = self.bar()
            g.json["skins"][0].update(fault)
            self.expect(g, "skin 0", "inverseBindMatrices", "`repair-matrices`")
        g, _ = self.bar()
        g.json["accessors"][g.json["skins"][0]["inverseBindMatrices"]].update(type="VEC4")
        self.expect(g, "skin 0: inverseBindMatrices must be MAT4 of floats", options=("--repair-matrices",))

    def test_an_empty_primitive_beside_a_good_one(self):
        for indices in (False, True):
            g, _ = self.bar()
            good = g.json["meshes"][0]["primitives"][0]
            empty = g.accessor(np.zeros((1, 3)), 5126 if not indices else 5125, "VEC3" if not indices else "SCALAR")
            g.json["accessors"][empty]["count"] = 0
            g.json["meshes"][0]["primitives"].append(
                {"attributes": good["attributes"], "indices": empty} if indices else {"attributes": {"POSITION": empty}})
            source = g.save(self.folder / "in.glb")
            out = self.folder / "out.glb"
            done = support.sinew("bind", source, "-o", out, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("mesh 'bar' primitive 1 is empty: left out", done.stdout)

    def test_a_position_that_is_not_finite_in_an_unused_vertex(self):
        g, n = self.bar()
        points, faces = tube((0, 0, 0), (0, 1.5, 0), 0.1, rings=13)
        for corner in (n, 0):  # unused; of a triangle
            more = np.vstack([points, [[0, 0, 0]]])
            more[corner, 1] = np.nan
            self.attributes(g).clear()
            self.attributes(g)["POSITION"] = g.accessor(more, 5126, "VEC3")
            source = g.save(self.folder / "in.glb")
            done = support.sinew("bind", source, "-o", self.folder / "out.glb", "--json")
            if corner == n:
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("1 vertices without a triangle have a position that is not finite", done.stdout)
            else:
                self.assertEqual(done.returncode, 3)
                self.assertIn("vertex 0: its position is not finite", done.stderr)

    def test_matrices_that_are_missing_or_zero_are_written_anew_on_request(self):
        for what in ("missing", "zero"):
            for repaired in (False, True):
                with self.subTest(what, repaired=repaired):
                    g, _ = self.bar()
                    matrices = self.matrices.copy()
                    matrices[2] = 0
                    wrong = g.accessor(matrices.reshape(3, 16)[: 2 if what == "missing" else 3], 5126, "MAT4")
                    g.json["skins"][0]["inverseBindMatrices"] = wrong
                    out = self.expect(g, "1 joint has no inverse bind matrix that can be inverted ('c')",
                                      options=["--repair-matrices"] if repaired else [])
                    doc = glb.Doc(out)
                    written = doc.accessor(doc.json["skins"][0]["inverseBindMatrices"])
                    if repaired:
                        np.testing.assert_allclose(written.reshape(3, 4, 4), self.matrices, atol=1e-6)
                        wanted = tube((0, 0, 0), (0, 1.5, 0), 0.1, rings=13)[0]
                        np.testing.assert_allclose(glb.skinned(doc), wanted, atol=1e-5)
                    else:
                        self.assertEqual(len(written), len(glb.Doc(self.folder / "in.glb").accessor(wrong)))


class JointsOutside(KindCase):
    """Many joints outside of the mesh are one warning; the report names all."""

    def test_one_line(self):
        for count, said in ((1, "joint 'far 0' lies outside the volume"), (3, "3 joints lie outside the volume; "),
                            (51, "51 joints lie outside the volume; ")):
            g = Gltf()
            nodes = g.skeleton()
            for k in range(count):
                g.node(f"far {k}", nodes["head"], translation=[0.3 + 0.002 * k, 0.3, 0])
            g.node("body", mesh=g.mesh(*body(), name="body"))
            _, report = self.bind(g, "--method", "geodesic-voxel", "--deform-from", "all")
            lines = [w for w in report["warnings"] if "outside the volume" in w]
            self.assertEqual(len(lines), 1, report["warnings"])
            self.assertTrue(lines[0].startswith(said), lines[0])
            self.assertEqual(report["snapped_joints"], [f"far {k}" for k in range(count)])


class WarningsOfAKind(KindCase):
    """Warnings that differ in names and numbers only are one line for people; the report has all."""

    def one_line(self, source, words, count):
        done = support.sinew("bind", source, "-o", self.folder / "out.glb", "--report", self.folder / "r.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line for line in done.stdout.splitlines() if words in line]
        self.assertEqual(len(lines), 1, done.stdout)
        self.assertTrue(lines[0].endswith(f"(and {count - 1} more)"), lines[0])
        listed = [w for w in json.loads((self.folder / "r.json").read_text())["warnings"] if words in w]
        self.assertEqual(len(listed), count)

    def figure(self, extra):
        g = Gltf()
        g.skeleton()
        g.node("body", mesh=g.mesh(*body(), name="body"))
        for k in range(12):
            extra(g, k)
        return g.save(self.folder / "in.glb")

    def test_empty_primitives(self):
        def empty(g, k):
            number = g.mesh(*tube((0, 1, 0), (0, 1.1, 0), 0.01), name=f"it's empty {k}")
            primitive = g.json["meshes"][number]["primitives"][0]
            primitive["indices"] = g.accessor([], 5125, "SCALAR")
            g.node(f"node {k}", mesh=number)

        self.one_line(self.figure(empty), "is empty: left out", 12)

    def test_corners_that_are_left(self):
        def odd(g, k):
            number = g.mesh(*tube((0, 1, 0), (0, 1.1, 0), 0.01), name=f"odd {k}")
            primitive = g.json["meshes"][number]["primitives"][0]
            primitive["indices"] = g.accessor([0, 1, 2, 2, 3, 4, 5][: 6 + k % 2] + [6], 5125, "SCALAR")
            g.node(f"node {k}", mesh=number)

        self.one_line(self.figure(odd), "corners after the last whole triangle", 12)

    def test_pictures_of_materials(self):
        points, faces = body()
        obj = "mtllib look.mtl\n" + "".join(f"v {x} {y} {z}\n" for x, y, z in points)
        for k, face in enumerate(faces + 1):
            obj += (f"usemtl m{k}\n" if k < 12 else "") + "f {} {} {}\n".format(*face)
        (self.folder / "in.obj").write_text(obj)
        (self.folder / "look.mtl").write_text("".join(f"newmtl m{k}\nmap_Kd lost {k}.png\n" for k in range(12)))
        bones = [{"name": n, "parent": p, "head": list(at)} for n, p, at in FIGURE]
        (self.folder / "bones.json").write_text(json.dumps({"bones": bones}))
        done = support.sinew("bind", self.folder / "in.obj", "--skeleton", self.folder / "bones.json",
                             "-o", self.folder / "out.glb", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sum("the picture of material" in w for w in json.loads(done.stdout)["warnings"]), 12)
        done = support.sinew("inspect", self.folder / "in.obj")
        self.assertEqual(done.stdout.count("the picture of material"), 1, done.stdout)
        self.assertIn("(and 11 more)", done.stdout)


class ObjLook(KindCase):
    """bind keeps what an OBJ file says about its surface."""

    TEXT = ("mtllib look.mtl\no figure\nv 0 0 0\nv 1 0 0\nv 1 2 0\nv 0 2 0\nv 0.5 1 0.5\nvt 0 0\nvt 1 0\nvt 1 1\nvn 0 0 1\n"
            "usemtl skin\nf 1/1/1 2/2/1 5/3/1\nf 2/1/1 3/2/1 5/3/1\ng trousers\nusemtl blue cloth\nf 3/1/1 4/2/1 5/3/1\n"
            "f 4/1/1 1/2/1 5/3/1\nusemtl unknown\nf 1 4 3 2\n")
    LIBRARY = ("newmtl skin\nKd 0 0 0\nPr 0.3\nmap_Kd -s 1 1 1 textures\\my skin.png\n\nnewmtl blue cloth\nKd 0.1 0.2 0.8\n"
               "Ns 98\nd 0.5\nmap_Kd lost.png\n")

    def read(self, *options):
        (self.folder / "textures").mkdir()
        self.pixels = foreign.png(self.folder / "textures" / "my skin.png").read_bytes()
        (self.folder / "look.mtl").write_text(self.LIBRARY)
        (self.folder / "in.obj").write_text(self.TEXT)
        skeleton = self.folder / "bones.json"
        skeleton.write_text(json.dumps({"bones": [{"name": "a", "parent": None, "head": [0.5, 0, 0], "tail": [0.5, 2, 0]}]}))
        out = self.folder / "out.glb"
        done = support.sinew("bind", self.folder / "in.obj", "-o", out, "--skeleton", skeleton, "--json", "--fit-check", "off")
        self.assertEqual(done.returncode, 0, done.stderr)
        return glb.Doc(out), json.loads(done.stdout)["warnings"]

    def test_everything_is_kept(self):
        doc, warnings = self.read()
        skin, cloth, unknown = doc.list("materials")
        self.assertEqual((skin["name"], cloth["name"], unknown["name"]), ("skin", "blue cloth", "unknown"))
        surface = skin["pbrMetallicRoughness"]
        self.assertEqual(surface["baseColorFactor"], [1, 1, 1, 1])
        self.assertAlmostEqual(surface["roughnessFactor"], 0.3, 6)
        image = doc.list("images")[doc.list("textures")[surface["baseColorTexture"]["index"]]["source"]]
        self.assertEqual(doc.view(image["bufferView"]), self.pixels)
        surface = cloth["pbrMetallicRoughness"]
        np.testing.assert_allclose(surface["baseColorFactor"], [0.1, 0.2, 0.8, 0.5], atol=1e-6)
        self.assertAlmostEqual(surface["roughnessFactor"], 0.1414, 3)
        self.assertEqual(cloth["alphaMode"], "BLEND")
        primitives = doc.json["meshes"][0]["primitives"]
        self.assertEqual([p["material"] for p in primitives], [0, 1, 2])
        self.assertEqual([p["extras"]["group"] for p in primitives], ["figure", "trousers", "trousers"])
        uvs = doc.accessor(primitives[0]["attributes"]["TEXCOORD_0"])
        corners = doc.accessor(primitives[0]["indices"])[:, 0]
        np.testing.assert_allclose(uvs[corners], [[0, 1], [1, 1], [1, 0]] * 2)
        normals = doc.accessor(primitives[0]["attributes"]["NORMAL"])
        np.testing.assert_allclose(normals[corners], [[0, 0, 1]] * 6)
        self.assertEqual([w for w in warnings if "picture" in w],
                         ["the picture of material 'blue cloth' is left out: " + str(self.folder / "in.obj") +
                          ": 'lost.png' cannot be read"])

    def test_seams_share_their_weights(self):
        doc, _ = self.read()
        points = doc.accessor(doc.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"])
        self.assertGreater(len(points), 5)
        np.testing.assert_array_equal(points[:5], [[0, 0, 0], [1, 0, 0], [1, 2, 0], [0, 2, 0], [0.5, 1, 0.5]])


if __name__ == "__main__":
    support.main()
