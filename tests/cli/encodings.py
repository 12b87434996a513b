"""Every way in which glTF stores vertices: written files have no errors and warnings that their inputs do not have.

encodings.py [CLASS…]; run like cli.py."""
import base64
import json
from concurrent.futures import ThreadPoolExecutor

import cli
import glb
import make
import numpy as np
import support

DTYPES = {**glb.DTYPES}
DRACO_KINDS = {"POSITION": "position", "NORMAL": "normal", "TEXCOORD_0": "texcoord", "COLOR_0": "color"}


def streams(*args, data):
    """Bytes compressed by tests/tools/streams.cpp."""
    done = support.subprocess.run([support.STREAMS, *map(str, args)], input=data, capture_output=True)
    assert done.returncode == 0, f"{args}: {done.stderr}"
    return done.stdout


def quantised(values, component, normalized):
    """Floats as integers of a component type, by the rules of KHR_mesh_quantization."""
    if component == 5126:
        return np.asarray(values, np.float32)
    info = np.iinfo(DTYPES[component][1:])
    return np.clip(np.round(np.asarray(values) * (info.max if normalized else 1)), info.min, info.max).astype(DTYPES[component])


class Model:
    """The bar of make.py with normals, texture coordinates and colours, and three joints, under construction."""

    def __init__(self):
        positions, triangles = make.bar()
        self.positions, self.triangles = np.array(positions), np.array(triangles)
        n = len(positions)
        radial = self.positions * (1, 0, 1)
        self.normals = radial / np.linalg.norm(radial, axis=1, keepdims=True)
        self.texcoords = np.stack([np.arange(n) % make.SIDES / make.SIDES, self.positions[:, 1] / 2], 1)
        self.joints = [(0, 0.1, 0), (0, 1, 0), (0, 1.6, 0)]
        share = np.clip(self.positions[:, 1:2] / 2, 0, 1)
        self.weights = np.round(np.hstack([1 - share, share]) * 255) / 255
        self.data, self.views, self.accessors = bytearray(), [], []
        self.meshes, self.extensions, self.nodes_before = [], [], []
        self.scale, self.shift = 1.0, np.zeros(3)  # position in the world = stored × scale + shift
        self.skinned = True
        self.animation = None
        self.bounds = False  # of every accessor, not of positions only

    def view(self, data, target=0, stride=0):
        self.data += bytes(-len(self.data) % 4)
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data)}
        if stride:
            view["byteStride"] = stride
        if target:
            view["target"] = target
        self.data += data
        self.views.append(view)
        return len(self.views) - 1

    def describe(self, array, component, normalized, bounds):
        width = array.shape[1] if array.ndim == 2 else 1
        accessor = {"componentType": component, "count": len(array)}
        accessor["type"] = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}[width]
        if normalized:
            accessor["normalized"] = True
        if bounds or self.bounds:
            rows = array.reshape(len(array), -1)
            accessor.update(min=rows.min(0).tolist(), max=rows.max(0).tolist())
        self.accessors.append(accessor)
        return len(self.accessors) - 1

    def add(self, values, component=5126, normalized=False, target=34962, bounds=False):
        """An accessor with a view of its own; rows of attributes are padded to four bytes."""
        array = np.ascontiguousarray(values, DTYPES[component])
        number = self.describe(array, component, normalized, bounds)
        size = array.itemsize * (array.shape[1] if array.ndim == 2 else 1)
        if target == 34962 and size % 4:
            step = size + -size % 4
            rows = np.zeros((len(array), step), np.uint8)
            rows[:, :size] = np.frombuffer(array.tobytes(), np.uint8).reshape(len(array), size)
            self.accessors[number]["bufferView"] = self.view(rows.tobytes(), target, step)
        else:
            self.accessors[number]["bufferView"] = self.view(array.tobytes(), target)
        return number

    def interleave(self, columns):
        """Accessors of [(values, component, normalized, bounds)] in one view."""
        arrays = [np.ascontiguousarray(v, DTYPES[c]) for v, c, _, _ in columns]
        sizes = [a.itemsize * a.shape[1] for a in arrays]
        places = np.cumsum([0, *(s + -s % 4 for s in sizes)])
        rows = np.zeros((len(arrays[0]), places[-1]), np.uint8)
        out = []
        for array, size, place, (_, component, normalized, bounds) in zip(arrays, sizes, places, columns):
            rows[:, place : place + size] = np.frombuffer(array.tobytes(), np.uint8).reshape(len(array), size)
            out.append(self.describe(array, component, normalized, bounds))
            self.accessors[-1].update(bufferView=len(self.views), byteOffset=int(place))
        self.view(rows.tobytes(), 34962, int(places[-1]))
        return out

    def sparse(self, number, at, values, keep_base=True):
        """Replaces rows of an accessor sparsely, and updates its bounds."""
        accessor = self.accessors[number]
        dtype = DTYPES[accessor["componentType"]]
        width = glb.WIDTHS[accessor["type"]]
        base = np.zeros((accessor["count"], width), dtype)
        if keep_base:
            base = glb_rows(self, number)
        else:
            del accessor["bufferView"]
        base[at] = np.asarray(values, dtype).reshape(len(at), width)
        accessor["sparse"] = {
            "count": len(at),
            "indices": {"bufferView": self.view(np.array(at, "<u2").tobytes()), "componentType": 5123},
            "values": {"bufferView": self.view(np.asarray(values, dtype).tobytes())},
        }
        if "min" in accessor:
            accessor.update(min=base.min(0).tolist(), max=base.max(0).tolist())

    def store_positions(self, component, normalized):
        """The stored positions; a quantised mesh fills the range of its integers."""
        if component == 5126:
            return self.positions
        low, high = self.positions.min(0), self.positions.max(0)
        limit = np.iinfo(DTYPES[component][1:]).max
        unit = (high - low).max() / (1 if normalized else limit)
        self.scale, self.shift = float(unit), low
        return quantised((self.positions - low) / unit, component, normalized)

    def attributes(self, position=(5126, False), normal=5126, texcoord=(5126, False), joint=5121, weight=5126, sets=1,
                   interleaved=False, color=None, tangent=None):
        """Adds all attributes; returns their accessors by name."""
        columns = {"POSITION": (self.store_positions(*position), *position, True)}
        if normal:
            columns["NORMAL"] = (quantised(self.normals, normal, True), normal, normal != 5126, False)
        if tangent:
            rows = np.hstack([np.tile((0, 1, 0), (len(self.normals), 1)), np.ones((len(self.normals), 1))])
            columns["TANGENT"] = (quantised(rows, tangent, True), tangent, tangent != 5126, False)
        if texcoord:
            columns["TEXCOORD_0"] = (quantised(self.texcoords * (1 if texcoord[1] or texcoord[0] == 5126 else 100), *texcoord),
                                     *texcoord, False)
        if color:
            columns["COLOR_0"] = (quantised(np.tile((0.5, 0.25, 1), (len(self.normals), 1)), color, True), color, color != 5126, False)
        if self.skinned:
            units = {5121: 255, 5123: 65535}.get(weight, 1)
            for s in range(sets):
                rows = np.zeros((len(self.positions), 4))
                joints = np.zeros((len(self.positions), 4), int)
                if s == 0:
                    rows[:, :2] = np.round(self.weights * units) if weight != 5126 else self.weights
                    rows[:, 0] = units - rows[:, 1]
                    joints[:, 1] = np.where(rows[:, 1] > 0, 1, 0)
                columns[f"JOINTS_{s}"] = (joints, joint, False, False)
                columns[f"WEIGHTS_{s}"] = (rows, weight, weight != 5126, False)
        if interleaved:
            return dict(zip(columns, self.interleave(list(columns.values()))))
        return {k: self.add(v[0], v[1], v[2], bounds=v[3]) for k, v in columns.items()}

    def indices(self, component=5123):
        return self.add(self.triangles.reshape(-1), component, target=34963)

    def mesh(self, attributes, **more):
        self.meshes.append({"primitives": [{"attributes": attributes, **more}]})

    def use(self, *extensions, required=True):
        self.extensions += [(e, required) for e in extensions]

    def document(self):
        nodes = []
        for m in range(len(self.meshes)):
            nodes.append({"name": f"bar{m}", "mesh": m, **({"skin": 0} if self.skinned else {})})
            if not self.skinned and self.scale != 1:
                nodes[-1].update(scale=[self.scale] * 3, translation=self.shift.tolist())
        first, above = len(nodes), np.zeros(3)
        for j, at in enumerate(self.joints):
            nodes.append({"name": f"joint{j}", "translation": (np.array(at) - above).tolist()})
            if j + 1 < len(self.joints):
                nodes[-1]["children"] = [first + j + 1]
            above = np.array(at)
        doc = {
            "asset": {"version": "2.0", "generator": "sinew tests"}, "scene": 0,
            "scenes": [{"nodes": [*range(len(self.meshes)), first]}], "nodes": nodes, "meshes": self.meshes,
        }  # fmt: skip
        if self.skinned:
            inverse = []
            for at in self.joints:
                m = np.diag([self.scale] * 3 + [1.0])
                m[:3, 3] = self.shift - at
                inverse.append(m.T.reshape(16))
            number = self.add(np.array(inverse), target=0)
            doc["skins"] = [{"joints": list(range(first, first + len(self.joints))), "inverseBindMatrices": number}]
        if self.animation:
            doc["animations"] = self.animation
        doc.update(accessors=self.accessors, bufferViews=self.views, buffers=[{"byteLength": 0}])
        if self.extensions:
            doc["extensionsUsed"] = [e for e, _ in self.extensions]
            if required := [e for e, r in self.extensions if r]:
                doc["extensionsRequired"] = required
        return doc


