"""Locks, checks, pictures and flat figures: each gives what the command line gives."""
import json
import re
import subprocess

import numpy as np
import pytest
from conftest import SINEW, run

import sinew
from sinew import _model


def test_a_selection_and_locks_give_the_weights_of_the_command(biped, work):
    model = sinew.load(biped)
    before = model.weights
    kept = model.vertices[:, 1] < np.median(model.vertices[:, 1])
    lists = {"vertices": {"lock": {"select": {"vertices": np.flatnonzero(kept).tolist()}}}}
    (work / "lock.json").write_text(json.dumps(lists["vertices"]))
    options = ("--method", "closest-distance", "--quiet")
    run(SINEW, "bind", biped, "-o", work / "kept.glb", "--edits", work / "lock.json", *options)
    model.select(~kept)
    got, wanted = model.bind("closest-distance").weights(), sinew.load(work / "kept.glb").weights
    assert (got.dense()[~kept] == wanted.dense()[~kept]).all()
    assert (got.dense()[kept] == before.dense()[kept]).all()
    assert got != before
    joint = model.joint_names[int(np.argmax(before.dense().sum(axis=0)))]
    run(SINEW, "bind", biped, "-o", work / "locked.glb", "--lock", joint, *options)
    model.select(locked=[joint])
    assert model.bind("closest-distance").weights() == sinew.load(work / "locked.glb").weights


def test_clean_gives_the_weights_of_the_command(biped, work):
    model = sinew.load(biped)
    dense = model.weights.dense()
    dense[::40] = 0
    dense[::40, 9] = 1
    model.save(work / "wrong.glb", sinew.Weights.from_dense(dense, model.joint_names))
    run(SINEW, "clean", work / "wrong.glb", "-o", work / "clean.glb", "--quiet")
    wrong = sinew.load(work / "wrong.glb")
    cleaned = wrong.clean()
    assert cleaned == sinew.load(work / "clean.glb").weights and cleaned.cleaned["filled"] > 100
    assert np.abs(cleaned.dense() - model.weights.dense()).mean() < 0.1 * np.abs(dense - model.weights.dense()).mean()
    assert wrong.clean(strength=0) == wrong.weights
    with pytest.raises(sinew.UsageError, match="strength must be from 0 to 4"):
        wrong.clean(strength=5)


def test_questions_are_those_of_the_command_and_pins_answer_them(biped, work):
    model = sinew.load(biped)
    said = subprocess.run([SINEW, "questions", biped, "--json", "--top", "5"], capture_output=True, text=True)
    asked = model.questions(top=5)
    assert said.returncode == 0 and json.loads(said.stdout)["questions"] == asked and len(asked) == 5
    name = asked[0]["joints"][0]
    vertex = asked[0]["vertex"]
    answered = model.weights.pin(model, {vertex: {name: 1}}, reach=0.1)
    assert answered.dense()[vertex, model.joint_names.index(name)] == 1
    assert answered == model.weights.pin(model, [{"vertex": vertex, "weights": {name: 1}}], reach=0.1)
    with pytest.raises(sinew.InputError, match="pin 1: weights must add up to 1"):
        model.weights.pin(model, {vertex: {name: 0.5}})


def test_answers_that_cannot_be_name_the_entry(bar):
    def pin(*rows):
        return {"op": "pin", "pins": [{"vertex": 0, "weights": row} for row in rows]}

    model = sinew.model(**bar)
    weights = model.bind("closest-distance").weights()
    held = sinew.model(**bar, weights=weights)
    idle = sinew.model(**bar, deform=[1, 0])
    border = {"op": "border", "joints": ["lower", "upper"], "shift": 0.1}
    for of, edits, said in (
            (held, {"lock": {"select": {"vertices": [0]}}, "edits": [pin({"lower": 1})]},
             "edit 1: pin: pin 1: the vertex 0 is locked"),
            (model, [pin({"lower": 1}, {"upper": 1})], "edit 1: pin: pins 1 and 2 are at one place and disagree"),
            (idle, [pin({"upper": 1})], "edit 1: pin: pin 1: the joint 'upper' does not deform"),
            (model, [pin({"lower": 0.5})], "edit 1: pin: pin 1: weights must add up to 1, not to 0.5"),
            (model, [{"op": "assign", "joint": "lower", "parts": True}], "edit 1: assign: the part at vertex 0 is 100 %"),
            (model, [{"op": "set", "joint": "lower", "value": 1}, border],
             "edit 2: border: the joints 'lower' and 'upper' do not touch")):
        with pytest.raises(sinew.InputError, match=re.escape(said)):
            of.edit(weights, edits)


