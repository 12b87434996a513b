"""Where users look: Object > Parent, the Weights menu of weight painting, a panel in the sidebar, and a pie menu."""
import blf
import bpy

from .operators import Settings, last_report

CORRECTIONS = (("hardness", "Adjust Hardness"), ("smooth", "Smooth"), ("mirror", "Mirror"), ("limit", "Limit Influences"),
               ("pin", "Pin Weights"), ("assign", "Part to Bone"), ("border", "Move Border"), ("transfer", "Transfer Weights"))


class SinewSettings(Settings, bpy.types.PropertyGroup):
    """What the panel shows; the commands start from it."""


class SINEW_PT_panel(bpy.types.Panel):
    bl_label = "sinew"
    bl_idname = "SINEW_PT_panel"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "sinew"

    def draw(self, context):
        layout, settings = self.layout, context.scene.sinew
        layout.use_property_decorate = False
        # The whole width for what is long: Blender cuts what does not fit.
        layout.prop(settings, "method", text="")
        column = layout.column()
        column.use_property_split = True
        for name in ("hardness", "resolution", "influences", "ends"):
            column.prop(settings, name)
        column = layout.column()
        for name in ("only_unweighted", "only_selected_bones", "single_user"):
            column.prop(settings, name)
        layout.operator("object.sinew_bind", text="Bind", icon="ARMATURE_DATA")
        column = layout.column(align=True)
        for name, label in CORRECTIONS:
            column.operator(f"object.sinew_{name}", text=label)
        lines = last_report.get(context.scene.name, [])
        if lines:
            box = layout.box().column(align=True)
            for line in lines:
                for part in wrapped(line, room(context)):
                    box.label(text=part)


def room(context):
    """Pixels for a text in a box of the panel: the region without its margins and the tabs."""
    return context.region.width - 60 * context.preferences.system.ui_scale


def width_of(text):
    """Pixels of a text in the panel."""
    blf.size(0, 11 * bpy.context.preferences.system.ui_scale, 72)
    return blf.dimensions(0, text)[0]


def wrapped(text, pixels, width_of=width_of):
    """Labels do not wrap by themselves."""
    out = [""]
    for word in text.split():
        longer = f"{out[-1]} {word}".strip()
        if out[-1] and width_of(longer) > pixels:
            out.append(word)
        else:
            out[-1] = longer
    return out


class SINEW_MT_pie(bpy.types.Menu):
    """Ctrl+Alt+P: Blender's own Ctrl+P, Set Parent To, has no place for entries of add-ons"""
    bl_idname = "SINEW_MT_pie"
    bl_label = "sinew"

    def draw(self, context):
        pie = self.layout.menu_pie()
        pie.operator("object.sinew_bind", text="Bind", icon="ARMATURE_DATA")
        for name, label in CORRECTIONS:
            pie.operator(f"object.sinew_{name}", text=label)


def parent_menu(self, context):
    self.layout.operator("object.sinew_bind", text="With Automatic Weights (sinew)")


def weights_menu(self, context):
    layout = self.layout
    layout.separator()
    layout.operator("object.sinew_bind", text="Assign Automatic from Bones (sinew)")
    for name, _ in CORRECTIONS[:-1]:
        layout.operator(f"object.sinew_{name}")


def add_shortcuts():
    """Ctrl+Alt+P in object mode and while weights are painted; the list that remove_shortcuts takes."""
    config = bpy.context.window_manager.keyconfigs.addon
    made = []
    for name in ("Object Mode", "Weight Paint") if config else ():
        keys = config.keymaps.new(name)
        item = keys.keymap_items.new("wm.call_menu_pie", "P", "PRESS", ctrl=True, alt=True)
        item.properties.name = SINEW_MT_pie.bl_idname
        made.append((keys, item))
    return made


def remove_shortcuts(made):
    for keys, item in made:
        keys.keymap_items.remove(item)
    made.clear()


CLASSES = (SinewSettings, SINEW_PT_panel, SINEW_MT_pie)
MENUS = (("VIEW3D_MT_object_parent", parent_menu), ("VIEW3D_MT_paint_weight", weights_menu))
