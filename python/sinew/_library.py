"""The C library, libsinew_c: finds it, declares its functions, and turns its errors into exceptions."""
import ctypes
import json
import os
import pathlib
import queue
import re
import sys
import threading
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_uint8, c_uint64, c_void_p

import numpy as np

ABI = 3  # SNW_ABI of sinew.h


# `option`, `option value`, `sinew command` or `sinew command option value`: see docs/conventions.md.
_TOKEN = re.compile(r"`(?:sinew ([a-z]+)(?: |(?=`)))?(?:([a-z][a-z0-9-]*)(?: ([^`]*))?)?(?<!`)`")
_FLAGS = {"prop", "bind-parts", "together", "follow-links", "repair-matrices", "keep-volume"}
_COMMANDS = {"bind": "Model.bind", "rig": "sinew.rig"}
# What a caller in Python does instead of an option of the command.
_INSTEAD = {"decompress": "sinew bind --decompress", "fix": "sinew check --fix", "folder": "give the path of the file",
            "include": "include=[…]", "lock": "Model.select", "only-missing": "Model.select", "save-binding": "Binding.save",
            "with-clips": "sinew pose --with-clips"}


def _in_python(command, option, value):
    if option is None:
        return _COMMANDS.get(command, f"sinew {command}")
    if option in _INSTEAD:
        return _INSTEAD[option]
    if option in _FLAGS:
        value = True
    elif value is None:
        value = "…" if command else None
    elif value.isupper():  # FILE
        value = "…"
    elif re.fullmatch(r"[-+.0-9e]+", value) is None and not value.startswith('"'):
        value = repr(value)
    words = option.replace("-", "_") + ("" if value is None else f"={value}")
    return f"Model.{command}({words})" if command else words


def in_words(text, say=_in_python):
    """A message of the library in the words of Python; or in others, by say(command, option, value)."""
    return _TOKEN.sub(lambda found: say(*found.groups()), text)


class Error(Exception):
    """A call of sinew failed. The message names the broken rule, the place, and what to do.

    ``code``: usage, input, too_large, io, cancelled or internal; of ``GateError`` gate. ``text``: the message with options
    in backticks, by the words of ``sinew bind``. ``options``: those that it names, ((option, value or None), …).
    """
    code = "error"

    @classmethod
    def _of(cls, text):
        """The error of a message of the library."""
        error = cls(in_words(text))
        error._text = text
        return error

    @property
    def text(self):
        return getattr(self, "_text", None) or str(self)

    @property
    def options(self):
        return tuple((option.replace("-", "_"), value or None) for _, option, value in _TOKEN.findall(self.text) if option)


class UsageError(Error, ValueError):
    """The caller asked for something that does not exist or does not combine."""
    code = "usage"


class InputError(Error, ValueError):
    """A file or an array breaks a rule."""
    code = "input"


class TooLargeError(Error, MemoryError):
    """The work would need more memory than there is, or than ``memory_limit`` allows."""
    code = "too_large"


class FileError(Error, OSError):
    """The operating system refused to read or write a file. ``errno`` and ``filename`` say which and why where Python
    opened it."""
    code = "io"

    def __str__(self):
        return f"{self.filename}: {self.strerror}" if self.filename is not None else super().__str__()


class Cancelled(Error):
    """The call was stopped."""
    code = "cancelled"


class InternalError(Error, RuntimeError):
    """A bug in sinew."""
    code = "internal"


_BY_STATUS = {1: UsageError, 2: InputError, 3: TooLargeError, 4: FileError, 5: Cancelled, 6: InternalError}


class Mesh(ctypes.Structure):
    """snw_mesh."""
    _fields_ = [("name", c_char_p), ("vertex_count", c_size_t), ("positions", c_void_p), ("face_count", c_size_t),
                ("face_sizes", c_void_p), ("corners", c_void_p), ("transform", c_void_p)]


