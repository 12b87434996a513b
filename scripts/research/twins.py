"""Changes of a glTF file that must not matter to the weights of its vertices, for `mass-run --twins`.

Each change takes a Twin, a copy of the document, edits it, and returns whether it applies to the file. It keeps the maps
from the nodes and primitives of the original up to date, by which the weights of both are compared."""
import copy
import json
import random

import numpy as np

import glb
import make

REST = {5121: 255.0, 5123: 65535.0, 5120: 127.0, 5122: 32767.0}


class Twin:
    def __init__(self, doc):
        self.json = copy.deepcopy(doc.json)
        self.doc = doc
        self.data = b"".join(b + b"\0" * (-len(b) % 4) for b in map(bytes, doc.buffers))
        starts = np.cumsum([0] + [len(b) + -len(b) % 4 for b in doc.buffers]).tolist()
        for view in self.json.get("bufferViews", []):
            view["byteOffset"] = view.get("byteOffset", 0) + starts[view["buffer"]]
            view["buffer"] = 0
        self.node = list(range(len(self.json["nodes"])))  # node of the original -> node here
        self.primitive = {}  # (mesh, primitive) of the original -> here, where it is another

    def add(self, values, component, kind, **more):
        values = np.ascontiguousarray(values, glb.DTYPES[component])
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.data), "byteLength": values.nbytes})
        self.data += values.tobytes() + b"\0" * (-values.nbytes % 4)
        self.json["accessors"].append({"bufferView": len(self.json["bufferViews"]) - 1, "componentType": component,
                                       "count": len(values), "type": kind, **more})
        return len(self.json["accessors"]) - 1

    def positions(self, primitive):
        index = primitive["attributes"]["POSITION"]
        accessor = self.json["accessors"][index]
        return glb.numbers(self.doc.accessor(index), accessor["componentType"], accessor.get("normalized", False))

    def put_positions(self, primitive, points):
        points = np.asarray(points, np.float32)
        primitive["attributes"]["POSITION"] = self.add(points, 5126, "VEC3", min=points.min(0).tolist(), max=points.max(0).tolist())

    def matrices(self, skin):
        if "inverseBindMatrices" not in skin:
            return np.tile(np.eye(4), (len(skin["joints"]), 1, 1))
        return self.doc.accessor(skin["inverseBindMatrices"]).astype(float).reshape(-1, 4, 4).transpose(0, 2, 1)

    def put_matrices(self, skin, matrices):
        skin["inverseBindMatrices"] = self.add(matrices.transpose(0, 2, 1).reshape(-1, 16), 5126, "MAT4")

    def worn(self):
        """Nodes with a mesh and a skin."""
        return [n for n in self.json["nodes"] if "mesh" in n and "skin" in n]

    def add_node(self, node, parent=None, scene=True):
        self.json["nodes"].append(node)
        number = len(self.json["nodes"]) - 1
        if parent is not None:
            self.json["nodes"][parent].setdefault("children", []).append(number)
        elif scene:
            self.json["scenes"][self.json.get("scene", 0)]["nodes"].append(number)
        return number

    def save(self, path):
        self.json["buffers"] = [{"byteLength": len(self.data)}]
        path.write_bytes(make.packed(self.json, self.data))


def used_joints(twin, skin_number):
    """Places in a skin's list that have weight in a mesh."""
    used = set()
    for node in twin.worn():
        if node["skin"] == skin_number:
            for primitive in twin.json["meshes"][node["mesh"]]["primitives"]:
                joints, weights, sets = glb.weight_rows(twin.doc, primitive)
                if sets:
                    used.update(np.unique(joints[weights > 0]).tolist())
    return used


