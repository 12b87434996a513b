"""sinew.bind and sinew.model from arrays: shapes, types, selections, and their errors."""
import re

import numpy as np
import pytest
from conftest import SINEW, make_bar, run

import sinew


def test_one_call_binds_arrays(bar):
    weights = sinew.bind(**bar)
    assert weights.joint_names == ("lower", "upper")
    dense, y = weights.dense(), bar["vertices"][:, 1]
    assert np.allclose(dense.sum(axis=1), 1, atol=1e-6)
    assert (dense[y < 0.5, 0] > 0.9).all() and (dense[y > 1.5, 1] > 0.9).all()
    assert sinew.model(**bar).bind().weights() == weights


def test_arrays_give_the_weights_of_the_file(dog):
    """A file without turned joints: its arrays say all that a bind reads."""
    model = sinew.load(dog)
    joints = model.joints
    arrays = {"vertices": model.vertices, "faces": model.triangles, "heads": [j.head for j in joints],
              "parents": [j.parent for j in joints], "names": [j.name for j in joints]}
    for method in ("surface-heat", "geodesic-voxel"):
        options = {"method": method, "resolution": 64}
        assert sinew.bind(**arrays, **options) == model.bind(**options).weights()


def test_other_types_and_layouts_give_the_same(bar):
    wanted = sinew.bind(**bar)
    for change in ({"vertices": bar["vertices"].astype(np.float64)},
                   {"vertices": np.asfortranarray(bar["vertices"])},
                   {"vertices": bar["vertices"].tolist(), "faces": bar["faces"].tolist()},
                   {"faces": bar["faces"].astype(np.int64), "parents": [-1, 0]},
                   {"faces": list(bar["faces"].astype(np.int32))},
                   {"rest": np.tile(np.eye(4), (2, 1, 1))},
                   {"transform": np.eye(4)},
                   {"deform": [True, True]}):
        assert sinew.bind(**{**bar, **change}) == wanted, list(change)
    wide = np.zeros((len(bar["vertices"]), 6), np.float32)
    wide[:, ::2] = bar["vertices"]
    assert sinew.bind(**{**bar, "vertices": wide[:, ::2]}) == wanted


def test_contiguous_arrays_are_not_copied(bar):
    from sinew._library import array
    for values, dtype in ((bar["vertices"], np.float32), (bar["faces"], np.uint32)):
        assert np.shares_memory(array(values, dtype, (None, 3), "x"), values)


def test_polygons_and_several_meshes(bar):
    # Quads as an array, and polygons of different sizes as a list.
    squares = [[4 * r + s, 4 * r + (s + 1) % 4, 4 * r + 4 + (s + 1) % 4, 4 * r + 4 + s] for r in range(20) for s in
               range(4)]
    closed = squares + [[3, 2, 1, 0], [80, 81, 82, 83]]
    wanted = sinew.model(**{**bar, "faces": closed})
    assert wanted.triangle_count == len(bar["faces"])
    pentagon = closed[:-1] + [[80, 81, 82], [80, 82, 83]]
    assert sinew.model(**{**bar, "faces": pentagon}).triangle_count == len(bar["faces"])
    # Two halves, the second one in a space of its own.
    low = bar["vertices"][:44]
    moved = np.eye(4)
    moved[:3, 3] = [0, 1, 0]
    two = sinew.model([low, low], [squares[:40], squares[:40]], bar["heads"], transform=[np.eye(4), moved])
    assert two.vertex_count == 88
    assert np.allclose(two.vertices[44:], low + [0, 1, 0], atol=1e-6)
    assert [p["first_vertex"] for p in two.info()["primitives"]] == [0, 44]


def test_only_a_selection_is_bound(bar):
    before = sinew.Weights.from_dense(np.tile(np.float32([0.25, 0.75]), (len(bar["vertices"]), 1)), bar["names"])
    select = bar["vertices"][:, 1] > 1
    weights = sinew.bind(**bar, weights=before, select=select)
    fresh = sinew.bind(**bar)
    assert (weights.dense()[select] == fresh.dense()[select]).all()
    assert (weights.dense()[~select] == [0.25, 0.75]).all()
    with pytest.raises(sinew.UsageError, match="weights must be given"):
        sinew.bind(**bar, select=select)