class Arrays(ctypes.Structure):
    """snw_arrays."""
    _fields_ = [("name", c_char_p), ("meshes", POINTER(Mesh)), ("mesh_count", c_size_t), ("joint_count", c_size_t),
                ("names", POINTER(c_char_p)), ("parents", c_void_p), ("rest", c_void_p), ("heads", c_void_p),
                ("tails", c_void_p), ("deform", c_void_p), ("weight_offsets", c_void_p), ("weight_joints", c_void_p),
                ("weight_shares", c_void_p), ("up", c_void_p)]


class Animation(ctypes.Structure):
    """snw_animation."""
    _fields_ = [("name", c_char_p), ("step", c_int), ("keys", c_size_t), ("times", c_void_p), ("poses", c_void_p)]


class _Options(ctypes.Structure):
    """A struct that begins with its size."""

    def __init__(self, *values):
        super().__init__(ctypes.sizeof(self), *values)


class OpenOptions(_Options):
    """snw_open_options."""
    _fields_ = [("size", c_size_t), ("folder", c_char_p), ("skeleton", c_void_p), ("skeleton_size", c_size_t),
                ("skeleton_name", c_char_p),
                ("skeleton_scale", c_double), ("prop", c_int), ("bind_parts", c_int), ("together", c_int),
                ("with_clips", c_int), ("only_missing", c_int)]


class Picture(ctypes.Structure):
    """snw_picture."""
    _fields_ = [("path", c_char_p), ("rgba", c_void_p), ("width", c_int), ("height", c_int), ("png", c_void_p),
                ("png_size", c_size_t)]


class CheckOptions(_Options):
    """snw_check_options."""
    _fields_ = [("size", c_size_t), ("profile", c_char_p), ("thresholds", c_char_p), ("only", c_char_p), ("skip", c_char_p),
                ("bleed_resolution", c_int), ("strict", c_int)]


class RenderOptions(_Options):
    """snw_render_options."""
    _fields_ = [("size", c_size_t), ("view", c_char_p), ("joints", c_void_p), ("joint_count", c_size_t), ("zoom", c_void_p),
                ("from_", c_char_p), ("overlay", c_int), ("sheet", c_int), ("resolution", c_int), ("cut", c_void_p),
                ("matrices", c_void_p), ("pose_name", c_char_p), ("skinning", c_int), ("width", c_int),
                ("height", c_int), ("title", c_char_p), ("columns", c_int), ("no_legend", c_int), ("dark", c_int)]


