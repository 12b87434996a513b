"""Threads, progress, cancellation, memory, and what the package says about itself."""
import ast
import copy
import errno
import gc
import inspect
import json
import multiprocessing
import os
import pathlib
import pickle
import re
import signal
import struct
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import ROOT, make_bar, resident

import sinew


def test_a_thousand_binds_in_flat_memory():
    bar = make_bar(5)

    def some(count):
        for _ in range(count):
            model = sinew.model(**bar)
            binding = model.bind("closest-distance")
            weights = binding.weights()
            weights.dense(), weights.top(2), model.info(), binding.coverage, model.vertices, weights.data
        gc.collect()

    some(200)  # caches fill
    before = resident()
    some(1000)
    assert resident() - before < 8 << 20


def test_threads_bind_at_the_same_time():
    """Each with its own model, and all with one."""
    bar = make_bar(41)
    shared = sinew.model(**bar)
    wanted = shared.bind(resolution=64).weights()
    results = {}

    def own(number):
        results[number] = sinew.bind(**bar, resolution=64, threads=1 + number % 3)

    def common(number):
        results[number] = shared.bind(resolution=64).weights()

    workers = [threading.Thread(target=own if n % 2 else common, args=(n,)) for n in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(results) == 8 and all(w == wanted for w in results.values())


def test_other_python_threads_run_during_a_bind(biped):
    model, count, stop = sinew.load(biped), [0], threading.Event()

    def tick():
        while not stop.wait(0.001):
            count[0] += 1

    ticker = threading.Thread(target=tick)
    ticker.start()
    during = []

    def bind():
        begin = count[0]
        model.bind("geodesic-voxel", resolution=128)
        during.append(count[0] - begin)

    binder = threading.Thread(target=bind)
    binder.start()
    binder.join()
    stop.set()
    ticker.join()
    assert during[0] > 3  # none, if the call kept the interpreter's lock


def test_progress_rises_to_one(biped):
    seen = []
    sinew.load(biped).bind("geodesic-voxel", resolution=256, on_progress=seen.append)
    assert seen == sorted(set(seen)) and seen[-1] == 1 and all(0 <= f <= 1 for f in seen)


def test_an_exception_in_progress_stops_the_bind(biped):
    class Enough(Exception):
        pass

    def stop(fraction):
        raise Enough

    model = sinew.load(biped)
    with pytest.raises(Enough):
        model.bind("geodesic-voxel", resolution=256, on_progress=stop)
    assert model.bind("closest-distance").weights().shape[0] == model.vertex_count


def test_ctrl_c_cancels(biped):
    model = sinew.load(biped)
    begun = threading.Event()

    def interrupt():
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()

    def tell(fraction):
        begun.set()
        time.sleep(0.02)  # the signal arrives while the bind runs

    with pytest.raises(KeyboardInterrupt):
        model.bind("bounded-biharmonic", on_progress=tell)
    assert model.bind("closest-distance").weights().shape[0] == model.vertex_count


def test_ctrl_c_is_tested_where_it_is_ignored():
    """As in `make package &` of a script."""
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", __file__, "-k", "test_ctrl_c_cancels"], cwd=ROOT,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def _bind_in_child(bar, queue):
    queue.put(sinew.bind(**bar, resolution=64).dense())


def test_a_forked_process_can_bind():
    bar = make_bar(21)
    wanted = sinew.bind(**bar, resolution=64).dense()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_bind_in_child, args=(bar, queue), daemon=True)
    child.start()
    try:
        got = queue.get(timeout=120)
    finally:
        child.join(10)
        child.kill()
    assert (got == wanted).all()


def test_weights_can_be_pickled_and_copied(bar, biped):
    weights = sinew.bind(**bar, resolution=64)
    weights.messages = ("one",)
    for again in (pickle.loads(pickle.dumps(weights)), copy.deepcopy(weights)):
        assert again == weights and again.messages == ("one",) and (again.dense() == weights.dense()).all()
    model = sinew.load(biped)
    for kept in (model, model.bind("closest-distance")):
        with pytest.raises(TypeError, match="cannot be pickled or copied: hand over files or Weights"):
            pickle.dumps(kept)


def test_memory_limit(biped):
    with pytest.raises(sinew.TooLargeError, match="more than the limit of 1 MB"):
        sinew.load(biped).bind("geodesic-voxel", resolution=256, memory_limit=1 << 20)
    with pytest.raises(MemoryError):
        sinew.load(biped).bind("geodesic-voxel", resolution=256, memory_limit=1 << 20)


