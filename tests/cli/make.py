"""Writes small inputs for the tests of the command line, independently of sinew: a bar along y, in several formats."""
import json
import math
import struct

RINGS, SIDES, RADIUS = 13, 8, 0.25


def bar():
    """(positions, triangles) of a closed bar from y = 0 to y = 2, faces outwards."""
    positions, triangles = [], []
    for r in range(RINGS):
        for s in range(SIDES):
            angle = 2 * math.pi * s / SIDES
            positions.append((RADIUS * math.sin(angle), 2 * r / (RINGS - 1), RADIUS * math.cos(angle)))
    for r in range(RINGS - 1):
        for s in range(SIDES):
            a, b = r * SIDES + s, r * SIDES + (s + 1) % SIDES
            triangles += [(a, b, b + SIDES), (a, b + SIDES, a + SIDES)]
    for ring, turn in ((0, True), (RINGS - 1, False)):
        first = ring * SIDES
        for s in range(1, SIDES - 1):
            t = (first, first + s, first + s + 1)
            triangles.append(t[::-1] if turn else t)
    return positions, triangles


JOINTS = [("lower", -1, (0, 0.1, 0)), ("upper", 0, (0, 1.0, 0))]


def document(skin=True, joints=JOINTS, edit=None):
    """(glTF JSON, BIN bytes). skin=False writes mesh and skeleton without a skin. edit(doc) changes it."""
    positions, triangles = bar()
    n, m = len(positions), len(joints)
    parts = [
        (struct.pack(f"<{3 * n}f", *(x for p in positions for x in p)), 5126, n, "VEC3"),
        (struct.pack(f"<{3 * len(triangles)}H", *(i for t in triangles for i in t)), 5123, 3 * len(triangles), "SCALAR"),
    ]
    attributes = {"POSITION": 0}
    if skin:
        inverse = [(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -x, -y, -z, 1) for _, _, (x, y, z) in joints]
        # Half to each of the first two joints; any others count as unused.
        parts += [
            (struct.pack(f"<{16 * m}f", *(x for i in inverse for x in i)), 5126, m, "MAT4"),
            (bytes((0, 1, 0, 0) * n), 5121, n, "VEC4"),
            (struct.pack(f"<{4 * n}f", *(0.5, 0.5, 0, 0) * n), 5126, n, "VEC4"),
        ]
        attributes.update(JOINTS_0=3, WEIGHTS_0=4)
    data, views, accessors = b"", [], []
    for i, (part, component, count, kind) in enumerate(parts):
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": len(part)})
        accessors.append({"bufferView": i, "componentType": component, "count": count, "type": kind})
        data += part + bytes(-len(part) % 4)
    for i in (0, 3, 4) if skin else (0,):
        views[i]["target"] = 34962
    views[1]["target"] = 34963
    accessors[0].update(min=[min(p[a] for p in positions) for a in range(3)])
    accessors[0].update(max=[max(p[a] for p in positions) for a in range(3)])
    # glTF's min and max are those of the floats.
    for key in ("min", "max"):
        accessors[0][key] = [struct.unpack("<f", struct.pack("<f", x))[0] for x in accessors[0][key]]
    nodes = [{"name": "bar", "mesh": 0, **({"skin": 0} if skin else {})}]
    for i, (name, parent, at) in enumerate(joints):
        from_parent = [a - b for a, b in zip(at, joints[parent][2])] if parent >= 0 else list(at)
        nodes.append({"name": name, "translation": from_parent})
        if parent >= 0:
            nodes[1 + parent].setdefault("children", []).append(1 + i)
    doc = {
        "asset": {"version": "2.0", "generator": "sinew tests"},
        "scene": 0,
        "scenes": [{"nodes": [0] + [1 + i for i, j in enumerate(joints) if j[1] < 0]}],
        "nodes": nodes,
        "meshes": [{"name": "bar", "primitives": [{"attributes": attributes, "indices": 1}]}],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(data)}],
        "extras": {"kept": [1.50, 1e-7, "as it is"]},
    }
    if skin:
        doc["skins"] = [{"joints": list(range(1, 1 + m)), "inverseBindMatrices": 2}]
    if edit:
        edit(doc)
    return doc, data


def packed(doc, data):
    """The bytes of a GLB."""
    text = json.dumps(doc).encode()
    text += b" " * (-len(text) % 4)
    data = bytes(data) + bytes(-len(data) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def glb(path, **options):
    path.write_bytes(packed(*document(**options)))
    return path


def two_skins(path):
    """The bar twice: one skinned to lower and upper, one beside it to its own joint 'other'."""

    def edit(doc):
        doc["nodes"].append({"name": "second", "mesh": 1, "skin": 1})
        doc["scenes"][0]["nodes"].append(len(doc["nodes"]) - 1)
        doc["meshes"].append(json.loads(json.dumps(doc["meshes"][0])))
        attributes = doc["meshes"][1]["primitives"][0]["attributes"]
        del attributes["JOINTS_0"], attributes["WEIGHTS_0"]
        doc["skins"][0]["joints"] = [1, 2]
        doc["skins"].append({"joints": [3], "inverseBindMatrices": 5})
        # The matrix of the third joint alone.
        view = doc["bufferViews"][2]
        doc["bufferViews"].append({"buffer": 0, "byteOffset": view["byteOffset"] + 128, "byteLength": 64})
        doc["accessors"].append({"bufferView": 5, "componentType": 5126, "count": 1, "type": "MAT4"})

    return glb(path, joints=[*JOINTS, ("other", -1, (0, 0.5, 0))], edit=edit)


def gltf(path, buffer=None, **options):
    """A .gltf with its buffer in a file beside it."""
    doc, data = document(**options)
    buffer = path.with_name(buffer) if buffer else path.with_suffix(".bin")
    buffer.write_bytes(data)
    doc["buffers"][0]["uri"] = buffer.name
    path.write_text(json.dumps(doc, indent=2))
    return path


def obj(path):
    positions, triangles = bar()
    lines = ["o bar"] + ["v %.9g %.9g %.9g" % p for p in positions]
    lines += ["f %d %d %d" % tuple(i + 1 for i in t) for t in triangles]
    path.write_text("\n".join(lines) + "\n")
    return path


def skeleton_json(path):
    bones = [
        {"name": "lower", "parent": -1, "head": [0, 0.1, 0], "tail": [0, 1, 0]},
        {"name": "upper", "parent": 0, "head": [0, 1, 0], "tail": [0, 1.9, 0]},
    ]
    path.write_text(json.dumps({"bones": bones}))
    return path


def tgf(path):
    path.write_text("1 0 0.1 0\n2 0 1 0\n3 0 1.9 0\n#\n1 2\n2 3\n")
    return path
