"""Shared by the tests of the command line: paths, and how to run the program and the validator."""
import json
import os
import re
import signal
import subprocess
import sys
import unittest
from pathlib import Path

# A script that was started with "&" ignores Ctrl-C, and so do its children, unless they want it.
signal.signal(signal.SIGINT, signal.default_int_handler)
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SINEW = os.environ.get("SINEW", str(ROOT / "build/release/sinew"))
CHARACTERS = os.environ.get("SINEW_CHARACTERS", str(ROOT / "build/release/tests/characters/sinew_characters"))
STREAMS = os.environ.get("SINEW_STREAMS", str(ROOT / "build/release/tests/sinew_streams"))
# For tests that limit the memory or the processor time of the program: the sanitizers take much more of both.
SANITIZED = os.environ.get("SINEW_SANITIZED") == "ON"
without_sanitizers = unittest.skipIf(SANITIZED, "the sanitizers exceed the limits of this test")
# The folder of real characters. Without SINEW_CORPUS it does not exist, and tests that need it are skipped.
CORPUS = Path(os.environ.get("SINEW_CORPUS") or ROOT / "no-corpus")


def run(*args, timeout=300, **kwargs):
    """Runs a program with no terminal and no input; returns the finished process with text output."""
    return subprocess.run(
        [str(a) for a in args], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, **kwargs
    )


def sinew(*args, **kwargs):
    return run(SINEW, *args, **kwargs)


def corpus_files(words):
    """The glTF and VRM files of the corpus whose path contains one of the words; all without words."""
    files = sorted(p for p in CORPUS.rglob("*") if p.suffix in (".glb", ".gltf", ".vrm"))
    return [p for p in files if not words or any(word in str(p) for word in words)]


def validate(files):
    """{file: {"severity CODE": count}} by the Khronos validator, or None where it is not installed."""
    try:
        done = run("node", HERE / "validate.mjs", *files, timeout=600)
    except FileNotFoundError:
        return None
    if done.returncode == 77:
        return None
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def new_messages(before, after):
    """Validator messages that `after` has more often than `before`."""
    return {k: (before.get(k, 0), n) for k, n in after.items() if n > before.get(k, 0)}


def keys(value, path=""):
    """The paths of a report's values, as its page documents them: "a.b", "list[].c"; of an empty list "list[]"."""
    if isinstance(value, dict):
        for k, v in value.items():
            yield from keys(v, f"{path}.{k}" if path else k)
    elif isinstance(value, list):
        for v in value:
            yield from keys(v, path + "[]")
        if not value:
            yield path + "[]"
    else:
        yield path


def documented_keys(page):
    """The keys in the first column of a page's tables; a row may have several."""
    cells = re.findall(r"^\| (`[^|]+`) \|", page, re.M)
    return {key for cell in cells for key in re.findall(r"`([^`]+)`", cell)}


def main():
    """Runs the classes of the program's file that are named, or all; exit 77 if every test was skipped."""
    outcome = unittest.main(exit=False, verbosity=1).result
    for test, reason in outcome.skipped:
        print(f"skipped: {test}: {reason}")
    only_skips = outcome.testsRun and len(outcome.skipped) == outcome.testsRun
    sys.exit(77 if only_skips else not outcome.wasSuccessful())
