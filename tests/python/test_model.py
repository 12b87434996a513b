"""Models, bindings and weights against the command line, to the bit."""
import json
import pickle

import numpy as np
import pytest
from conftest import SINEW, make_bar, rows_of, rows_of_json, run

import sinew


def test_a_bind_saves_the_bytes_of_the_command(biped, work):
    for number, (options, words) in enumerate([
            ({"method": "closest-distance"}, "--method closest-distance"),
            ({"resolution": 64, "falloff": 0.3}, "--resolution 64 --falloff 0.3"),
            ({"method": "geodesic-voxel", "resolution": 64, "max_influences": 2, "exclude": ["*hand*", "head"]},
             "--method geodesic-voxel --resolution 64 --max-influences 2 --exclude *hand* --exclude head"),
    ]):
        model = sinew.load(biped)
        weights = model.bind(**options).weights()
        notes = model.save(work / "own.glb", weights)
        run(SINEW, "bind", biped, "-o", work / f"command{number}.glb", *words.split(), "--quiet")
        assert (work / "own.glb").read_bytes() == (work / f"command{number}.glb").read_bytes(), words
        assert notes == []
        assert model.save(None, weights) == (work / "own.glb").read_bytes()


def test_a_pattern_that_matches_no_joint_warns(biped):
    model = sinew.load(biped)
    report = model.bind("closest-distance", exclude=["no such*"]).report()
    assert 'exclude="no such*" matches no joint of the skeleton' in report["warnings"]
    with pytest.raises(sinew.Error, match="matches no joint"):
        model.bind("closest-distance", exclude=["no such*"], strict=True)


def test_falloff_and_edits_come_after_the_bind(biped, work):
    model = sinew.load(biped)
    binding = model.bind("geodesic-voxel", resolution=64)
    edits = [{"op": "set", "joint": model.joint_names[3], "value": 0.5}]
    weights = binding.weights(falloff=0.6, edits=edits)
    (work / "edits.json").write_text(json.dumps({"edits": edits}))
    run(SINEW, "bind", biped, "-o", work / "edited.glb", "--method", "geodesic-voxel", "--resolution", "64", "--falloff",
        "0.6", "--edits", work / "edits.json", "--weights-json", work / "edited.json", "--quiet")
    assert rows_of(weights) == rows_of_json(work / "edited.json")
    assert weights.messages and "set" in weights.messages[0]
    # The same weights by the edit of finished weights, and weights JSON there and back.
    assert model.edit(binding.weights(falloff=0.6), edits) == weights
    model.save_weights(work / "own.json", weights)
    assert (work / "own.json").read_bytes() == (work / "edited.json").read_bytes()
    assert model.load_weights(work / "own.json") == weights


def test_falloff_by_angle_follows_the_pose(biped):
    binding = sinew.load(biped).bind("closest-distance")
    edits = {"falloff": [{"angles": [[0, 0.1], [90, 0.9]], "joints": "lower_leg_L"}]}
    plain, hard = (binding.weights(edits={"falloff": [{"value": a, "joints": "lower_leg_L"}]}) for a in (0.1, 0.9))
    assert plain != hard
    assert binding.weights(edits=edits) == plain
    for pose in ({"lower_leg_L": {"rotate": [90, 0, 0]}}, {"lower_leg_L": {"rotate": [0, 0, 150]}}):
        assert binding.weights(edits=edits, pose=pose) == hard
    assert binding.weights(edits=edits, pose={"upper_leg_L": {"rotate": [90, 0, 0]}}) == plain
    with pytest.raises(sinew.Error):
        binding.weights(edits=edits, pose={"no such joint": {"rotate": [90, 0, 0]}})


def test_a_region_says_which_joints_are_not_kept(biped):
    region = {"rigid": [{"joints": ["head", "foot_L"], "select": {"sphere": {"center": [0, 0, 0], "radius": 9}}}]}
    model = sinew.load(biped)
    (message,) = model.bind("closest-distance").weights(edits=region).messages
    assert message.startswith("warning: rigid 1: at ") and "are not among the 8 nearest" in message
    assert not model.bind("closest-distance", max_influences="all").weights(edits=region, max_influences=4).messages