def coarser_levels(t):
    """Two levels of half and a quarter of the detail beside each mesh, named _LOD1 and _LOD2."""
    for number, node in enumerate(list(t.json["nodes"])):
        if "mesh" not in node or "skin" not in node:
            continue
        mesh = t.json["meshes"][node["mesh"]]
        name = node.get("name") or mesh.get("name") or f"mesh{number}"
        for level, cells in ((1, 48), (2, 24)):
            made = []
            for primitive in mesh["primitives"]:
                if "JOINTS_0" not in primitive["attributes"] or "indices" not in primitive or primitive.get("mode", 4) != 4:
                    continue
                points = t.positions(primitive)
                size = np.ptp(points, axis=0).max() or 1
                keys = np.floor((points - points.min(0)) / size * cells).astype(int)
                _, first, cluster = np.unique(keys, axis=0, return_index=True, return_inverse=True)
                faces = cluster.ravel()[t.doc.accessor(primitive["indices"]).reshape(-1, 3)]
                faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
                if not len(faces):
                    continue
                new = {"attributes": {}, "indices": t.add(faces.ravel(), 5125, "SCALAR")}
                t.put_positions(new, points[first])
                for key, a in primitive["attributes"].items():
                    if glb.WEIGHT_ATTRIBUTE.match(key):
                        old = t.json["accessors"][a]
                        more = {"normalized": True} if old.get("normalized") else {}
                        new["attributes"][key] = t.add(t.doc.accessor(a)[first], old["componentType"], "VEC4", **more)
                made.append(new)
            if made:
                t.json["meshes"].append({"name": f"{name}_LOD{level}", "primitives": made})
                t.add_node({"name": f"{name}_LOD{level}", "mesh": len(t.json["meshes"]) - 1, "skin": node["skin"]})
    return len(t.json["nodes"]) > len(t.node)


def end_matrices(t):
    """The inverse bind matrices of joints at ends that no vertex uses become the identity."""
    changed = False
    for number, skin in enumerate(t.json.get("skins", [])):
        used = {skin["joints"][k] for k in used_joints(t, number)}

        def carries(node):
            return node in used or any(carries(c) for c in t.json["nodes"][node].get("children", []))

        matrices = t.matrices(skin).copy()
        ends = [k for k, node in enumerate(skin["joints"]) if not carries(node)]
        if used and ends:
            matrices[ends] = np.eye(4)
            t.put_matrices(skin, matrices)
            changed = True
    return changed


def map_positions(t, of_skin):
    """Replaces positions p by the inverse of of_skin(skin, points) and the matrices accordingly. A mesh has one skin here."""
    wears = {}
    for node in t.worn():
        wears.setdefault(node["mesh"], set()).add(node["skin"])
    if any(len(skins) > 1 for skins in wears.values()):
        return False
    points = {}
    for mesh, (skin,) in wears.items():
        for primitive in t.json["meshes"][mesh]["primitives"]:
            points.setdefault(skin, []).append(t.positions(primitive))
    made = {}
    for skin, each in points.items():
        matrix = of_skin(np.vstack(each))
        made[skin] = np.linalg.inv(matrix)
        t.put_matrices(t.json["skins"][skin], t.matrices(t.json["skins"][skin]) @ matrix)
    shared = {}
    for mesh, (skin,) in wears.items():
        for primitive in t.json["meshes"][mesh]["primitives"]:
            key = (primitive["attributes"]["POSITION"], skin)
            if key not in shared:
                back = made[skin]
                t.put_positions(primitive, t.positions(primitive) @ back[:3, :3].T + back[:3, 3])
                shared[key] = primitive["attributes"]["POSITION"]
            primitive["attributes"]["POSITION"] = shared[key]
            for target in primitive.get("targets", []):
                if "POSITION" in target:
                    a = t.json["accessors"][target["POSITION"]]
                    offsets = glb.numbers(t.doc.accessor(target["POSITION"]), a["componentType"], a.get("normalized", False))
                    target["POSITION"] = t.add(offsets @ made[skin][:3, :3].T, 5126, "VEC3")
    return True


def scaled_objects(t):
    """Every skin was bound to an object that was scaled by 1, 3 and 0.5."""
    return map_positions(t, lambda points: np.diag([1, 3, 0.5, 1]))