def _defined(tree):
    """Functions, classes and their methods: {name: names of parameters}."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
        elif isinstance(node, ast.ClassDef):
            yield node.name, None
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{node.name}.{inner.name}", [a.arg for a in [*inner.args.args, *inner.args.kwonlyargs]]


def _parameters(function):
    return [p.name for p in inspect.signature(function).parameters.values()
            if p.kind is not inspect.Parameter.VAR_KEYWORD]


def _written(parameters, function):
    """Of the stub, which writes out the options that a function takes as **options."""
    takes = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in inspect.signature(function).parameters.values())
    options = {row["name"].replace("-", "_") for row in sinew.settings()} | {"exclude", "include", "strict"}
    return [p for p in parameters if not takes or p not in options - {"method"}]


def test_the_stub_says_what_the_package_has():
    folder = pathlib.Path(sinew.__file__).parent
    assert (folder / "py.typed").exists()
    stub = dict(_defined(ast.parse((folder / "__init__.pyi").read_text())))
    for name in sinew.__all__:
        thing = getattr(sinew, name)
        if inspect.isclass(thing):
            assert name in stub, name
            members = [m for m in vars(thing) if not m.startswith("_")] if not issubclass(thing, tuple) else []
            for member in members:
                assert f"{name}.{member}" in stub or isinstance(vars(thing)[member], (type(None), tuple, str)), member
        elif callable(thing):
            assert _written(stub[name], thing) == _parameters(thing), name
    for path, parameters in stub.items():
        owner, _, member = path.partition(".")
        if member and parameters is not None:
            found = inspect.getattr_static(getattr(sinew, owner), member)
            found = getattr(found, "__func__", getattr(found, "fget", found))
            assert _written(parameters, found) == _parameters(found), path


def test_the_options_of_the_stub_are_those_of_the_table():
    done = subprocess.run([sys.executable, ROOT / "scripts/python-stubs", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    stub = (ROOT / "python/sinew/__init__.pyi").read_text()
    assert "resolution: Union[int, Literal[\"auto\"], None]" in stub and "**options" not in stub


def test_everything_has_a_docstring():
    for name in sinew.__all__:
        thing = getattr(sinew, name)
        if callable(thing):
            assert inspect.getdoc(thing), name
        if inspect.isclass(thing) and not issubclass(thing, (tuple, Exception)):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert inspect.getdoc(value), f"{name}.{member}"


def test_numbers_keep_their_bits():
    bar = make_bar()
    assert (sinew.model(**bar).vertices == bar["vertices"]).all()
    assert sinew.bind(**bar, falloff=np.float64(0.1)) == sinew.bind(**bar, falloff=0.1)


def test_a_skeleton_in_another_unit_and_a_prop(tmp_path):
    rings = 9
    lines = [f"v {x} {2 * r / (rings - 1)} {z}" for r in range(rings) for x, z in ((-0.2, -0.2), (-0.2, 0.2), (0.2, 0.2), (0.2, -0.2))]
    lines += [f"f {4 * r + s + 1} {4 * r + (s + 1) % 4 + 1} {4 * r + (s + 1) % 4 + 5} {4 * r + s + 5}"
              for r in range(rings - 1) for s in range(4)]
    mesh, bones = tmp_path / "bar.obj", tmp_path / "bones.json"
    mesh.write_text("\n".join(lines) + "\n")
    bones.write_text('{"bones": [{"name": "a", "head": [0, 10, 0], "tail": [0, 100, 0]},'
                     '{"name": "b", "parent": "a", "head": [0, 100, 0], "tail": [0, 190, 0]}]}')
    with pytest.raises(sinew.InputError, match="100 times larger"):
        sinew.load(mesh, bones).bind(resolution=64)
    assert len(sinew.load(mesh, bones, skeleton_scale=0.01).bind(resolution=64).coverage) == 4 * rings
    for bad in (0, -1, float("nan"), float("inf")):
        with pytest.raises(sinew.UsageError):
            sinew.load(mesh, bones, skeleton_scale=bad)
    with pytest.raises(sinew.UsageError, match="skeleton"):
        sinew.load(mesh, skeleton_scale=2)
    prop = tmp_path / "prop.gltf"
    prop.write_text("""{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],
        "nodes":[{"name":"root","children":[1]},{"mesh":0}],"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],
        "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}],
        "bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"byteLength":36,"uri":
        "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}]}""")
    with pytest.raises(sinew.InputError, match="prop"):
        sinew.load(prop)
    assert sinew.load(prop, prop=True).vertex_count == 3
    for bind_parts in False, True:
        said = sinew.load(prop, prop=True, bind_parts=bind_parts, together=True).info()["warnings"]
        assert any("follows it whole" in w for w in said) != bind_parts