def test_the_file_as_arrays(biped):
    model = sinew.load(biped)
    info = model.info()
    assert model.vertices.shape == (info["counts"]["vertices"], 3) == (model.vertex_count, 3)
    assert model.triangles.shape == (info["counts"]["triangles"], 3)
    assert model.vertices.dtype == np.float32 and model.triangles.dtype == np.uint32
    assert np.allclose(model.vertices.min(axis=0), info["box"][0]) and np.allclose(model.vertices.max(axis=0),
                                                                                  info["box"][1])
    with pytest.raises(ValueError):
        model.vertices[0] = 0  # memory of the library
    names = [j.name for j in model.joints]
    assert tuple(names) == model.joint_names and len(set(names)) == len(names)
    assert all(not j.deforms and j.reason for j in model.joints if j.name.startswith("ik_"))
    assert model.weights.shape == (model.vertex_count, len(names))
    vertices = model.vertices
    del model
    assert np.isfinite(vertices).all()  # the array keeps the model


def test_weights_as_arrays(biped):
    weights = sinew.load(biped).weights
    dense = weights.dense()
    assert dense.shape == weights.shape and dense.dtype == np.float32
    assert np.allclose(dense.sum(axis=1), 1, atol=1e-6)
    assert np.count_nonzero(dense) == weights.indptr[-1] == len(weights.indices) == len(weights.data)
    rows = np.repeat(np.arange(len(weights)), np.diff(weights.indptr))
    assert (dense[rows, weights.indices] == weights.data).all()
    joints, shares = weights.top(4)
    assert joints.shape == shares.shape == (len(weights), 4)
    assert (np.diff(shares, axis=1) <= 0).all() and (shares[:, 0] == dense.max(axis=1)).all()
    strongest = weights.joint_names[joints[0, 0]]
    assert (weights.joint(strongest) == dense[:, joints[0, 0]]).all()
    assert sinew.Weights.from_dense(dense, weights.joint_names) == weights
    assert sinew.Weights.from_csr(weights.indptr, weights.indices, weights.data, weights.joint_names) == weights
    assert len(weights.unweighted()) == 0
    two = weights.limit(2)
    assert np.diff(two.indptr).max() == 2 and np.allclose(two.dense().sum(axis=1), 1, atol=1e-6)
    mixed = two.keep(weights, vertices=np.arange(len(weights)) < 100)
    assert (mixed.dense()[:100] == dense[:100]).all() and (mixed.dense()[100:] == two.dense()[100:]).all()
    locked = two.keep(weights, joints=strongest)
    assert np.allclose(locked.joint(strongest), weights.joint(strongest), atol=1e-6)
    assert (two.difference(weights) <= 2).all() and two.difference(two).max() == 0


def test_transfer_and_compare_give_the_numbers_of_the_command(biped, dog, work):
    model = sinew.load(biped)
    other = model.bind("closest-distance").weights()
    model.save(work / "other.glb", other)
    run(SINEW, "transfer", biped, work / "other.glb", "-o", work / "moved.glb", "--quiet")
    moved = sinew.transfer(model, sinew.load(work / "other.glb"))
    assert moved == sinew.load(work / "moved.glb").weights
    assert set(np.unique(moved.how)) <= set(range(len(sinew.TRANSFER_HOW)))
    numbers = sinew.compare(model, model.weights, other)
    run(SINEW, "compare", biped, work / "other.glb", "--report", work / "compare.json")
    wanted = json.loads((work / "compare.json").read_text())
    assert numbers["l1"] == {k: wanted["l1"][k] for k in numbers["l1"]}
    assert numbers["precision"] == wanted["precision"]
    assert sinew.compare(model, other, other, gates={"l1.mean": 0, "deformation.standard.max": 0})["l1"]["max"] == 0
    with pytest.raises(sinew.GateError, match="^l1.mean 0.01: the value is "):
        sinew.compare(model, model.weights, other, gates={"l1.mean": 0.01})
    with pytest.raises(sinew.UsageError, match="no such number"):
        sinew.compare(model, other, other, gates={"l2": 1})


