"""seeds.py CHARACTERS-PROGRAM FOLDER: writes the inputs that fuzzing starts from. They are generated, never committed."""
import base64
import json
import math
import random
import struct
import subprocess
import sys
import zlib
from pathlib import Path


def uri(data):
    return "data:application/octet-stream;base64," + base64.b64encode(data).decode()


def small_gltf(**change):
    """A quad on two joints. `change` replaces top-level keys."""
    positions = struct.pack("<12f", 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0)
    indices = struct.pack("<6H", 0, 1, 2, 0, 2, 3)
    joints = bytes([0, 1, 0, 0] * 4)
    weights = struct.pack("<16f", *([0.75, 0.25, 0, 0] * 4))
    inverse = b"".join(struct.pack("<16f", 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -y, 0, 1) for y in (0, 0.5))
    data, views = b"", []
    for part in (positions, indices, joints, weights, inverse):
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": len(part)})
        data += part + bytes(-len(part) % 4)
    kinds = [(5126, 4, "VEC3"), (5123, 6, "SCALAR"), (5121, 4, "VEC4"), (5126, 4, "VEC4"), (5126, 2, "MAT4")]
    doc = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 1]}],
        "nodes": [
            {"mesh": 0, "skin": 0},
            {"name": "hip", "children": [2]},
            {"name": "knee", "translation": [0, 0.5, 0]},
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 2, "WEIGHTS_0": 3}, "indices": 1}]}],
        "skins": [{"joints": [1, 2], "inverseBindMatrices": 4}],
        "accessors": [
            {"bufferView": i, "componentType": c, "count": n, "type": t} for i, (c, n, t) in enumerate(kinds)
        ],
        "bufferViews": views,
        "buffers": [{"byteLength": len(data), "uri": uri(data)}],
    }
    doc["accessors"][0].update(min=[0, 0, 0], max=[1, 1, 0])
    doc.update(change)
    return doc, data


