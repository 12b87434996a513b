"""Models, bindings and weights."""
import ctypes
import json
import os
import pathlib
import struct
import threading
import zlib
from typing import NamedTuple, Optional

import numpy as np

from ._library import (BIND_STEP, Animation, Arrays, Cancelled, CheckOptions, Error, FileError, Handle, InputError, Mesh,
                       OpenOptions, Picture, Question, RenderOptions, UsageError, array, buffer, json_of, lib, lines_of,
                       pointer, run, taken, text_of, view)

COVERAGE = ("weighted", "bridged", "outside", "euclidean", "unused", "none")
TRANSFER_HOW = ("matched", "inpainted", "nearest", "unused")
_IDENTITY_POSE = (0, 0, 0, 1, 0, 0, 0, 1, 1, 1)


class Joint(NamedTuple):
    """A joint of a model, at its bind pose."""
    name: str
    parent: int                    # index, -1 for a root
    head: tuple                    # x, y, z
    tail: Optional[tuple]          # where its bone ends, if that is stated
    axes: tuple                    # three unit vectors
    deforms: bool
    reason: str                    # why it does or does not deform (docs/methods/idle-joints.md)


class Rig(NamedTuple):
    """A template skeleton, placed into a mesh: the result of ``rig``."""
    skeleton: str                  # skeleton JSON: save it, or give the Rig to ``load``
    confidence: float              # 0 to 1: how much the mesh is like the template
    symmetry: float                # 0 to 1: the fraction of the volume that is its own mirror image
    limbs_found: int
    limbs_expected: int
    notes: tuple                   # sentences: what was not found, what was done instead

    def arrays(self):
        """The joints as arguments of ``bind`` and ``model``: heads, tails (NaN for none), parents and names."""
        bones = json.loads(self.skeleton)["bones"]
        names = [bone["name"] for bone in bones]
        return {"heads": np.array([bone["head"] for bone in bones], np.float32),
                "tails": np.array([bone.get("tail", [np.nan] * 3) for bone in bones], np.float32),
                "parents": np.array([-1 if bone["parent"] is None else names.index(bone["parent"]) for bone in bones],
                                    np.int32),
                "names": names}


class Defects(NamedTuple):
    """Where a mesh has defects: the result of ``Model.defects``."""
    triangles: np.ndarray          # (T,) uint8: 1 for one that intersects another, 2 if that is unknown, else 0
    edges: np.ndarray              # (N, 3) uint32: two vertices, and 1: boundary, or 3: of three or more triangles


# ---- settings

def _word(value):
    if value is True or value is False:
        return "on" if value else "off"
    if isinstance(value, (list, tuple)):
        return " ".join(_word(v) for v in value)
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def _list(names):
    return [names] if isinstance(names, str) else list(names)


class _Settings(Handle):
    """The options of `sinew bind`: method=, falloff=, heat_transfer= …, with _ for -."""

    def __init__(self, options, binding=None):
        super().__init__(lib.settings_free)
        if binding is None:
            lib.settings_new(self.out)
        else:
            lib.binding_settings(binding.value, self.out)
        # A method sets all options to its preset, and as-published some of them, so they come first.
        first = {"method": 0, "as_published": 1}
        for name in sorted(options, key=lambda n: first.get(n, 2)):
            value = options[name]
            if value is None:
                continue
            if name in ("exclude", "include"):
                for one in _list(value):
                    self.set(name, one)
            else:
                self.set(name.replace("_", "-"), _word(value))

    def set(self, name, value):
        lib.settings_set(self.value, name.encode(), value.encode())


def _refuse_ignored(options, group):
    """A call that reads only one group of options refuses those of others."""
    group_of = {row["name"].replace("-", "_"): row["group"] for row in settings()}
    group_of.update(exclude="Joints", include="Joints", strict="Joints")
    for name in options:
        if group_of.get(name) != group:
            raise UsageError(f"{name} has no effect here: give it to {'save' if group_of.get(name) == 'Output' else 'bind'}")


def settings():
    """All options of ``bind`` and ``weights``: a list of dicts with name, kind, group, choices, help and value.

    Options of the group "Weights" can also be given to ``Binding.weights``. In calls, write ``_`` for ``-``.
    """
    return json.loads(text_of(lib.settings_json))


class _Context(Handle):
    def __init__(self, threads=0, memory_limit=0, follow_links=False):
        super().__init__(lib.context_free)
        lib.context_new(self.out)
        lib.context_threads(self.value, int(threads))
        lib.context_memory_limit(self.value, int(memory_limit))
        lib.context_follow_links(self.value, int(follow_links))


