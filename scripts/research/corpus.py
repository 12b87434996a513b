"""Finds the real characters that scripts measure on. The environment variable SINEW_CORPUS names their folder, or several
folders with colons between them; scripts/test and the Makefile set it if they find one."""
import csv
import os
import pathlib

NO_REFERENCE = {"q_crab"}  # NaN in the shipped weights; bound, but not compared


def folders():
    """The folders of SINEW_CORPUS that exist."""
    named = (pathlib.Path(f) for f in os.environ.get("SINEW_CORPUS", "").split(":") if f)
    return [f for f in named if f.is_dir()]


def folder():
    """The first folder, or None."""
    return next(iter(folders()), None)


def characters(corpus):
    """(name, file) of every glTF character; for a compressed file its decoded twin."""
    for each in sorted(p for p in corpus.iterdir() if p.is_dir()):
        files = sorted(f for f in each.iterdir() if f.suffix in (".glb", ".gltf", ".vrm"))
        decoded = [f for f in files if ".decoded." in f.name]
        if files:
            yield each.name, (decoded or files)[0]


def sources(corpus):
    """The source (author or project) of each character, by name: the column "family" of the folder's INDEX.tsv, else the
    first word of the name."""
    index = corpus / "INDEX.tsv"
    rows = csv.DictReader(index.open(), delimiter="\t") if index.exists() else []
    family = {r["id"]: r["family"] for r in rows if r.get("id") and r.get("family")}
    # ray_robot is the model of q_robot_expressive.
    return {n: "q" if n == "ray_robot" else family.get(n, n.split("_")[0]) for n, _ in characters(corpus)}
