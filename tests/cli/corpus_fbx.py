"""Writes every character of the corpus as a new FBX and as GLB: in random poses both show every corner at one place.

corpus_fbx.py [NAME…]: only files whose path contains a NAME. SINEW_CORPUS names the corpus; exits with 77 without it."""
import json
import random
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import support

WITHIN = 1e-5  # of the size


def corners(path):
    """The corners of all triangles of an OBJ file: (3 T, 3)."""
    points, faces = [], []
    for line in path.read_text().splitlines():
        if line.startswith("v "):
            points.append([float(word) for word in line.split()[1:4]])
        elif line.startswith("f "):
            faces.append([int(word.split("/")[0]) - 1 for word in line.split()[1:]])
    return np.array(points)[np.array(faces).ravel()]


def distance(source, folder, number):
    """The largest distance between the two files, as a fraction of the size."""
    run = lambda *words: support.sinew(*words, timeout=600)
    for kind in ("glb", "fbx"):
        done = run("bind", source, "-o", folder / f"{number}.{kind}", "--method", "closest-distance", "--quiet")
        if done.returncode:
            raise RuntimeError(done.stderr)
    names = [joint["name"] for joint in json.loads(run("inspect", folder / f"{number}.glb", "--json").stdout)["joints"]]
    names = [name for name in names if names.count(name) == 1]
    numbers = random.Random(number)
    largest = 0
    for pose in ({}, {name: {"rotate": [numbers.uniform(-30, 30) for _ in range(3)]} for name in names}):
        (folder / f"{number}.json").write_text(json.dumps({"joints": pose}))
        shown = []
        for kind in ("glb", "fbx"):
            out = folder / f"{number}.{kind}.obj"
            done = run("pose", folder / f"{number}.{kind}", "--pose", folder / f"{number}.json", "-o", out)
            if done.returncode:
                raise RuntimeError(done.stderr)
            shown.append(corners(out))
        a, b = shown
        if a.shape != b.shape:
            raise RuntimeError(f"{len(a)} corners in the GLB, {len(b)} in the FBX")
        largest = max(largest, np.abs(a - b).max() / np.linalg.norm(a.max(axis=0) - a.min(axis=0)))
    return largest


def main():
    if not support.CORPUS.is_dir():
        print("skipped: SINEW_CORPUS names no folder")
        return 77
    sources = support.corpus_files(sys.argv[1:])
    failed = 0
    with tempfile.TemporaryDirectory(prefix="sinew-fbx-") as folder, ThreadPoolExecutor(2) as pool:
        tasks = [pool.submit(distance, source, Path(folder), n) for n, source in enumerate(sources)]
        for source, task in zip(sources, tasks):
            try:
                found = task.result()
                wrong = "" if found <= WITHIN else f": more than {WITHIN:.0e}"
                print(f"{'FAILED' if wrong else 'ok':6} {found:.1e}  {source.relative_to(support.CORPUS)}{wrong}")
            except Exception as error:  # one bad file must not hide the others
                wrong = str(error)
                print(f"FAILED {source.relative_to(support.CORPUS)}: {wrong}")
            failed += bool(wrong)
    print(f"corpus_fbx: {len(sources) - failed} of {len(sources)} files passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