H, SIZE, TEXT, OUT = c_void_p, c_size_t, c_char_p, POINTER(c_void_p)
# snw_bind_step: binding, final, user.
BIND_STEP = ctypes.CFUNCTYPE(c_int, c_void_p, c_int, c_void_p)
# Every function: its result ("status" raises an exception) and its parameters.
_FUNCTIONS = {
    "snw_version": (TEXT,),
    "snw_abi": (c_int,),
    "snw_error": (TEXT,),
    "snw_bytes_data": (c_void_p, H),
    "snw_bytes_size": (SIZE, H),
    "snw_bytes_free": (None, H),
    "snw_context_new": ("status", OUT),
    "snw_context_threads": (None, H, c_int),
    "snw_context_memory_limit": (None, H, SIZE),
    "snw_context_follow_links": (None, H, c_int),
    "snw_context_fraction": (c_double, H),
    "snw_cancel": (None, H),
    "snw_context_free": (None, H),
    "snw_settings_new": ("status", OUT),
    "snw_settings_set": ("status", H, TEXT, TEXT),
    "snw_settings_get": ("status", H, TEXT, OUT),
    "snw_settings_command": ("status", H, OUT),
    "snw_settings_free": (None, H),
    "snw_settings_json": ("status", OUT),
    "snw_model_open": ("status", c_void_p, SIZE, TEXT, TEXT, c_void_p, SIZE, TEXT, OUT),
    "snw_model_open_with": ("status", c_void_p, SIZE, TEXT, POINTER(OpenOptions), H, OUT),
    "snw_model_from_arrays": ("status", POINTER(Arrays), OUT),
    "snw_model_select": ("status", H, c_void_p, c_void_p),
    "snw_model_move_joints": ("status", H, c_void_p, c_void_p),
    "snw_model_joint_options": ("status", H, c_void_p, SIZE),
    "snw_model_free": (None, H),
    "snw_model_size": (None, H, POINTER(SIZE), POINTER(SIZE), POINTER(SIZE)),
    "snw_model_positions": (c_void_p, H),
    "snw_model_triangles": (c_void_p, H),
    "snw_model_normals": (c_void_p, H),
    "snw_model_uvs": (c_void_p, H),
    "snw_model_json": ("status", H, H, H, OUT),
    "snw_model_weights": ("status", H, OUT),
    "snw_bind": ("status", H, H, H, OUT),
    "snw_bind_progressive": ("status", H, H, BIND_STEP, c_void_p, H, OUT),
    "snw_binding_copy": ("status", H, OUT),
    "snw_binding_coverage": (c_void_p, H),
    "snw_binding_report": ("status", H, H, H, OUT),
    "snw_binding_save": ("status", H, OUT),
    "snw_binding_open": ("status", c_void_p, SIZE, OUT),
    "snw_binding_settings": ("status", H, OUT),
    "snw_binding_rebind": ("status", H, H, H, OUT),
    "snw_binding_move": ("status", H, H, H, OUT),
    "snw_binding_free": (None, H),
    "snw_weights_in_pose": ("status", H, H, H, c_void_p, SIZE, c_void_p, H, OUT, OUT),
    "snw_weights_from_rows": ("status", SIZE, SIZE, c_void_p, c_void_p, c_void_p, OUT),
    "snw_weights_open_json": ("status", H, c_void_p, SIZE, OUT),
    "snw_weights_size": (None, H, POINTER(SIZE), POINTER(SIZE)),
    "snw_weights_csr": ("status", H, c_void_p, c_void_p, c_void_p),
    "snw_weights_dense": ("status", H, SIZE, c_void_p),
    "snw_weights_rows": ("status", H, SIZE, c_void_p, c_void_p),
    "snw_weights_joint": ("status", H, SIZE, c_void_p),
    "snw_weights_limit": ("status", H, H, H, OUT),
    "snw_weights_keep": ("status", H, H, c_void_p, c_void_p, SIZE, c_int, H, OUT),
    "snw_weights_edit": ("status", H, H, c_void_p, SIZE, H, OUT, OUT),
    "snw_weights_clean": ("status", H, H, c_double, H, H, OUT, OUT),
    "snw_questions_json": ("status", H, H, SIZE, H, OUT),
    "snw_weights_difference": ("status", H, H, c_void_p),
    "snw_weights_free": (None, H),
    "snw_distances": ("status", H, H, SIZE, H, c_void_p),
    "snw_volume": ("status", H, H, SIZE, H, OUT),
    "snw_defects": ("status", H, H, c_void_p, OUT),
    "snw_transfer": ("status", H, H, H, c_double, c_double, H, H, c_void_p, OUT, OUT),
    "snw_check_json": ("status", H, H, POINTER(CheckOptions), H, OUT),
    "snw_render_png": ("status", H, H, POINTER(RenderOptions), H, OUT),
    "snw_rig_templates": ("status", OUT),
    "snw_rig": ("status", H, TEXT, c_int, H, OUT, OUT),
    "snw_cutout_glb": ("status", c_void_p, c_int, c_int, c_void_p, SIZE, TEXT, TEXT, SIZE, c_double, H, OUT),
    "snw_cutout_layers_glb": ("status", POINTER(Picture), SIZE, TEXT, TEXT, SIZE, c_double, H, OUT),
    "snw_compare_gates_json": ("status", H, H, H, TEXT, H, OUT),
    "snw_pose_matrices": ("status", H, c_void_p, c_void_p),
    "snw_pose_json": ("status", H, c_void_p, SIZE, c_void_p),
    "snw_random_pose": ("status", H, c_double, c_uint64, c_void_p),
    "snw_clip_matrices": ("status", H, SIZE, c_double, c_void_p),
    "snw_rest_matrices": ("status", H, c_void_p, c_void_p),
    "snw_standard_poses": ("status", H, OUT),
    "snw_deform": ("status", H, H, c_void_p, c_int, H, c_void_p, c_void_p),
    "snw_save_glb": ("status", H, H, H, OUT, OUT),
    "snw_save_glb_animated": ("status", H, H, H, POINTER(Animation), SIZE, OUT, OUT),
    "snw_save_fbx": ("status", H, H, H, POINTER(Animation), SIZE, OUT, OUT),
    "snw_save_file": ("status", H, H, H, POINTER(Animation), SIZE, TEXT, OUT),
    "snw_save_json": ("status", H, H, OUT),
}


