"""From Blender's objects to sinew and back: meshes and an armature as arrays, weights as vertex groups.

Everything is measured in the space of the world, turned so that y is up, with the armature at rest. Modifiers and shape
keys are not applied: vertices are where the mesh has them, as for Blender's own automatic weights.
"""
import bpy
import numpy as np

import sinew
from sinew.adapters import blender_mesh

# Blender has z up, sinew y: (x, y, z) becomes (x, z, -y).
UPRIGHT = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]], float)


class Figure:
    """Meshes that one armature moves, as one sinew.Model; vertices of the meshes follow each other."""

    def __init__(self, armature, meshes, only_selected_bones=False, ends="auto", single_user=False):
        if armature is None or armature.type != "ARMATURE":
            raise sinew.UsageError("there is no armature: select the meshes, and the armature last")
        if not meshes:
            raise sinew.UsageError("no mesh is selected: select the meshes, and the armature last")
        if not any(b.use_deform for b in armature.data.bones):
            raise sinew.UsageError(f"no bone of {armature.name} deforms: turn on Deform in the properties of bones")
        for mesh in meshes:
            for what, some in (("vertices", mesh.data.vertices), ("faces", mesh.data.polygons)):
                if not some:
                    raise sinew.UsageError(f"{mesh.name} is empty: it has no {what}")
            if constraint := _following(mesh, armature):
                raise sinew.UsageError(f"{mesh.name} follows {armature.name} by the constraint {constraint}, so that weights "
                                       "would move it twice: remove the constraint first")
            if not single_user and (other := _sharing(mesh, armature, meshes)):
                raise sinew.UsageError(f"{mesh.name} and {other.name} share one mesh, and with it all weights: turn on Single "
                                       "User, or use Object > Relations > Make Single User > Object & Data first")
        self.armature, self.meshes, self.ends = armature, meshes, ends
        self.counts = [len(m.data.vertices) for m in meshes]
        self.starts = np.concatenate([[0], np.cumsum(self.counts)])
        self.names = [b.name for b in armature.data.bones]
        self.deform = np.array([b.use_deform and (b.select or not only_selected_bones) for b in armature.data.bones])
        if not self.deform.any():
            raise sinew.UsageError("no bone that deforms is selected")
        # Blender turns Deform on for every new and every imported bone. If it is on for all bones, it says nothing, and
        # control bones are recognised by their names.
        self.by_names = bool(self.deform.all()) and len(self.names) > 1
        self._numbers = {name: j for j, name in enumerate(self.names)}
        self.model = None
        self._state = self._sorted_state = None  # the entries of the groups, once read or written

    def build(self, weights=None):
        """The model. weights: those that the vertices have."""
        self.model = self._model(self.deform, weights)
        return self.model

    def _model(self, deform, weights=None):
        arrays = {"vertices": [], "faces": [], "transform": []}
        for mesh in self.meshes:
            points, corners, matrix = mesh_arrays(mesh, self.armature)
            arrays["vertices"].append(points)
            arrays["faces"].append(corners)
            arrays["transform"].append(matrix)
        bones = self.armature.data.bones
        world = UPRIGHT @ np.array(self.armature.matrix_world)
        rest = world @ np.array([np.array(b.matrix_local) for b in bones])
        tails = np.array([world @ (*b.tail_local, 1) for b in bones])[:, :3]
        self._invented = self._tails_are_invented()
        tails[[not self._states_tail(b) for b in bones]] = np.nan
        parents = [self._numbers[b.parent.name] if b.parent else -1 for b in bones]
        return sinew.model(**arrays, rest=rest, tails=tails.astype(np.float32), parents=parents, names=self.names,
                           deform=np.where(deform, 2 if self.by_names else 1, 0).astype(np.uint8), weights=weights,
                           name=self.armature.name, mesh_names=[m.name for m in self.meshes])

    def _states_tail(self, bone):
        """Whether the tail of a bone says where it ends. In a chain it does, and at its end; but importers invent the
        tail of a bone whose children begin elsewhere, and then bones to the children are far better."""
        if self.ends != "auto":
            return self.ends == "tails"
        return not self._invented and (not bone.children or any(_ends_at(bone, c) for c in bone.children))

    def _tails_are_invented(self):
        """Whether bones point at their children but do not reach them: so importers that keep the axes of a file give
        every bone some length. sinew then finds the ends by the axes, as in the file itself."""
        pairs = [(b, b.children[0]) for b in self.armature.data.bones if len(b.children) == 1 and
                 (b.children[0].head_local - b.head_local).length > 1e-6]
        points = sum((c.head_local - b.head_local).normalized().dot((b.tail_local - b.head_local).normalized()) > 0.998
                     for b, c in pairs)
        reaches = sum(_ends_at(b, c) for b, c in pairs)
        return len(pairs) >= 3 and points >= 0.9 * len(pairs) and reaches < 0.5 * len(pairs)

    def groups(self):
        """The vertex groups of bones as they are: rows, joints and weights, not normalised, and zero where they are."""
        rows, joints, shares = [], [], []
        for mesh, start in zip(self.meshes, self.starts):
            number = {g.index: self._numbers[g.name] for g in mesh.vertex_groups if g.name in self._numbers}
            for v in mesh.data.vertices:
                for entry in v.groups:
                    joint = number.get(entry.group)
                    if joint is not None:
                        rows.append(start + v.index)
                        joints.append(joint)
                        shares.append(entry.weight)
        return np.array(rows, np.int64), np.array(joints, np.int64), np.array(shares, np.float32)

    def own_weights(self):
        """The same as sinew.Weights, whose rows are normalised."""
        rows, joints, shares = self.groups()
        counts = np.bincount(rows, minlength=self.starts[-1])
        return sinew.Weights.from_csr(np.concatenate([[0], np.cumsum(counts)]), joints, shares, self.names)

    def locked(self):
        """Which joints have a locked group, mesh by mesh: (meshes, J) bool."""
        out = np.zeros((len(self.meshes), len(self.names)), bool)
        for k, mesh in enumerate(self.meshes):
            for group in mesh.vertex_groups:
                if group.lock_weight and group.name in self._numbers:
                    out[k, self._numbers[group.name]] = True
        return out

    def masked(self):
        """The vertices that the selection masks of weight painting leave free: (V,) bool."""
        out = np.ones(self.starts[-1], bool)
        for mesh, start, count in zip(self.meshes, self.starts, self.counts):
            data = mesh.data
            if data.use_paint_mask_vertex:
                data.vertices.foreach_get("select", out[start:start + count])
            elif data.use_paint_mask:
                out[start:start + count] = False
                for face in data.polygons:
                    if face.select:
                        out[start + np.array(face.vertices)] = True
        return out

    def unweighted(self):
        """The vertices without weight on a bone that deforms: (V,) bool."""
        rows, joints, shares = self.groups()
        out = np.ones(self.starts[-1], bool)
        out[rows[np.array([b.use_deform for b in self.armature.data.bones])[joints] & (shares > 0)]] = False
        return out

    def write(self, weights, only=None, levels=None):
        """Puts weights into vertex groups: at the vertices of `only` (V, bool), at all without it.

        Locked groups keep theirs, and the other bones share what is left. Groups of other names are not touched.
        Unchanged entries are not written. levels: the number of steps to which weights are rounded. It reduces the
        calls of Blender, for a preview. Between two calls nothing else may change the groups.
        """
        self._change_to(self._target(weights, only, levels), levels)

    def restore(self, entries):
        """Puts back what groups() gave."""
        self._change_to(entries)

    def _change_to(self, entries, levels=None):
        old = self._sorted()
        self._state, self._sorted_state = entries, None
        for k, (before, after) in enumerate(zip(old, self._sorted())):
            self._write_mesh(k, before, after, levels)

    def _entries_now(self):
        if self._state is None:
            self._state = self.groups()
        return self._state

    def _sorted(self):
        """The entries of each mesh, sorted: joint * vertices of the mesh + vertex, and weights."""
        if self._sorted_state is None:
            rows, joints, shares = self._entries_now()
            if (np.diff(rows) >= 0).all():
                order = np.argsort(joints.astype(np.uint16), kind="stable")  # by digits: many times faster
            else:
                order = np.lexsort((rows, joints))
            rows, joints, shares = rows[order], joints[order], shares[order]
            self._sorted_state = []
            for start, count in zip(self.starts, self.counts):
                part = slice(None) if len(self.counts) == 1 else (rows >= start) & (rows < start + count)
                self._sorted_state.append((joints[part] * count + rows[part] - start, shares[part]))
        return self._sorted_state

    def _target(self, weights, only, levels):
        """The entries that the groups shall have: rows, joints and weights."""
        rows = np.repeat(np.arange(len(weights)), np.diff(weights.indptr))
        joints, shares = weights.indices.astype(np.int64), weights.data.astype(np.float64)
        locked = self.locked()
        if locked.any() or only is not None:
            old, mesh_of = self._entries_now(), np.repeat(np.arange(len(self.meshes)), self.counts)
            held = locked[mesh_of[old[0]], old[1]]
        if locked.any():
            left = np.clip(1 - np.bincount(old[0][held], old[2][held], minlength=self.starts[-1]), 0, 1)
            free = ~locked[mesh_of[rows], joints]
            rows, joints, shares = rows[free], joints[free], shares[free]
            total = np.bincount(rows, shares, minlength=self.starts[-1])
            if ((total == 0) & (left > 0)).any():
                other = self._beside(locked.any(axis=0))
                extra = total[other[0]] == 0
                rows, joints, shares = (np.concatenate([a, b[extra]]) for a, b in zip((rows, joints, shares), other))
                total = np.bincount(rows, shares, minlength=self.starts[-1])
            shares = shares * (left / np.where(total > 0, total, 1))[rows]
        if levels:
            shares = np.round(shares * levels) / levels
        fresh = shares > 0
        if only is not None:
            fresh &= only[rows]
            held |= ~only[old[0]]
        new = (rows[fresh], joints[fresh], shares[fresh].astype(np.float32))
        if locked.any() or only is not None:
            return tuple(np.concatenate([a[held], b]) for a, b in zip(old, new))
        return new

    def _beside(self, locked):
        """Entries for vertices that only locked bones would move: by straight distance to the other bones."""
        deform = self.deform & ~locked
        if not deform.any():
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
        made = self._model(deform).bind("closest-distance").weights()
        return np.repeat(np.arange(len(made)), np.diff(made.indptr)), made.indices.astype(np.int64), made.data

    def _write_mesh(self, k, before, after, levels):
        count, groups = max(1, self.counts[k]), self.meshes[k].vertex_groups
        (old_keys, old_shares), (keys, shares) = before, after
        if np.array_equal(old_keys, keys):
            changed = old_shares != shares
        elif len(old_keys):
            at = np.minimum(np.searchsorted(old_keys, keys), len(old_keys) - 1)
            kept = old_keys[at] == keys
            changed = ~kept | (old_shares[at] != shares)
            gone = np.ones(len(old_keys), bool)
            gone[at[kept]] = False
            gone = old_keys[gone]
            for part in _parts(gone // count):
                groups[self.names[gone[part][0] // count]].remove((gone[part] % count).tolist())
        else:
            changed = np.ones(len(keys), bool)
        keys, shares = keys[changed], shares[changed]
        joints = keys // count
        vertices = keys - joints * count
        # Vertices of one group with equal weights together: each call has a cost.
        if levels and len(self.names) * (levels + 1) < 1 << 16:
            steps = np.rint(shares * np.float32(levels)).astype(np.int64)
            order = np.argsort((joints * (levels + 1) + steps).astype(np.uint16), kind="stable")  # by digits, as above
        else:
            order = np.lexsort((shares, joints))
        joints, vertices, shares = joints[order], vertices[order], shares[order]
        for part in _parts(joints, shares):
            name = self.names[joints[part][0]]
            group = groups.get(name) or groups.new(name=name)
            group.add(vertices[part].tolist(), float(shares[part][0]), "REPLACE")


def _parts(*columns):
    """Slices of rows that are equal in all columns."""
    if not len(columns[0]):
        return
    changes = np.zeros(len(columns[0]) - 1, bool)
    for column in columns:
        changes |= np.diff(column) != 0
    begin = 0
    for end in [*(np.flatnonzero(changes) + 1).tolist(), len(columns[0])]:
        yield slice(begin, end)
        begin = end


def _ends_at(bone, child):
    return (child.head_local - bone.tail_local).length < 1e-3 * max(bone.length, 1e-9)


def mesh_arrays(thing, armature):
    """Positions, triangles and the matrix to the upright world of an object with a mesh."""
    own = blender_mesh(thing)
    corners, matrix = own["faces"], UPRIGHT @ np.array(rest_place(thing, armature))
    if np.linalg.det(matrix[:3, :3]) < 0:
        corners = corners[:, ::-1]  # a mirrored object has its faces inside out
    return own["vertices"], corners, matrix


def rest_place(thing, armature):
    """matrix_world of an object with the armature at rest: what hangs on a bone is taken out of its pose."""
    above = thing
    while above.parent and not (above.parent == armature and above.parent_type == "BONE"):
        above = above.parent
    bone = armature.data.bones.get(above.parent_bone) if above.parent else None
    if bone is None:
        return thing.matrix_world.copy()
    world, pose = armature.matrix_world, armature.pose.bones[bone.name].matrix
    return world @ bone.matrix_local @ pose.inverted_safe() @ world.inverted_safe() @ thing.matrix_world


def _following(thing, armature):
    """The name of a constraint by which an object moves with bones of the armature, or None."""
    for one in thing.constraints:
        targets = one.targets if one.type == "ARMATURE" else [one]
        if not one.mute and one.influence > 0 and any(
                getattr(t, "target", None) == armature and getattr(t, "subtarget", "") for t in targets):
            return one.name
    return None


def _sharing(mesh, armature, meshes):
    """Another object with the same mesh for which the weights of this one would be wrong, or None: they are right only
    where it stands as this one does to an armature of the same bones."""
    place = armature.matrix_world.inverted_safe() @ rest_place(mesh, armature)
    for other in bpy.data.objects:
        if other.data != mesh.data or other == mesh:
            continue
        own = armature if other in meshes else armature_of(other)
        if own is None or own.data != armature.data:
            return other
        there = own.matrix_world.inverted_safe() @ rest_place(other, own)
        if not np.allclose(there, place, atol=1e-5 * max(1, *mesh.dimensions)):
            return other
    return None


def armature_of(mesh):
    """The armature whose modifier moves a mesh, or its parent."""
    for modifier in mesh.modifiers:
        if modifier.type == "ARMATURE" and modifier.object:
            return modifier.object
    return mesh.parent if mesh.parent and mesh.parent.type == "ARMATURE" else None


def attach(mesh, armature):
    """Parents a mesh to an armature without moving it, with an armature modifier, as Blender's own command does. A mesh
    that hangs on a bone leaves it, since its weights move it now."""
    if mesh.parent != armature or mesh.parent_type != "OBJECT":
        place = rest_place(mesh, armature)
        mesh.parent, mesh.parent_type = armature, "OBJECT"
        mesh.matrix_parent_inverse = armature.matrix_world.inverted_safe()
        mesh.matrix_world = place
    if not any(m.type == "ARMATURE" and m.object == armature for m in mesh.modifiers):
        modifier = mesh.modifiers.new("Armature", "ARMATURE")
        modifier.object = armature


def chosen(context):
    """The armature and the meshes of the selection; in weight paint mode the mesh that is painted and its armature."""
    active = context.active_object
    meshes = [o for o in context.selected_objects if o.type == "MESH"]
    if active and active.type == "MESH":
        armature = next((o for o in context.selected_objects if o.type == "ARMATURE"), None) or armature_of(active)
        return armature, meshes if active in meshes and active.mode == "OBJECT" else [active]
    return (active if active and active.type == "ARMATURE" else None), meshes