def test_links_out_of_the_folder(work, biped):
    data = biped.read_bytes()
    length = struct.unpack_from("<I", data, 12)[0]
    document = json.loads(data[20:20 + length])
    document["buffers"][0]["uri"] = "linked.bin"
    folder = work / "linked"
    folder.mkdir()
    (work / "outside.bin").write_bytes(data[20 + length + 8:])
    (folder / "linked.bin").symlink_to(work / "outside.bin")
    (folder / "m.gltf").write_text(json.dumps(document))
    with pytest.raises(sinew.InputError, match="link out of the folder"):
        sinew.load(folder / "m.gltf")
    assert sinew.load(folder / "m.gltf", follow_links=True).vertex_count == sinew.load(biped).vertex_count


def test_files_from_bytes(biped):
    content = biped.read_bytes()
    for given in (content, bytearray(content), memoryview(content)):
        assert sinew.load(given).weights == sinew.load(biped).weights
    skeleton = b'{"bones": [{"name": "one", "head": [0, 0, 0]}]}'
    assert sinew.load(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", skeleton, name="made.obj").joint_names == ("one",)
    with pytest.raises(sinew.InputError, match="made.glb"):
        sinew.load(b"nothing", name="made.glb")


def test_file_errors_have_numbers(bar, tmp_path):
    with pytest.raises(OSError, match="hero.glb: No such file") as raised:
        sinew.load(tmp_path / "hero.glb")
    assert raised.value.errno == errno.ENOENT and raised.value.filename == str(tmp_path / "hero.glb")
    model = sinew.model(**bar)
    with pytest.raises(sinew.FileError) as raised:
        model.save(tmp_path / "no" / "hero.glb", model.bind().weights())
    assert isinstance(raised.value, OSError) and raised.value.errno == errno.ENOENT
    again = pickle.loads(pickle.dumps(raised.value))
    assert again.errno == errno.ENOENT and str(again) == str(raised.value)


def test_errors_speak_python(bar, tmp_path):
    """No option of the command line, but keywords; and the options as data."""
    obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    with pytest.raises(sinew.UsageError, match=r"skeleton=… gives one; sinew\.rig places one") as raised:
        sinew.load(obj, name="a.obj")
    assert (raised.value.code, raised.value.options) == ("usage", (("skeleton", "FILE"),))
    assert "`skeleton FILE`" in raised.value.text and "--" not in str(raised.value)
    model = sinew.model(**bar)
    with pytest.raises(sinew.UsageError, match=r"^resolution=257 is not .*\(try resolution=256\)$") as raised:
        model.bind(resolution=257)
    assert raised.value.options == (("resolution", "257"), ("resolution", "256"))
    again = pickle.loads(pickle.dumps(raised.value))
    assert (again.text, again.options) == (raised.value.text, raised.value.options)
    with pytest.raises(sinew.UsageError, match="^falloff_law='cubic': choose"):
        model.bind(falloff_law="cubic")
    with pytest.raises(sinew.InputError, match=r"skeleton_scale=100; if both are right: fit_check='off'$"):
        sinew.model(**{**bar, "vertices": bar["vertices"] * 100}).bind()
    said = model.bind("closest-distance", exclude=["ik_*"]).report()["warnings"]
    assert 'exclude="ik_*" matches no joint of the skeleton' in said


def test_no_message_of_the_library_names_an_option_of_the_command_line():
    """They stand in backticks, by their words (docs/conventions.md)."""
    for path in [*(ROOT / "src").rglob("*.cpp"), *(ROOT / "src").rglob("*.h"), *(ROOT / "capi").glob("*.cpp")]:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = line.split("//")[0]
            found = re.search(r'"[^"]*(?<![a-z-])--[a-z][^"]*"', code)
            assert not found or "--read-foreign" in code, f"{path}:{number}: {found[0]}"