def test_gates_are_those_of_the_command(biped, work):
    model = sinew.load(biped)
    other = model.bind("closest-distance").weights()
    model.save(work / "gated.glb", other)
    words = {"max_l1": 2, "max_distance": 100, "min_agreement": 0.125, "max_unweighted": 0}
    options = [w for name, limit in words.items() for w in ("--" + name.replace("_", "-"), limit)]
    run(SINEW, "compare", biped, work / "gated.glb", "--report", work / "gated.json", *options)
    wanted = json.loads((work / "gated.json").read_text())["gates"]
    assert sinew.compare(model, model.weights, other, gates=words)["gates"] == wanted
    assert "gates" not in sinew.compare(model, other, other)
    for name, limit, value in (("max_l1", 0.01, wanted[0]), ("max_distance", 0, wanted[1]),
                               ("min_agreement", 1, wanted[2])):
        with pytest.raises(sinew.GateError, match=f"^{name} {limit}: the value is {value['value']:.6g}$") as raised:
            sinew.compare(model, model.weights, other, gates={name: limit, "l1.mean": 2})
        assert raised.value.gates == ((name, limit, value["value"]),)
        assert pickle.loads(pickle.dumps(raised.value)).gates == raised.value.gates
    for gates, words in (({"max_unweighted": 0.5}, "whole number"), ({"max_l1": -1}, "from 0 up")):
        with pytest.raises(sinew.InputError, match=words):
            sinew.compare(model, other, other, gates=gates)


def test_a_progressive_bind_ends_with_the_bind(biped):
    model = sinew.load(biped)
    whole = model.bind("geodesic-voxel", resolution=128).weights()
    coarse = model.bind("geodesic-voxel", resolution=64).weights()
    first, shares = [], []

    def keep(binding):
        first.append(binding.weights())  # may use the model meanwhile
        return keep.go_on

    keep.go_on = None
    binding = model.bind_progressive(keep, "geodesic-voxel", resolution=128, on_progress=shares.append)
    assert binding.weights() == whole and first == [coarse] and coarse != whole
    assert shares == sorted(shares) and shares[-1] == 1
    keep.go_on = False
    assert model.bind_progressive(keep, "geodesic-voxel", resolution=128).weights() == coarse
    # No coarser result at a low resolution, or for a method without voxels.
    assert model.bind_progressive(keep, "geodesic-voxel", resolution=64).weights() == coarse
    model.bind_progressive(keep, "closest-distance")
    assert first == [coarse, coarse]

    def fail(binding):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        model.bind_progressive(fail, "geodesic-voxel", resolution=128)
    assert model.bind("geodesic-voxel", resolution=64).weights() == coarse


def test_callbacks_do_not_change_the_bind(biped):
    names = list(sinew.load(biped).joint_names[3:10])
    wanted = sinew.load(biped).bind("geodesic-voxel", resolution=128, exclude=names).weights()
    model = sinew.load(biped)
    assert model.bind_progressive(lambda b: b.weights() and True, "geodesic-voxel", resolution=128, exclude=names).weights() == wanted
    model = sinew.load(biped)
    assert model.bind("geodesic-voxel", resolution=128, exclude=names, on_progress=lambda _: model.joints).weights() == wanted


def test_volume_and_distances(biped, generated):
    model = sinew.load(biped)
    report = model.bind("geodesic-voxel", resolution=64).report()
    leaves = model.volume(method="geodesic-voxel", resolution=64)
    assert leaves.shape == (report["voxels"]["leaves"], 5) and leaves.dtype == np.float32
    assert set(np.unique(leaves[:, 4])) == {0, 1}
    low, high = model.vertices.min(axis=0), model.vertices.max(axis=0)
    edge = leaves[:, 3].min()
    assert (leaves[:, :3] > low - edge).all() and (leaves[:, :3] < high + edge).all()
    caped = sinew.load(generated("caped"))  # cells are partly exterior, where as published differs
    counts = []
    for published in ("on", "off"):
        options = dict(method="geodesic-voxel", as_published=published, view_pairs="both", resolution=64)
        counts.append(caped.bind(**options).report()["voxels"]["leaves"])
        assert len(caped.volume(**options)) == counts[-1]
    assert counts[0] < counts[1]
    with pytest.raises(sinew.TooLargeError, match="leaves"):
        model.volume(most=10, method="geodesic-voxel", resolution=64)
    name = next(j.name for j in model.joints if j.deforms)
    far = model.distances(name, resolution=64)
    assert far.shape == (model.vertex_count,) and far.dtype == np.float32 and (far >= 0).all()
    assert (far == model.distances(model.joint_names.index(name), resolution=64)).all()
    # A straight line is shorter than the way through the volume; where the bone is near, not by much.
    head = np.array(model.joints[model.joint_names.index(name)].head)
    straight = np.linalg.norm(model.vertices - head, axis=1)
    assert far.min() < 0.5 * np.linalg.norm(high - low) and np.isfinite(far).any()
    assert np.corrcoef(far[np.isfinite(far)], straight[np.isfinite(far)])[0, 1] > 0.5
    with pytest.raises(sinew.UsageError, match="no joint"):
        model.distances("nobody")