def _read(source):
    """The bytes of a file, or bytes as they are."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    try:
        return pathlib.Path(source).read_bytes()
    except OSError as error:
        raise FileError(error.errno, error.strerror, os.fspath(source)) from error


def _write(path, content):
    """Whole or not at all."""
    path = pathlib.Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise FileError(error.errno, error.strerror, os.fspath(path)) from error


def _given(weights):
    """The handle of weights that must be there."""
    if not isinstance(weights, Weights):
        raise UsageError(f"weights must be sinew.Weights, not {type(weights).__name__}"
                         + (" (Model.weights is None if the file has none: bind it)" if weights is None else ""))
    return weights._handle.value


def _edit_bytes(edits):
    """An edit list as JSON: text, bytes, or what json.dumps takes."""
    if isinstance(edits, str):
        return edits.encode()
    if isinstance(edits, bytes):
        return edits
    return json.dumps({"edits": edits} if isinstance(edits, list) else edits).encode()


def _joint_indices(joints, names):
    """Indices (uint32) of joints given by name or index."""
    out = []
    for one in [joints] if isinstance(joints, (str, int, np.integer)) else joints:
        if isinstance(one, str):
            if one not in names:
                raise UsageError(f"there is no joint '{one}'")
            one = names.index(one)
        if not 0 <= one < len(names):
            raise UsageError(f"joint {one}: there are {len(names)}")
        out.append(one)
    return np.array(out, np.uint32)


def _joint_flags(joints, names):
    """(J,) uint8 from names, indices or (J,) bool; None for None."""
    if joints is None:
        return None
    if isinstance(joints, np.ndarray) and joints.dtype == bool:
        return array(joints, np.uint8, (len(names),), "joints")
    flags = np.zeros(len(names), np.uint8)
    flags[_joint_indices(joints, names)] = 1
    return flags


# ---- weights

class Weights:
    """Skin weights: for each vertex the joints that move it, and how much. It does not change.

    ``indptr`` (V + 1,) int64, ``indices`` (N,) int32 and ``data`` (N,) float32 are compressed sparse rows, as scipy
    has them: ``scipy.sparse.csr_array((w.data, w.indices, w.indptr), w.shape)``. Each row is sorted by falling weight
    and sums to 1; only vertices that nothing reached have empty rows.
    """

    def __init__(self, handle, names):
        self._handle = handle
        self.joint_names = tuple(names)
        self._rows = None
        self.how = None       # of transfer: (V,) uint8, numbers of TRANSFER_HOW
        self.cleaned = None   # of clean: what was found, a dict
        self.messages = ()    # of edits, one for each; of transfer and sinew.bind, warnings

    @classmethod
    def from_csr(cls, indptr, indices, data, joints):
        """Weights from compressed rows. joints: their names, or their number. Rows are sorted and normalised."""
        names = tuple(f"joint {j}" for j in range(joints)) if isinstance(joints, (int, np.integer)) else tuple(joints)
        offsets = array(indptr, np.uint64, (None,), "indptr")
        if len(offsets) == 0 or int(offsets[-1]) != len(np.atleast_1d(data)):
            raise InputError(f"indptr must begin with 0 and end with {len(np.atleast_1d(data))}, the length of data")
        columns = array(indices, np.uint32, (len(np.atleast_1d(data)),), "indices")
        shares = array(data, np.float32, (None,), "data")
        handle = Handle(lib.weights_free)
        if np.any(np.diff(offsets.astype(np.int64)) < 0):
            raise InputError("indptr must not fall")
        lib.weights_from_rows(len(offsets) - 1, len(names), pointer(offsets), pointer(columns), pointer(shares),
                              handle.out)
        return cls(handle, names)

    @classmethod
    def from_dense(cls, dense, joints=None):
        """Weights from an array (V, J). joints: their names."""
        dense = array(dense, np.float32, (None, None), "dense")
        rows, columns = np.nonzero(dense)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(dense)))])
        return cls.from_csr(indptr, columns.astype(np.uint32), dense[rows, columns],
                            dense.shape[1] if joints is None else joints)

    def __reduce__(self):
        return _restored, (*self._csr(), self.joint_names, self.how, self.messages)

    def _csr(self):
        if self._rows is None:
            vertices, entries = ctypes.c_size_t(), ctypes.c_size_t()
            lib.weights_size(self._handle.value, vertices, entries)
            rows = (np.empty(vertices.value + 1, np.int64), np.empty(max(1, entries.value), np.int32),
                    np.empty(max(1, entries.value), np.float32))
            lib.weights_csr(self._handle.value, *map(pointer, rows))
            rows = (rows[0], rows[1][:entries.value], rows[2][:entries.value])
            for part in rows:
                part.flags.writeable = False
            self._rows = rows
        return self._rows

    @property
    def indptr(self):
        """(V + 1,) int64: row v has the entries indptr[v] to indptr[v + 1] - 1."""
        return self._csr()[0]

    @property
    def indices(self):
        """(N,) int32: joints."""
        return self._csr()[1]

    @property
    def data(self):
        """(N,) float32: weights."""
        return self._csr()[2]

    @property
    def shape(self):
        """(V, J)."""
        return len(self), len(self.joint_names)

    def __len__(self):
        vertices = ctypes.c_size_t()
        lib.weights_size(self._handle.value, vertices, None)
        return vertices.value

    def __repr__(self):
        return f"<sinew.Weights of {len(self)} vertices on {len(self.joint_names)} joints>"

    def __eq__(self, other):
        if not isinstance(other, Weights):
            return NotImplemented
        return self.joint_names == other.joint_names and all(map(np.array_equal, self._csr(), other._csr()))

    __hash__ = None

    def dense(self):
        """All weights as an array (V, J) float32."""
        out = np.empty(self.shape, np.float32)
        lib.weights_dense(self._handle.value, self.shape[1], pointer(out))
        return out

    def to_scipy(self):
        """The same as a ``scipy.sparse.csr_array``, which copies nothing and is read-only; needs scipy."""
        from scipy.sparse import csr_array

        return csr_array((self.data, self.indices, self.indptr), self.shape)

    def __array__(self, dtype=None, copy=None):
        return self.dense() if dtype is None else self.dense().astype(dtype)

    def __getitem__(self, key):
        """As of ``dense()``, which is not made for it: ``w[v]`` is (J,), ``w[:100]`` and ``w[mask]`` are rows,
        ``w[v, "head"]`` and ``w[:, 3]`` the weights of a joint by name or index."""
        vertices, joint = key if isinstance(key, tuple) else (key, slice(None))
        if isinstance(joint, str):
            joint = int(_joint_indices(joint, self.joint_names)[0])
        rows = np.arange(len(self))[vertices]
        first, count = self.indptr[rows].ravel(), np.diff(self.indptr)[rows].ravel()
        entries = np.repeat(first + count - np.cumsum(count), count) + np.arange(count.sum())
        out = np.zeros((len(first), self.shape[1]), np.float32)
        out[np.repeat(np.arange(len(first)), count), self.indices[entries]] = self.data[entries]
        return out.reshape(*rows.shape, self.shape[1])[..., joint][()]

    def top(self, count=4):
        """The strongest joints: (V, count) uint16 joints and float32 weights, as a game engine wants them.

        Unused places are joint 0 with weight 0. Further joints are left out: ``limit(count)`` shares their weight out.
        """
        if count < 1:
            raise UsageError(f"top({count}): count must be at least 1")
        joints, shares = np.empty((len(self), count), np.uint16), np.empty((len(self), count), np.float32)
        lib.weights_rows(self._handle.value, count, pointer(joints), pointer(shares))
        return joints, shares

    def joint(self, joint):
        """The weights of one joint, by its name or index, at each vertex: (V,) float32."""
        joint = int(_joint_indices(joint, self.joint_names)[0])
        out = np.empty(len(self), np.float32)
        lib.weights_joint(self._handle.value, joint, pointer(out))
        return out

    def unweighted(self):
        """The vertices without weights: int64 indices."""
        return np.flatnonzero(np.diff(self.indptr) == 0)

    def limit(self, max_influences=4, prune=None, limit_rule=None):
        """At most `max_influences` joints for each vertex. The weight of the others is shared among them."""
        options = _Settings({"max_influences": max_influences, "prune": prune, "limit_rule": limit_rule})
        out = Handle(lib.weights_free)
        lib.weights_limit(self._handle.value, options.value, None, out.out)
        return Weights(out, self.joint_names)

    def keep(self, kept, vertices=None, joints=None, max_influences=0):
        """These weights, but with what is locked from `kept`.

        vertices: (V,) bool, whole rows that stay; joints: names, indices or (J,) bool, weights that stay at every
        vertex, so that the other joints share the rest. max_influences: 1..8, or 0 for any number.
        """
        rows = None if vertices is None else array(np.asarray(vertices, bool), np.uint8, (len(self),), "vertices")
        flags = _joint_flags(joints, self.joint_names)
        out = Handle(lib.weights_free)
        lib.weights_keep(self._handle.value, _given(kept), pointer(rows), pointer(flags),
                         0 if flags is None else len(flags), max_influences, None, out.out)
        return Weights(out, self.joint_names)

    def pin(self, model, pins, reach=None, symmetric=False):
        """Weights that have given rows at a few vertices, and what these change around them (docs/edits.md, pin).

        pins: {vertex: {joint: weight}}, or a list of pins as in an edit list. reach: a length as a fraction of the square
        root of the surface's area; 0.06 without it.
        """
        if isinstance(pins, dict):
            pins = [{"vertex": int(v), "weights": {str(j): float(w) for j, w in row.items()}} for v, row in pins.items()]
        edit = {"op": "pin", "pins": pins, "symmetric": bool(symmetric)}
        return model.edit(self, [edit if reach is None else {**edit, "reach": float(reach)}])

    def difference(self, other):
        """The sum over joints of the absolute difference, 0 to 2, at each vertex: (V,) float32."""
        out = np.empty(len(self), np.float32)
        lib.weights_difference(self._handle.value, _given(other), pointer(out))
        return out


# ---- bindings

def _restored(indptr, indices, data, joint_names, how, messages):
    """Weights that were pickled."""
    weights = Weights.from_csr(indptr, indices, data, joint_names)
    weights.how, weights.messages = how, messages
    return weights


class Binding:
    """The distances that a bind measured. ``weights`` computes weights from them in milliseconds."""

    def __init__(self, handle, model, options, kept=False):
        self._handle = handle
        self.model = model
        self._options = dict(options)  # of the bind; without those that are in the binding, if it was kept in a file
        self._kept = kept

    def __repr__(self):
        return f"<sinew.Binding of {self.model!r}>"

    def weights(self, edits=None, threads=0, pose=None, **options):
        """Weights under another falloff, limit or edit list.

        options: those of the group "Weights" (``sinew.settings()``), for example falloff=0.3 or max_influences=8; the
        others are those of the bind. edits: an edit list (docs/edits.md) as JSON text, dict or list of edits. pose: as for
        ``Model.pose_matrices``: there its falloffs by angle have their values, otherwise in the bind pose.
        """
        context = _Context(threads)
        words = _Settings(options, self._handle)
        _refuse_ignored(options, "Weights")
        matrices = None if pose is None else self.model.pose_matrices(pose)
        content, said, out = None, Handle(lib.bytes_free), Handle(lib.weights_free)
        if edits is not None:
            content = _edit_bytes(edits)
        with self.model._lock:
            lib.weights_in_pose(self._handle.value, self.model._handle.value, words.value, *buffer(content),
                                pointer(matrices), context.value, said.out, out.out)
        weights = Weights(out, self.model.joint_names)
        weights.messages = tuple(lines_of(said))
        return weights

    @property
    def coverage(self):
        """How each vertex came to its weights: (V,) uint8, numbers of ``sinew.COVERAGE``."""
        return view(lib.binding_coverage(self._handle.value), ctypes.c_uint8, (self.model.vertex_count,), self)

    def report(self):
        """The report of docs/report.md, as a dict."""
        return self._report()

    def _report(self, *say):
        words = _Settings(self._options, self._handle if self._kept else None)
        with self.model._lock:
            return json_of(lib.binding_report, self._handle.value, self.model._handle.value, words.value,
                           **({"say": say[0]} if say else {}))

    def save(self, path=None):
        """Writes the binding to a file (docs/binding.md), or returns its bytes if there is no path."""
        content = text_of(lib.binding_save, self._handle.value)
        if path is None:
            return content
        _write(path, content)

    def rebind(self, model, on_progress=None, threads=0):
        """The binding of another mesh of similar shape on the same joints. Needs ``bind(keep_volume=True)``."""
        return self._again(lib.binding_rebind, model, on_progress, threads)

    def move_joints(self, heads, tails=None, on_progress=None, threads=0):
        """Binds the mesh of a model from arrays with joints at other places; the model's joints move with it.

        heads: (J, 3); tails: (J, 3), NaN where a bone has none; without, each stated tail moves with its own head, so the
        tail of a parent does not follow a joint that moves. With ``bind(keep_volume=True)`` it takes a part of the time
        of a bind.
        """
        count = len(self.model.joint_names)
        heads = array(heads, np.float32, (count, 3), "heads")
        tails = array(tails, np.float32, (count, 3), "tails", optional=True)
        with self.model._lock:
            lib.model_move_joints(self.model._handle.value, pointer(heads), pointer(tails))
        return self._again(lib.binding_move, self.model, on_progress, threads)

    def _again(self, function, model, on_progress, threads):
        context, out = _Context(threads), Handle(lib.binding_free)
        with model._lock:
            run(lambda: function(self._handle.value, model._handle.value, context.value, out.out), context,
                on_progress)
        return Binding(out, model, self._options, self._kept)


# ---- models

class Model:
    """A character: its meshes as one, and its joints, at the bind pose. Made by ``sinew.load`` and ``sinew.model``.

    Its calls may come from several threads; they wait for each other.
    """

    def __init__(self, handle, keeps=None):
        self._handle = handle
        self._lock = threading.RLock()
        vertices, triangles, joints = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_size_t()
        lib.model_size(handle.value, vertices, triangles, joints)
        self.vertex_count, self.triangle_count = vertices.value, triangles.value
        self._names = None if joints.value else ()
        self._joint_count = joints.value

    def __repr__(self):
        return (f"<sinew.Model of {self.vertex_count} vertices, {self.triangle_count} triangles, "
                f"{self._joint_count} joints>")

    @property
    def vertices(self):
        """(V, 3) float32, read-only, without a copy: positions at the bind pose, in the units of the file."""
        return view(lib.model_positions(self._handle.value), ctypes.c_float, (self.vertex_count, 3), self)

    @property
    def triangles(self):
        """(T, 3) uint32, read-only, without a copy."""
        return view(lib.model_triangles(self._handle.value), ctypes.c_uint32, (self.triangle_count, 3), self)

    @property
    def normals(self):
        """(V, 3) float32, read-only, or None if the file has none."""
        address = lib.model_normals(self._handle.value)
        return view(address, ctypes.c_float, (self.vertex_count, 3), self) if address else None

    def info(self, **options):
        """The model as a dict: counts, defects, box, joints, bones, primitives, materials, images, clips, warnings.

        options: deform_from, include and exclude select the joints that deform.
        """
        words = _Settings(options)
        _refuse_ignored(options, "Joints")
        with self._lock:
            return json_of(lib.model_json, self._handle.value, words.value, None)

    @property
    def joints(self):
        """The joints: a list of ``Joint``."""
        if not self._joint_count:
            return []
        return [Joint(j["name"], j["parent"], tuple(j["position"]), tuple(j["tail"]) if "tail" in j else None,
                      tuple(map(tuple, j["axes"])), j["deforms"], j["reason"]) for j in self.info()["joints"]]

    @property
    def joint_names(self):
        """The names of the joints: a tuple."""
        if self._names is None:
            self._names = tuple(j.name for j in self.joints)
        return self._names

    @property
    def weights(self):
        """The weights of the file, or None."""
        out = Handle(lib.weights_free)
        with self._lock:
            try:
                lib.model_weights(self._handle.value, out.out)
            except UsageError:
                return None
        return Weights(out, self.joint_names)

    def arrays(self):
        """The joints as arguments of ``sinew.model`` for another mesh in the same space, such as clothing: heads, tails
        (NaN for none), parents and names."""
        joints = self.joints
        return {"heads": np.array([j.head for j in joints], np.float32),
                "tails": np.array([j.tail or [np.nan] * 3 for j in joints], np.float32),
                "parents": np.array([j.parent for j in joints], np.int32), "names": [j.name for j in joints]}

    def _skeleton_json(self):
        names = (*self.joint_names, None)  # the last: of a root, -1
        return json.dumps({"bones": [{"name": j.name, "parent": names[j.parent], "head": j.head,
                                      **({"tail": j.tail} if j.tail else {})} for j in self.joints]}).encode()

    def joint_options(self, options):
        """Sets joint options (docs/formats.md): JSON text or a dict; None removes them."""
        content = b"" if options is None else options.encode() if isinstance(options, str) else \
            json.dumps(options).encode()
        with self._lock:
            lib.model_joint_options(self._handle.value, *buffer(content))

    def select(self, vertices=None, locked=None):
        """What binds of this model change: their weights keep the rest as ``Model.weights`` have it.

        vertices: (V,) bool: only these get new weights, and the others keep their rows, also empty ones; None: all
        vertices. locked: joints (names, indices or (J,) bool) whose weights stay at every vertex, so that the other
        joints share the rest; None: no joint.
        """
        rows = None if vertices is None else \
            array(np.asarray(vertices, bool), np.uint8, (self.vertex_count,), "vertices")
        flags = _joint_flags(locked, self.joint_names)
        with self._lock:
            lib.model_select(self._handle.value, pointer(rows), pointer(flags))

    def bind(self, method=None, on_progress=None, threads=0, memory_limit=0, keep_volume=False, **options):
        """Measures the distances from which weights are computed: the costly call.

        method: a name of docs/methods; surface-heat without. on_progress: called with 0..1. threads: 0 is one for each
        core; the result does not depend on it. memory_limit: in bytes, 0 is none. keep_volume: for
        ``Binding.rebind`` and fast ``Binding.move_joints``. options: those of ``sinew bind`` with _ for -, for example resolution=128, exclude=["ik_*"].
        Ctrl-C, or an exception in on_progress, stops it.
        """
        context = _Context(threads, memory_limit)
        options = {"method": method, **options}
        words = _Settings({**options, "keep_volume": keep_volume or None})
        out = Handle(lib.binding_free)
        with self._lock:
            run(lambda: lib.bind(self._handle.value, words.value, context.value, out.out), context, on_progress)
        return Binding(out, self, options)

    def bind_progressive(self, on_result, method=None, on_progress=None, threads=0, memory_limit=0, keep_volume=False,
                         **options):
        """``bind`` with a first result while waiting; returns the binding that ``bind`` returns, to the bit.

        on_result: called in this thread with a ``Binding`` at resolution 64 if the method measures in voxels and the
        resolution is above 64. If it returns False, the work stops, and that binding is the result. The rest: as for
        ``bind``.
        """
        context = _Context(threads, memory_limit)
        options = {"method": method, **options}
        words = _Settings({**options, "keep_volume": keep_volume or None})
        out = Handle(lib.binding_free)
        question = Question(on_result)

        def step(binding, final, _):
            if final:
                return 1
            try:
                kept = Handle(lib.binding_free)
                lib.binding_copy(binding, kept.out)
                return question.ask(Binding(kept, self, options)) is not False
            except Error:  # no memory for a copy
                return 0

        kept_step = BIND_STEP(step)
        with self._lock:
            run(lambda: lib.bind_progressive(self._handle.value, words.value, kept_step, None, context.value, out.out),
                context, on_progress, question)
        return Binding(out, self, options)

    def load_binding(self, source, on_progress=None):
        """The binding of a file or of bytes (``Binding.save``) for this model, of this mesh or one of similar shape."""
        content = _read(source)
        kept = Handle(lib.binding_free)
        lib.binding_open(*buffer(content), kept.out)
        return Binding(kept, self, {}, kept=True)._again(lib.binding_rebind, self, on_progress, 0)

    def load_weights(self, source):
        """Weights of a weights JSON file (docs/formats.md), or of its bytes."""
        content = _read(source)
        out = Handle(lib.weights_free)
        with self._lock:
            lib.weights_open_json(self._handle.value, *buffer(content), out.out)
        return Weights(out, self.joint_names)

    def edit(self, weights, edits):
        """Weights with an edit list (docs/edits.md) as JSON text, dict or list of edits, like ``sinew apply``."""
        content, said, out = _edit_bytes(edits), Handle(lib.bytes_free), Handle(lib.weights_free)
        with self._lock:
            lib.weights_edit(self._handle.value, _given(weights), *buffer(content), None, said.out, out.out)
        made = Weights(out, self.joint_names)
        made.messages = tuple(lines_of(said))
        return made

    def clean(self, weights=None, strength=1, max_influences=4, on_progress=None, threads=0, memory_limit=0):
        """Weights that another program made, cleaned like ``sinew clean`` (docs/clean.md).

        weights: without, those of the file. max_influences: of rows that change. ``cleaned`` of the result says what
        was found.
        """
        weights = self.weights if weights is None else weights
        if weights is None:
            raise UsageError("the file has no weights to clean: bind it, or give weights")
        words, context = _Settings({"max_influences": max_influences}), _Context(threads, memory_limit)
        said, out = Handle(lib.bytes_free), Handle(lib.weights_free)
        with self._lock:
            run(lambda: lib.weights_clean(self._handle.value, _given(weights), strength, words.value, context.value,
                                          said.out, out.out), context, on_progress)
        made = Weights(out, self.joint_names)
        made.cleaned = json.loads(taken(said))
        return made

    def questions(self, weights=None, top=10, threads=0):
        """Where an answer about weights is likely worth most: dicts of ``sinew questions --json`` (docs/edits.md).

        weights: without, those of the file. ``Weights.pin`` answers.
        """
        weights, context, out = self.weights if weights is None else weights, _Context(threads), Handle(lib.bytes_free)
        if weights is None:
            raise UsageError("the file has no weights to ask about: give weights=")
        with self._lock:
            lib.questions_json(self._handle.value, weights._handle.value, top, context.value, out.out)
        return json.loads(taken(out))["questions"]

    def distances(self, joint, threads=0, **options):
        """The distance through the volume from the bones of a joint: (V,) float32, in the units of the file.

        Infinite where it is not reached. joint: name or index, of one that deforms (``info``, ``bind``). options: those
        of the voxels and of distances, such as resolution and penalty.
        """
        index = _joint_indices(joint, self.joint_names)[0]
        context, words = _Context(threads), _Settings(options)
        out = np.empty(self.vertex_count, np.float32)
        with self._lock:
            run(lambda: lib.distances(self._handle.value, words.value, int(index), context.value, pointer(out)), context,
                None)
        return out

    def volume(self, most=1_000_000, threads=0, **options):
        """The volume of a bind: the leaves of its octree, (N, 5) float32: the centre x, y, z and the edge in the units
        of the file, and 1 where the surface passes through the leaf, 0 inside.

        Leaves are cubes that do not overlap. More than `most` are a ``TooLargeError``: a lower resolution has fewer.
        options: those of ``bind``.
        """
        context, words, out = _Context(threads), _Settings(options), Handle(lib.bytes_free)
        with self._lock:
            run(lambda: lib.volume(self._handle.value, words.value, int(most), context.value, out.out), context, None)
        return np.frombuffer(taken(out), np.float32).reshape(-1, 5)

    def defects(self, threads=0):
        """Where the mesh has defects: ``Defects`` with triangles (T,) uint8 and edges (N, 3) uint32.

        Their numbers are in ``info()["defects"]``; docs/report.md says what they mean.
        """
        context, out = _Context(threads), Handle(lib.bytes_free)
        triangles = np.empty(self.triangle_count, np.uint8)
        with self._lock:
            run(lambda: lib.defects(self._handle.value, context.value, pointer(triangles), out.out), context, None)
        return Defects(triangles, np.frombuffer(taken(out), np.uint32).reshape(-1, 3))

    def check(self, weights=None, profile=None, thresholds=None, only=(), skip=(), bleed_resolution=64, strict=False,
              on_progress=None, threads=0):
        """Whether a skin is fit to ship: the dict of ``sinew check --json`` (docs/check.md).

        weights: without, those of the file, with what it stores. profile: limits of an engine, "unity" or another.
        thresholds: {"stretch": 4, "bleed": None}; None switches an alarm off. only, skip: rules by name. strict:
        "passed" is false after warnings, too.
        """
        options = CheckOptions(None if profile is None else profile.encode(),
                               None if thresholds is None else json.dumps(thresholds).encode(),
                               "\n".join(_list(only)).encode(), "\n".join(_list(skip)).encode(), bleed_resolution,
                               bool(strict))
        context, out = _Context(threads), Handle(lib.bytes_free)
        own = None if weights is None else _given(weights)
        with self._lock:
            run(lambda: lib.check_json(self._handle.value, own, options, context.value, out.out), context, on_progress)
        return json.loads(taken(out))

    def render(self, path, weights=None, view="joints", joints=(), views=(), zoom=None, pose=None, pose_name="pose",
               skinning="linear", sheet=False, overlay=False, resolution=0, cut=None, size=(1600, 1200), title="",
               columns=0, legend=True, dark=False, threads=0):
        """A picture of the character as PNG: that of ``sinew render``; None as `path` returns the bytes.

        weights: without, those of the file. view: joints, joint, strongest, influences, distance, heat, voxels, defects
        or surface (docs/render.md); joints: of joint, distance and heat, by name or index. views: front, back, left,
        right, top, three-quarter, or (yaw, pitch) in degrees. zoom: a joint to frame with its descendants. pose: as for
        ``pose_matrices``, or matrices (J, 3, 4), shown beside the bind pose; sheet: all standard poses. overlay: bones
        over the skin. cut: (3,) fractions of the voxels' box that are shown. Needs OpenGL, which the library of the wheel
        does not have: ``FileError``.
        """
        if skinning not in ("linear", "dual"):
            raise UsageError(f"skinning {skinning}: choose linear or dual")
        wanted = _joint_indices(joints, self.joint_names)
        zoomed = None if zoom is None else _joint_indices(zoom, self.joint_names)[:1]
        matrices = None
        if pose is not None:
            matrices = pose if isinstance(pose, np.ndarray) and pose.ndim == 3 else self.pose_matrices(pose)
            matrices = _matrices(matrices, self._joint_count, "pose")
        part = array(cut, np.float64, (3,), "cut", optional=True)
        places = " ".join(v if isinstance(v, str) else f"{float(v[0])!r},{float(v[1])!r}" for v in
                          ([views] if isinstance(views, str) else views))
        options = RenderOptions(view.encode(), pointer(wanted), len(wanted), pointer(zoomed), places.encode(),
                                bool(overlay), bool(sheet), resolution, pointer(part), pointer(matrices),
                                pose_name.encode(), skinning == "dual", *size, title.encode(), columns, not legend,
                                bool(dark))
        context, out = _Context(threads), Handle(lib.bytes_free)
        own = None if weights is None else _given(weights)
        with self._lock:
            run(lambda: lib.render_png(self._handle.value, own, options, context.value, out.out), context, None)
        if path is None:
            return taken(out)
        _write(path, taken(out))

    def save(self, path, weights, weight_format="f32", animations=(), repair_matrices=False, fbx_unit="cm"):
        """Writes the file with these weights; all else is unchanged. Returns notes on what else changed.

        path: ends in .glb, .vrm, .fbx, or .gltf, whose files beside the model are copied; None returns the bytes of a
        GLB. weight_format: f32, u16 or u8. animations: (name, times, poses) with times (K,) in seconds and poses
        (K, J, 10), see ``pose_matrices``. repair_matrices: writes inverse bind matrices that are missing or zero.
        fbx_unit: of a new FBX, cm or m; a model that was read from an FBX keeps its own.
        """
        suffix = None if path is None else pathlib.Path(path).suffix.lower()
        if suffix not in (None, ".glb", ".vrm", ".gltf", ".fbx"):
            raise UsageError(f"{path}: a model is saved as .glb, .gltf or .fbx (or .vrm if the file was one)")
        words = _Settings({"weight_format": weight_format, "repair_matrices": "on" if repair_matrices else "off",
                           "fbx_unit": fbx_unit})
        said, out = Handle(lib.bytes_free), Handle(lib.bytes_free)
        kept, clips = [], (Animation * len(animations))()
        for clip, (name, times, poses) in zip(clips, animations):
            times = array(times, np.float64, (None,), "times")
            poses = array(poses, np.float64, (len(times), self._joint_count, 10), "poses")
            kept += [times, poses]
            clip.name, clip.step, clip.keys = name.encode(), 0, len(times)
            clip.times, clip.poses = pointer(times), pointer(poses)
        what = self._handle.value, _given(weights), words.value, clips, len(clips)
        with self._lock:
            if suffix in (".gltf", ".fbx"):
                lib.save_file(*what, os.fsencode(path), said.out)
                return lines_of(said)
            lib.save_glb_animated(*what, said.out, out.out)
        if path is None:
            return taken(out)
        _write(path, taken(out))
        return lines_of(said)

    def save_weights(self, path, weights):
        """Writes weights JSON (docs/formats.md); None returns the bytes."""
        with self._lock:
            content = text_of(lib.save_json, self._handle.value, _given(weights))
        if path is None:
            return content
        _write(path, content)

    # ---- poses

    def pose_matrices(self, pose):
        """The skinning matrices (J, 3, 4) of a pose, from the bind pose to the pose.

        pose: pose JSON (docs/formats.md) as text or as a dict, with or without "joints" around it; or an array
        (J, 10): rotation x y z w, translation, scale, along the joint's own axes.
        """
        count = self._joint_count
        if isinstance(pose, (str, bytes, dict)):
            if isinstance(pose, dict):
                pose = json.dumps(pose if "joints" in pose else {"joints": pose})
            content = pose.encode() if isinstance(pose, str) else pose
            numbers = np.empty((count, 10), np.float64)
            lib.pose_json(self._handle.value, *buffer(content), pointer(numbers))
        else:
            numbers = array(pose, np.float64, (count, 10), "pose")
        out = np.empty((count, 3, 4), np.float64)
        with self._lock:
            lib.pose_matrices(self._handle.value, pointer(numbers), pointer(out))
        return out

    def clip_matrices(self, clip, time):
        """The skinning matrices (J, 3, 4) of an animation of the file, by its number in info()["clips"]."""
        out = np.empty((self._joint_count, 3, 4), np.float64)
        with self._lock:
            lib.clip_matrices(self._handle.value, clip, time, pointer(out))
        return out

    def rest_matrices(self):
        """The pose in which the file's nodes stand, which is not always the bind pose: two arrays.

        Skinning matrices (J, 3, 4), and the matrix (3, 4) from bind space to the file's world, which a viewer shows.
        """
        out, world = np.empty((self._joint_count, 3, 4), np.float64), np.empty((3, 4), np.float64)
        with self._lock:
            lib.rest_matrices(self._handle.value, pointer(out), pointer(world))
        return out, world

    def standard_poses(self):
        """Poses that test a binding, made for this skeleton: a dict of name and array (J, 10)."""
        with self._lock:
            made = json.loads(text_of(lib.standard_poses, self._handle.value))
        return {p["name"]: np.reshape(np.array(p["pose"], np.float64), (self._joint_count, 10)) for p in made}

    def random_pose(self, degrees=25, seed=7):
        """Every joint turned by up to `degrees`: an array (J, 10), the same for the same seed."""
        out = np.empty((self._joint_count, 10), np.float64)
        lib.random_pose(self._handle.value, degrees, seed, pointer(out))
        return out

    def deform(self, weights, matrices, skinning="linear"):
        """The vertices (V, 3) float32 moved by skinning matrices (J, 3, 4) or (J, 4, 4); skinning: linear or dual."""
        matrices = np.asarray(matrices)
        if matrices.ndim == 3 and matrices.shape[1:] == (4, 4):
            matrices = matrices[:, :3]
        matrices = array(matrices, np.float64, (self._joint_count, 3, 4), "matrices")
        if skinning not in ("linear", "dual"):
            raise UsageError(f"skinning {skinning}: choose linear or dual")
        out = np.empty((self.vertex_count, 3), np.float32)
        with self._lock:
            lib.deform(self._handle.value, _given(weights), pointer(matrices), skinning == "dual", None,
                       pointer(out), None)
        return out


# ---- functions

def _opened(path, content, options, follow_links=False):
    handle, context = Handle(lib.model_free), _Context(follow_links=follow_links)
    lib.model_open_with(*buffer(content), os.fsencode(path), ctypes.byref(options), context.value, handle.out)
    return Model(handle)


def rig_templates():
    """The template skeletons: a dict of names and summaries."""
    return {one["name"]: one["summary"] for one in json.loads(text_of(lib.rig_templates))}


def rig(mesh, template="biped", resolution=128, on_progress=None, threads=0):
    """Places a template skeleton into a mesh that has none (docs/rig.md).

    mesh: a file without a skeleton, or a ``Model``, whose own joints do not matter. resolution: voxels along the longest
    side: 32, 64, 128 or 256. Then ``sinew.load("scan.obj", rig)``, or ``sinew.bind(vertices, faces, **rig.arrays())``.
    """
    if not isinstance(mesh, Model):
        any_one = b'{"bones":[{"name":"root","head":[0,0,0]}]}'  # a file without a skeleton opens with one only
        mesh = _opened(mesh, _read(mesh), OpenOptions(os.fsencode(pathlib.Path(mesh).absolute().parent), *buffer(any_one)))
    context, said, out = _Context(threads), Handle(lib.bytes_free), Handle(lib.bytes_free)
    with mesh._lock:
        run(lambda: lib.rig(mesh._handle.value, template.encode(), int(resolution), context.value, said.out, out.out),
            context, on_progress)
    report = json.loads(taken(said))
    return Rig(taken(out).decode(), report["confidence"], report["symmetry"], report["limbs_found"],
               report["limbs_expected"], tuple(report["notes"]))


def load(source, skeleton=None, joint_options=None, *, skeleton_scale=1.0, prop=False, bind_parts=False, together=False,
         with_clips=False, only_missing=False, follow_links=False, name="model.glb"):
    """Opens a character: GLB, glTF, VRM, FBX and others (docs/formats.md), or a mesh with a skeleton.

    source: a file, or its bytes, whose `name` then decides the format where the content does not, and which may not refer
    to other files. skeleton: a file of skeleton JSON, TGF or GLB, or its bytes, a ``Rig``, or another ``Model`` in the same space,
    for a mesh that has none; joint_options: a file of joint options or its bytes. skeleton_scale: factor on the lengths of
    skeleton, 0.01 for centimetres where the mesh has metres. prop: accepts a file without a skin whose nodes are those of
    a prop. bind_parts: in a file without a skin, meshes below joints do not follow their joint whole. together: levels of
    detail, meshes that no scene shows and several characters are one mesh. with_clips: ``Model.save`` also writes the
    animations of skeleton, a GLB. only_missing: vertices that have weights in the file keep them, and meshes without a
    skin that hang on no joint are bound, too. follow_links: buffers and images may be
    symbolic links out of the folder.
    """
    content, path, folder = _read(source), name, None
    if not isinstance(source, (bytes, bytearray, memoryview)):
        path, folder = source, os.fsencode(pathlib.Path(source).absolute().parent)
    if isinstance(skeleton, Model):
        skeleton = skeleton._skeleton_json()
    elif isinstance(skeleton, Rig):
        skeleton = skeleton.skeleton.encode()
    bones = None if skeleton is None else _read(skeleton)
    title = os.fsencode(skeleton) if isinstance(skeleton, (str, os.PathLike)) else None if skeleton is None else b"skeleton"
    if not 0 < skeleton_scale < float("inf"):
        raise UsageError(f"skeleton_scale {skeleton_scale}: a factor must be above 0")
    options = OpenOptions(folder, *buffer(bones), title, skeleton_scale, bool(prop), bool(bind_parts), bool(together),
                          bool(with_clips), bool(only_missing))
    made = _opened(path, content, options, follow_links)
    if joint_options is not None:
        made.joint_options(_read(joint_options).decode())
    return made


def _faces(faces, name):
    """Corners and sizes: from an array (F, n), or from a list of polygons of any size."""
    if isinstance(faces, np.ndarray) or (len(faces) and np.ndim(faces[0]) and len({len(f) for f in faces}) == 1):
        corners = array(faces, np.uint32, (None, None), name)
        if corners.shape[1] < 3:
            raise InputError(f"{name} has the shape {corners.shape}: a face needs at least three corners")
        return corners, len(corners), None if corners.shape[1] == 3 else np.full(len(corners), corners.shape[1],
                                                                                  np.uint32)
    sizes = np.array([len(f) for f in faces], np.uint32)
    flat = np.concatenate([np.asarray(f) for f in faces]) if len(faces) else np.empty(0, np.uint32)
    return array(flat, np.uint32, (None,), name), len(sizes), sizes


def _matrices(values, count, name):
    """(count, 3, 4) from (count, 3, 4) or (count, 4, 4)."""
    values = np.asarray(values)
    if values.ndim == 3 and values.shape[1:] == (4, 4):
        values = values[:, :3]
    return array(values, np.float64, (count, 3, 4), name)


def model(vertices, faces, heads=None, tails=None, parents=None, names=None, rest=None, deform=None, weights=None,
          transform=None, up=None, name="arrays", select=None, locked=None, mesh_names=None):
    """A model from arrays. Contiguous arrays of the right type are read without a copy in Python.

    vertices (V, 3) float32 and faces (F, 3) or a list of polygons; or lists of several meshes' vertices and faces,
    whose vertices then follow each other, with transform: a list of (4, 4). heads (J, 3): where the joints are;
    tails (J, 3): where their bones end, NaN for none; parents (J,): -1 for a root; without, all are roots. names (J).
    rest (J, 4, 4): matrices of the joints at rest, whose columns are their axes; then heads may be left out. deform
    (J,): 0 never, 1 yes, 2 as the names of the joints and the weights say (the default). weights: ``Weights``, an
    array (V, J), or (indptr, indices, data). up (3,): the way up, for standard poses; y without. select (V,) bool and
    locked: what binds change (``Model.select``). mesh_names: for messages and files; "mesh 0", "mesh 1" … without.
    Without joints it is a mesh, for ``sinew.transfer``.
    """
    several = isinstance(vertices, (list, tuple)) and len(vertices) and np.ndim(vertices[0]) == 2
    many_vertices, many_faces = (list(vertices), list(faces)) if several else ([vertices], [faces])
    if len(many_vertices) != len(many_faces):
        raise InputError(f"{len(many_vertices)} meshes have vertices, but {len(many_faces)} have faces")
    transforms = [transform] if not several and transform is not None else list(transform) if transform is not None \
        else [None] * len(many_vertices)
    if mesh_names is not None and len(mesh_names) != len(many_vertices):
        raise InputError(f"{len(mesh_names)} names, but {len(many_vertices)} meshes")
    kept, meshes = [], (Mesh * len(many_vertices))()
    for i, mesh in enumerate(meshes):
        mesh.name = None if mesh_names is None else str(mesh_names[i]).encode()
        points = array(many_vertices[i], np.float32, (None, 3), "vertices")
        corners, count, sizes = _faces(many_faces[i], "faces")
        matrix = None if transforms[i] is None else _matrices([transforms[i]], 1, "transform")
        kept += [points, corners, sizes, matrix]
        mesh.vertex_count, mesh.positions, mesh.face_count = len(points), pointer(points), count
        mesh.face_sizes, mesh.corners, mesh.transform = pointer(sizes), pointer(corners), pointer(matrix)
    arrays = Arrays(name=name.encode(), meshes=meshes, mesh_count=len(meshes))
    total = sum(m.vertex_count for m in meshes)
    _joint_arrays(arrays, kept, heads, tails, parents, names, rest, deform)
    if weights is not None:
        if not isinstance(weights, Weights):
            weights = Weights.from_csr(*weights, joints=arrays.joint_count) if isinstance(weights, tuple) else \
                Weights.from_dense(weights)
        if weights.shape != (total, arrays.joint_count):
            raise InputError(f"weights have the shape {weights.shape}, but ({total}, {arrays.joint_count}) is needed")
        parts = (array(weights.indptr, np.uint64, (None,), "indptr"), array(weights.indices, np.uint32, (None,), ""),
                 weights.data)
        kept.append(parts)
        arrays.weight_offsets, arrays.weight_joints, arrays.weight_shares = map(pointer, parts)
    if up is not None:
        up = array(up, np.float32, (3,), "up")
        arrays.up = pointer(up)
    handle = Handle(lib.model_free)
    lib.model_from_arrays(arrays, handle.out)
    made = Model(handle)
    if names is not None:
        made._names = tuple(map(str, names))
    if select is not None or locked is not None:
        made.select(select, locked)
    return made


def _joint_arrays(arrays, kept, heads, tails, parents, names, rest, deform):
    if heads is None and rest is None:
        return
    count = len(rest if heads is None else heads)
    given = {
        "rest": None if rest is None else _matrices(rest, count, "rest"),
        "heads": array(heads, np.float32, (count, 3), "heads", optional=True),
        "tails": array(tails, np.float32, (count, 3), "tails", optional=True),
        "parents": array(np.full(count, -1) if parents is None else parents, np.int32, (count,), "parents"),
        "deform": None if deform is None else array(np.asarray(deform), np.uint8, (count,), "deform"),
    }
    if names is not None:
        if len(names) != count:
            raise InputError(f"{len(names)} names, but {count} joints")
        given["names"] = (ctypes.c_char_p * count)(*(str(n).encode() for n in names))
        arrays.names = given["names"]
    arrays.joint_count = count
    kept.append(given)
    for field in ("rest", "heads", "tails", "parents", "deform"):
        setattr(arrays, field, pointer(given[field]))


def bind(vertices, faces, heads=None, tails=None, parents=None, names=None, rest=None, deform=None, weights=None,
         transform=None, select=None, locked=None, method=None, on_progress=None, threads=0, memory_limit=0, **options):
    """Skin weights for arrays, in one call: see ``sinew.model`` for the arrays and ``Model.bind`` for the options.

    select: (V,) bool: only these vertices get new weights, the others keep those of `weights`. locked: joints whose
    weights stay (``Model.select``). ``messages`` of the result are the warnings of the bind's report.
    """
    if weights is None and (select is not None or locked is not None):
        raise UsageError("select and locked keep weights, so weights must be given")
    made = model(vertices, faces, heads, tails, parents, names, rest, deform, weights, transform, select=select,
                 locked=locked)
    binding = made.bind(method, on_progress, threads, memory_limit, **options)
    bound = binding.weights(threads=threads)
    bound.messages = tuple(binding.report()["warnings"])
    return bound


def transfer(source, target, weights=None, distance=0.05, angle=30, max_influences=4, limit_rule="fade",
             on_progress=None, threads=0, memory_limit=0):
    """Weights of one model for the mesh of another in the same space, on the joints of the source (docs/transfer.md).

    weights: of the source; without, those of its file. distance: of a match, as a fraction of the source's diagonal;
    angle: between normals, degrees. ``how`` of the result says how each vertex came to its weights.
    """
    weights = source.weights if weights is None else weights
    if weights is None:
        raise UsageError("the source has no weights to transfer: bind it, or give weights")
    words = _Settings({"max_influences": max_influences, "limit_rule": limit_rule})
    context, said, out = _Context(threads, memory_limit), Handle(lib.bytes_free), Handle(lib.weights_free)
    how = np.empty(target.vertex_count, np.uint8)
    with source._lock, target._lock:
        run(lambda: lib.transfer(source._handle.value, _given(weights), target._handle.value, distance, angle,
                                 words.value, context.value, pointer(how), said.out, out.out), context, on_progress)
    made = Weights(out, weights.joint_names)
    made.how, made.messages = how, tuple(lines_of(said))
    return made


_GATES = ("max_l1", "max_distance", "min_agreement", "max_unweighted")


def compare(model, reference, other, gates=None, on_progress=None, threads=0):
    """Two weights of one model in numbers: the dict of docs/compare-report.md.

    gates: limits; a ``GateError`` says which do not hold. Those of the command, {"max_l1": 0.1, "max_distance": 2,
    "min_agreement": 0.9, "max_unweighted": 0}, are then also in the result, under "gates". Any other number may have a
    limit from above by its path: {"l1.p95": 0.3}.
    """
    context, out = _Context(threads), Handle(lib.bytes_free)
    own = {name.replace("_", "-"): limit for name, limit in (gates or {}).items() if name in _GATES}
    text = json.dumps(own).encode() if own else None
    with model._lock:
        run(lambda: lib.compare_gates_json(model._handle.value, _given(reference), _given(other), text,
                                           context.value, out.out), context, on_progress)
    numbers = json.loads(taken(out))
    broken = [Gate(g["option"].replace("-", "_"), g["limit"], g["value"]) for g in numbers.get("gates", ())
              if not g["passed"]]
    for path, limit in (gates or {}).items():
        if path in _GATES:
            continue
        value = numbers
        for key in path.split("."):
            if not isinstance(value, dict) or key not in value:
                raise UsageError(f"gate {path}: compare has no such number")
            value = value[key]
        if not isinstance(value, (int, float)):
            raise UsageError(f"gate {path}: compare has no such number")
        if not value <= limit:
            broken.append(Gate(path, limit, value))
    if broken:
        raise GateError(broken)
    return numbers


class Gate(NamedTuple):
    """A gate of ``compare`` that does not hold."""
    name: str
    limit: float
    value: float

    def __str__(self):
        return f"{self.name} {self.limit:.6g}: the value is {self.value:.6g}"


class GateError(Error):
    """Gates of ``compare`` that do not hold: ``gates``, a tuple of name, limit and value."""
    code = "gate"

    def __init__(self, gates):
        super().__init__("; ".join(map(str, gates)))
        self.gates = tuple(gates)

    def __reduce__(self):
        return type(self), (self.gates,)


def _png(pixels):
    """A PNG file of an array (H, W, 4) uint8."""
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    height, width = pixels.shape[:2]
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b""))


def cutout(pictures, bones, png=None, name="picture.png", smoothness=0, threads=0):
    """A flat figure: the bytes of the GLB that ``sinew cutout`` writes (docs/cutout.md).

    pictures: an array (H, W, 4) uint8 with rows from the top, or {path: array} for bones with "layers". bones: bones
    JSON as text or dict. png: the file of the picture, or {path: file}, to be embedded as it is; without, one is
    made of the array. smoothness: in pixels; 0: chosen.
    """
    text = bones.encode() if isinstance(bones, str) else bones if isinstance(bones, bytes) else json.dumps(bones).encode()
    layered = isinstance(pictures, dict)
    files = (png or {}) if layered else {name: png} if png is not None else {}
    kept, given = [], (Picture * (len(pictures) if layered else 1))()
    for one, (path, pixels) in zip(given, pictures.items() if layered else [(name, pictures)]):
        pixels = array(pixels, np.uint8, (None, None, 4), f"picture {path}")
        content = files[path] if path in files else _png(pixels)
        kept += [pixels, content]
        one.path, one.rgba = os.fsencode(path), pointer(pixels)
        one.height, one.width = pixels.shape[:2]
        one.png, one.png_size = buffer(content)
    context, out = _Context(threads), Handle(lib.bytes_free)
    if layered:
        call = lambda: lib.cutout_layers_glb(given, len(given), name.encode(), text, len(text), smoothness, context.value,
                                             out.out)
    else:
        call = lambda: lib.cutout_glb(given[0].rgba, given[0].width, given[0].height, given[0].png, given[0].png_size,
                                      name.encode(), text, len(text), smoothness, context.value, out.out)
    run(call, context, None)
    return taken(out)


def pose(model, weights, pose, skinning="linear"):
    """The vertices of a model in a pose, (V, 3) float32. pose: see ``Model.pose_matrices``."""
    return model.deform(weights, model.pose_matrices(pose), skinning)


def version():
    """The version of the library, "0.3.0"."""
    return lib.version().decode()
