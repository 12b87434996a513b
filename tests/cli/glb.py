"""Reads glTF with numpy, independently of the C++ code. Finds errors in weights, and changes outside of them."""
import base64
import json
import re
import struct
import urllib.parse
from pathlib import Path

import numpy as np

DTYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
DRACO = "KHR_draco_mesh_compression"
MESHOPT = ("EXT_meshopt_compression", "KHR_meshopt_compression")
WEIGHT_ATTRIBUTE = re.compile(r"(JOINTS|WEIGHTS)_\d+$")


class Doc:
    """A glTF document: `json`, `text` (its bytes), `buffers` (bytes, or None where a buffer has none)."""

    def __init__(self, path):
        self.path = Path(path)
        data = self.path.read_bytes()
        chunk = None
        if data[:4] == b"glTF":
            version, total = struct.unpack_from("<II", data, 4)
            assert version == 2 and total == len(data), f"{path}: bad GLB header"
            at = 12
            while at < len(data):
                length, kind = struct.unpack_from("<I4s", data, at)
                body = data[at + 8 : at + 8 + length]
                assert length % 4 == 0 and len(body) == length, f"{path}: bad GLB chunk at byte {at}"
                if kind == b"JSON":
                    self.text = body
                elif kind == b"BIN\0":
                    chunk = body
                at += 8 + length
        else:
            self.text = data
        self.json = json.loads(self.text)
        self.buffers = [self._buffer(b, chunk if i == 0 else None) for i, b in enumerate(self.json.get("buffers", []))]

    def _buffer(self, buffer, chunk):
        uri = buffer.get("uri")
        if uri is None:
            return chunk and chunk[: buffer["byteLength"]]  # without the padding of the chunk
        if uri.startswith("data:"):
            return base64.b64decode(uri.split(",", 1)[1])
        return (self.path.parent / urllib.parse.unquote(uri)).read_bytes()

    def list(self, name):
        return self.json.get(name, [])

    def view(self, index):
        """Bytes of a buffer view, or None if they are compressed or missing."""
        view = self.json["bufferViews"][index]
        buffer = self.buffers[view["buffer"]]
        if buffer is None or any(e in view.get("extensions", {}) for e in MESHOPT):
            return None
        start = view.get("byteOffset", 0)
        return buffer[start : start + view["byteLength"]]

    def compressed(self, index):
        """The meshopt stream of a buffer view, or None."""
        extensions = self.json["bufferViews"][index].get("extensions", {})
        stream = next((extensions[e] for e in MESHOPT if e in extensions), None)
        if stream is None:
            return None
        start = stream.get("byteOffset", 0)
        return self.buffers[stream["buffer"]][start : start + stream["byteLength"]]

    def element_ranges(self, index):
        """(view, first byte, step, bytes, count) of an accessor's elements in its view."""
        a = self.json["accessors"][index]
        size = np.dtype(DTYPES[a["componentType"]]).itemsize * WIDTHS[a["type"]]
        step = self.json["bufferViews"][a["bufferView"]].get("byteStride", size)
        return a["bufferView"], a.get("byteOffset", 0), step, size, a["count"]

    def accessor(self, index):
        """count × width array of the raw components, or None if this module cannot decode it."""
        a = self.json["accessors"][index]
        dtype, width, count = np.dtype(DTYPES[a["componentType"]]), WIDTHS[a["type"]], a["count"]
        if "bufferView" in a:
            view, first, step, size, _ = self.element_ranges(index)
            data = self.view(view)
            if data is None:
                return None
            rows = np.lib.stride_tricks.as_strided(
                np.frombuffer(data, np.uint8)[first:], (count, size), (step, 1), writeable=False
            )
            assert first + (count - 1) * step + size <= len(data), f"accessor {index} ends past its view"
            out = np.ascontiguousarray(rows).view(dtype).reshape(count, width).copy()
        else:
            out = np.zeros((count, width), dtype)
        if "sparse" in a:
            s = a["sparse"]
            where, what = s["indices"], s["values"]
            at = np.frombuffer(
                self.view(where["bufferView"]), DTYPES[where["componentType"]], s["count"], where.get("byteOffset", 0)
            )
            values = np.frombuffer(self.view(what["bufferView"]), dtype, s["count"] * width, what.get("byteOffset", 0))
            out[at] = values.reshape(-1, width)
        return out

    def primitives(self):
        for m, mesh in enumerate(self.list("meshes")):
            for p, primitive in enumerate(mesh["primitives"]):
                yield m, p, primitive

    def weight_accessors(self, matrices=False):
        """Accessors that are used only as JOINTS_n or WEIGHTS_n; with matrices, also as inverse bind matrices."""
        weight, other = set(), set()
        for _, _, primitive in self.primitives():
            for name, a in primitive["attributes"].items():
                (weight if WEIGHT_ATTRIBUTE.match(name) else other).add(a)
            other.update(v for t in primitive.get("targets", []) for v in t.values())
            other.update([primitive["indices"]] if "indices" in primitive else [])
        (weight if matrices else other).update(
            s["inverseBindMatrices"] for s in self.list("skins") if "inverseBindMatrices" in s)
        for animation in self.list("animations"):
            for sampler in animation["samplers"]:
                other.update((sampler["input"], sampler["output"]))
        return weight - other

    def draco_accessors(self):
        """Accessors whose values are only in a Draco blob, which is not decoded here."""
        out = set()
        for _, _, primitive in self.primitives():
            if DRACO in primitive.get("extensions", {}):
                names = primitive["extensions"][DRACO]["attributes"]
                out.update(a for n, a in primitive["attributes"].items() if n in names)
                out.update([primitive["indices"]] if "indices" in primitive else [])
        return {a for a in out if "bufferView" not in self.json["accessors"][a]}