def test_check_gives_the_report_of_the_command(biped):
    model = sinew.load(biped)
    for options, words in (({}, ()), ({"profile": "unreal", "skip": ["bleed", "stretch"], "thresholds": {"tiny": 0}},
                                      ("--profile", "unreal", "--skip", "bleed", "--skip", "stretch", "--max", "tiny=0")),
                           ({"only": "influences", "strict": True}, ("--only", "influences", "--strict"))):
        said = subprocess.run([SINEW, "check", biped, "--json", *words], capture_output=True, text=True)
        assert said.returncode in (0, 1), said.stderr
        report = model.check(**options)
        assert report == json.loads(said.stdout)
        assert report["passed"] == (said.returncode == 0)
    # Two joints at every vertex where one is allowed.
    assert not model.check(thresholds={"influences": 1}, only="influences")["passed"]
    with pytest.raises(sinew.UsageError, match="there is no profile 'unty' .*unity"):
        model.check(profile="unty")
    with pytest.raises(sinew.Error, match="bled"):
        model.check(only="bled")


def test_check_of_arrays(bar):
    model = sinew.model(**bar, up=(0, 0, 1))
    report = model.check(model.bind().weights())
    assert report["passed"] and report["vertices"] == len(bar["vertices"])
    with pytest.raises(sinew.UsageError, match="no weights to check"):
        model.check()


def drawing(model):
    """Skips a test where the library draws no pictures, as that of the wheel that is given away."""
    try:
        model.render(None, view="surface", size=(64, 64))
    except sinew.FileError as problem:
        pytest.skip(str(problem))


def test_render_gives_the_picture_of_the_command(biped, work):
    model = sinew.load(biped)
    drawing(model)
    name = model.joint_names[3]
    pose = {name: {"quaternion": [0, 0, 0.5, 0.8660254]}}
    (work / "turn.json").write_text(json.dumps({"joints": pose}))
    small = ("--size", "320x240", "--quiet")
    for options, words in (({}, ()), ({"view": "joint", "joints": [name], "dark": True, "overlay": True},
                                      ("--joint", name, "--background", "dark", "--skeleton-overlay", "on")),
                           ({"view": "strongest", "views": ["top", (30, 10)], "zoom": name, "title": "a title"},
                            ("--view", "strongest", "--from", "top", "--yaw", "30", "--pitch", "10", "--zoom", name,
                             "--title", "a title")),
                           ({"pose": pose, "pose_name": "turn", "legend": False},
                            ("--pose", work / "turn.json", "--no-legend"))):
        run(SINEW, "render", biped, "-o", work / "wanted.png", *small, *words)
        assert model.render(None, size=(320, 240), **options) == (work / "wanted.png").read_bytes(), options
    with pytest.raises(sinew.UsageError, match="there is no view 'jonts'"):
        model.render(None, view="jonts")
    with pytest.raises(sinew.UsageError, match="need joints"):
        model.render(None, view="distance")


def test_render_of_arrays(bar, work):
    """With z upwards the picture is that of the same bar with y upwards."""
    model = sinew.model(**bar)
    drawing(model)
    weights = model.bind().weights()
    turned = {**bar, **{k: np.ascontiguousarray(bar[k] @ np.float32([[1, 0, 0], [0, 0, 1], [0, -1, 0]]))
                        for k in ("vertices", "heads", "tails")}}
    other = sinew.model(**turned, up=(0, 0, 1))
    size = (200, 160)
    assert other.render(None, weights, size=size) == model.render(None, weights, size=size)
    model.render(work / "bar.png", weights, size=size)
    assert (work / "bar.png").read_bytes().startswith(b"\x89PNG")


def test_cutout_gives_the_file_of_the_command(work):
    pixels = np.zeros((120, 60, 4), np.uint8)
    pixels[10:110, 15:45] = (200, 80, 40, 255)
    bones = {"bones": [{"name": "body", "head": [30, 105], "tail": [30, 60]},
                       {"name": "top", "parent": "body", "head": [30, 60], "tail": [30, 15]}]}
    (work / "flat.png").write_bytes(_model._png(pixels))
    (work / "flat.json").write_text(json.dumps(bones))
    run(SINEW, "cutout", work / "flat.png", "--bones", work / "flat.json", "-o", work / "flat.glb", "--quiet")
    wanted = (work / "flat.glb").read_bytes()
    assert sinew.cutout(pixels, bones, png=(work / "flat.png").read_bytes(), name="flat.png") == wanted
    assert sinew.cutout(pixels, bones, name="flat.png") == wanted
    layered = {**bones, "layers": [{"image": "flat.png", "name": "flat"}]}
    (work / "layers.json").write_text(json.dumps(layered))
    run(SINEW, "cutout", work / "layers.json", "-o", work / "layers.glb", "--quiet")
    assert sinew.cutout({"flat.png": pixels}, layered) == (work / "layers.glb").read_bytes()
    with pytest.raises(sinew.InputError, match="picture picture.png has the shape"):
        sinew.cutout(pixels[..., :3], bones)