def test_a_selection_and_locked_joints_of_a_model(bar):
    before = sinew.Weights.from_dense(np.tile(np.float32([0.25, 0.75]), (len(bar["vertices"]), 1)), bar["names"])
    select = bar["vertices"][:, 1] > 1
    fresh = sinew.bind(**bar).dense()
    model = sinew.model(**bar, weights=before, select=select)
    assert model.bind().weights() == sinew.bind(**bar, weights=before, select=select)
    # They hold for edits, too.
    edited = model.bind().weights(edits=[{"op": "set", "joint": "upper", "value": 1}]).dense()
    assert (edited[~select] == [0.25, 0.75]).all() and (edited[select] == [0, 1]).all()
    # "upper" stays, and "lower" gets the rest.
    model.select(locked="upper")
    assert (model.bind().weights().dense() == [0.25, 0.75]).all()
    assert model.bind().weights() == sinew.bind(**bar, weights=before, locked=np.array([False, True]))
    model.select()
    assert (model.bind().weights().dense() == fresh).all()
    # Without own weights the rest stays without.
    alone = sinew.model(**bar, select=select).bind().weights()
    assert (alone.dense()[select] == fresh[select]).all()
    assert list(alone.unweighted()) == list(np.flatnonzero(~select))
    with pytest.raises(sinew.UsageError, match="has no weights, so there is nothing on the locked joints"):
        sinew.model(**bar, locked=["upper"])
    with pytest.raises(sinew.InputError, match="vertices has the shape"):
        model.select(select[1:])


def test_own_weights_in_three_forms(bar):
    dense = sinew.bind(**bar).dense()
    made = sinew.Weights.from_dense(dense)
    for weights in (dense, made, (made.indptr, made.indices, made.data)):
        assert (sinew.model(**bar, weights=weights).weights.dense() == dense).all()


def test_moved_joints(bar):
    model = sinew.model(**bar)
    binding = model.bind("geodesic-voxel", resolution=64, keep_volume=True)
    heads = bar["heads"] + np.float32([[0, 0, 0], [0, 0.3, 0]])
    tails = np.float32([heads[1], [0, 1.9, 0]])
    moved = binding.move_joints(heads, tails).weights()
    assert moved == sinew.bind(**{**bar, "heads": heads, "tails": tails}, method="geodesic-voxel", resolution=64)
    assert moved != binding.weights()


def test_transfer_to_a_mesh_alone(bar):
    source = sinew.model(**bar)
    weights = source.bind().weights()
    finer = make_bar(81)
    moved = sinew.transfer(source, sinew.model(finer["vertices"], finer["faces"]), weights)
    assert moved.shape == (len(finer["vertices"]), 2)
    assert (moved.how == 0).all()
    assert np.allclose(moved.dense()[::4 * 4], weights.dense()[::4], atol=1e-3)


def test_a_template_for_a_mesh_alone(bar, work):
    alone = sinew.model(bar["vertices"], bar["faces"])
    placed = sinew.rig(alone, "snake", resolution=64)
    assert 0.5 < placed.confidence <= 1 and placed.limbs_found == placed.limbs_expected == 2
    joints = placed.arrays()
    assert joints["names"][:2] == ["spine.01", "head"] and joints["parents"][:2].tolist() == [-1, 0]
    weights = sinew.bind(bar["vertices"], bar["faces"], **joints)
    assert weights.shape == (84, 13) and not len(weights.unweighted())
    # The skeleton of the command, from a file.
    obj, bones = work / "alone.obj", work / "alone.json"
    obj.write_text("".join(f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in bar["vertices"]) +
                   "".join("f " + " ".join(str(c + 1) for c in face) + "\n" for face in bar["faces"]))
    run(SINEW, "rig", obj, "--template", "snake", "-o", bones, "--quiet")
    of_file = sinew.rig(obj, "snake")
    assert of_file.skeleton == bones.read_text()
    assert sinew.load(obj, of_file).joint_names == sinew.load(obj, bones).joint_names
    assert list(sinew.rig_templates()) == ["biped", "biped-fingers", "quadruped", "bird", "spider", "fish", "snake", "hand"]
    with pytest.raises(sinew.UsageError, match="did you mean 'snake'"):
        sinew.rig(alone, "snakes")


@pytest.mark.parametrize("change, words", [
    ({"vertices": np.zeros((4, 2))}, r"vertices has the shape (4, 2), but (N, 3) is needed"),
    ({"vertices": np.zeros(12)}, r"vertices has the shape (12,)"),
    ({"vertices": np.zeros((4, 3), complex)}, "vertices has the type complex128"),
    ({"vertices": [["a", "b", "c"]]}, "vertices has the type"),
    ({"faces": np.zeros((4, 3))}, "faces has the type float64, but whole numbers are needed"),
    ({"faces": np.full((4, 3), -1)}, "faces has numbers from -1 to -1"),
    ({"faces": np.zeros((4, 2), int)}, "a face needs at least three"),
    ({"faces": np.full((4, 3), 1000)}, "face 0 names vertex 1000, but the mesh has 84"),
    ({"heads": np.zeros((2, 4))}, "heads has the shape (2, 4)"),
    ({"tails": np.zeros((3, 3))}, "tails has the shape (3, 3), but (2, 3) is needed"),
    ({"parents": [0, 0, 0]}, "parents has the shape (3,)"),
    ({"parents": [5, 0]}, "arrays: "),
    ({"names": ["one"]}, "1 names, but 2 joints"),
    ({"rest": np.zeros((2, 3, 3))}, "rest has the shape (2, 3, 3)"),
    ({"rest": np.zeros((2, 4, 4))}, "joint 0 ('lower'): its rest matrix has a scale that is zero"),
    ({"deform": [1, 7]}, "deform is 7"),
    ({"heads": [[0, np.nan, 0], [0, 1, 0]]}, "joint 0 ('lower')"),
    ({"weights": np.zeros((3, 2))}, "weights have the shape (3, 2), but (84, 2) is needed"),
    ({"method": "no-such"}, "no-such"),
    ({"no_such_option": 1}, "no-such-option"),
    ({"max_influences": 99}, "max_influences must be"),
])
def test_wrong_arrays_are_refused(bar, change, words):
    with pytest.raises((sinew.InputError, sinew.UsageError), match=re.escape(words)):
        sinew.bind(**{**bar, **change})
    with pytest.raises(ValueError):
        sinew.bind(**{**bar, **change})