def weight_rows(doc, primitive):
    """(joints, weights as raw components, number of sets) of a primitive, sets side by side."""
    attributes = primitive["attributes"]
    sets = sum(1 for n in attributes if n.startswith("WEIGHTS_"))
    names = [f"{kind}_{i}" for kind in ("JOINTS", "WEIGHTS") for i in range(sets)]
    missing = [n for n in names if n not in attributes]
    assert not missing and sum(n.startswith("JOINTS_") for n in attributes) == sets, f"sets do not pair: {missing}"
    joints = np.hstack([doc.accessor(attributes[f"JOINTS_{i}"]) for i in range(sets)]) if sets else None
    weights = np.hstack([doc.accessor(attributes[f"WEIGHTS_{i}"]) for i in range(sets)]) if sets else None
    return joints, weights, sets


def weight_problems(doc, weight_format="f32", max_influences=4):
    """A list of errors in the weights of all skinned primitives; empty if there are none."""
    problems = []
    joints_of_mesh = {}
    for node in doc.list("nodes"):
        if "skin" in node and "mesh" in node:
            n = len(doc.json["skins"][node["skin"]]["joints"])
            joints_of_mesh[node["mesh"]] = min(n, joints_of_mesh.get(node["mesh"], n))
    if not joints_of_mesh:
        return ["no mesh has a skin"]
    for m, p, primitive in doc.primitives():
        if m not in joints_of_mesh or primitive.get("mode", 4) < 4:
            continue
        place = f"mesh {m} primitive {p}"
        joints, weights, sets = weight_rows(doc, primitive)
        if not sets:
            problems.append(f"{place}: no weights")
            continue
        count = doc.json["accessors"][primitive["attributes"]["POSITION"]]["count"]
        for name, a in primitive["attributes"].items():
            if WEIGHT_ATTRIBUTE.match(name) and doc.json["accessors"][a]["count"] != count:
                problems.append(f"{place}: {name} has another count than POSITION")
            if name.startswith("WEIGHTS_"):
                accessor = doc.json["accessors"][a]
                wanted = {"f32": (5126, False), "u16": (5123, True), "u8": (5121, True)}[weight_format]
                if (accessor["componentType"], accessor.get("normalized", False)) != wanted:
                    problems.append(f"{place}: {name} is not {weight_format}")
        used = weights > 0
        share = used.sum(axis=1)
        sums = weights.astype(np.float64 if weight_format == "f32" else np.int64).sum(axis=1)
        one = {"f32": 1, "u16": 65535, "u8": 255}[weight_format]
        slack = 2e-7 * share if weight_format == "f32" else 0  # the tolerance of the Khronos validator
        ordered = np.sort(np.where(used, joints.astype(np.int64), -1 - np.arange(joints.shape[1])), axis=1)
        for rule, bad in {
            "not finite": ~np.isfinite(weights).all(axis=1),
            "negative": (weights < 0).any(axis=1),
            f"sum is not {one}": ~(np.abs(sums - one) <= slack),
            "joint out of range": (joints >= joints_of_mesh[m]).any(axis=1),
            "joint twice": (np.diff(ordered, axis=1) == 0).any(axis=1),
            "unused slot with a joint": ((joints != 0) & ~used).any(axis=1),
            "not sorted by weight": (np.diff(weights.astype(np.float64), axis=1) > 0).any(axis=1),
            f"more than {max_influences} influences": share > (max_influences or len(used[0])),
        }.items():
            if bad.any():
                v = int(np.argmax(bad))
                problems.append(f"{place}: {rule}: {bad.sum()} vertices, first {v}: {joints[v]} {weights[v]}")
    return problems