def quantised(t):
    """KHR_mesh_quantization: positions as normalised integers, with a range for each axis and skin."""
    def box(points):
        out = np.eye(4)
        low, size = points.min(0), np.maximum(np.ptp(points, axis=0), 1e-6)
        out[:3, :3], out[:3, 3] = np.diag(size), low
        return out

    if any("targets" in p for m in t.json["meshes"] for p in m["primitives"]) or not map_positions(t, box):
        return False
    done = {}
    for node in t.worn():
        for primitive in t.json["meshes"][node["mesh"]]["primitives"]:
            index = primitive["attributes"]["POSITION"]
            if index not in done:
                view = t.json["bufferViews"][t.json["accessors"][index]["bufferView"]]
                values = np.frombuffer(t.data, np.float32, view["byteLength"] // 4, view["byteOffset"]).reshape(-1, 3)
                whole = np.round(np.clip(values, 0, 1) * 65535)
                done[index] = t.add(np.hstack([whole, np.zeros((len(whole), 1))]), 5123, "VEC3", normalized=True,
                                    min=whole.min(0).tolist(), max=whole.max(0).tolist())
                accessor = t.json["accessors"][done[index]]
                accessor["count"] = len(whole)
                t.json["bufferViews"][accessor["bufferView"]]["byteStride"] = 8
            primitive["attributes"]["POSITION"] = done[index]
    for key in ("extensionsUsed", "extensionsRequired"):
        t.json[key] = sorted({*t.json.get(key, []), "KHR_mesh_quantization"})
    return True


def shuffled_nodes(t):
    """The nodes of the file, and the joints of its skins, in another order."""
    rng = random.Random(7)
    order = list(range(len(t.json["nodes"])))
    rng.shuffle(order)  # old number of each new node
    new = {old: k for k, old in enumerate(order)}
    t.json["nodes"] = [t.json["nodes"][k] for k in order]
    for node in t.json["nodes"]:
        if "children" in node:
            node["children"] = [new[c] for c in node["children"]]
    for scene in t.json.get("scenes", []):
        scene["nodes"] = [new[n] for n in scene.get("nodes", [])]
    for skin in t.json.get("skins", []):
        skin["joints"] = [new[n] for n in skin["joints"]]
        if "skeleton" in skin:
            skin["skeleton"] = new[skin["skeleton"]]
    for animation in t.json.get("animations", []):
        for channel in animation["channels"]:
            if "node" in channel["target"]:
                channel["target"]["node"] = new[channel["target"]["node"]]
    t.node = [new[n] for n in t.node]
    return True


def doubled_names(t):
    """Every node has a namesake without a mesh elsewhere in the scene."""
    for node in list(t.json["nodes"]):
        if "name" in node:
            t.add_node({"name": node["name"]})
    return True


def split_skins(t):
    """Each primitive is a mesh of its own, whose skin lists the same joints in another order."""
    rng = random.Random(7)
    for number, node in enumerate(list(t.json["nodes"])):
        if "mesh" not in node or "skin" not in node:
            continue
        mesh, skin = node["mesh"], t.json["skins"][node["skin"]]
        for k, primitive in enumerate(t.json["meshes"][mesh]["primitives"]):
            if "JOINTS_0" not in primitive["attributes"]:
                return False
            order = list(range(len(skin["joints"])))
            rng.shuffle(order)
            own = {**skin, "joints": [skin["joints"][j] for j in order]}
            t.put_matrices(own, t.matrices(skin)[order])
            t.json["skins"].append(own)
            place = np.append(np.argsort(order), np.zeros(65536, int))  # some files name joints past the end
            piece = {**primitive, "attributes": dict(primitive["attributes"])}
            for key, a in primitive["attributes"].items():
                if key.startswith("JOINTS_"):
                    piece["attributes"][key] = t.add(place[t.doc.accessor(a).astype(int)], 5123, "VEC4")
            t.json["meshes"].append({"name": f"piece {number} {k}", "primitives": [piece]})
            t.primitive[(mesh, k)] = (len(t.json["meshes"]) - 1, 0)
            t.add_node({"name": f"piece {number} {k}", "mesh": len(t.json["meshes"]) - 1, "skin": len(t.json["skins"]) - 1})
        del node["mesh"], node["skin"]
    return True


def hidden_copies(t):
    """A copy of each mesh, 1.3 times as large, on a node that no scene shows."""
    for node in list(t.json["nodes"]):
        if "mesh" not in node or "skin" not in node:
            continue
        copies = [{**p, "attributes": dict(p["attributes"])} for p in t.json["meshes"][node["mesh"]]["primitives"]]
        for primitive in copies:
            t.put_positions(primitive, 1.3 * t.positions(primitive))
            primitive.pop("targets", None)
        t.json["meshes"].append({"name": "hidden", "primitives": copies})
        t.add_node({"name": "hidden", "mesh": len(t.json["meshes"]) - 1, "skin": node["skin"]}, scene=False)
    return True


def without_skins(t):
    """Not a change that is compared: the character as nodes at the bind pose and meshes, for mesh_on_a_joint."""
    if len({json.dumps(s["joints"]) for s in t.json.get("skins", [])}) != 1:
        return False
    skin = t.json["skins"][0]
    try:
        world = dict(zip(skin["joints"], np.linalg.inv(t.matrices(skin))))
    except np.linalg.LinAlgError:
        return False
    nodes = t.json["nodes"]
    parent = {c: p for p, n in enumerate(nodes) for c in n.get("children", [])}
    keep = [n for n in t.worn()]
    for node in nodes:
        if "mesh" in node and node not in keep:
            del node["mesh"]
    tree = {}
    for joint in skin["joints"]:
        above = parent.get(joint)
        while above is not None and above not in world:
            above = parent.get(above)
        local = world[joint] if above is None else np.linalg.inv(world[above]) @ world[joint]
        tree[joint] = (above, local)
    if sum(above is None for above, _ in tree.values()) != 1:
        return False
    for node in nodes:
        for key in ("children", "skin", "translation", "rotation", "scale", "matrix"):
            node.pop(key, None)
    roots = [k for k, n in enumerate(nodes) if "mesh" in n]
    for joint, (above, local) in tree.items():
        local[3] = 0, 0, 0, 1
        nodes[joint]["matrix"] = local.T.ravel().tolist()
        if above is None:
            roots.append(joint)
        else:
            nodes[above].setdefault("children", []).append(joint)
    t.json["scenes"], t.json["scene"] = [{"nodes": roots}], 0
    for key in ("skins", "animations", "extensions"):
        t.json.pop(key, None)
    for mesh in t.json["meshes"]:
        for primitive in mesh["primitives"]:
            primitive["attributes"] = {k: a for k, a in primitive["attributes"].items() if not glb.WEIGHT_ATTRIBUTE.match(k)}
    return True


def mesh_on_a_joint(t):
    """In the file without skins, a small box hangs on the joint that carries most others directly."""
    nodes = t.json["nodes"]
    joints = [k for k, n in enumerate(nodes) if n.get("children")]
    if not joints:
        return False
    at = max(joints, key=lambda k: len(nodes[k]["children"]))
    points = np.vstack([t.positions(p) for m in t.json["meshes"] for p in m["primitives"]])
    size = 0.01 * np.ptp(points, axis=0).max()
    corners = size * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    faces = [0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1, 2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3]
    box = {"attributes": {}, "indices": t.add(faces, 5125, "SCALAR")}
    t.put_positions(box, corners)
    t.json["meshes"].append({"name": "belt", "primitives": [box]})
    t.add_node({"name": "belt", "mesh": len(t.json["meshes"]) - 1}, at)
    return True


CHANGES = {"levels added": (coarser_levels, 0.05), "matrices of ends": (end_matrices, 0.02),
           "objects scaled before binding": (scaled_objects, 0.02), "quantised": (quantised, 0.02),
           "mesh on a joint": (mesh_on_a_joint, 0.02), "nodes shuffled": (shuffled_nodes, 0.02),
           "names doubled": (doubled_names, 0.02), "skins split": (split_skins, 0.02), "hidden copies": (hidden_copies, 0.02)}


def rows_of(doc, primitives, node_of):
    """Dense weights of primitives (mesh, number), with a column for each node of the original."""
    skin_of = {}
    for node in doc.list("nodes"):
        if "mesh" in node and "skin" in node:
            skin_of.setdefault(node["mesh"], node["skin"])
    back = {new: old for old, new in enumerate(node_of)}
    out = []
    for mesh, number in primitives:
        primitive = doc.json["meshes"][mesh]["primitives"][number]
        joints, weights, _ = glb.weight_rows(doc, primitive)
        kind = doc.json["accessors"][primitive["attributes"]["WEIGHTS_0"]]["componentType"]
        columns = np.array([back.get(j, -1) for j in doc.json["skins"][skin_of[mesh]]["joints"]])
        dense = np.zeros((len(joints), len(node_of) + 1))
        np.add.at(dense, (np.arange(len(joints))[:, None], columns[joints.astype(int)]), glb.numbers(weights, kind))
        out.append(dense)
    return np.vstack(out)


def bound_primitives(doc):
    """(mesh, number) of the primitives with weights that a skinned node wears."""
    meshes = {n["mesh"] for n in doc.list("nodes") if "mesh" in n and "skin" in n}
    return [(m, p) for m, p, primitive in doc.primitives() if m in meshes and "WEIGHTS_0" in primitive["attributes"]]


def distance(original, changed, twin):
    """Mean L1 between the weights of two results of bind."""
    primitives = bound_primitives(original)
    a = rows_of(original, primitives, list(range(len(original.json["nodes"]))[: len(twin.node)]))
    b = rows_of(changed, [twin.primitive.get(p, p) for p in primitives], twin.node)
    return float(np.abs(a - b).sum(axis=1).mean())