def test_defects_have_places(bar):
    whole = sinew.model(**bar).defects()
    assert whole.triangles.shape == (len(bar["faces"]),) and not whole.triangles.any() and whole.edges.shape == (0, 3)
    # Without its last triangle, and with one that passes through a side.
    count = len(bar["vertices"])
    vertices = np.concatenate([bar["vertices"], np.array([[-1, 1.01, 0], [1, 1.02, 0], [0, 1.03, 1]], np.float32)])
    faces = np.concatenate([bar["faces"][:-1], [[count, count + 1, count + 2]]]).astype(np.uint32)
    model = sinew.model(**{**bar, "vertices": vertices, "faces": faces})
    found, numbers = model.defects(), model.info()["defects"]
    assert found.triangles[-1] == 1 and found.triangles.sum() > 1
    assert (found.edges[:, 2] == 1).sum() == numbers["boundary_edges"] == 6
    assert (found.edges[:, 2] == 3).sum() == numbers["nonmanifold_edges"] == 0
    report = model.bind("closest-distance").report()["defects"]
    assert report["intersecting_triangles"] == (found.triangles == 1).sum()


def test_the_rest_pose_is_where_the_nodes_stand(biped, work):
    model = sinew.load(biped)
    rest, world = model.rest_matrices()
    same = np.tile(np.eye(3, 4), (len(model.joint_names), 1, 1))
    assert np.allclose(rest, same, atol=1e-6) and np.allclose(world, np.eye(3, 4), atol=1e-6)
    # The node of a joint turned: the pose that turns the joint.
    content = biped.read_bytes()
    length = int.from_bytes(content[12:16], "little")
    document = json.loads(content[20:20 + length])
    name = "head"
    node = next(n for n in document["nodes"] if n.get("name") == name)
    assert "rotation" not in node
    node["rotation"] = [float(np.sin(np.pi / 8)), 0, 0, float(np.cos(np.pi / 8))]
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    turned = content[:8] + (len(content) - length + len(text)).to_bytes(4, "little") + \
        len(text).to_bytes(4, "little") + b"JSON" + text + content[20 + length:]
    (work / "turned.glb").write_bytes(turned)
    rest, world = sinew.load(work / "turned.glb").rest_matrices()
    assert np.allclose(rest, model.pose_matrices({name: {"rotate": [45, 0, 0]}}), atol=1e-6)
    assert not np.allclose(rest, same, atol=0.1) and np.allclose(world, np.eye(3, 4), atol=1e-6)


def test_a_pose_is_that_of_the_command(biped, work):
    model = sinew.load(biped)
    name = model.joint_names[2]
    pose = {name: {"rotate": [30, 0, 10]}}
    (work / "pose.json").write_text(json.dumps({"joints": pose}))
    run(SINEW, "pose", biped, "--pose", work / "pose.json", "-o", work / "posed.obj")
    wanted = np.array([line.split()[1:] for line in (work / "posed.obj").read_text().splitlines()
                       if line.startswith("v ")], np.float32)
    assert (sinew.pose(model, model.weights, pose) == wanted).all()
    matrices = model.pose_matrices(pose)
    square = np.concatenate([matrices, np.tile([[[0, 0, 0, 1]]], (len(matrices), 1, 1))], axis=1)
    assert (model.deform(model.weights, square) == wanted).all()
    assert model.deform(model.weights, matrices, "dual").shape == wanted.shape
    assert "arms up" in model.standard_poses()
    assert (model.random_pose(10, 3) == model.random_pose(10, 3)).all()
    rest = np.tile([0, 0, 0, 1, 0, 0, 0, 1, 1, 1], (len(matrices), 1))
    assert (sinew.pose(model, model.weights, rest) == model.vertices).all()
    model.save(work / "moving.glb", model.weights, animations=[("nod", [0, 1], [rest, model.random_pose(20)])])
    again = sinew.load(work / "moving.glb")
    assert [c["name"] for c in again.info()["clips"]] == ["nod"]
    assert np.allclose(again.clip_matrices(0, 1), model.pose_matrices(model.random_pose(20)), atol=1e-5)


