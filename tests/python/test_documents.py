"""The examples of docs/python.md run as they are printed there."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from conftest import CHARACTERS, ROOT, SINEW, run

import sinew

PAGE = (ROOT / "docs/python.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^## ([^\n]+)\n(?:(?!^## ).)*?^```python\n(.*?)^```", PAGE, re.M | re.S)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    run(CHARACTERS, "caped", folder / "hero.glb")
    shutil.copy(folder / "hero.glb", folder / "jacket.glb")
    run(SINEW, "bind", folder / "hero.glb", "-o", folder / "finished.glb", "--method", "closest-distance", "--quiet")
    return folder


@pytest.mark.parametrize("title, code", EXAMPLES, ids=[title for title, _ in EXAMPLES])
def test_example(title, code, folder):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "MPLBACKEND": "Agg"}
    done = subprocess.run([sys.executable, "-W", "error::SyntaxWarning", "-c", code], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip(), "an example shows something"
    for written in re.findall(r'(?:save|savefig)\("([^"]+)"', code):
        assert (folder / written).stat().st_size > 1000, written


def test_there_are_seven_examples():
    assert len(EXAMPLES) == 7


@pytest.mark.skipif(not shutil.which("mypy"), reason="there is no mypy (scripts/setup installs it)")
def test_the_types_hold_for_the_examples(tmp_path):
    files = []
    for number, (_, code) in enumerate(EXAMPLES):
        files.append(tmp_path / f"example_{number}.py")
        files[-1].write_text(code, encoding="utf-8")
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import sinew\nsinew.load('hero.glb').save(None, 3)\n", encoding="utf-8")
    package = pathlib.Path(sinew.__file__).resolve().parents[1]
    done = subprocess.run(["mypy", "--strict", "--ignore-missing-imports", "--cache-dir", str(tmp_path / "cache"), *map(str, files), str(wrong)],
                          cwd=tmp_path, env={**os.environ, "MYPYPATH": str(package)}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(lines) == 1 and lines[0].startswith("wrong.py:2:"), done.stdout + done.stderr