def glb(doc, data):
    doc["buffers"][0].pop("uri")
    text = json.dumps(doc).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def fbx_seeds():
    """A triangle on two limbs with a clip, as text and in binary with 32 and 64 bits."""
    unit = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]

    def properties(**values):
        return ("Properties70", [], [("P", [name.replace("_", " "), "", "", "A", *numbers], []) for name, numbers in values.items()])

    def layer(name, key, mapping, numbers):
        return (name, [0], [("MappingInformationType", [mapping], []), ("ReferenceInformationType", ["Direct"], []), (key, [numbers], [])])

    model = [properties(Lcl_Translation=[0.0, 1.0, 0.0], Lcl_Scaling=[1.0, 2.0, 1.0], InheritType=[2], RotationActive=[1])]
    cluster = [("Indexes", [[0, 1, 2]], []), ("Weights", [[0.5, 0.5, 0.5]], []), ("Transform", [[float(x) for x in unit]], []),
               ("TransformLink", [[float(x) for x in unit]], [])]
    objects = [
        ("Geometry", [1, "g\0\1Geometry", "Mesh"], [
            ("Vertices", [[0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 9.0, 0.0]], []), ("PolygonVertexIndex", [[0, 1, -3]], []),
            layer("LayerElementNormal", "Normals", "ByVertice", 3 * [0.0, 0.0, 1.0]),
            layer("LayerElementUV", "UV", "ByPolygonVertex", 6 * [0.5])]),
        ("Model", [2, "body\0\1Model", "Mesh"], []), ("Model", [3, "a\0\1Model", "LimbNode"], model),
        ("Model", [4, "b\0\1Model", "LimbNode"], model), ("Deformer", [5, "\0\1Deformer", "Skin"], []),
        ("Deformer", [6, "a\0\1SubDeformer", "Cluster"], cluster), ("Deformer", [7, "b\0\1SubDeformer", "Cluster"], cluster),
        ("AnimationStack", [8, "Walk\0\1AnimStack", ""], []), ("AnimationLayer", [9, "\0\1AnimLayer", ""], []),
        ("AnimationCurveNode", [10, "T\0\1AnimCurveNode", ""], []),
        ("AnimationCurve", [11, "\0\1AnimCurve", ""], [
            ("KeyTime", [[0, 46186158000]], []), ("KeyValueFloat", [[0.0, 1.0]], []), ("KeyAttrFlags", [[24840]], []),
            ("KeyAttrDataFloat", [4 * [0.0]], []), ("KeyAttrRefCount", [[2]], [])]),
        ("Material", [12, "red\0\1Material", ""], [properties(DiffuseColor=[1.0, 0.0, 0.0])]),
    ]
    links = [("OO", 2, 0), ("OO", 3, 0), ("OO", 4, 3), ("OO", 1, 2), ("OO", 5, 1), ("OO", 6, 5), ("OO", 7, 5), ("OO", 3, 6), ("OO", 4, 7),
             ("OO", 9, 8), ("OO", 10, 9), ("OP", 10, 4, "Lcl Translation"), ("OP", 11, 10, "d|X"), ("OO", 12, 2)]
    tree = [("FBXHeaderExtension", [], [("FBXVersion", [7400], [])]), ("GlobalSettings", [], [properties(UpAxis=[2], UnitScaleFactor=[1.0])]),
            ("Objects", [], objects), ("Connections", [], [("C", list(link), []) for link in links])]

    def text(records):
        out = ""
        for name, values, inner in records:
            words = [f"*{len(v)} {{ a: {','.join(map(str, v))} }}" if isinstance(v, list) else json.dumps(v.split("\0")[0])
                     if isinstance(v, str) else str(v) for v in values]
            out += f"{name}: {','.join(words)}" + (f" {{\n{text(inner)}}}\n" if inner else "\n")
        return out

    def binary(records, at, form, packed):
        out = b""
        for name, values, inner in records:
            data = b""
            for v in values:
                if isinstance(v, list):
                    kind = "d" if isinstance(v[0], float) else "l" if max(v) > 2**31 else "i"
                    raw = struct.pack(f"<{len(v)}{kind.replace('l', 'q')}", *v)
                    body = zlib.compress(raw) if packed else raw
                    data += kind.encode() + struct.pack("<3I", len(v), packed, len(body)) + body
                elif isinstance(v, str):
                    data += b"S" + struct.pack("<I", len(v)) + v.encode()
                else:
                    data += b"L" + struct.pack("<q", v) if isinstance(v, int) else b"D" + struct.pack("<d", v)
            head = struct.calcsize(form) + 1 + len(name)
            start = at + len(out)
            body = binary(inner, start + head + len(data), form, packed) if inner else b""
            end = start + head + len(data) + len(body)
            out += struct.pack(form, end, len(values), len(data)) + bytes([len(name)]) + name.encode() + data + body
        return out + bytes(struct.calcsize(form) + 1)

    yield "limbs-text.fbx", ("; FBX 7.4.0 project file\n" + text(tree)).encode()
    for version, form, packed in ((7400, "<3I", 0), (7500, "<3Q", 1)):
        yield f"limbs-{version}.fbx", b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", version) + binary(tree, 27, form, packed)