def test_kept_bindings(biped, work):
    model = sinew.load(biped)
    binding = model.bind("geodesic-voxel", resolution=64, keep_volume=True)
    binding.save(work / "kept.binding")
    assert binding.save() == (work / "kept.binding").read_bytes()
    again = sinew.load(biped).load_binding(work / "kept.binding")
    assert again.weights() == binding.weights()
    run(SINEW, "bind", biped, "-o", work / "reused.glb", "--reuse", work / "kept.binding", "--quiet")
    assert binding.weights() == sinew.load(work / "reused.glb").weights
    assert binding.rebind(sinew.load(biped)).weights() == binding.weights()
    assert binding.coverage.shape == (model.vertex_count,) and binding.coverage.max() < len(sinew.COVERAGE)
    report = binding.report()
    assert report["method"] == "geodesic-voxel"
    assert report["coverage"]["share"] == 1


def test_options_are_those_of_the_command():
    names = {o["name"] for o in sinew.settings()}
    assert {"method", "falloff", "resolution", "max-influences"} <= names
    assert sinew.version() == run(SINEW, "--version").split()[-1] == sinew.__version__


def test_files_that_cannot_be_read_or_written(work, biped):
    with pytest.raises(sinew.FileError, match="nothing.glb"):
        sinew.load(work / "nothing.glb")
    with pytest.raises(OSError):
        sinew.load(work / "nothing.glb")
    (work / "junk.glb").write_bytes(b"glTF" + b"\0" * 40)
    with pytest.raises(sinew.InputError, match="junk.glb"):
        sinew.load(work / "junk.glb")
    model = sinew.load(biped)
    with pytest.raises(sinew.UsageError, match=".glb"):
        model.save(work / "out.dae", model.weights)
    with pytest.raises(sinew.FileError, match="no/such"):
        model.save(work / "no/such/folder.glb", model.weights)
    assert not list(work.glob("*.part")) and not list(work.glob(".*.part"))


def test_an_fbx_is_that_of_the_command(biped, work):
    model = sinew.load(biped)
    model.save(work / "out.fbx", model.bind().weights(), fbx_unit="m")
    run(SINEW, "bind", biped, "-o", work / "by-command.fbx", "--fbx-unit", "m", "--quiet")
    assert (work / "out.fbx").read_bytes() == (work / "by-command.fbx").read_bytes()
    assert sinew.load(work / "out.fbx").joint_names == model.joint_names


def test_a_gltf_is_that_of_the_command(biped, work):
    """With the files beside it, from a file with a buffer of its own and from arrays."""
    data = biped.read_bytes()
    length = int.from_bytes(data[12:16], "little")
    document = json.loads(data[20:20 + length])
    document["buffers"][0]["uri"] = "data.bin"
    folder = work / "apart"
    folder.mkdir()
    (folder / "data.bin").write_bytes(data[20 + length + 8:])
    (folder / "in.gltf").write_text(json.dumps(document))
    for out in ("command", "python"):
        (work / out).mkdir()
    run(SINEW, "bind", folder / "in.gltf", "-o", work / "command/out.gltf", "--method", "closest-distance", "--quiet")
    model = sinew.load(folder / "in.gltf")
    notes = model.save(work / "python/out.gltf", model.bind("closest-distance").weights())
    names = sorted(p.name for p in (work / "command").iterdir())
    assert names == sorted(p.name for p in (work / "python").iterdir()) and len(names) > 1 and any("copied" in n for n in notes)
    for name in names:
        assert (work / "command" / name).read_bytes() == (work / "python" / name).read_bytes(), name
    with pytest.raises(sinew.FileError):
        model.save(work / "none" / "out.gltf", model.weights)
    bar = sinew.model(**make_bar())
    bar.save(work / "bar.gltf", bar.bind("closest-distance").weights())
    assert sinew.load(work / "bar.gltf").vertex_count == bar.vertex_count


def test_weights_for_scipy(biped):
    sparse = pytest.importorskip("scipy.sparse")
    weights = sinew.load(biped).weights
    made = weights.to_scipy()
    assert sparse.issparse(made) and (made.toarray() == weights.dense()).all()
