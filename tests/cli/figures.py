"""Pictures of flat figures with soft edges, and a reader and writer of PNG that share no code with the program."""
import struct
import zlib

import numpy as np


def write_png(path, rgba):
    """An array height × width × 4 of bytes."""
    height, width, _ = rgba.shape

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + row.tobytes() for row in rgba)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
    return path


def read_png(path):
    """height × width × 4 of an 8 bit RGBA file, every filter and checksum."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG"
    at, packed, size = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body), kind
        if kind == b"IHDR":
            width, height, depth, colour, *_ = struct.unpack(">IIBBBBB", body)
            assert (depth, colour) == (8, 6), (depth, colour)
            size = (height, width)
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    raw = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(size[0], 4 * size[1] + 1)
    out = np.zeros((size[0], 4 * size[1]), np.uint8)
    above = np.zeros(4 * size[1], np.int32)
    for y in range(size[0]):
        how, line = raw[y, 0], raw[y, 1:].astype(np.int32)
        if how == 2:
            line = (line + above) & 255
        elif how:
            for x in range(len(line)):
                a, b, c = (line[x - 4] if x >= 4 else 0), above[x], (above[x - 4] if x >= 4 else 0)
                if how == 1:
                    line[x] = (line[x] + a) & 255
                elif how == 3:
                    line[x] = (line[x] + (a + b) // 2) & 255
                else:
                    p = a + b - c
                    d = (abs(p - a), abs(p - b), abs(p - c))
                    line[x] = (line[x] + (a if d[0] == min(d) else b if d[1] == min(d) else c)) & 255
        out[y] = above = line
        above = line
    return out.reshape(size[0], size[1], 4)


def capsule(x, y, ax, ay, bx, by, r):
    ux, uy = bx - ax, by - ay
    t = np.clip(((x - ax) * ux + (y - ay) * uy) / max(ux * ux + uy * uy, 1e-9), 0, 1)
    return np.hypot(x - ax - t * ux, y - ay - t * uy) - r


def draw(width, height, *capsules, cut=()):
    """Capsules (ax, ay, bx, by, radius) joined, others cut out of them; checkered."""
    y, x = np.mgrid[0:height, 0:width] + 0.5
    d = np.min([capsule(x, y, *c) for c in capsules], axis=0)
    for c in cut:
        d = np.maximum(d, -capsule(x, y, *c))
    rgba = np.zeros((height, width, 4), np.uint8)
    dark = ((x // 16 + y // 16) % 2)[..., None]
    rgba[..., :3] = np.where(dark, (150, 90, 40), (190, 120, 60))
    rgba[..., 3] = np.round(255 * np.clip(0.5 - d, 0, 1))
    return rgba


def gingerbread():
    """200 × 320: head, trunk, two legs four pixels apart, an arm beside the trunk."""
    return draw(
        200, 320, (100, 50, 100, 50.1, 36), (100, 90, 100, 170, 30), (82, 180, 82, 300, 16), (118, 180, 118, 300, 16),
        (80, 100, 46, 112, 11), (46, 112, 50, 190, 11), (120, 100, 180, 80, 11),
    )  # fmt: skip


BONES = [
    {"name": "trunk", "head": [100, 165], "tail": [100, 90]},
    {"name": "head", "parent": "trunk", "head": [100, 88], "tail": [100, 20]},
    {"name": "leg.L", "parent": "trunk", "head": [118, 185], "tail": [118, 300]},
    {"name": "leg.R", "parent": "trunk", "head": [82, 185], "tail": [82, 300]},
    {"name": "arm.R", "parent": "trunk", "head": [60, 106], "tail": [46, 112]},
    {"name": "hand.R", "parent": "arm.R", "head": [46, 116], "tail": [50, 190]},
    {"name": "arm.L", "parent": "trunk", "head": [128, 98], "tail": [176, 82], "smoothness": 4},
]
