"""The commands: bind, correct, transfer."""
import threading
import time

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

import sinew

from .figure import Figure, armature_of, attach, chosen
from .words import in_blender, said

_OPTIONS = {row["name"]: row for row in sinew.settings()}
# pixel-geodesic is for flat figures, which have no armature here.
METHODS = [(name, name.replace("-", " ").title(), about["summary"])
           for name, about in _OPTIONS["method"]["methods"].items() if name != "pixel-geodesic"]
IN_VOXELS = _OPTIONS["resolution"]["read_by_methods"]
RESOLUTIONS = [("auto", "Automatic", "By the thinnest limb and the narrowest gap"),
               *((str(n), str(n), "Voxels along the longest side") for n in (32, 64, 128, 256, 512, 1024))]
ENDS = [
    ("auto", "Automatic", "At the tail, where a child begins there or there is no child; else at the children"),
    ("tails", "Tails", "As the armature is drawn. For armatures that were made in Blender"),
    ("children", "Children", "Bones lead to their children, whatever their tails"),
]
PREVIEW_LEVELS = 64   # steps of weights while the slider moves, at most
PREVIEW_SECONDS = 0.02  # that a preview should take: the limit of what looks continuous is 0.03
last_report = {}      # name of the scene: lines of the panel


def tell(operator, context, lines, level="INFO"):
    """The lines in the panel, the first of them in the status bar."""
    last_report[context.scene.name] = lines
    redraw()
    operator.report({level}, lines[0])