def gltf_seeds():
    doc, data = small_gltf()
    yield "quad.gltf", json.dumps(doc).encode()
    yield "quad.glb", glb(doc, data)
    doc, _ = small_gltf()
    doc["meshes"][0]["primitives"][0].update(mode=5)
    yield "strip.gltf", json.dumps(doc).encode()
    doc["meshes"][0]["primitives"][0].update(mode=6)
    del doc["meshes"][0]["primitives"][0]["indices"]
    yield "fan.gltf", json.dumps(doc).encode()
    doc, _ = small_gltf()
    doc["accessors"][0]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": 1, "byteOffset": 2, "componentType": 5123},
        "values": {"bufferView": 3},
    }
    yield "sparse.gltf", json.dumps(doc).encode()
    doc, _ = small_gltf()
    doc.update(extensionsUsed=["KHR_mesh_quantization"], extensionsRequired=["KHR_mesh_quantization"])
    doc["accessors"][0] = {
        "bufferView": 3, "componentType": 5123, "normalized": True, "count": 4, "type": "VEC3",
        "min": [0, 0, 0], "max": [1, 1, 1],
    }  # fmt: skip
    doc["bufferViews"][3]["byteStride"] = 8
    yield "quantized.gltf", json.dumps(doc).encode()
    doc, _ = small_gltf()
    del doc["skins"], doc["nodes"][0]["skin"]
    yield "unskinned.gltf", json.dumps(doc).encode()
    doc, _ = small_gltf()
    doc["nodes"] += [{"mesh": 0, "skin": 1, "scale": [2, 2, 2], "rotation": [0, 0.6, 0, 0.8]}]
    doc["skins"] += [{"joints": [2]}]
    doc["scenes"][0]["nodes"] += [3]
    yield "shared-mesh.gltf", json.dumps(doc).encode()
    for extension in ("EXT_meshopt_compression", "KHR_draco_mesh_compression"):
        doc, _ = small_gltf()
        doc.update(extensionsUsed=[extension], extensionsRequired=[extension])
        doc["bufferViews"][0]["extensions"] = {
            "EXT_meshopt_compression": {
                "buffer": 0, "byteLength": 48, "byteStride": 12, "count": 4, "mode": "ATTRIBUTES",
            }
        }  # fmt: skip
        doc["meshes"][0]["primitives"][0]["extensions"] = {
            "KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {"POSITION": 0, "JOINTS_0": 1}}
        }
        yield extension + ".gltf", json.dumps(doc).encode()
    # What costs more than its bytes: buffers and images that share theirs, views that share a stream, deep lists, and a
    # polygon of many corners.
    doc, data = small_gltf()
    doc["buffers"] += 30 * [{"byteLength": 1, "uri": uri(bytes(64))}]
    doc["images"] = 20 * [{"bufferView": 0, "mimeType": "image/png"}, {"uri": "outside.png"}]
    doc["extras"] = eval(100 * "[" + 100 * "]")
    yield "shared.gltf", json.dumps(doc).encode()
    doc, _ = small_gltf()
    doc.update(extensionsUsed=["EXT_meshopt_compression"], extensionsRequired=["EXT_meshopt_compression"])
    for _ in range(20):
        doc["bufferViews"].append({"buffer": 0, "byteLength": 4096 * 4, "byteStride": 4, "extensions": {
            "EXT_meshopt_compression": {"buffer": 0, "byteLength": 256, "byteStride": 4, "count": 4096, "mode": "ATTRIBUTES"}}})
        doc["accessors"].append({"bufferView": len(doc["bufferViews"]) - 1, "componentType": 5126, "count": 4096,
                                 "type": "SCALAR"})
    yield "streams.gltf", json.dumps(doc).encode()
    spiral = [(0.3 * i, 1 + 0.05 * i) for i in range(60)]
    spiral += [(t, r - 0.5) for t, r in reversed(spiral)]
    corners = "".join(f"v {r * math.cos(t):.3f} {r * math.sin(t):.3f} 0\n" for t, r in spiral)
    yield "spiral.obj", (corners + "f " + " ".join(str(i + 1) for i in range(120)) + "\n").encode()
    yield from fbx_seeds()
    yield "quad.obj", b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n"


