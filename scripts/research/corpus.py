"""Finds the corpus of real characters. The environment variable SINEW_CORPUS names its folder; scripts/test and the
Makefile set it if they find one."""
import os
import pathlib


def folder():
    """The folder of the corpus, or None if SINEW_CORPUS names none."""
    named = os.environ.get("SINEW_CORPUS")
    return pathlib.Path(named) if named and pathlib.Path(named).is_dir() else None


def characters(corpus):
    """(name, file) of every glTF character; for a compressed file its decoded twin."""
    for each in sorted(p for p in corpus.iterdir() if p.is_dir()):
        files = sorted(f for f in each.iterdir() if f.suffix in (".glb", ".gltf", ".vrm"))
        decoded = [f for f in files if ".decoded." in f.name]
        if files:
            yield each.name, (decoded or files)[0]