def difference(a, b, path=""):
    """The first path where two JSON values differ, also in key order or the spelling of numbers, or None."""
    if type(a) is not type(b):
        return f"{path}: {a!r} became {b!r}"[:300]
    if isinstance(a, dict):
        if list(a) != list(b):
            return f"{path}: keys {list(a)} became {list(b)}"[:300]
        pairs = [(k, a[k], b[k]) for k in a]
    elif isinstance(a, list):
        if len(a) != len(b):
            return f"{path}: {len(a)} entries became {len(b)}"
        pairs = [(i, x, y) for i, (x, y) in enumerate(zip(a, b))]
    else:
        return None if a == b else f"{path}: {a!r} became {b!r}"[:300]
    return next((d for k, x, y in pairs if (d := difference(x, y, f"{path}/{k}"))), None)


class Spelled(str):
    """A number as it is written in the file."""


def spelled(text):
    return json.loads(text, parse_float=Spelled, parse_int=Spelled)


def surgery_problems(before, after, new_skin=False, new_matrices=False):
    """A list of changes between two documents other than in JOINTS_n and WEIGHTS_n; empty if there are none.

    new_skin: the input had no skin, so one may be added, and a node may get it. new_matrices: inverse bind matrices may
    be other ones, as sinew says in a note."""
    problems = []

    def same(a, b, path):
        if d := difference(a, b, path):
            problems.append(d)

    a, b = spelled(before.text), spelled(after.text)
    draco = before.draco_accessors()
    is_draco = any(DRACO in p.get("extensions", {}) for _, _, p in before.primitives())
    weights = before.weight_accessors(new_matrices)

    # Top level: all keys except the four arrays that hold weights, in the same order.
    edited = {"accessors", "bufferViews", "buffers", "meshes"}
    edited |= {"extensionsUsed", "extensionsRequired"} if is_draco else set()
    edited |= {"skins", "nodes"} if new_skin else {"skins"} if new_matrices else set()
    same(
        {k: v for k, v in a.items() if k not in edited},
        {k: v for k, v in b.items() if k not in edited},
        "",
    )
    for key in ("extensionsUsed", "extensionsRequired") if is_draco else ():
        same([e for e in a.get(key, []) if e != DRACO], [e for e in b.get(key, []) if e != DRACO], key)
    if new_matrices:
        skins = [[{k: v for k, v in s.items() if k != "inverseBindMatrices"} for s in d["skins"]] for d in (a, b)]
        same(*skins, "skins")
    if new_skin:
        same(a["nodes"], [{k: v for k, v in n.items() if k != "skin"} for n in b["nodes"]][: len(a["nodes"])], "nodes")

    def bare_mesh(mesh):
        mesh = dict(mesh, primitives=[dict(p) for p in mesh["primitives"]])
        for p in mesh["primitives"]:
            p["attributes"] = {k: v for k, v in p["attributes"].items() if not WEIGHT_ATTRIBUTE.match(k)}
            if is_draco and "extensions" in p:
                p["extensions"] = {k: v for k, v in p["extensions"].items() if k != DRACO}
                if not p["extensions"]:
                    del p["extensions"]
        return mesh

    same([bare_mesh(m) for m in a.get("meshes", [])], [bare_mesh(m) for m in b.get("meshes", [])], "meshes")

    # Accessors: the same index has the same values.
    for i, accessor in enumerate(a.get("accessors", [])):
        if i in weights:
            continue
        place = f"accessors/{i}"
        if i >= len(b.get("accessors", [])):
            problems.append(f"{place} is gone")
            continue
        # Draco quantizes, so values may be slightly outside of the stated bounds. The writer then adapts the bounds,
        # and adds missing ones, since the validator compares bounds with values.
        drop = {"bufferView", "byteOffset", "min", "max"} if i in draco else set()
        other = {k: v for k, v in b["accessors"][i].items() if k not in drop}
        same({k: v for k, v in accessor.items() if k not in drop}, other, place)
        if i in draco:
            continue
        x, y = before.accessor(i), after.accessor(i)
        if (x is None) != (y is None) or (x is not None and x.tobytes() != y.tobytes()):
            problems.append(f"{place}: values changed")

    # Buffer views: the same bytes outside of the elements that were weights.
    def is_draco_view(i):
        return any(
            p.get("extensions", {}).get(DRACO, {}).get("bufferView") == i for _, _, p in before.primitives()
        )

    freed = {}
    for i in weights - draco:
        if "bufferView" in before.json["accessors"][i]:
            view, first, step, size, count = before.element_ranges(i)
            freed.setdefault(view, []).append((first, step, size, count))
    only_weights, others = set(freed), set()
    for i, accessor in enumerate(before.list("accessors")):
        parts = accessor.get("sparse", {})
        views = [accessor.get("bufferView"), *(parts[k]["bufferView"] for k in ("indices", "values") if k in parts)]
        (only_weights if i in weights else others).update(v for v in views if v is not None)
    only_weights -= others

    def masked(data, view):
        data = np.frombuffer(data, np.uint8).copy()
        for first, step, size, count in freed.get(view, ()):
            for byte in range(size):
                data[first + byte : first + (count - 1) * step + byte + 1 : step] = 0
        return data.tobytes()

    for i, view in enumerate(before.list("bufferViews")):
        if i in only_weights or is_draco_view(i):
            continue
        if i >= len(after.list("bufferViews")):
            problems.append(f"bufferViews/{i} is gone")
            continue
        for key in ("byteLength", "byteStride", "target", "name", "extras"):
            if view.get(key) != after.json["bufferViews"][i].get(key):
                problems.append(f"bufferViews/{i}: {key} changed")
        x, y = before.view(i), after.view(i)
        if (x is None) != (y is None) or (x is not None and masked(x, i) != masked(y, i)):
            problems.append(f"bufferViews/{i}: bytes changed")
        if before.compressed(i) != after.compressed(i):
            problems.append(f"bufferViews/{i}: compressed bytes changed")

    # Buffers: every byte that was not a weight (or Draco data, which may be removed) keeps its offset.
    for k, data in enumerate(before.buffers):
        if data is None:
            continue
        now = after.buffers[k] or b""
        mine = np.ones(len(data), bool)
        for i, view in enumerate(before.list("bufferViews")):
            start, end = view.get("byteOffset", 0), view.get("byteOffset", 0) + view["byteLength"]
            if view["buffer"] != k:
                continue
            if i in only_weights or is_draco_view(i):
                mine[start : end + -end % 4] = False  # with the padding after it
            for first, step, size, count in freed.get(i, ()):
                for byte in range(size):
                    mine[start + first + byte : start + first + (count - 1) * step + byte + 1 : step] = False
        for i, view in enumerate(before.list("bufferViews")):  # a kept view may overlap a removed one
            stays = i not in freed and i not in only_weights and not is_draco_view(i) and view["buffer"] == k
            if stays and not any(e in view.get("extensions", {}) for e in MESHOPT):
                mine[view.get("byteOffset", 0) : view.get("byteOffset", 0) + view["byteLength"]] = True
            for e in view.get("extensions", {}).values() if i not in only_weights else ():
                if isinstance(e, dict) and e.get("buffer") == k:
                    mine[e.get("byteOffset", 0) : e.get("byteOffset", 0) + e["byteLength"]] = True
        a_bytes = np.frombuffer(data, np.uint8)
        b_bytes = np.zeros(len(data), np.uint8)
        b_bytes[: len(now)] = np.frombuffer(now, np.uint8)[: len(data)]
        changed = np.flatnonzero(mine & (a_bytes != b_bytes))
        if len(changed):
            problems.append(f"buffers/{k}: {len(changed)} bytes changed, first {changed[0]} of {len(data)}")
    return problems


