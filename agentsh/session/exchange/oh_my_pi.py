"""What files of oh-my-pi, a dialect of Pi's, say otherwise; one line at a time. Pure.

Its model changes name provider and model in one member, and a role for models of other purposes;
its larger images lie in a store of its own; the title is in the header. Types of its own are kept
as they are: a reader chains through them. Read next: importing.py.
"""

from __future__ import annotations

from typing import Final

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.session.file.session import Session
from agentsh.session.format.entries import Header
from agentsh.session.format.factcodec import PREFIX

_OMP_TYPES: Final = frozenset({"ttsr_injection", "session_init", "mode_change"})
_BLOB: Final = "blob:sha256:"
_OTHER_ROLE: Final = "omp.model_change"


def format_of(session: Session) -> str:
    """`agentsh`, `oh-my-pi` or `pi`, by what only that one writes."""
    tree = session.tree
    if "title" in session.header.extra or any(tree.kind(each) in _OMP_TYPES for each in tree):
        return "oh-my-pi"
    is_ours = any(
        tree.kind(each) == "custom" and f'"{PREFIX}'.encode() in session.raw(each)[:400]
        for each in list(tree)[:20]
    )
    return "agentsh" if is_ours else "pi"


def header_title(header: Header) -> str | None:
    title = header.extra.get("title")
    return title[:200] if isinstance(title, str) and title.strip() else None


def as_pi(value: JsonObject) -> JsonObject:
    """The line as Pi would have said it; the same object where it would say the same."""
    match value.get("type"):
        case "model_change":
            return _model_change(value)
        case "message" | "custom_message":
            return _without_blobs(value)
        case _:
            return value


def _model_change(value: JsonObject) -> JsonObject:
    both = value.get("model")
    if not isinstance(both, str) or "modelId" in value:
        return value
    members = {k: v for k, v in value.items() if k not in ("type", "model", "role")}
    if value.get("role", "default") != "default":
        # of a model for another purpose: it must not become the one in force
        data: JsonObject = {"model": both, "role": value["role"]}
        return {"type": "custom", **members, "customType": _OTHER_ROLE, "data": data}
    provider, slash, model = both.partition("/")
    named: JsonObject = {"provider": provider if slash else "", "modelId": model if slash else both}
    return {"type": "model_change", **members, **named}


def _without_blobs(value: JsonObject) -> JsonObject:
    message = value.get("message")
    holder = message if isinstance(message, dict) else value
    content = holder.get("content")
    if not isinstance(content, list) or not any(map(_is_blob, content)):
        return value
    changed: list[JsonValue] = [
        {"type": "text", "text": "[an image that is not in the file]"} if _is_blob(b) else b
        for b in content
    ]
    if holder is value:
        return {**value, "content": changed}
    return {**value, "message": {**holder, "content": changed}}


def _is_blob(block: JsonValue) -> bool:
    if not isinstance(block, dict) or block.get("type") != "image":
        return False
    data = block.get("data")
    return isinstance(data, str) and data.startswith(_BLOB)
