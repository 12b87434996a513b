"""sinew for Blender: automatic weights. A legacy add-on (Blender 3.4 and later) and an extension (4.2 and later)."""
import importlib
import pathlib
import shutil
import sys
import zipfile

bl_info = {
    "name": "sinew: Automatic Weights",
    "author": "The authors of sinew",
    "version": (0, 3, 0),
    "blender": (3, 4, 0),
    "location": "Object > Parent > With Automatic Weights (sinew); sidebar, tab sinew; Weight Paint > Weights; Ctrl+Alt+P",
    "description": "Automatic skin weights that hold on meshes as they are in production",
    "category": "Rigging",
}


def _provide_sinew():
    """Makes `import sinew` work: Blender installs the wheel of an extension itself; for a legacy add-on it is unpacked
    beside these files, once for each version."""
    folder = pathlib.Path(__file__).parent
    system = "win_amd64" if sys.platform == "win32" else "linux_x86_64"
    wheels = sorted(folder.glob(f"wheels/sinew-*{system}.whl"))
    try:
        return importlib.import_module("sinew")
    except ImportError:
        if not wheels:
            raise
    place = folder / "unpacked" / wheels[-1].stem
    if not place.exists():
        shutil.rmtree(place.parent, ignore_errors=True)
        with zipfile.ZipFile(wheels[-1]) as wheel:
            wheel.extractall(place)
    sys.path.insert(0, str(place))
    return importlib.import_module("sinew")


_provide_sinew()

import bpy  # noqa: E402

from . import figure, operators, panel  # noqa: E402


_shortcuts = []


def register():
    for one in (*operators.CLASSES, *panel.CLASSES):
        bpy.utils.register_class(one)
    bpy.types.Scene.sinew = bpy.props.PointerProperty(type=panel.SinewSettings)
    for menu, draw in panel.MENUS:
        getattr(bpy.types, menu).append(draw)
    _shortcuts.extend(panel.add_shortcuts())


def unregister():
    panel.remove_shortcuts(_shortcuts)
    for menu, draw in panel.MENUS:
        getattr(bpy.types, menu).remove(draw)
    del bpy.types.Scene.sinew
    for one in reversed((*operators.CLASSES, *panel.CLASSES)):
        bpy.utils.unregister_class(one)