def numbers(values, component, normalized=True):
    """Normalized integers as floats, by the rules of glTF."""
    if component == 5126 or not normalized:
        return values.astype(np.float64)
    return np.maximum(values / float(np.iinfo(DTYPES[component][1:]).max), -1.0)


def rotation(q):
    x, y, z, w = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def node_matrix(node, moved=()):
    """The local matrix of a node; moved: (path, values) that replace its own."""
    if "matrix" in node and not moved:
        return np.array(node["matrix"], float).reshape(4, 4).T
    trs = dict({k: node[k] for k in ("translation", "rotation", "scale") if k in node}, **dict(moved))
    out = np.eye(4)
    out[:3, :3] = rotation(np.array(trs.get("rotation", (0, 0, 0, 1)), float)) * np.array(trs.get("scale", (1, 1, 1)))
    out[:3, 3] = trs.get("translation", (0, 0, 0))
    return out


def world_matrices(doc, moved=None):
    """World matrix of every node; moved: {node: {path: values}}."""
    nodes = doc.list("nodes")
    parent = {c: p for p, n in enumerate(nodes) for c in n.get("children", [])}
    local = [node_matrix(n, (moved or {}).get(i, {}).items()) for i, n in enumerate(nodes)]

    def world(i):
        return world(parent[i]) @ local[i] if i in parent else local[i]

    return [world(i) for i in range(len(nodes))]


