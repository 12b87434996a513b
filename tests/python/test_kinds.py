"""Files as other programs write them (docs/notes/files.md), against the command line."""
import json
import sys

import numpy as np
from conftest import ROOT, SINEW, run

import sinew

sys.path.insert(0, str(ROOT / "tests/cli"))
import glb  # noqa: E402
import person  # noqa: E402


def clip(doc, data):
    """The left arm turns, in a file of `person`."""
    for node in doc["nodes"][:len(person.JOINTS)]:
        node["translation"] = np.array(node.pop("matrix"))[12:15].tolist()
    times = person.add(doc, data, np.array([[0.0], [1.0]]), 5126, "SCALAR")
    doc["accessors"][times].update(min=[0], max=[1])
    turns = person.add(doc, data, np.array([[0, 0, 0, 1], [0, 0, 0.6, 0.8]]), 5126, "VEC4")
    doc["animations"] = [{"name": "wave", "samplers": [{"input": times, "output": turns}],
                          "channels": [{"sampler": 0, "target": {"node": 3, "path": "rotation"}}]}]


def test_the_skeleton_of_a_character_with_its_clips(tmp_path):
    rig = person.write(tmp_path / "rig.glb", [person.body()], edit=clip)
    body, out = person.body(), tmp_path / "out.glb"
    text = "".join("v {} {} {}\n".format(*p) for p in body["positions"])
    (tmp_path / "mesh.obj").write_text(text + "".join("f {} {} {}\n".format(*t + 1) for t in body["triangles"]))
    run(SINEW, "bind", tmp_path / "mesh.obj", "--skeleton", rig, "--with-clips", "-o", out, "--quiet")
    for with_clips in True, False:
        model = sinew.load(tmp_path / "mesh.obj", rig, with_clips=with_clips)
        model.save(tmp_path / "own.glb", model.bind().weights())
        names = [a["name"] for a in glb.Doc(tmp_path / "own.glb").list("animations")]
        assert names == (["wave"] if with_clips else [])
        assert ((tmp_path / "own.glb").read_bytes() == out.read_bytes()) == with_clips
    for bad in {}, {"skeleton": json.dumps({"bones": [{"name": "a", "head": [0, 0, 0]}]}).encode()}:
        try:
            sinew.load(tmp_path / "mesh.obj", **bad, with_clips=True)
            raise AssertionError("a skeleton without animations")
        except sinew.UsageError:
            pass


def test_only_missing(tmp_path):
    positions, triangles, _ = person.tubes(person.BONES[:2], radius=0.12)
    shirt = {"name": "shirt", "positions": positions, "triangles": triangles, "inverse": None}
    path, out = person.write(tmp_path / "in.glb", [person.body(), shirt]), tmp_path / "out.glb"
    run(SINEW, "bind", path, "--only-missing", "-o", out, "--quiet")
    model = sinew.load(path, only_missing=True)
    model.save(tmp_path / "own.glb", model.bind().weights())
    assert (tmp_path / "own.glb").read_bytes() == out.read_bytes()
    assert person.apart(path, out) == 0
    assert sinew.load(path).vertex_count < model.vertex_count


def test_two_bind_poses_are_shown_as_a_viewer_shows_them(tmp_path):
    down = person.turned({"arm_L": -80, "arm_R": 80})
    positions, triangles, owner = person.tubes(person.ARMS, radius=0.1)
    half = np.linalg.norm(positions - person.AT[owner], axis=1) < 0.15  # blended at their joints
    stored = person.move(positions, (down @ np.linalg.inv(person.REST))[owner])
    sleeves = {"name": "sleeves", "positions": stored, "triangles": triangles, "owner": owner,
               "inverse": np.linalg.inv(down)}

    def blend(doc, data):
        attributes = doc["meshes"][1]["primitives"][0]["attributes"]
        rows = np.zeros((len(owner), 4))
        rows[:, 0], rows[:, 1] = owner, 1
        attributes["JOINTS_0"] = person.add(doc, data, rows, 5121, "VEC4")
        shares = np.where(half[:, None], (0.5, 0.5, 0, 0), (1, 0, 0, 0))
        attributes["WEIGHTS_0"] = person.add(doc, data, shares, 5126, "VEC4")

    path = person.write(tmp_path / "in.glb", [person.body(), sleeves], edit=lambda *file: (blend(*file), clip(*file)))
    doc, model = glb.Doc(path), sinew.load(path)
    to_world = model.rest_matrices()[1]
    for time in 0, 1:
        moved = glb.sampled(doc, 0, time)
        shown = np.vstack([glb.skinned(doc, moved, n) for n in doc.json["nodes"] if "skin" in n])
        got = model.deform(model.weights, model.clip_matrices(0, time))
        np.testing.assert_allclose(got @ to_world[:, :3].T + to_world[:, 3], shown, atol=1e-5)
