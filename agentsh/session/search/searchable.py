"""A line of a session file → what can be found in it: what was said, called, printed, summed up.

Read from the JSON itself and not from decoded entries: search and index look at every line of a
store, and must see the same. System prompts, pictures and facts hold nothing that was said; of what
is larger than MAX_TEXT only the two ends are looked at. Never raises.
Read next: query.py, search.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from agentsh.jsontext import JsonError, JsonObject, JsonValue
from agentsh.messages import own_details
from agentsh.session.format.junk import loads_record
from agentsh.session.format.linehead import beginnings, envelope_of
from agentsh.session.format.messagecodec import is_private

MAX_TEXT: Final = 1_000_000
"""Characters of one entry that are searched; of longer ones the first and last halves."""
# told by their first bytes, so that they cost no parsing
_SILENT = beginnings("custom", "model_change", "thinking_level_change", "usage", "context_edit")
_PATH_NAMES = ("path", "file_path", "filePath")


class Saying(Struct, frozen=True):
    """One entry as search sees it. `role` is its message's, else a word for its type."""

    id: str
    type: str
    role: str
    time: str
    text: str
    is_cut: bool = False
    tools: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    model: str = ""
    calls: tuple[str, ...] = ()
    """Ids of the calls in it."""
    answers: str = ""
    """Id of the call that it is the result of."""
    is_private: bool = False
    """The person ran it for themself only."""


def read_saying(line: bytes) -> Saying | None:
    """None for what holds nothing to be found."""
    if line.startswith(_SILENT):
        return None
    try:
        value = loads_record(line)
    except JsonError:
        return None
    envelope = envelope_of(value)
    if not envelope.id:
        return None
    role, parts = _said(value)
    text = "\n".join(part for part in parts if part)
    if not text:
        return None
    is_cut = len(text) > MAX_TEXT
    if is_cut:
        text = text[: MAX_TEXT // 2] + "\n…\n" + text[-(MAX_TEXT // 2) :]
    message = _object(value.get("message"))
    calls = list(_calls(message))
    return Saying(
        id=envelope.id,
        type=envelope.type,
        role=role,
        time=envelope.time,
        text=text,
        is_cut=is_cut,
        tools=(*(_string(c.get("name")) for c in calls), *_one(message.get("toolName"))),
        files=(*_paths(calls), *_listed(value.get("details"))),
        model=_string(message.get("model")) or _model(value.get("details")),
        calls=tuple(_string(call.get("id")) for call in calls),
        answers=_string(message.get("toolCallId")),
        is_private=is_private(value),
    )


def _said(value: JsonObject) -> tuple[str, list[str]]:
    """(role, texts) of an entry."""
    match value.get("type"):
        case "message":
            return _message(_object(value.get("message")))
        case "compaction":
            retained = value.get("retainedTail")
            tail = (_object(m) for m in retained) if isinstance(retained, list) else ()
            texts = [text for m in tail for text in _texts(m.get("content"))]
            return "compaction", [_string(value.get("summary")), *texts]
        case "branch_summary":
            return "branch_summary", [_string(value.get("summary"))]
        case "custom_message":
            return "custom", list(_texts(value.get("content")))
        case "label":
            return "label", [_string(value.get("label"))]
        case "session_info":
            return "name", [_string(value.get("name"))]
        case _:
            return "", []


def _message(message: JsonObject) -> tuple[str, list[str]]:
    role = _string(message.get("role"))
    match role:
        case "system":
            return role, []
        case "bashExecution":
            return role, [_string(message.get("command")), _string(message.get("output"))]
        case _:
            return role, [*_texts(message.get("content")), _string(message.get("errorMessage"))]


def _texts(content: JsonValue) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        match block.get("type"):
            case "toolCall":
                yield _string(block.get("name"))
                yield from _leaves(block.get("arguments"))
                yield _string(block.get("rawArguments"))
            case "thinking":
                yield _string(block.get("thinking"))
            case _:
                yield _string(block.get("text"))


def _leaves(value: JsonValue) -> Iterator[str]:
    """The texts of a call's arguments, and what they are called."""
    match value:
        case str():
            yield value
        case dict():
            for name, inner in value.items():
                yield name
                yield from _leaves(inner)
        case list():
            for inner in value:
                yield from _leaves(inner)
        case int() | float() if not isinstance(value, bool):
            yield str(value)
        case _:
            return


def _calls(message: JsonObject) -> Iterator[JsonObject]:
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "toolCall":
            yield block


def _paths(calls: list[JsonObject]) -> Iterator[str]:
    for call in calls:
        arguments = _object(call.get("arguments"))
        yield from (path for name in _PATH_NAMES if (path := _string(arguments.get(name))))


def _listed(details: JsonValue) -> Iterator[str]:
    """The files that a summary names."""
    for name in ("readFiles", "modifiedFiles"):
        names = _object(details).get(name)
        yield from (f for f in names if isinstance(f, str)) if isinstance(names, list) else ()


def _model(details: JsonValue) -> str:
    return _string((own_details(details) or {}).get("model"))


def _one(value: JsonValue) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else ()


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _string(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
