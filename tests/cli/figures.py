"""Pictures of flat figures with soft edges."""
import numpy as np


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
