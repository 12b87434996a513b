"""Writes every character of the corpus as a new FBX and as GLB: in random poses both show every corner at one place.

Two readers judge the FBX: sinew's, corner by corner, and Autodesk's, in the program of the npm package fbx2gltf (see
tests/package.json; left out where npm could not install it), whose vertices have another order.

corpus_fbx.py [NAME…]: only files whose path contains a NAME. SINEW_CORPUS names the corpus; exits with 77 without it."""
import collections
import itertools
import json
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import glb
import make
import numpy as np
import support

WITHIN = 1e-5  # of the size
SDK = Path(__file__).resolve().parents[1] / "node_modules/fbx2gltf/bin/Linux/FBX2glTF"
LOOKED_AT = 2000  # vertices of a character in Autodesk's reader, evenly chosen
SDK_WITHIN = 5e-4  # its program makes floats of angles: 2e-4 where a joint is turned by 90 degrees


def corners(path):
    """The corners of all triangles of an OBJ file: (3 T, 3)."""
    text = re.sub(r"/\S*", "", path.read_text())
    table = lambda letter, kind: np.array(" ".join(re.findall(rf"^{letter} (.*)", text, re.M)).split(), kind).reshape(-1, 3)
    return table("v", float)[table("f", int).ravel() - 1]


def shown(path, turns):
    """Where a viewer shows the skinned vertices of a GLB at rest, and with joints turned: {name: matrix}."""
    doc = glb.Doc(path)
    of_doc = lambda: np.vstack([glb.skinned(doc, node=n) for n in doc.list("nodes") if "skin" in n and "mesh" in n])
    rest = of_doc()
    for node in doc.list("nodes"):
        if node.get("name") in turns:
            node["matrix"] = (glb.node_matrix(node) @ turns[node["name"]]).T.ravel().tolist()
            for key in "translation", "rotation", "scale":
                node.pop(key, None)
    return rest, of_doc()


def apart(a, b):
    """The largest distance of two lists of (rest, posed) vertices in different orders, at rest or posed: each of `a` to
    the nearest of `b` at rest; of several there, to the nearest posed."""
    size = np.linalg.norm(np.ptp(b[0], axis=0))
    cell = 1e-3 * size
    at = collections.defaultdict(list)
    for n, key in enumerate(map(tuple, np.floor(b[0] / cell).astype(int))):
        at[key].append(n)
    worst = 0
    for rest, posed in zip(*a):
        low = np.floor(rest / cell - 0.5).astype(int)
        near = np.array([n for step in itertools.product((0, 1), repeat=3) for n in at.get(tuple(low + step), ())], int)
        if not len(near):
            raise RuntimeError(f"the reader has no vertex at {rest}")
        off = np.linalg.norm(b[0][near] - rest, axis=1)
        same = near[off <= off.min() + 1e-6 * size]
        worst = max(worst, off.min(), np.linalg.norm(b[1][same] - posed, axis=1).min())
    return worst


def run(*words):
    done = support.sinew(*words, timeout=600)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done


def without_clips(folder, number, *options):
    """The character as GLB and as FBX. Readers take the first frame of a clip for the rest pose."""
    doc = glb.Doc(folder / f"{number}.glb")
    doc.json.pop("animations", None)
    still, own, fbx = (folder / f"{number}.{name}" for name in ("still.glb", "own.glb", "still.fbx"))
    still.write_bytes(make.packed(doc.json, bytearray(doc.buffers[0])))
    for path in own, fbx:
        run("bind", still, "-o", path, "--method", "closest-distance", "--quiet", *(options if path == fbx else ["--decompress"]))
    return own, fbx


def random_turns(names):
    """{name: rotation in the joint's own axes, (4, 4)}."""
    turns = {}
    for name in names:
        turns[name] = np.eye(4)
        angles = np.random.default_rng(len(turns)).normal(scale=0.15, size=3)
        turns[name][:3, :3] = glb.rotation(np.append(angles, 1))
    return turns


def converted(command, out):
    """The document that a program made of an FBX."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode or not out.exists():
        raise RuntimeError(f"{command[0]}: {done.stdout[-500:]}")
    return out


def only_once(names, *documents):
    named = [[node.get("name") for node in glb.Doc(path).list("nodes")] for path in documents]
    return [name for name in names if all(each.count(name) == 1 for each in named)]


def judged_by_autodesk(folder, number, names):
    """The largest distance between the GLB and what Autodesk's reader makes of the FBX, as a fraction of the size, both
    as a viewer shows them."""
    own, fbx = without_clips(folder, number)
    read = folder / f"{number}.sdk.glb"
    converted([SDK, "-i", fbx, "-o", read, "--binary"], read)
    turns = random_turns(only_once(names, own, read))
    a, b = shown(own, turns), shown(read, turns)
    some = slice(None, None, 1 + len(a[0]) // LOOKED_AT)
    return apart([places[some] for places in a], b) / np.linalg.norm(np.ptp(a[0], axis=0))


def distance(source, folder, number):
    """The largest distances between the two files, as fractions of the size: as sinew and as Autodesk read them."""
    for kind in ("glb", "fbx"):
        run("bind", source, "-o", folder / f"{number}.{kind}", "--method", "closest-distance", "--quiet")
    names = [joint["name"] for joint in json.loads(run("inspect", folder / f"{number}.glb", "--json").stdout)["joints"]]
    names = [name for name in names if names.count(name) == 1]
    numbers = random.Random(number)
    largest = 0
    poses = {}, {name: {"rotate": [numbers.uniform(-30, 30) for _ in range(3)]} for name in names}
    for pose in poses:
        (folder / f"{number}.json").write_text(json.dumps({"joints": pose}))
        shown = []
        for kind in ("glb", "fbx"):
            out = folder / f"{number}.{kind}.obj"
            run("pose", folder / f"{number}.{kind}", "--pose", folder / f"{number}.json", "-o", out)
            shown.append(corners(out))
        a, b = shown
        if a.shape != b.shape:
            raise RuntimeError(f"{len(a)} corners in the GLB, {len(b)} in the FBX")
        largest = max(largest, np.abs(a - b).max() / np.linalg.norm(a.max(axis=0) - a.min(axis=0)))
    return largest, judged_by_autodesk(folder, number, names) if SDK.exists() else 0


def main():
    if not support.CORPUS.is_dir():
        print("skipped: SINEW_CORPUS names no folder")
        return 77
    if SDK.exists():
        SDK.chmod(0o755)  # its package has no rights for it
    else:
        print("skipped: Autodesk's reader: npm could not install tests/package.json")
    sources = support.corpus_files(sys.argv[1:])
    failed = 0
    with tempfile.TemporaryDirectory(prefix="sinew-fbx-") as folder, ThreadPoolExecutor(2) as pool:
        tasks = [pool.submit(distance, source, Path(folder), n) for n, source in enumerate(sources)]
        for source, task in zip(sources, tasks):
            try:
                found, by_sdk = task.result()
                wrong = "" if found <= WITHIN and by_sdk <= SDK_WITHIN else f": more than {WITHIN:.0e} or {SDK_WITHIN:.0e}"
                print(f"{'FAILED' if wrong else 'ok':6} {found:.1e} {by_sdk:.1e}  {source.relative_to(support.CORPUS)}{wrong}")
            except Exception as error:  # one bad file must not hide the others
                wrong = str(error)
                print(f"FAILED {source.relative_to(support.CORPUS)}: {wrong}")
            failed += bool(wrong)
    print(f"corpus_fbx: {len(sources) - failed} of {len(sources)} files passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
