"""Messages of the library in the words of Blender: options stand in backticks there (docs/conventions.md)."""
from sinew._library import in_words

_LABELS = {
    "falloff": "Hardness", "max-influences": "Influences", "resolution": "Resolution", "method": "Method",
    "include": "Deform in the properties of bones", "exclude": "Deform off in the properties of bones",
    "joint-options": "Bones End", "skeleton-scale": "Scale", "lock": "the lock of a group",
    "only-missing": "Fill Only Unweighted",
}


def in_blender(command, option, value):
    if option is None:
        return f"the command sinew {command}"
    if option in _LABELS:
        return f"{_LABELS[option]} {value}" if value else _LABELS[option]
    words = option.replace("-", "_") + (f"={value!r}" if value else "")
    return f"{words} of sinew.Model.bind in a script"


def said(thing):
    """The sentence of an error or of a warning."""
    return in_words(getattr(thing, "text", None) or str(thing), in_blender)
