"""A path of one session, told anew in another: same bodies, new ids, references led along.

Entries get the ids, times and stamps of the session that they are appended to, so that no id is
taken twice. What names one of the path's own entries names its new one: facts, kept ranges, labels,
sources. What was said is not looked into. It stands alone as the third way, beside fork and import,
in which entries come into a file. Read next: fork.py, session/file/session.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentsh.jsontext import JsonObject, JsonValue, loads_object
from agentsh.session.file.session import Session
from agentsh.session.format.codec import decode_object
from agentsh.session.format.entries import Entry, EntryId

_SAID = frozenset(("message", "summary", "content", "systemMessage", "retainedTail"))
"""Members in which an id is only a word."""


def replant(
    source: Session, entries: Sequence[Entry], target: Session, parent: EntryId | None
) -> Mapping[EntryId, EntryId]:
    """Append those entries of a path below `parent`; old id → new id. Nothing is durable yet."""
    ids: dict[EntryId, EntryId] = {}
    for number, entry in enumerate(entries):
        line = loads_object(source.raw(entry.id))
        decoded = decode_object(_led_along(line, ids))
        body = decoded.body if isinstance(decoded, Entry) else entry.body
        stamp = entry.stamp
        sources = () if stamp is None else tuple(ids.get(each, each) for each in stamp.sources)
        request = None if stamp is None or stamp.request is None else ids.get(stamp.request)
        code = None if stamp is None else stamp.code
        if number == 0:
            made = target.append(body, sources=sources, request=request, code=code, parent=parent)
        else:
            made = target.append(body, sources=sources, request=request, code=code)
        ids[entry.id] = made.id
    return ids


def _led_along(line: JsonObject, ids: Mapping[EntryId, EntryId]) -> JsonObject:
    return {
        name: value if name in _SAID or name == "id" else _named(value, ids)
        for name, value in line.items()
    }


def _named(value: JsonValue, ids: Mapping[EntryId, EntryId]) -> JsonValue:
    match value:
        case str():
            return ids.get(EntryId(value), value)
        case list():
            return [_named(each, ids) for each in value]
        case dict():
            return {name: _named(each, ids) for name, each in value.items()}
        case _:
            return value