def redraw():
    """Meshes and panels in all windows as they are now."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def available(cls, problem):
    """For poll: whether there is no problem; a button that is grey says which one there is."""
    if problem:
        cls.poll_message_set(problem)
    return not problem


class Bound:
    """The last bind, for the slider: distances are kept, weights computed again. Objects by name, since undo makes new
    ones."""
    armature = ""
    meshes, counts = [], []
    binding = only = None


class Preview:
    """Weights while the slider moves. They are rounded to as many steps as the machine can show in time: each group and
    step of weight is a call of Blender, and what keeps its step is not written."""

    def __init__(self, figure, binding, only=None):
        self.figure, self.binding, self.only, self.levels = figure, binding, only, PREVIEW_LEVELS

    def show(self, hardness):
        begin = time.perf_counter()
        self.figure.write(self.binding.weights(falloff=hardness), self.only, self.levels)
        seconds = time.perf_counter() - begin
        if seconds > PREVIEW_SECONDS and self.levels > 8:
            self.levels //= 2
        elif seconds < 0.6 * PREVIEW_SECONDS and self.levels < PREVIEW_LEVELS:
            self.levels *= 2


class Settings:
    """What a bind reads: properties of the panel and of the command, which starts from those of the panel."""
    method: EnumProperty(name="Method", items=METHODS, default="surface-heat")
    hardness: FloatProperty(name="Hardness", description="0: soft joints, 1: hard joints", default=0.1, min=0, max=1)
    resolution: EnumProperty(name="Resolution", description="Voxels along the longest side, for methods that measure in "
                                                            "voxels", items=RESOLUTIONS, default="256")
    influences: IntProperty(name="Influences", description="Most bones for one vertex", default=4, min=1, max=8)
    ends: EnumProperty(name="Bones End", description="Where bones end", items=ENDS, default="auto")
    only_unweighted: BoolProperty(name="Fill Only Unweighted", description="Vertices that have weights keep them")
    only_selected_bones: BoolProperty(name="Selected Bones", description="Only bones that are selected get weight")
    single_user: BoolProperty(name="Single User", description="Linked duplicates get a mesh, and so weights, of their own")


class SINEW_OT_bind(Settings, bpy.types.Operator):
    """Compute vertex groups of the selected meshes for the bones of the active armature"""
    bl_idname = "object.sinew_bind"
    bl_label = "With Automatic Weights (sinew)"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        armature, meshes = chosen(context)
        active = context.active_object
        return available(cls, "Leave edit mode first" if active and active.mode == "EDIT" else
                         "Select the meshes, and the armature last" if not armature or not meshes else "")

    def invoke(self, context, event):
        settings = context.scene.sinew
        for name in Settings.__annotations__:
            setattr(self, name, getattr(settings, name))
        try:
            self._prepare(context)
        except sinew.Error as error:
            tell(self, context, [said(error)], "ERROR")
            return {"CANCELLED"}
        self._cancel = self._done = False
        self._fraction, self._problem = 0.0, None
        self._begin = time.perf_counter()
        self._worker = threading.Thread(target=self._work, daemon=True)
        self._worker.start()
        manager = context.window_manager
        manager.progress_begin(0, 100)
        self._timer = manager.event_timer_add(0.05, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC":
            self._cancel = True
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        context.window_manager.progress_update(int(100 * self._fraction))
        context.workspace.status_text_set(f"sinew: {self._fraction:.0%}   Esc: Cancel")
        if not self._done:
            return {"RUNNING_MODAL"}
        self._end_modal(context)
        if self._problem is not None:
            cancelled = isinstance(self._problem, (sinew.Cancelled, _Stop))
            tell(self, context, ["Cancelled: nothing was changed" if cancelled else said(self._problem)],
                 "WARNING" if cancelled else "ERROR")
            return {"CANCELLED"}
        return self._finish(context)

    def _end_modal(self, context):
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)

    def _work(self):
        """In a thread of its own; it touches no data of Blender."""
        def progress(fraction):
            self._fraction = fraction
            if self._cancel:
                raise _Stop
        try:
            self._bind(progress)
        except BaseException as error:  # shown by modal()
            self._problem = error
        self._done = True

    def execute(self, context):
        """At once, for scripts and for another value in the panel of the last operation."""
        self._begin = time.perf_counter()
        try:
            self._prepare(context)
            self._bind(None)
            return self._finish(context)
        except sinew.Error as error:
            tell(self, context, [said(error)], "ERROR")
            return {"CANCELLED"}

    def _prepare(self, context):
        context.view_layer.update()  # places of objects that a script has changed
        armature, meshes = chosen(context)
        self._figure = figure = Figure(armature, meshes, self.only_selected_bones, self.ends, self.single_user)
        self._only = figure.masked()
        if self.only_unweighted:
            self._only &= figure.unweighted()
        if not self._only.any():
            raise sinew.UsageError("no vertex is left to bind: all have weights, or the selection mask hides them")
        figure.build()

    def _bind(self, on_progress):
        options = {"falloff": self.hardness, "max_influences": self.influences, "deform_from": "names"}
        if self.method in IN_VOXELS:
            options["resolution"] = self.resolution
        self._binding = self._figure.model.bind(self.method, on_progress=on_progress, **options)
        self._weights = self._binding.weights()

    def _finish(self, context):
        figure = self._figure
        for mesh in figure.meshes:
            if self.single_user and mesh.data.users > 1 + mesh.data.use_fake_user:
                mesh.data = mesh.data.copy()
            attach(mesh, figure.armature)
        figure.write(self._weights, None if self._only.all() else self._only)
        Bound.armature, Bound.meshes = figure.armature.name, [m.name for m in figure.meshes]
        Bound.counts, Bound.binding, Bound.only = figure.counts, self._binding, self._only
        missing = figure.unweighted()
        for mesh, start, count in zip(figure.meshes, figure.starts, figure.counts):
            if missing.any() and not mesh.data.use_paint_mask_vertex:
                mesh.data.vertices.foreach_set("select", missing[start:start + count])
            mesh.data.update()
        report = self._binding._report(in_blender)
        seconds = time.perf_counter() - self._begin
        lines = [f"{int(self._only.sum())} vertices of {len(figure.meshes)} meshes on "
                 f"{report['counts']['deforming_joints']} bones in {seconds:.2f} s"]
        if missing.any():
            lines.append(f"{int(missing.sum())} vertices have no weights: they are selected")
        for how in ("bridged", "outside", "euclidean", "unused"):
            if number := report["coverage"][how]:
                lines.append(f"{number} vertices {how} (docs/report.md)")
        if locked := int(figure.locked().any(axis=0).sum()):
            lines.append(f"{locked} locked groups kept their weights")
        idle = [j["name"] for j in report["joints"] if not j["deforms"]] if figure.by_names else []
        if idle:
            lines.append(f"By their names {len(idle)} bones are controls without weight: {shortened(idle)}. Turn off Deform "
                         "for any bone to decide for all yourself")
        if outside := report["snapped_joints"]:
            lines.append(f"{len(outside)} bones begin outside the meshes: {shortened(outside)}")
        lines += [w for w in report["warnings"] if "outside the volume" not in w]
        tell(self, context, lines, "WARNING" if missing.any() else "INFO")
        return {"FINISHED"}


def shortened(names):
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


class _Stop(Exception):
    """Esc was pressed."""


class Correction:
    """A command that changes the weights that the active mesh has."""
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        thing = context.active_object
        return available(cls, "Make a mesh active" if thing is None or thing.type != "MESH" else
                         "Leave edit mode first" if thing.mode == "EDIT" else
                         f"{thing.name} has no armature" if armature_of(thing) is None else "")

    selects = False  # whether the selected vertices are what the command is about, and no mask

    def prepare(self, context):
        context.view_layer.update()
        mesh = context.active_object
        self._figure = Figure(armature_of(mesh), [mesh])
        self._only = np.ones(self._figure.starts[-1], bool) if self.selects else self._figure.masked()
        self._before = self._figure.own_weights()
        if len(self._before.unweighted()) == len(self._before):
            raise sinew.UsageError(f"{mesh.name} has no weights on bones: bind it first")
        self._model = self._figure.build(self._before)

    def show(self, context):
        """The number of vertices that changed."""
        after = self.change(context, self._model, self._before)
        self._figure.write(after, None if self._only.all() else self._only)
        context.active_object.data.update()
        return int((after.difference(self._before)[self._only] > 1e-6).sum())

    def execute(self, context):
        mode = context.active_object.mode
        if mode == "EDIT":  # where groups cannot be written
            bpy.ops.object.mode_set(mode="OBJECT")
        try:
            self.prepare(context)
            tell(self, context, [f"{self.bl_label}: {self.show(context)} vertices changed"])
        except sinew.Error as error:
            tell(self, context, [said(error)], "ERROR")
            return {"CANCELLED"}
        finally:
            if mode == "EDIT":
                bpy.ops.object.mode_set(mode=mode)
        return {"FINISHED"}


class SINEW_OT_smooth(Correction, bpy.types.Operator):
    """Average weights over the surface within a length"""
    bl_idname = "object.sinew_smooth"
    bl_label = "Smooth (sinew)"

    length: FloatProperty(name="Length", default=0.02, min=1e-6, subtype="DISTANCE", unit="LENGTH")

    def change(self, context, model, weights):
        return model.edit(weights, [{"op": "smooth", "length": self.length}])


class SINEW_OT_mirror(Correction, bpy.types.Operator):
    """Copy the weights of one side to the other"""
    bl_idname = "object.sinew_mirror"
    bl_label = "Mirror (sinew)"

    side: EnumProperty(name="From", items=[("left", "Left to Right", ""), ("right", "Right to Left", "")])

    def change(self, context, model, weights):
        return model.edit(weights, [{"op": "mirror", "from": self.side}])


class SINEW_OT_limit(Correction, bpy.types.Operator):
    """Keep the strongest bones of each vertex, and distribute the rest without creases"""
    bl_idname = "object.sinew_limit"
    bl_label = "Limit Influences (sinew)"

    influences: IntProperty(name="Influences", default=4, min=1, max=8)

    def change(self, context, model, weights):
        return weights.limit(self.influences)


class Answer(Correction):
    """A correction that spreads an answer over the surface (docs/edits.md): about the selected vertices, or two bones."""
    selects = True

    symmetric: BoolProperty(name="Both Sides", description="The same on the other side, for the partners of the bones")

    @classmethod
    def poll(cls, context):
        thing = context.active_object
        return thing is not None and thing.type == "MESH" and armature_of(thing) is not None

    @staticmethod
    def selected(context):
        """The selected vertices of the active mesh, by number."""
        vertices = context.active_object.data.vertices
        chosen = np.zeros(len(vertices), bool)
        vertices.foreach_get("select", chosen)
        if not chosen.any():
            raise sinew.UsageError("no vertex is selected")
        return np.flatnonzero(chosen).tolist()

    def bone(self, context, name):
        """The bone of this name; without a name that of the active vertex group."""
        group = context.active_object.vertex_groups.active
        return name or (group.name if group else "")


class SINEW_OT_pin(Answer, bpy.types.Operator):
    """Keep the weights of the selected vertices, and change those around them in the same way"""
    bl_idname = "object.sinew_pin"
    bl_label = "Pin Weights (sinew)"

    reach: FloatProperty(name="Reach", description="How far it spreads, as a share of the root of the surface's area",
                         default=0.06, min=0.001, max=10)
    MOST = 200

    def change(self, context, model, weights):
        chosen = self.selected(context)
        if len(chosen) > self.MOST:
            raise sinew.UsageError(f"{len(chosen)} vertices are selected: select the few whose weights are right, at most "
                                   f"{self.MOST}")
        rows = weights.dense()[chosen]
        pins = [{"vertex": v, "weights": {weights.joint_names[j]: float(row[j]) for j in np.flatnonzero(row)}}
                for v, row in zip(chosen, rows) if row.any()]
        # What the rows changed is measured against what their neighbours have.
        around = {"op": "relax", "steps": 64, "select": {"vertices": chosen}}
        return model.edit(weights, [around, {"op": "pin", "pins": pins, "reach": self.reach, "symmetric": self.symmetric}])


class SINEW_OT_assign(Answer, bpy.types.Operator):
    """Give the connected parts of the selected vertices to one bone, that of the active vertex group"""
    bl_idname = "object.sinew_assign"
    bl_label = "Part to Bone (sinew)"

    joint: StringProperty(name="Bone", description="Without a name: that of the active vertex group")

    def change(self, context, model, weights):
        return model.edit(weights, [{"op": "assign", "joint": self.bone(context, self.joint), "parts": True,
                                     "symmetric": self.symmetric, "select": {"vertices": self.selected(context)}}])


class SINEW_OT_border(Answer, bpy.types.Operator):
    """Move the border of two bones over the surface: move the mouse left and right"""
    bl_idname = "object.sinew_border"
    bl_label = "Move Border (sinew)"

    first: StringProperty(name="Bone", description="Without a name: that of the active vertex group")
    second: StringProperty(name="Other Bone", description="Without a name: the other selected bone, else the parent")
    shift: FloatProperty(name="Shift", description="Away from the first bone", subtype="DISTANCE", unit="LENGTH")

    def bones(self, context):
        first = self.bone(context, self.first)
        bones = self._figure.armature.data.bones
        if first not in bones:
            raise sinew.UsageError("make the vertex group of a bone the active one, or name two bones")
        chosen = [b.name for b in bones if b.select and b.name != first]
        parent = bones[first].parent.name if bones[first].parent else ""
        second = self.second or (chosen[0] if len(chosen) == 1 else parent)
        if not second:
            raise sinew.UsageError(f"{first} has no parent: select the other bone too")
        return [first, second]

    def change(self, context, model, weights):
        if self.shift == 0:
            return weights
        return model.edit(weights, [{"op": "border", "joints": self.bones(context), "shift": self.shift,
                                     "symmetric": self.symmetric}])

    def invoke(self, context, event):
        if context.active_object.mode == "EDIT":
            return self.execute(context)
        try:
            self.prepare(context)
            self._called = " and ".join(self.bones(context))
        except sinew.Error as error:
            tell(self, context, [str(error)], "ERROR")
            return {"CANCELLED"}
        self._from, self._groups = event.mouse_x, self._figure.groups()
        self._size = float(np.linalg.norm(np.ptp(self._model.vertices, axis=0)))
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        ends = event.type in ("ESC", "RIGHTMOUSE") or (event.type in ("LEFTMOUSE", "RET") and event.value == "PRESS")
        lines = [f"Border of {self._called}: {self.shift:+.3f}   Click: Confirm   Esc: Cancel"]
        try:
            if event.type == "MOUSEMOVE":
                self.shift = (event.mouse_x - self._from) / 2000 * self._size
                self.show(context)
            elif ends and event.type in ("LEFTMOUSE", "RET"):
                tell(self, context, [f"{self.bl_label}: {self.show(context)} vertices changed"])
        except sinew.Error as error:
            lines, ends = [str(error)], True
            event = None
            tell(self, context, lines, "ERROR")
        context.workspace.status_text_set(None if ends else lines[0])
        if not ends:
            return {"RUNNING_MODAL"}
        if event is not None and event.type in ("LEFTMOUSE", "RET"):
            return {"FINISHED"}
        self._figure.restore(self._groups)
        context.active_object.data.update()
        return {"CANCELLED"}


class SINEW_OT_transfer(bpy.types.Operator):
    """Give the weights of the active mesh to the other selected meshes, which lie on it"""
    bl_idname = "object.sinew_transfer"
    bl_label = "Transfer Weights (sinew)"
    bl_options = {"REGISTER", "UNDO"}

    distance: FloatProperty(name="Distance", description="Of a match, as a fraction of the source's diagonal", default=0.05,
                            min=1e-4, max=10)
    influences: IntProperty(name="Influences", default=4, min=1, max=8)

    @classmethod
    def poll(cls, context):
        thing = context.active_object
        others = [o for o in context.selected_objects if o.type == "MESH" and o != thing]
        return available(cls, "Make the mesh active that has the weights" if thing is None or thing.type != "MESH" else
                         "Go to object mode first" if thing.mode != "OBJECT" else
                         "Select the other meshes, too" if not others else "")

    def execute(self, context):
        context.view_layer.update()
        mesh = context.active_object
        others = [o for o in context.selected_objects if o.type == "MESH" and o != mesh]
        try:
            source = Figure(armature_of(mesh), [mesh])
            weights = source.own_weights()
            source.build(weights)
            target = Figure(source.armature, others)
            target.build()
            moved = sinew.transfer(source.model, target.model, weights, distance=self.distance,
                                   max_influences=self.influences)
            target.write(moved, target.masked())
        except sinew.Error as error:
            tell(self, context, [said(error)], "ERROR")
            return {"CANCELLED"}
        for other in others:
            attach(other, source.armature)
            other.data.update()
        counts = np.bincount(moved.how, minlength=len(sinew.TRANSFER_HOW))
        tell(self, context, ["Weights transferred: " + ", ".join(
            f"{n} {how}" for n, how in zip(counts, sinew.TRANSFER_HOW) if n), *moved.messages])
        return {"FINISHED"}


class SINEW_OT_hardness(bpy.types.Operator):
    """Change the hardness of the last bind: move the mouse left and right"""
    bl_idname = "object.sinew_hardness"
    bl_label = "Adjust Hardness (sinew)"
    bl_options = {"REGISTER", "UNDO"}

    hardness: FloatProperty(name="Hardness", default=0.1, min=0, max=1)

    @classmethod
    def poll(cls, context):
        return available(cls, "Bind first: this changes the last bind" if Bound.binding is None else
                         "Go to object mode or weight paint mode" if context.mode not in ("OBJECT", "PAINT_WEIGHT") else "")

    def _figure(self):
        """The meshes of the last bind, if they are still there and as they were."""
        objects = bpy.data.objects
        if any(name not in objects for name in [Bound.armature, *Bound.meshes]):
            raise sinew.UsageError("the objects of the last bind are gone or have other names: bind again")
        figure = Figure(objects[Bound.armature], [objects[name] for name in Bound.meshes])
        if figure.counts != Bound.counts or figure.names != list(Bound.binding.model.joint_names):
            raise sinew.UsageError("the meshes or the bones have changed since the last bind: bind again")
        return figure

    def _redraw(self):
        for mesh in self._shown.meshes:
            mesh.data.update()

    @staticmethod
    def _only():
        return None if Bound.only.all() else Bound.only

    def execute(self, context):
        try:
            self._shown = self._figure()
            self._shown.write(Bound.binding.weights(falloff=self.hardness), self._only())
            self._redraw()
        except sinew.Error as error:
            tell(self, context, [said(error)], "ERROR")
            return {"CANCELLED"}
        context.scene.sinew.hardness = self.hardness
        tell(self, context, [f"Hardness {self.hardness:.2f}"])
        return {"FINISHED"}

    def invoke(self, context, event):
        try:
            self._shown = self._figure()
        except sinew.Error as error:
            tell(self, context, [said(error)], "ERROR")
            return {"CANCELLED"}
        self.hardness = self._before = context.scene.sinew.hardness
        self._from = event.mouse_x
        self._groups = self._shown.groups()
        self._preview = Preview(self._shown, Bound.binding, self._only())
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        context.workspace.status_text_set(f"Hardness {self.hardness:.2f}   Click: Confirm   Esc: Cancel")
        if event.type == "MOUSEMOVE":
            self.hardness = min(1, max(0, self._before + (event.mouse_x - self._from) / 400))
            self._preview.show(self.hardness)
            self._redraw()
        elif event.type in ("LEFTMOUSE", "RET") and event.value == "PRESS":
            context.workspace.status_text_set(None)
            return self.execute(context)
        elif event.type in ("ESC", "RIGHTMOUSE"):
            context.workspace.status_text_set(None)
            self._shown.restore(self._groups)
            self._redraw()
            redraw()
            return {"CANCELLED"}
        return {"RUNNING_MODAL"}


CLASSES = (SINEW_OT_bind, SINEW_OT_smooth, SINEW_OT_mirror, SINEW_OT_limit, SINEW_OT_pin, SINEW_OT_assign, SINEW_OT_border,
           SINEW_OT_transfer, SINEW_OT_hardness)
