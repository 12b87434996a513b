"""Poses FBX files as Blender reads them: blender -b --factory-startup --python in_blender.py -- jobs.json. Jobs and
output are those of three.mjs; lengths in metres, y up."""
import json
import sys

import bpy
import mathutils
import numpy as np


def vertices():
    out = []
    depsgraph = bpy.context.evaluated_depsgraph_get()
    for thing in bpy.data.objects:
        if thing.type != "MESH" or not any(m.type == "ARMATURE" for m in thing.modifiers):
            continue
        shown = thing.evaluated_get(depsgraph)
        mesh = shown.to_mesh()
        own = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.vertices.foreach_get("co", own)
        world = np.array(shown.matrix_world)
        own = own.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
        out.append(own @ [[1, 0, 0], [0, 0, -1], [0, 1, 0]])
        shown.to_mesh_clear()
    return np.vstack(out).astype(np.float32)


for job in json.load(open(sys.argv[-1], encoding="utf-8")):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.fbx(filepath=job["fbx"], use_anim=False)
    bpy.context.view_layer.update()
    rest = vertices()
    for armature in (thing for thing in bpy.data.objects if thing.type == "ARMATURE"):
        for bone in armature.pose.bones:
            if bone.name in job["turns"]:
                turn = mathutils.Matrix(np.reshape(job["turns"][bone.name], (4, 4)).T.tolist())
                bone.matrix_basis = bone.matrix_basis @ turn
    bpy.context.view_layer.update()
    np.concatenate([rest, vertices()]).tofile(job["out"])
