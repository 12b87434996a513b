"""sinew: automatic skin weights for character meshes.

    import sinew
    model = sinew.load("hero.glb")
    weights = model.bind().weights(falloff=0.3)
    model.save("hero.skinned.glb", weights)

and from arrays: ``weights = sinew.bind(vertices, faces, heads, tails, parents)``. docs/python.md has examples. Lengths
are in the units of the input (metres in glTF); y is up. V, T and J are the numbers of vertices, triangles and joints.
"""
from ._library import Cancelled, Error, FileError, InputError, InternalError, TooLargeError, UsageError
from ._model import (COVERAGE, TRANSFER_HOW, Binding, Defects, Gate, GateError, Joint, Model, Rig, Weights, bind, compare, cutout,
                     load, model, pose, rig, rig_templates, settings, transfer, version)

__version__ = version()
__all__ = ["COVERAGE", "TRANSFER_HOW", "Binding", "Cancelled", "Defects", "Error", "FileError", "Gate", "GateError", "InputError",
           "InternalError", "Joint", "Model", "Rig", "TooLargeError", "UsageError", "Weights", "bind", "compare", "cutout",
           "load", "model", "pose", "rig", "rig_templates", "settings", "transfer", "version"]