def sampled(doc, clip, time):
    """{node: {path: values}} of an animation with linear and step samplers only, else None."""
    moved = {}
    animation = doc.json["animations"][clip]
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        mode, path = sampler.get("interpolation", "LINEAR"), channel["target"]["path"]
        if mode == "CUBICSPLINE" or path == "weights":
            return None
        times = doc.accessor(sampler["input"])[:, 0]
        values = numbers(doc.accessor(sampler["output"]), doc.json["accessors"][sampler["output"]]["componentType"])
        k = int(np.searchsorted(times, time, "right")) - 1
        if k < 0 or k + 1 == len(times) or mode == "STEP":
            value = values[max(k, 0)]
        else:
            u = (time - times[k]) / (times[k + 1] - times[k])
            a, b = values[k], values[k + 1]
            if path == "rotation":
                a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
                b = b if a @ b >= 0 else -b
                angle = np.arccos(min(a @ b, 1.0))
                value = a if angle < 1e-6 else (np.sin((1 - u) * angle) * a + np.sin(u * angle) * b) / np.sin(angle)
            else:
                value = a + u * (b - a)
        moved.setdefault(channel["target"]["node"], {})[path] = value
    return moved


def skinned(doc, moved=None, node=None):
    """Positions of a skinned node's mesh, its primitives one after the other, in the world: linear blending."""
    node = node or next(n for n in doc.list("nodes") if "skin" in n and "mesh" in n)
    world = world_matrices(doc, moved)
    skin = doc.json["skins"][node["skin"]]
    inverse = doc.accessor(skin["inverseBindMatrices"]).astype(float).reshape(-1, 4, 4).transpose(0, 2, 1)
    palette = np.stack([world[j] for j in skin["joints"]]) @ inverse
    out = []
    for primitive in doc.json["meshes"][node["mesh"]]["primitives"]:
        joints, weights, _ = weight_rows(doc, primitive)
        kind = doc.json["accessors"][primitive["attributes"]["WEIGHTS_0"]]["componentType"]
        weights = numbers(weights, kind)
        weights /= weights.sum(axis=1, keepdims=True)
        number = primitive["attributes"]["POSITION"]
        stored = doc.json["accessors"][number]
        position = numbers(doc.accessor(number), stored["componentType"], stored.get("normalized", False))
        moved_by = np.einsum("vk,vkrc->vrc", weights, palette[joints])
        out.append(np.einsum("vrc,vc->vr", moved_by, np.hstack([position, np.ones((len(position), 1))]))[:, :3])
    return np.vstack(out)


def obj_positions(path):
    return np.array([line.split()[1:4] for line in Path(path).read_text().splitlines() if line.startswith("v ")], float)
