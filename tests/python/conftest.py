"""Shared by the tests of the Python package: the program to compare with, and generated characters."""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys

import numpy as np
import pytest

# A script that was started with "&" ignores Ctrl-C, and so do its children, unless they want it.
signal.signal(signal.SIGINT, signal.default_int_handler)
ROOT = pathlib.Path(__file__).resolve().parents[2]
SINEW = os.environ.get("SINEW", str(ROOT / "build/release/sinew"))
CHARACTERS = os.environ.get("SINEW_CHARACTERS", str(ROOT / "build/release/tests/characters/sinew_characters"))
if "SINEW_PYTHON_PACKAGE" not in os.environ:  # by hand: the files of the tree, with the library of the build
    sys.path.insert(0, str(ROOT / "python"))
    os.environ.setdefault("SINEW_LIBRARY", str(ROOT / "build/release/capi/libsinew_c.so"))


def run(*args):
    """Runs a command that must succeed."""
    done = subprocess.run([str(a) for a in args], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="session")
def biped(work):
    """A generated character with weights: the file of sinew bind, geodesic-voxel at 64."""
    run(CHARACTERS, "biped_controls", work / "plain.glb")
    run(SINEW, "bind", work / "plain.glb", "-o", work / "biped.glb", "--method", "geodesic-voxel", "--resolution", "64",
        "--quiet")
    return work / "biped.glb"


@pytest.fixture(scope="session")
def dog(work):
    run(CHARACTERS, "quadruped", work / "dog.glb")
    return work / "dog.glb"


@pytest.fixture(scope="session")
def generated(work):
    """The file of a generated character, by its name."""
    def make(name):
        run(CHARACTERS, name, work / f"{name}.generated.glb")
        return work / f"{name}.generated.glb"
    return make


@pytest.fixture
def bar():
    """A closed bar along y from 0 to 2 as arrays, and two bones: the arguments of sinew.model."""
    return make_bar()


def make_bar(rings=21):
    y = np.repeat(np.linspace(0, 2, rings), 4)
    square = np.tile([[-0.2, -0.2], [-0.2, 0.2], [0.2, 0.2], [0.2, -0.2]], (rings, 1))
    vertices = np.column_stack([square[:, 0], y, square[:, 1]]).astype(np.float32)
    faces = []
    for ring in range(rings - 1):
        for side in range(4):
            a, b = 4 * ring + side, 4 * ring + (side + 1) % 4
            faces += [(a, b, b + 4), (a, b + 4, a + 4)]
    top = 4 * (rings - 1)
    faces += [(0, 2, 1), (0, 3, 2), (top, top + 1, top + 2), (top, top + 2, top + 3)]
    return {"vertices": vertices, "faces": np.array(faces, np.uint32),
            "heads": np.array([[0, 0.1, 0], [0, 1, 0]], np.float32),
            "tails": np.array([[0, 1, 0], [0, 1.9, 0]], np.float32), "parents": np.array([-1, 0], np.int32),
            "names": ["lower", "upper"]}


def rows_of_json(path):
    """The rows of a weights JSON file: for each vertex [[joint name, weight], …]."""
    document = json.loads(pathlib.Path(path).read_text())
    return [[(document["joints"][j], np.float32(w)) for j, w in row] for row in document["vertices"]]


def rows_of(weights):
    return [[(weights.joint_names[j], w) for j, w in zip(weights.indices[a:b], weights.data[a:b])]
            for a, b in zip(weights.indptr, weights.indptr[1:])]


def resident():
    """Bytes of memory of this process now."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
