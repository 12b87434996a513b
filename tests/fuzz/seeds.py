"""seeds.py CHARACTERS-PROGRAM FOLDER: writes the inputs that fuzzing starts from. Made anew, never committed."""
import base64
import json
import random
import struct
import subprocess
import sys
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
    yield "quad.obj", b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n"


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    for name, data in gltf_seeds():
        (folder / "fuzz_gltf" / name).write_bytes(data)
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
