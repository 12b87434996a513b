"""Reads and writes PNG, independently of the program."""
import struct
import zlib

import numpy as np


def read_png(path):
    """height × width × 3 or 4 of an 8 bit file, RGB or RGBA: with all filters and checksums."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG"
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body), kind
        if kind == b"IHDR":
            width, height, depth, colour, *_ = struct.unpack(">IIBBBBB", body)
            assert depth == 8 and colour in (2, 6), (depth, colour)
            n = 3 if colour == 2 else 4
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    raw = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, n * width + 1)
    out = np.zeros((height, n * width), np.uint8)
    above = np.zeros(n * width, np.int32)
    for y in range(height):
        how, line = raw[y, 0], raw[y, 1:].astype(np.int32)
        if how == 2:
            line = (line + above) & 255
        elif how:
            line, up = line.tolist(), above.tolist()  # faster than elements of an array
            for x in range(len(line)):
                a, b, c = (line[x - n] if x >= n else 0), up[x], (up[x - n] if x >= n else 0)
                if how == 1:
                    line[x] = (line[x] + a) & 255
                elif how == 3:
                    line[x] = (line[x] + (a + b) // 2) & 255
                else:
                    p = a + b - c
                    d = (abs(p - a), abs(p - b), abs(p - c))
                    line[x] = (line[x] + (a if d[0] == min(d) else b if d[1] == min(d) else c)) & 255
            line = np.array(line, np.int32)
        out[y] = above = line
    return out.reshape(height, width, n)


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