def glb_rows(model, number):
    """The rows of an accessor under construction, without sparse values."""
    a = model.accessors[number]
    view = model.views[a["bufferView"]]
    dtype, width = np.dtype(DTYPES[a["componentType"]]), glb.WIDTHS[a["type"]]
    size = dtype.itemsize * width
    step, first = view.get("byteStride", size), view["byteOffset"] + a.get("byteOffset", 0)
    rows = [np.frombuffer(bytes(model.data[first + i * step : first + i * step + size]), dtype) for i in range(a["count"])]
    return np.array(rows)


def meshopt(model, doc, extension, filters=False):
    """Compresses every view of vertices and indices. The plain bytes are in a buffer that is not stored."""
    plain, packed = bytes(model.data), bytearray()
    indices = {a["bufferView"]: a["count"] for a in doc["accessors"] if a["type"] == "SCALAR" and "bufferView" in a}
    for v, view in enumerate(doc["bufferViews"]):
        data = plain[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
        packed += bytes(-len(packed) % 4)
        accessors = [a for a in doc["accessors"] if a.get("bufferView") == v]
        size = view.get("byteStride") or sum(
            np.dtype(DTYPES[a["componentType"]]).itemsize * glb.WIDTHS[a["type"]] for a in accessors[:1]
        )
        if not accessors or accessors[0]["type"] == "MAT4" or (v not in indices and size % 4):
            view.update(byteOffset=len(packed))
            packed += data
            continue
        name = None
        if v in indices:
            mode, count = "TRIANGLES", indices[v]
            size = view["byteLength"] // count
            if size == 1:
                view.update(byteOffset=len(packed))
                packed += data
                continue
            stream = streams("triangles", count, size, data=data)
        else:
            mode, count = "ATTRIBUTES", accessors[0]["count"]
            first = accessors[0]
            rows = np.frombuffer(data, DTYPES[first["componentType"]])
            if filters and first["type"] == "VEC3" and first["componentType"] == 5120 and len(accessors) == 1:
                name, size = "OCTAHEDRAL", 4
                unit = rows.reshape(count, 4).astype(np.float32) / 127
                unit[:, :3] /= np.linalg.norm(unit[:, :3], axis=1, keepdims=True)
                stream = streams("attributes", count, size, "octahedral", 8, data=unit.tobytes())
            elif filters and first["type"] == "VEC3" and first["componentType"] == 5126 and "min" in first:
                name = "EXPONENTIAL"
                stream = streams("attributes", count, size, "exponential", 15, data=data)
            else:
                stream = streams("attributes", count, size, data=data)
        packed_view = {"buffer": 0, "byteOffset": len(packed), "byteLength": len(stream), "byteStride": size, "mode": mode, "count": count}
        if name:
            packed_view["filter"] = name
        view.update(buffer=1, extensions={extension: packed_view})
        packed += stream
    model.data = packed
    doc["buffers"].append({"byteLength": len(plain), "extensions": {extension: {"fallback": True}}})
    doc["extensionsUsed"] = [*doc.get("extensionsUsed", []), extension]
    doc["extensionsRequired"] = [*doc.get("extensionsRequired", []), extension]


def draco(model, doc, keep=(), how="draco", fallback=False):
    """Compresses every primitive; attributes in `keep` stay plain, and with `fallback` all are stored plain as well."""
    plain = bytes(model.data)
    for mesh in doc["meshes"]:
        for primitive in mesh["primitives"]:
            if primitive.get("mode", 4) != 4:
                continue
            names = [n for n in primitive["attributes"] if n not in keep]
            arguments, arrays = [], []
            for n in names:
                a = doc["accessors"][primitive["attributes"][n]]
                rows = rows_of(plain, doc, a)
                arguments += [DRACO_KINDS.get(n, "generic"), a["componentType"], glb.WIDTHS[a["type"]], int(a.get("normalized", False))]
                arrays.append(rows.tobytes())
            index = doc["accessors"][primitive["indices"]]
            corners = rows_of(plain, doc, index).astype("<u4").reshape(-1)
            blob = streams(how, len(corners) // 3, a["count"], *arguments, data=corners.tobytes() + b"".join(arrays))
            primitive["extensions"] = {
                glb.DRACO: {"bufferView": len(doc["bufferViews"]), "attributes": {n: i for i, n in enumerate(names)}}
            }
            model.view(blob)
            if not fallback:
                for a in [*(doc["accessors"][primitive["attributes"][n]] for n in names), index]:
                    a.pop("bufferView", None), a.pop("byteOffset", None)
    doc["extensionsUsed"] = [*doc.get("extensionsUsed", []), glb.DRACO]
    if not fallback:
        doc["extensionsRequired"] = [*doc.get("extensionsRequired", []), glb.DRACO]
        drop_unused_views(model, doc)


def two_buffers(doc, data):
    """Moves every second view into a buffer of its own, at the end of the list."""
    other = bytearray()
    for view in doc["bufferViews"][::2]:
        other += bytes(-len(other) % 4)
        first = view["byteOffset"]
        view.update(buffer=1, byteOffset=len(other))
        other += data[first : first + view["byteLength"]]
    uri = "data:application/octet-stream;base64," + base64.b64encode(bytes(other)).decode()
    doc["buffers"].append({"byteLength": len(other), "uri": uri})


def rows_of(data, doc, accessor):
    view = doc["bufferViews"][accessor["bufferView"]]
    dtype, width = np.dtype(DTYPES[accessor["componentType"]]), glb.WIDTHS[accessor["type"]]
    size = dtype.itemsize * width
    step, first = view.get("byteStride", size), view["byteOffset"] + accessor.get("byteOffset", 0)
    return np.array([np.frombuffer(data[first + i * step : first + i * step + size], dtype) for i in range(accessor["count"])])


def drop_unused_views(model, doc):
    """As an encoder does: views without a use go, and so do their bytes."""
    used = {a["bufferView"] for a in doc["accessors"] if "bufferView" in a}
    blobs = [p["extensions"][glb.DRACO] for m in doc["meshes"] for p in m["primitives"] if "extensions" in p]
    used |= {b["bufferView"] for b in blobs}
    numbers, data, views = {}, bytearray(), []
    for v in sorted(used):
        view = doc["bufferViews"][v]
        numbers[v] = len(views)
        data += bytes(-len(data) % 4)
        part = model.data[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
        views.append({**view, "byteOffset": len(data)})
        data += part
    for item in [*(a for a in doc["accessors"] if "bufferView" in a), *blobs]:
        item["bufferView"] = numbers[item["bufferView"]]
    model.data = data
    doc["bufferViews"][:] = views


def write(folder, name, doc, data, container):
    """Writes a document as glb, gltf (with a file), or data (a URI in it)."""
    doc["buffers"][0]["byteLength"] = len(data)
    path = folder / f"{name}.{'glb' if container == 'glb' else 'gltf'}"
    if container == "glb":
        path.write_bytes(make.packed(doc, data))
        return path
    if container == "gltf":
        (folder / f"{name}.bin").write_bytes(bytes(data))
        doc["buffers"][0]["uri"] = f"{name}.bin"
    else:
        doc["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(bytes(data)).decode()
    path.write_text(json.dumps(doc, indent=1))
    return path


QUANTIZATION = "KHR_mesh_quantization"
I8, U8, I16, U16, F32 = 5120, 5121, 5122, 5123, 5126


def variants():
    """(name, model, document, compression) of every encoding; compression changes the document when it is written."""

    def plain(name, *, unskinned=False, bounds=False, change=None, index=U16, extensions=(), **attributes):
        m = Model()
        m.skinned, m.bounds = not unskinned, bounds
        m.use(*extensions)
        made = m.attributes(**attributes)
        m.mesh(made, indices=m.indices(index))
        if change:
            change(m)
        return name, m, m.document()

    quantised_positions = [(I8, True), (U8, True), (I16, True), (U16, True), (I8, False), (U8, False), (I16, False), (U16, False)]
    for position in quantised_positions:
        kind = f"{position[0]}{'n' if position[1] else ''}"
        yield plain(f"position-{kind}", position=position, normal=I8, texcoord=(U16, True), weight=U8, extensions=[QUANTIZATION])
        yield plain(f"unskinned-{kind}", unskinned=True, position=position, normal=I16, texcoord=(I16, True), extensions=[QUANTIZATION])
    for texcoord in ((I8, True), (U8, False), (I16, False), (U16, False), (U8, True)):
        yield plain(f"texcoord-{texcoord[0]}{texcoord[1]}", texcoord=texcoord, normal=I16, tangent=I8, weight=U16, extensions=[QUANTIZATION])
    for weight in (U8, U16, F32):
        for sets in (1, 2, 3):
            yield plain(f"weights-{weight}-{sets}", weight=weight, sets=sets, joint=U16 if sets == 2 else U8, color=U8)
            yield plain(f"bounds-{weight}-{sets}", weight=weight, sets=sets, bounds=True, interleaved=sets == 2)
    for index in (U8, U16, 5125):
        yield plain(f"indices-{index}", index=index, bounds=True)
    yield plain("interleaved", interleaved=True, weight=U8, sets=2)
    yield plain("interleaved-quantised", interleaved=True, position=(I16, True), normal=I8, texcoord=(U16, True), weight=U8,
                extensions=[QUANTIZATION])

    def sparse(names, keep_base):
        def change(m):
            for n in names:
                number = m.meshes[0]["primitives"][0]["attributes"][n]
                if n == "POSITION":
                    at, values = [3, 7], [(0.2, 0.1, 0.3), (-0.2, 0.2, 0.1)]
                    if not keep_base:
                        at, values = list(range(len(m.positions))), m.positions
                else:
                    at = list(range(0, len(m.positions), 1 if not keep_base else 5))
                    values = np.tile((1, 0, 0, 0) if n.startswith("W") else (2, 0, 0, 0), (len(at), 1))
                m.sparse(number, at, values, keep_base)

        return change

    for keep_base in (True, False):
        for names in (["POSITION"], ["JOINTS_0", "WEIGHTS_0"], ["WEIGHTS_0"], ["POSITION", "JOINTS_0", "WEIGHTS_0"]):
            if names == ["WEIGHTS_0"] and not keep_base:
                continue
            yield plain(f"sparse-{'-'.join(names)}-{keep_base}", change=sparse(names, keep_base), bounds=names == ["WEIGHTS_0"])
    yield plain("sparse-unskinned", unskinned=True, change=sparse(["POSITION"], True))

    def morph(m):
        n = len(m.positions)
        target = {"POSITION": m.add(np.full((n, 3), 0.1), bounds=True), "NORMAL": m.add(np.zeros((n, 3)))}
        empty = m.describe(np.zeros((n, 3), np.float32), F32, False, True)
        m.sparse(m.add(np.zeros((n, 3)), bounds=True), [1], [(0, 0, 1)])
        m.meshes[0]["primitives"][0]["targets"] = [target, {"POSITION": empty}, {"POSITION": empty + 1}]

    yield plain("morphs", change=morph)

    def shared(m):  # two primitives and two meshes with the same vertices
        first = m.meshes[0]["primitives"][0]
        m.meshes[0]["primitives"].append({**first, "indices": m.indices(5125)})
        m.meshes.append({"primitives": [dict(first)]})

    def own_weights(m):  # the same positions with other weights
        first = m.meshes[0]["primitives"][0]
        rows = np.tile((1, 0, 0, 0), (len(m.positions), 1))
        other = {**first["attributes"], "WEIGHTS_0": m.add(rows), "JOINTS_0": m.add(rows * 2, U8)}
        m.meshes[0]["primitives"].append({**first, "attributes": other})

    def shared_view(m):  # joints and weights are one accessor's neighbours in a view with indices
        extra = m.meshes[0]["primitives"][0]
        m.meshes[0]["primitives"].append({**extra, "mode": 0})

    def animated(m):  # its accessors are no vertices
        m.animation = [{"channels": [{"sampler": 0, "target": {"node": 2, "path": "translation"}}],
                        "samplers": [{"input": m.add(np.array([0.0, 1.0]), target=0, bounds=True),
                                      "output": m.add(np.array([(0, 0.9, 0), (0, 1, 0)]), target=0)}]}]

    def no_index(m):
        del m.meshes[0]["primitives"][0]["indices"]
        m.accessors.pop(), m.views.pop()

    yield plain("shared", change=shared, bounds=True)
    yield plain("own-weights", change=own_weights)
    yield plain("points-beside", change=shared_view)
    yield plain("strip", change=lambda m: m.meshes[0]["primitives"][0].update(mode=5))
    yield plain("no-indices", change=no_index)
    yield plain("animated", change=animated, weight=U8, sets=2)
    yield plain("animated-unskinned", change=animated, unskinned=True)
    for attributes in ({}, {"unskinned": True}, {"interleaved": True, "weight": U8, "sets": 3}):
        name, m, doc = plain(f"two-buffers-{len(attributes)}", **attributes)
        two_buffers(doc, m.data)
        yield name, m, doc


def compressed():
    """(name, model, document, compress): the same with the three extensions of compression."""

    def build(change=None, **attributes):
        m = Model()
        m.skinned = not attributes.pop("unskinned", False)
        m.bounds = attributes.pop("bounds", False)
        m.use(*attributes.pop("extensions", ()))
        index = attributes.pop("index", U16)
        m.mesh(m.attributes(**attributes), indices=m.indices(index))
        if change:
            change(m)
        return m, m.document()

    def second(m):
        m.mesh(m.attributes(normal=None), indices=m.indices(5125))

    def points(m):
        m.meshes[0]["primitives"].append({**m.meshes[0]["primitives"][0], "mode": 0})

    small = dict(position=(I16, True), normal=I8, texcoord=(U16, True), weight=U8, extensions=[QUANTIZATION])
    kinds = {
        "plain": {}, "bounds": dict(bounds=True), "unskinned": dict(unskinned=True), "quantised": small, "sets": dict(sets=2, weight=U16),
        "unskinned-quantised": dict(unskinned=True, **small), "u32": dict(index=5125, bounds=True), "two-meshes": dict(change=second),
        "colours": dict(color=U8, tangent=F32), "u8": dict(position=(U8, True), normal=I8, texcoord=(U8, True), extensions=[QUANTIZATION]),
    }  # fmt: skip
    for kind, attributes in kinds.items():
        for extension in ("EXT_meshopt_compression", "KHR_meshopt_compression"):
            for filters in (False, True):
                m, doc = build(**attributes)
                meshopt(m, doc, extension, filters)
                yield f"{extension[:3]}-meshopt-{kind}{'-filters' if filters else ''}", m, doc
        m, doc = build(**{**attributes, "interleaved": True})
        meshopt(m, doc, "EXT_meshopt_compression")
        yield f"meshopt-interleaved-{kind}", m, doc
        # In a Draco file, integers are quantised losslessly and floats with loss.
        for keep in ((), ("JOINTS_0", "WEIGHTS_0"), ("NORMAL",)):
            m, doc = build(**attributes)
            draco(m, doc, keep)
            yield f"draco-{kind}-{'-'.join(keep)}", m, doc
        m, doc = build(**attributes)
        draco(m, doc, how="edgebreaker")
        yield f"edgebreaker-{kind}", m, doc
        m, doc = build(**attributes)
        draco(m, doc, fallback=True)
        yield f"draco-fallback-{kind}", m, doc


class Encodings(cli.Case):
    """The Khronos validator finds no error or warning in an output that it does not find in the input."""

    SAVED = (("--weight-format", "f32"), ("--weight-format", "u8", "--max-influences", "8"), ("--weight-format", "u16"))

    def test_errors_and_warnings(self):
        made = [*variants(), *compressed()]
        sources = []
        for n, (name, model, doc) in enumerate(made):
            containers = ("glb", "gltf", "data") if n % 8 == 0 or name in ("interleaved", "draco-plain-") else ("glb", "gltf", "data")[n % 3 :][:1]
            for container in containers:
                sources.append(write(self.at, f"{name}-{container}", json.loads(json.dumps(doc)), model.data, container))
        jobs = []
        for n, source in enumerate(sources):
            jobs.append((source, self.at / f"out{n}{source.suffix}", self.SAVED[n % 3]))
            if n % 4 == 0:  # into the other container
                jobs.append((source, self.at / f"turned{n}{'.gltf' if source.suffix == '.glb' else '.glb'}", self.SAVED[0]))

        def bind(job):
            source, out, options = job
            return support.sinew("bind", source, "-o", out, "--method", "closest-distance", "--quiet", *options)

        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(bind, jobs))
        # The optimised program writes the same files.
        written = [out for (_, out, _), done in zip(jobs, results) if done.returncode == 0]
        messages = None if support.SANITIZED else support.validate([*sources, *written])
        for (source, out, options), done in zip(jobs, results):
            with self.subTest(source=source.name, out=out.suffix, options=options):
                self.assertEqual(done.returncode, 0, done.stderr)
                before, after = glb.Doc(source), glb.Doc(out)
                limit = 8 if "8" in options else 4
                self.assertEqual(glb.weight_problems(after, options[1], limit), [])
                if source.suffix == out.suffix:
                    self.assertEqual(glb.surgery_problems(before, after, new_skin=not before.list("skins")), [])
                if messages is None:
                    continue
                self.assertEqual({k: v for k, v in messages[str(source)].items() if k.startswith("error")}, {}, "the input itself")
                new = self.grave(messages[str(source)], messages[str(out)])
                if source.suffix == ".gltf" and out.suffix == ".glb":
                    new.pop("warning DATA_URI_GLB", None)  # of further buffers, which stay as they are
                self.assertEqual(new, {})
        if messages is None and not support.SANITIZED:
            self.skipTest("gltf-validator is not installed: errors and warnings were not compared")

    @staticmethod
    def grave(before, after):
        # A node that moves its mesh gets a skin: its own transform then has no effect, as the validator warns. It is in
        # the inverse bind matrices, and stays in the node for its children and animations.
        known = "warning NODE_SKINNED_MESH_LOCAL_TRANSFORMS"
        return {k: v for k, v in support.new_messages(before, after).items() if k.startswith(("error", "warning")) and k != known}


if __name__ == "__main__":
    support.main()
