"""Give a stored line another parent or other ids, and leave the rest of it as it is. Pure.

Needed where an entry between the two was left out of a copy: a label, a line that could not be
read (S22). Read next: fork.py, salvage.py.
"""

from __future__ import annotations

from typing import Protocol

from agentsh.jsontext import JsonError, JsonObject, JsonValue, dumps, loads_object
from agentsh.session.format.entries import EntryId
from agentsh.session.format.factcodec import PREFIX
from agentsh.session.format.junk import has_junk, record_in
from agentsh.session.format.linehead import parent_places


class Meaning(Protocol):
    """A tree that tells lines with one id apart: session/file/tree.py."""

    @property
    def has_twins(self) -> bool: ...

    def meant(self, word: str, by: EntryId) -> str: ...


_NAMING = ("parentId", "firstKeptEntryId", "targetId", "fromId")


def with_parent(line: bytes, parent: EntryId | None) -> bytes:
    """The line (without LF) as a child of `parent`. Raises JsonError for what is no JSON object."""
    members = {**loads_object(line), "parentId": parent}
    new = dumps(parent)
    for start, end in parent_places(line):
        # the same words may stand in a text or in a nested object: take the one that makes it right
        changed = line[:start] + new + line[end:]
        try:
            if loads_object(changed) == members:
                return changed
        except JsonError:
            continue
    return dumps(members)


def told_apart(line: bytes, tree: Meaning, entry: EntryId) -> bytes:
    """The entry's line with the ids that the tree has for it and for what it names.

    They differ where an id stands on different lines; else the line is given back as it is, but for
    what is no part of the record.
    """
    if has_junk(line):
        line = record_in(line) or line
    if not tree.has_twins:
        return line
    try:
        value = loads_object(line)
    except JsonError:
        return line
    new: JsonObject = {**value, "id": entry}
    for member in _NAMING:
        if isinstance(named := value.get(member), str):
            new[member] = tree.meant(named, entry)
    for member, inner in (("ash", value.get("ash")), ("data", _fact(value))):
        if isinstance(inner, dict):
            new[member] = _meant(inner, tree, entry)
    return line if new == value else dumps(new)


def _fact(value: JsonObject) -> JsonValue:
    """What a fact of ours says."""
    kind = value.get("customType")
    return value.get("data") if isinstance(kind, str) and kind.startswith(PREFIX) else None


def _meant(value: JsonValue, tree: Meaning, entry: EntryId) -> JsonValue:
    match value:
        case str():
            return tree.meant(value, entry)
        case list():
            return [_meant(each, tree, entry) for each in value]
        case dict():
            return {key: _meant(each, tree, entry) for key, each in value.items()}
        case _:
            return value