def _find():
    """The library in this package; SINEW_LIBRARY names another one, and without either the system's is taken."""
    named = os.environ.get("SINEW_LIBRARY")
    if named:
        return named
    file = {"win32": "sinew_c.dll", "darwin": "libsinew_c.dylib"}.get(sys.platform, "libsinew_c.so")
    inside = pathlib.Path(__file__).with_name(file)
    return str(inside) if inside.exists() else f"{file}.{ABI}" if sys.platform.startswith("linux") else file


class _Library:
    """The functions as attributes, without their prefix snw_. Those that return a status raise an Error."""

    def __init__(self):
        path = _find()
        try:
            library = ctypes.CDLL(path)  # releases the lock of the interpreter while a call runs
        except OSError as problem:
            raise ImportError(f"sinew's library {path} cannot be loaded: {problem} (install the wheel, or let "
                              "SINEW_LIBRARY name libsinew_c.so)") from None
        for name, (result, *parameters) in _FUNCTIONS.items():
            try:
                function = getattr(library, name)
            except AttributeError:
                raise ImportError(f"{path} has no {name}: it is older than this Python package") from None
            function.argtypes = parameters
            function.restype = c_int if result == "status" else result
            setattr(self, name[4:], self._checked(function) if result == "status" else function)
        if self.abi() != ABI:
            raise ImportError(f"{path} has version {self.abi()} of the C interface, but this package needs {ABI}")

    def _checked(self, function):
        def call(*arguments):
            status = function(*arguments)
            if status:
                raise _BY_STATUS.get(status, Error)._of(self.error().decode("utf-8", "replace"))
        return call


lib = _Library()


class Handle:
    """An object of the C library: freed with the Python object that has it."""

    def __init__(self, free):
        self.value = c_void_p()
        self._free = free

    def __del__(self):
        if getattr(self, "value", None):  # a copy that failed has none
            self._free(self.value)
            self.value = c_void_p()

    def __reduce__(self):
        raise TypeError("models and bindings live in the memory of the library and cannot be pickled or copied: hand "
                        "over files or Weights, which can be, or keep a binding with Binding.save")

    @property
    def out(self):
        return ctypes.byref(self.value)


def taken(handle):
    """The bytes of a snw_bytes."""
    size = lib.bytes_size(handle.value)
    return ctypes.string_at(lib.bytes_data(handle.value), size) if size else b""


def lines_of(handle):
    """The lines of a snw_bytes, in the words of Python."""
    return in_words(taken(handle).decode()).splitlines()


def json_of(function, *arguments, say=_in_python):
    """Calls a function whose last parameter receives JSON. Its warnings are in the words of Python, or as in in_words."""
    made = json.loads(text_of(function, *arguments))
    if isinstance(made, dict) and "warnings" in made:
        made["warnings"] = [in_words(warning, say) for warning in made["warnings"]]
    return made


def text_of(function, *arguments):
    """Calls a function whose last parameter receives bytes."""
    bytes_ = Handle(lib.bytes_free)
    function(*arguments, bytes_.out)
    return taken(bytes_)


