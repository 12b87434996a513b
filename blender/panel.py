"""Where users look: Object > Parent, the Weights menu of weight painting, and a panel in the sidebar."""
import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from .operators import ENDS, METHODS, last_report


ANSWERS = ("object.sinew_pin", "object.sinew_assign", "object.sinew_border")


class SinewSettings(bpy.types.PropertyGroup):
    """What the panel shows; the commands start from it."""
    method: EnumProperty(name="Method", items=METHODS, default="surface-heat")
    hardness: FloatProperty(name="Hardness", description="0: soft joints, 1: hard joints", default=0.1, min=0, max=1)
    resolution: IntProperty(name="Resolution", description="Voxels along the longest side", default=256, min=16, max=1024)
    influences: IntProperty(name="Influences", description="Most bones for one vertex", default=4, min=1, max=8)
    ends: EnumProperty(name="Bones End", description="Where bones end", items=ENDS, default="auto")
    only_unweighted: BoolProperty(name="Fill Only Unweighted", description="Vertices that have weights keep them")
    only_selected_bones: BoolProperty(name="Selected Bones", description="Only bones that are selected get weight")


class SINEW_PT_panel(bpy.types.Panel):
    bl_label = "sinew"
    bl_idname = "SINEW_PT_panel"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "sinew"

    def draw(self, context):
        layout, settings = self.layout, context.scene.sinew
        layout.use_property_split = True
        column = layout.column()
        for name in ("method", "hardness", "resolution", "influences", "ends", "only_unweighted", "only_selected_bones"):
            column.prop(settings, name)
        layout.operator("object.sinew_bind", text="Bind", icon="ARMATURE_DATA")
        column = layout.column(align=True)
        column.operator("object.sinew_hardness")
        column.operator("object.sinew_smooth")
        column.operator("object.sinew_mirror")
        column.operator("object.sinew_limit")
        for name in ANSWERS:
            column.operator(name)
        column.operator("object.sinew_transfer")
        lines = last_report.get(context.scene.name, [])
        if lines:
            box = layout.box().column(align=True)
            for line in lines:
                for part in wrapped(line, max(20, int(context.region.width / 8))):
                    box.label(text=part)


def wrapped(text, width):
    """Labels do not wrap by themselves."""
    out = [""]
    for word in text.split():
        if out[-1] and len(out[-1]) + len(word) >= width:
            out.append("")
        out[-1] += (" " if out[-1] else "") + word
    return out


def parent_menu(self, context):
    self.layout.operator("object.sinew_bind", text="With Automatic Weights (sinew)")


def weights_menu(self, context):
    layout = self.layout
    layout.separator()
    layout.operator("object.sinew_bind", text="Assign Automatic from Bones (sinew)")
    for name in ("hardness", "smooth", "mirror", "limit"):
        layout.operator(f"object.sinew_{name}")
    for name in ANSWERS:
        layout.operator(name)


CLASSES = (SinewSettings, SINEW_PT_panel)
MENUS = (("VIEW3D_MT_object_parent", parent_menu), ("VIEW3D_MT_paint_weight", weights_menu))