def file_seeds():
    """The first byte chooses the reader in fuzz_files."""
    bones = [
        {"name": "hip", "head": [1, 1], "tail": [4, 4], "smoothness": 2},
        {"name": "knee", "parent": "hip", "head": [4, 4], "tail": [7, 7]},
    ]
    texts = [
        (0, {"bones": [{"name": "a", "parent": -1, "head": [0, 0, 0], "tail": [1, 0, 0], "shape": {"capsule": 0.2}},
                       {"name": "b", "parent": "a", "head": [1, 0, 0], "connected": ["a"], "range": [0.2, 0.8]}],
             "points": [{"name": "p", "parent": "b", "position": [0, 1, 0], "shape": {"box": [1, 2, 3]}}]}),
        (1, {"joints": {"hip": {"tail": [0, 1, 0], "hardness": 0.5, "plane": [0, 1, 2]},
                        "kn*": {"deform": True, "range": [0, 1], "plane": "x"}}}),
        (2, {"joints": {"knee": {"rotate": [0, 0, 60], "translate": [0, 1, 0]}, "hip": {"quaternion": [0, 0, 0, 1]}}}),
        (3, {"sinew": "edits",
             "falloff": [{"joints": "hip", "value": 0.5}, {"joints": "knee", "angles": [[0, 0.1], [90, 0.8]]},
                         {"joints": "hip", "angles": [[9, 0.5]], "select": {"vertices": [2]}},
                         {"joints": "knee", "hardness": 0.3},
                         {"select": {"not": {"vertices": [1]}}, "values": [0.1, None, 0.3, 0.4, 0.5, 0.6]}],
             "rigid": [{"select": {"vertices": [0, "2-3"]}, "joints": ["hip"]}],
             "lock": {"joints": ["knee"], "select": {"vertices": [5]}},
             "edits": [{"op": "set", "joint": "knee", "value": 0.5, "select": {"box": [[0, 0, 0], [1, 1, 1]]}},
                       {"op": "add", "joint": "hip", "value": -0.1}, {"op": "scale", "joints": "hip", "value": 2},
                       {"op": "smooth", "length": 0.5, "select": {"sphere": {"center": [1, 0, 0], "radius": 1}}},
                       {"op": "replace", "joints": "knee", "with": "hip", "select": {"joints": "knee", "above": 0.2}},
                       {"op": "mirror", "from": "+x"}]}),
        (3, {"sinew": "edits", "edits": 20 * [{"op": "relax", "steps": 64}] + [
            {"op": "smooth", "length": 1.5},
            {"op": "add", "joint": "knee", "value": 0.3, "symmetric": True, "select": {"brush": {
                "points": [[0, i / 200, 0] for i in range(200)], "radius": 2, "strength": 0.5}}}]}),
        (4, {"sinew": "weights", "joints": ["hip", "knee"], "vertices": [[[0, 1]], [[0, 0.5], [1, 0.5]], [[1, 1]]] * 2}),
        (5, {"bones": bones}),
        (5, {"bones": bones, "layers": [{"name": "l", "image": "square.png", "bones": ["hip"], "offset": [1, 2], "order": 1}]}),
    ]  # fmt: skip
    for n, (door, value) in enumerate(texts):
        yield f"text{n}", bytes([door]) + json.dumps(value).encode()
    for colour, channels in ((0, 1), (2, 3), (4, 2), (6, 4)):
        raw = b"".join(b"\0" + bytes([255] * (6 * channels)) for _ in range(6))
        parts = (b"IHDR", struct.pack(">IIBBBBB", 6, 6, 8, colour, 0, 0, 0)), (b"IDAT", zlib.compress(raw)), (b"IEND", b"")
        png = b"\x89PNG\r\n\x1a\n"
        for kind, body in parts:
            png += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        yield f"png{colour}", bytes([6]) + png
    ring = bytes(255 if 8 < (x - 12) ** 2 + (y - 12) ** 2 < 120 else 0 for y in range(24) for x in range(24))
    yield "ring", bytes([7, 23]) + ring
    yield "comb", bytes([7, 63]) + bytes(255 if x % 2 == 0 or y < 3 else 0 for y in range(64) for x in range(64))


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    for name, data in gltf_seeds():
        (folder / "fuzz_gltf" / name).write_bytes(data)
    for name, data in file_seeds():
        (folder / "fuzz_files" / name).write_bytes(data)
    # A real writer's files, if small enough to be mutated usefully.
    for kind in ("robot",):
        out = folder / "fuzz_gltf" / f"{kind}.glb"
        subprocess.run([program, kind, out], check=True, stdout=subprocess.DEVNULL)
        if out.stat().st_size > 262144:
            out.unlink()
    dealer = random.Random(1)
    for n, size in enumerate((64, 256, 1024, 2048, 4096, 4096, 4096, 4096)):
        (folder / "fuzz_bind" / f"random{n}").write_bytes(bytes(dealer.randrange(256) for _ in range(size)))


if __name__ == "__main__":
    main()