def pointer(array):
    """The address of an array's numbers, or None."""
    return None if array is None else array.ctypes.data_as(c_void_p)


def buffer(content):
    """Address and size of bytes, which the caller must keep."""
    if content is None:
        return None, 0
    return ctypes.cast(c_char_p(content), c_void_p), len(content)


def array(values, dtype, shape, name, optional=False):
    """A contiguous array of this type and shape; None in a shape is any number. No copy if `values` is one already.

    Numbers that the type cannot hold are refused: text, complex numbers, and for indices fractions and negative ones.
    """
    if values is None:
        if optional:
            return None
        raise UsageError(f"{name} must not be None")
    given = np.asarray(values)
    wanted = "(" + ", ".join("N" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"
    if given.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, given.shape)):
        raise InputError(f"{name} has the shape {given.shape}, but {wanted} is needed")
    target = np.dtype(dtype)
    if given.dtype == object or given.dtype.kind not in "biuf":
        raise InputError(f"{name} has the type {given.dtype}, which is not a type of numbers")
    if target.kind in "iu" and given.dtype.kind == "f":
        raise InputError(f"{name} has the type {given.dtype}, but whole numbers are needed (convert it with .astype)")
    if target.kind in "iu" and given.dtype.kind in "iu" and given.size and not np.can_cast(given.dtype, target):
        low, high = int(given.min()), int(given.max())
        if low < np.iinfo(target).min or high > np.iinfo(target).max:
            raise InputError(f"{name} has numbers from {low} to {high}, but {target} is needed")
    return np.ascontiguousarray(given, dtype=target)


def view(address, ctype, shape, owner):
    """An array over memory of the library, without a copy, read-only; it keeps `owner` alive."""
    count = int(np.prod(shape))
    if not address or count == 0:
        return np.empty(shape, dtype=ctype)
    memory = (ctype * count).from_address(address)
    memory._sinew_owner = owner
    out = np.frombuffer(memory, dtype=ctype).reshape(shape)
    out.flags.writeable = False
    return out


class Question:
    """Carries an object from the thread that works (see run) to the one that waits for it, and the answer back."""

    def __init__(self, answer):
        self._answer_of = answer
        self._asked = queue.SimpleQueue()
        self._answered = queue.SimpleQueue()

    def ask(self, thing):
        """What answer(thing) returns in the waiting thread; False if that stops instead."""
        self._asked.put(thing)
        return self._answered.get()

    def answer(self):
        """Called by the waiting thread: answers a question, if there is one."""
        try:
            thing = self._asked.get_nowait()
        except queue.Empty:
            return
        result = False
        try:
            result = self._answer_of(thing)
        finally:
            self._answered.put(result)

    def refuse(self):
        """Called by the waiting thread when it stops."""
        self._answered.put(False)


def run(call, context, on_progress, question=None):
    """Runs a long call. In the main thread Ctrl-C stops it, and on_progress(fraction) is called in the thread of the
    caller, about twenty times a second; if that raises an exception, the call stops, too. question: a Question that the
    call may ask."""
    if on_progress is None and question is None and threading.current_thread() is not threading.main_thread():
        call()
        return
    ended, problem = threading.Event(), []

    def work():
        try:
            call()
        except BaseException as error:  # given to the caller below
            problem.append(error)
        ended.set()

    worker = threading.Thread(target=work, name="sinew", daemon=True)
    worker.start()
    told = None

    def tell(fraction):
        nonlocal told
        if on_progress is not None and fraction != told:
            told = fraction
            on_progress(fraction)

    try:
        while not ended.wait(0.05):
            if question is not None:
                question.answer()
            tell(lib.context_fraction(context.value))
        if not problem:
            tell(1.0)
    except BaseException:
        lib.cancel(context.value)
        if question is not None:
            question.refuse()
        ended.wait()
        raise
    finally:
        worker.join()
    if problem:
        raise problem[0]
