"""A small character for tests: limbs as tubes along bones, each vertex on one joint, in a GLB that tests may change."""
import glb
import make
import numpy as np

# name, parent, where; the *_end joints have no weights.
JOINTS = [
    ("hips", -1, (0, 0.95, 0)), ("spine", 0, (0, 1.2, 0)), ("head", 1, (0, 1.5, 0)),
    ("arm_L", 1, (0.18, 1.4, 0)), ("hand_L", 3, (0.5, 1.4, 0)), ("arm_R", 1, (-0.18, 1.4, 0)),
    ("hand_R", 5, (-0.5, 1.4, 0)), ("leg_L", 0, (0.1, 0.88, 0)), ("foot_L", 7, (0.1, 0.45, 0)),
    ("leg_R", 0, (-0.1, 0.88, 0)), ("foot_R", 9, (-0.1, 0.45, 0)), ("head_end", 2, (0, 1.72, 0)),
    ("hand_L_end", 4, (0.8, 1.4, 0)), ("hand_R_end", 6, (-0.8, 1.4, 0)), ("foot_L_end", 8, (0.1, 0.03, 0)),
    ("foot_R_end", 10, (-0.1, 0.03, 0)),
]  # fmt: skip
NAMES = [name for name, _, _ in JOINTS]
AT = np.array([at for _, _, at in JOINTS], float)
ENDS = [j for j, name in enumerate(NAMES) if name.endswith("_end")]
BONES = [(0, 1), (1, 2), (2, 11), (3, 4), (4, 12), (5, 6), (6, 13), (7, 8), (8, 14), (9, 10), (10, 15)]
ARMS = BONES[3:7]


def tubes(bones=BONES, radius=0.08, rings=7, sides=8):
    """(positions, triangles, joint of each vertex): a closed tube along each bone."""
    positions, triangles, owner = [], [], []
    for joint, tip in bones:
        a, b = AT[joint], AT[tip]
        along = (b - a) / np.linalg.norm(b - a)
        x = np.cross(along, (0, 0, 1))
        x /= np.linalg.norm(x)
        y = np.cross(along, x)
        first = len(positions)
        for r in range(rings):
            for s in range(sides):
                angle = 2 * np.pi * s / sides
                positions.append(a + (b - a) * r / (rings - 1) + radius * (np.cos(angle) * x + np.sin(angle) * y))
        for r in range(rings - 1):
            for s in range(sides):
                p, q = first + r * sides + s, first + r * sides + (s + 1) % sides
                triangles += [(p, q, q + sides), (p, q + sides, p + sides)]
        for s in range(1, sides - 1):
            last = first + (rings - 1) * sides
            triangles += [(first, first + s + 1, first + s), (last, last + s, last + s + 1)]
        owner += [joint] * rings * sides
    return np.array(positions), np.array(triangles), np.array(owner)


def turned(joint_angles):
    """World matrices of the joints with some turned about z, degrees by name: as the nodes of a file would."""
    out = []
    for j, (name, parent, _) in enumerate(JOINTS):
        c, s = (f(np.radians(joint_angles.get(name, 0))) for f in (np.cos, np.sin))
        local = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
        local[:3, 3] = AT[j] - (AT[parent] if parent >= 0 else 0)
        out.append(out[parent] @ local if parent >= 0 else local)
    return np.array(out)


REST = turned({})


def move(points, matrices):
    """Each point by its matrix."""
    return np.einsum("vrc,vc->vr", matrices, np.hstack([points, np.ones((len(points), 1))]))[:, :3]


def write(path, meshes, rest=REST, edit=None):
    """A GLB. meshes: dicts with name, positions, triangles; owner: joint of each vertex; inverse: inverse bind matrices
    (those of REST where missing; None: no skin). Nodes: the joints, then the meshes. edit(doc, data) changes it."""
    doc = {"asset": {"version": "2.0"}, "scene": 0, "accessors": [], "bufferViews": [], "meshes": [], "skins": []}
    nodes = doc["nodes"] = []
    data = bytearray()
    for j, (name, parent, _) in enumerate(JOINTS):
        local = np.linalg.inv(rest[parent]) @ rest[j] if parent >= 0 else rest[j]
        nodes.append({"name": name, "matrix": local.T.reshape(-1).tolist()})
        if parent >= 0:
            nodes[parent].setdefault("children", []).append(j)
    for mesh in meshes:
        attributes = {"POSITION": add(doc, data, mesh["positions"], 5126, "VEC3")}
        node = {"name": mesh["name"], "mesh": len(doc["meshes"])}
        inverse = mesh.get("inverse", np.linalg.inv(REST))
        if inverse is not None:
            if mesh.get("owner") is not None:
                joints = np.zeros((len(mesh["owner"]), 4))
                joints[:, 0] = mesh["owner"]
                attributes["JOINTS_0"] = add(doc, data, joints, 5121, "VEC4")
                attributes["WEIGHTS_0"] = add(doc, data, [(1, 0, 0, 0)] * len(joints), 5126, "VEC4")
            matrices = add(doc, data, inverse.transpose(0, 2, 1).reshape(-1, 16), 5126, "MAT4")
            node["skin"] = len(doc["skins"])
            doc["skins"].append({"joints": list(range(len(JOINTS))), "inverseBindMatrices": matrices})
        indices = add(doc, data, mesh["triangles"].reshape(-1), 5123, "SCALAR")
        primitive = {"attributes": attributes, "indices": indices}
        doc["meshes"].append({"name": mesh["name"], "primitives": [primitive]})
        nodes.append(node)
    doc["scenes"] = [{"nodes": [0, *range(len(JOINTS), len(nodes))]}]
    if not doc["skins"]:
        del doc["skins"]
    if edit:
        edit(doc, data)
    doc["buffers"] = [{"byteLength": len(data)}]
    path.write_bytes(make.packed(doc, data))
    return path


def add(doc, data, values, component, kind):
    """Appends an array to the buffer; returns the number of its accessor."""
    data += bytes(-len(data) % 4)
    array = np.ascontiguousarray(values, glb.DTYPES[component])
    doc["bufferViews"].append({"buffer": 0, "byteOffset": len(data), "byteLength": array.nbytes})
    data += array.tobytes()
    accessor = {"bufferView": len(doc["bufferViews"]) - 1, "componentType": component, "count": len(array), "type": kind}
    if kind == "VEC3":
        accessor.update(min=array.min(0).tolist(), max=array.max(0).tolist())
    doc["accessors"].append(accessor)
    return len(doc["accessors"]) - 1


def body(**changes):
    positions, triangles, owner = tubes()
    return {"name": "body", "positions": positions, "triangles": triangles, "owner": owner, **changes}


def dense(path, mesh=0):
    """The weights of a mesh in a file: vertices × nodes, for up to 64 of them."""
    doc = glb.Doc(path)
    node = next(n for n in doc.json["nodes"] if n.get("mesh") == mesh and "skin" in n)
    joints = np.array(doc.json["skins"][node["skin"]]["joints"])
    rows, weights, _ = glb.weight_rows(doc, doc.json["meshes"][mesh]["primitives"][0])
    out = np.zeros((len(rows), 64))
    np.add.at(out, (np.arange(len(rows))[:, None], joints[rows]), weights)
    return out


def apart(a, b, mesh=0, other=None):
    """Mean L1 between the weights of a mesh in two files."""
    return np.abs(dense(a, mesh) - dense(b, mesh if other is None else other)).sum(1).mean()
