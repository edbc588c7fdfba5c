"""The shapes in which models give the replacements of an edit → the one that the tool takes. Pure.

Taken is what can be read in one way only: the list, one object for it, an object numbered like a
list, each also as JSON text; the names that other tools have for oldText and newText; and both
beside `path`, without a list. What can be read in two ways, or in none, is an error that shows the
shape. The call that is stored stays as it came: this makes a copy. Its own module, as the tool
itself (edit.py) need not know any of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from agentsh.errors import InvalidArgumentsError
from agentsh.jsontext import JsonError, JsonObject, JsonValue, loads_written

SHAPE: Final = '{"path": "…", "edits": [{"oldText": "…", "newText": "…"}]}'
_OLD: Final = ("oldText", "old_text", "oldString", "old_string", "oldStr", "old_str")
_NEW: Final = ("newText", "new_text", "newString", "new_string", "newStr", "new_str")
_FORMS: Final = (("oldText", _OLD), ("newText", _NEW))
_MOST_WRAPPED: Final = 2
"""How often a value may be JSON text of JSON text."""


def _refused(why: str) -> InvalidArgumentsError:
    return InvalidArgumentsError(f"edit: {why}. Give it as {SHAPE}")


def with_edits(arguments: JsonObject) -> JsonObject:
    """The arguments with a list `edits`, its names the tool's own. Raises InvalidArgumentsError."""
    given = {name: value for name, value in arguments.items() if name not in (*_OLD, *_NEW)}
    edits = [_edit(item, f"edits[{i}]") for i, item in enumerate(_items(given.get("edits")))]
    if _names_any(arguments):
        flat = _edit(arguments, "")
        if flat not in edits:
            edits.append(flat)
    if not edits:
        raise _refused("edits holds no replacement")
    return {**given, "edits": edits}


def _items(edits: JsonValue) -> Sequence[JsonValue]:
    match _unwrapped(edits):
        case None:
            return ()
        case str():
            raise _refused("edits is a text that is no JSON")
        case Sequence() as items:
            return items
        case Mapping() as one if _names_any(one):
            return (one,)
        case Mapping() as numbered if all(key.isdecimal() for key in numbered):
            return [numbered[key] for key in sorted(numbered, key=lambda key: (len(key), key))]
        case Mapping():
            raise _refused("edits is an object without oldText and newText")
        case _:
            raise _refused("edits is no list")


def _edit(item: JsonValue, parent: str) -> JsonObject:
    """One replacement under the tool's own names."""
    item = _unwrapped(item)
    if not isinstance(item, Mapping):
        raise _refused(f"{parent} is no object")
    edit: JsonObject = {}
    dot = f"{parent}." if parent else ""
    for name, others in _FORMS:
        values = [item[other] for other in others if item.get(other) is not None]
        if not values:
            raise _refused(f"{dot}{name} is missing")
        if any(value != values[0] for value in values):
            raise _refused(f"{dot}{name} is given twice, with different texts")
        if not isinstance(values[0], str):
            raise _refused(f"{dot}{name} is no text")
        edit[name] = values[0]
    return edit


def _names_any(item: Mapping[str, JsonValue]) -> bool:
    return any(item.get(name) is not None for name in (*_OLD, *_NEW))


def _unwrapped(value: JsonValue) -> JsonValue:
    """What a JSON text stands for; any other text as it is."""
    for _ in range(_MOST_WRAPPED):
        if not isinstance(value, str):
            break
        try:
            value = loads_written(value)
        except JsonError:
            break
    return value
