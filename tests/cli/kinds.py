"""Tests of files as other programs write them: structures that must not change the weights, and faults that bind repairs.

kinds.py [CLASS…], as cli.py. docs/notes/files.md describes the kinds; every file here is generated."""
import json
import tempfile
from pathlib import Path

import numpy as np

import glb
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
    faces = [f for p, q, r, s in quads for f in ((p, r, q), (q, r, s))]
    last, top = (rings - 1) * sides, rings * sides
    faces += [(top, k, (k + 1) % sides) for k in range(sides)]
    faces += [(top + 1, last + (k + 1) % sides, last + k) for k in range(sides)]
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
        path.write_bytes(glb_file(json.dumps(data).encode(), self.bytes))
        return path


def glb_file(text, data):
    text += b" " * (-len(text) % 4)
    chunks = b"".join(len(c).to_bytes(4, "little") + kind + c for c, kind in ((text, b"JSON"), (data, b"BIN\0")))
    return b"glTF" + (2).to_bytes(4, "little") + (12 + len(chunks)).to_bytes(4, "little") + chunks


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
        # The belt is near the body, so that some of its weights change; without half of the skeleton the distance is above 1.
        self.assertLess(distance(weights(plain, "body"), weights(out, "body")), 0.1)

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
        posed = self.folder / "posed.obj"
        done = support.sinew("pose", out, "-o", posed)
        self.assertEqual(done.returncode, 0, done.stderr)
        np.testing.assert_allclose(glb.obj_positions(posed), body()[0], atol=1e-5)

    def test_inspect_measures_it(self):
        source = self.figure(("floats", "node")).save(self.folder / "in.glb")
        done = support.sinew("inspect", source, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertAlmostEqual(json.loads(done.stdout)["box"][0][2], body()[0][:, 2].min(), 5)


if __name__ == "__main__":
    support.main()
