"""Arguments of ``sinew.model`` and ``sinew.bind`` from objects of other packages. None of them is imported here."""
import numpy as np


def trimesh_arrays(mesh):
    """vertices and faces of a trimesh.Trimesh: ``sinew.bind(**trimesh_arrays(mesh), heads=…)``."""
    return {"vertices": np.asarray(mesh.vertices, np.float32), "faces": np.asarray(mesh.faces, np.uint32)}


def blender_mesh(thing):
    """vertices, faces and transform of a Blender object with a mesh, in the space of the world."""
    data = thing.data
    data.calc_loop_triangles()
    points, corners = np.empty(3 * len(data.vertices), np.float32), np.empty(3 * len(data.loop_triangles), np.int32)
    data.vertices.foreach_get("co", points)
    data.loop_triangles.foreach_get("vertices", corners)
    return {"vertices": points.reshape(-1, 3), "faces": corners.reshape(-1, 3), "transform": np.array(thing.matrix_world)}


def blender_armature(thing):
    """heads, tails, parents, names, rest and deform of a Blender armature, in the space of the world."""
    bones, world = thing.data.bones, np.array(thing.matrix_world)
    rest = world @ np.array([np.array(b.matrix_local) for b in bones])
    place = lambda p: (world @ (*p, 1))[:3]
    return {"rest": rest, "tails": np.array([place(b.tail_local) for b in bones], np.float32),
            "parents": np.array([bones.find(b.parent.name) if b.parent else -1 for b in bones], np.int32),
            "names": [b.name for b in bones], "deform": np.array([b.use_deform for b in bones], np.uint8),
            "up": (0, 0, 1)}
