"""Inside Blender: the add-on from its zip, and scenes for tests."""
import os
import pathlib
import sys

import numpy

for name, kind in (("bool", bool), ("int", int), ("float", float), ("object", object)):
    if name not in numpy.__dict__:
        setattr(numpy, name, kind)  # removed from numpy, but used by the importer of Debian's Blender

import bpy  # noqa: E402
import mathutils  # noqa: E402
import numpy as np  # noqa: E402

CORPUS = pathlib.Path(os.environ.get("SINEW_CORPUS") or "/no-corpus")


def install():
    """Installs and enables the add-on of SINEW_BLENDER_ZIP, as a user does."""
    bpy.ops.preferences.addon_install(filepath=os.environ["SINEW_BLENDER_ZIP"], overwrite=True)
    bpy.ops.preferences.addon_enable(module="sinew_blender")


def clear():
    if bpy.context.object and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing, do_unlink=True)
    for data in (bpy.data.meshes, bpy.data.armatures):
        for one in list(data):
            data.remove(one)


def select(*objects):
    """Selects these; the last one is active."""
    bpy.ops.object.select_all(action="DESELECT")
    for thing in objects:
        thing.select_set(True)
    bpy.context.view_layer.objects.active = objects[-1]


def tube(name="tube", rings=41, sides=12, bottom=0.0, top=2.0):
    """A tube along z."""
    turn = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    points = [(0.2 * np.cos(a), 0.2 * np.sin(a), z) for z in np.linspace(bottom, top, rings) for a in turn]
    faces = [(r + s, r + (s + 1) % sides, r + sides + (s + 1) % sides, r + sides + s)
             for r in range(0, (rings - 1) * sides, sides) for s in range(sides)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, [], faces)
    thing = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(thing)
    return thing


def armature(bones=(("lower", (0, 0, 0), (0, 0, 1), None), ("upper", (0, 0, 1), (0, 0, 2), "lower"))):
    """Bones as (name, head, tail, parent)."""
    data = bpy.data.armatures.new("rig")
    thing = bpy.data.objects.new("rig", data)
    bpy.context.collection.objects.link(thing)
    select(thing)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, head, tail, parent in bones:
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        if parent:
            bone.parent = data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    return thing


def bind(*objects, **options):
    """Runs the command on a selection whose last object is the armature."""
    select(*objects)
    return bpy.ops.object.sinew_bind(**options)


def weights(thing):
    """{group: (V,) weights}."""
    out = {g.name: np.zeros(len(thing.data.vertices)) for g in thing.vertex_groups}
    names = [g.name for g in thing.vertex_groups]
    for v in thing.data.vertices:
        for entry in v.groups:
            out[names[entry.group]][v.index] = entry.weight
    return out


def open_character(path):
    """A fresh import: the armature with most bones, and the meshes that it moves."""
    clear()
    bpy.ops.import_scene.gltf(filepath=str(path))
    rig = max((o for o in bpy.data.objects if o.type == "ARMATURE"), key=lambda o: len(o.data.bones))
    meshes = [o for o in bpy.data.objects if o.type == "MESH"
              and any(m.type == "ARMATURE" and m.object == rig for m in o.modifiers)]
    return rig, meshes


def posed(thing):
    """The vertices of an object in the space of the world, with its armature applied."""
    evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    evaluated.to_mesh_clear()
    matrix = np.array(evaluated.matrix_world)
    return points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def turn_bones(rig, seed=3, degrees=25):
    """Every bone turned about an axis of its own."""
    random = np.random.default_rng(seed)
    for bone in rig.pose.bones:
        axis = mathutils.Vector(random.normal(size=3)).normalized()
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = mathutils.Quaternion(axis, np.radians(random.uniform(-degrees, degrees)))
    bpy.context.view_layer.update()