def test_adapters_take_objects_of_other_packages(bar):
    """Objects with the members that the adapters read: trimesh is not packaged for Debian; Blender has its own test."""
    from types import SimpleNamespace

    from sinew import adapters
    mesh = SimpleNamespace(vertices=bar["vertices"].astype(float), faces=bar["faces"].astype(np.int64))
    rest = {k: v for k, v in bar.items() if k not in ("vertices", "faces")}
    assert sinew.bind(**adapters.trimesh_arrays(mesh), **rest) == sinew.bind(**bar)


def test_options_that_a_call_would_ignore_are_errors(bar):
    model = sinew.model(**bar)
    binding = model.bind("closest-distance")
    for option, value in {"resolution": 128, "exclude": ["upper"], "penalty": 2, "method": "bone-heat", "strict": True}.items():
        with pytest.raises(sinew.UsageError, match=f"{option} has no effect here: give it to bind"):
            binding.weights(**{option: value})
    with pytest.raises(sinew.UsageError, match="weight_format has no effect here: give it to save"):
        binding.weights(weight_format="u8")
    with pytest.raises(sinew.UsageError, match="falloff has no effect here: give it to bind"):
        model.info(falloff=0.3)
    with pytest.raises(sinew.UsageError, match="did you mean 'falloff'"):
        binding.weights(fallof=0.3)


def test_warnings_of_a_bind_of_arrays_are_kept(bar):
    assert sinew.bind(**bar, method="closest-distance").messages == ()
    weights = sinew.bind(**bar, method="closest-distance", exclude=["no such joint"])
    assert any("no such joint" in one for one in weights.messages), weights.messages


def test_weights_are_like_an_array(bar):
    weights = sinew.bind(**bar)
    dense = weights.dense()
    assert np.array_equal(np.asarray(weights), dense) and np.asarray(weights, np.float64).dtype == np.float64
    for key in (3, -1, slice(2, 9), [1, 5, 5], (slice(None), 1), (4, 0), (3, slice(0, 1)), dense[:, 0] > 0.5, dense[:, 0] > 2):
        assert np.array_equal(weights[key], dense[key]), key
    assert np.array_equal(weights[:, "upper"], dense[:, 1])
    assert len(list(weights)) == len(dense)
    with pytest.raises(IndexError):
        weights[len(weights)]


def test_no_weights_are_an_error_that_says_so(bar, tmp_path):
    model = sinew.model(**bar)
    for call in (lambda: model.save(tmp_path / "none.glb", model.weights), lambda: model.save_weights(None, None),
                 lambda: sinew.compare(model, None, None), lambda: model.deform(None, np.zeros((2, 3, 4)))):
        with pytest.raises(sinew.UsageError, match="weights must be sinew.Weights, not NoneType"):
            call()
    assert not list(tmp_path.iterdir())


def test_clothing_takes_the_joints_of_the_body(bar, work):
    body = sinew.model(**bar)
    weights = body.bind().weights()
    body.save(work / "body.glb", weights)
    body = sinew.load(work / "body.glb")
    # As arrays.
    sleeve = {"vertices": bar["vertices"] * np.float32([1.1, 1, 1.1]), "faces": bar["faces"]}
    jacket = sinew.model(**sleeve, **body.arrays())
    moved = sinew.transfer(body, jacket)
    jacket.save(work / "jacket.glb", moved)
    again = sinew.load(work / "jacket.glb")
    assert again.joint_names == body.joint_names and again.weights == moved
    # A file without a skin: the bytes of the command.
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in sleeve["vertices"].tolist()]
    lines += ["f " + " ".join(str(i + 1) for i in face) for face in bar["faces"]]
    (work / "sleeve.obj").write_text("\n".join(lines))
    plain = sinew.load(work / "sleeve.obj", body)
    plain.save(work / "sleeve.glb", sinew.transfer(body, plain))
    run(SINEW, "transfer", work / "body.glb", work / "sleeve.obj", "-o", work / "wanted.glb", "--quiet")
    assert (work / "sleeve.glb").read_bytes() == (work / "wanted.glb").read_bytes()
