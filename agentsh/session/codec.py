"""One line ↔ one entry. Lenient in, strict out; the envelope and Pi's entry types are spelled here.

The grammar of a line is docs/session-format.md. A line of ours begins with type, id, parentId,
timestamp (so that a scan needs no JSON parser) and ends with the member `ash`, the seal last in it
(so that line number and seal can be read off its end). Reading never raises for a bad line: it
yields an Entry with an Unknown or Damaged body, or Unreadable where not even an id could be had.
Messages are messagecodec.py's, our facts factcodec.py's. This module knows no file.
"""

from __future__ import annotations

import re
from typing import assert_never

from msgspec import Struct

from agentsh import jsontext
from agentsh.jsontext import JsonError, JsonObject, JsonValue
from agentsh.messages import Usage
from agentsh.session import entries as e
from agentsh.session.blockcodec import (
    NOTHING,
    decode_any_blocks,
    decode_usage,
    decode_user_blocks,
    drop_null,
    encode_blocks,
    encode_usage,
    is_object,
    pop_bool,
    pop_int,
    pop_optional,
    pop_str,
    put,
)
from agentsh.session.messagecodec import (
    decode_message,
    decode_system,
    encode_message,
)
from agentsh.session.typedcodec import decode_usual_line


class Unreadable(Struct, frozen=True):
    """A line that is neither header nor entry."""

    reason: str


# --- reading ---


def decode_line(data: bytes) -> e.Header | e.Entry | Unreadable:
    """What a line (without its LF) says. Never raises."""
    if (usual := decode_usual_line(data)) is not None:
        return usual
    try:
        value = jsontext.loads(data)
    except JsonError:
        return salvage(data, "not JSON")
    if not is_object(value):
        return Unreadable(f"a JSON {type(value).__name__}, not an object")
    return decode_object(value)


def decode_object(value: JsonObject) -> e.Header | e.Entry | Unreadable:
    """Takes the object over: what is left in it is what was not understood."""
    kind = value.get("type")
    if kind == "session":
        return decode_header(value)
    given = value.get("id")
    if not isinstance(given, str) or not given:
        return Unreadable("an object without an id")
    parent = value.get("parentId")
    time = value.get("timestamp")
    stamp = _stamp(value.get("ash"))
    body = _decode_body(kind, value)
    if isinstance(body, e.Unknown):
        rest: JsonObject = {}
    else:
        rest = value
        del rest["type"], rest["id"]
        rest.pop("parentId", None)
        if isinstance(time, str):
            del rest["timestamp"]
        if stamp is not None:
            del rest["ash"]
    return e.Entry(
        id=e.EntryId(given),
        parent=e.EntryId(parent) if isinstance(parent, str) else None,
        time=time if isinstance(time, str) else "",
        body=body,
        stamp=stamp,
        extra=rest or NOTHING,
    )


def decode_header(value: JsonObject) -> e.Header | Unreadable:
    rest = dict(value)
    rest.pop("type", None)
    name = rest.pop("id", None)
    if not isinstance(name, str):
        return Unreadable("a header without an id")
    version = rest.pop("version", 1)
    return e.Header(
        id=e.SessionId(name),
        timestamp=pop_str(rest, "timestamp"),
        cwd=pop_str(rest, "cwd"),
        version=version if isinstance(version, int) else 1,
        parent_session=pop_optional(rest, "parentSession"),
        extra=rest or NOTHING,
    )


def _decode_body(kind: JsonValue, rest: JsonObject) -> e.Body:
    """Takes the members of the type out of `rest`."""
    match kind:
        case "message" if is_object(message := rest.get("message")):
            del rest["message"]
            return e.MessageBody(decode_message(message))
        case "custom":
            return e.Custom(pop_str(rest, "customType"), rest.pop("data", None))
        case "model_change":
            return _model_change(rest)
        case "thinking_level_change":
            return e.ThinkingLevelChange(pop_str(rest, "thinkingLevel", "off"))
        case "compaction":
            return _compaction(rest)
        case "branch_summary":
            return e.BranchSummary(
                summary=pop_str(rest, "summary"),
                from_id=pop_str(rest, "fromId"),
                details=rest.pop("details", None),
                usage=_pop_usage(rest),
                from_hook=pop_bool(rest, "fromHook"),
            )
        case "custom_message":
            return e.CustomMessage(
                custom_type=pop_str(rest, "customType"),
                content=decode_user_blocks(rest.pop("content", None)),
                display=pop_bool(rest, "display", True),
                details=rest.pop("details", None),
            )
        case _:
            return _decode_mark(kind, rest)


def _decode_mark(kind: JsonValue, rest: JsonObject) -> e.Body:
    """The small types: what names, counts or edits other entries."""
    match kind:
        case "label":
            return e.Label(e.EntryId(pop_str(rest, "targetId")), pop_optional(rest, "label"))
        case "session_info":
            return e.SessionInfo(pop_optional(rest, "name"))
        case "usage":
            return e.UsageRecord(
                kind=pop_str(rest, "kind"),
                provider=pop_str(rest, "provider"),
                model=pop_str(rest, "model"),
                usage=decode_usage(rest.pop("usage", None)),
                note=pop_optional(rest, "note"),
            )
        case "context_edit":
            return _context_edit(rest)
        case _:
            return e.Unknown(kind if isinstance(kind, str) else "", rest)


def _model_change(rest: JsonObject) -> e.ModelChange:
    model = pop_str(rest, "modelId")
    provider = pop_str(rest, "provider")
    both = rest.get("model")
    if not model and isinstance(both, str):
        # a dialect seen in the wild: one member `model` with "provider/id"
        del rest["model"]
        first, slash, second = both.partition("/")
        provider, model = (first, second) if slash and not provider else (provider, both)
    return e.ModelChange(provider, model)


def _compaction(rest: JsonObject) -> e.Compaction:
    kept = pop_optional(rest, "firstKeptEntryId")
    system = rest.get("systemMessage")
    if is_object(system):
        del rest["systemMessage"]
    tail = rest.get("retainedTail")
    messages = None
    if isinstance(tail, list) and all(is_object(item) for item in tail):
        del rest["retainedTail"]
        messages = tuple(decode_message(item) for item in tail if is_object(item))
    return e.Compaction(
        summary=pop_str(rest, "summary"),
        first_kept=e.EntryId(kept) if kept is not None else None,
        tokens_before=pop_int(rest, "tokensBefore") or 0,
        details=rest.pop("details", None),
        system=decode_system(system) if is_object(system) else None,
        usage=_pop_usage(rest),
        retained_tail=messages,
        from_hook=pop_bool(rest, "fromHook"),
    )


def _context_edit(rest: JsonObject) -> e.ContextEdit:
    target = e.EntryId(pop_str(rest, "targetId"))
    replacement = rest.get("replacement")
    if is_object(replacement) and "content" in replacement and len(replacement) == 1:
        del rest["replacement"]
        return e.ContextEdit(target, decode_any_blocks(replacement["content"]))
    drop_null(rest, "replacement")
    return e.ContextEdit(target, None)


def _pop_usage(rest: JsonObject) -> Usage | None:
    value = rest.get("usage")
    if not is_object(value):
        drop_null(rest, "usage")
        return None
    del rest["usage"]
    return decode_usage(value)


def _stamp(value: JsonValue) -> e.Stamp | None:
    if not is_object(value):
        return None
    session, line = value.get("s"), value.get("n")
    if not isinstance(session, str) or not isinstance(line, int):
        return None
    sources = value.get("src")
    seal, request, code = value.get("h"), value.get("req"), value.get("code")
    given = sources if isinstance(sources, list) else ()
    return e.Stamp(
        session=session,
        line=line,
        seal=seal if isinstance(seal, str) else None,
        sources=tuple(e.EntryId(s) for s in given if isinstance(s, str)),
        request=e.EntryId(request) if isinstance(request, str) else None,
        code=code if isinstance(code, str) else None,
    )


_MEMBER = rb'"(type|id|parentId|timestamp)"\s*:\s*(?:null|"([^"\\]*)")'
_FIRST_MEMBERS = re.compile(rb"\s*\{(?:\s*" + _MEMBER + rb"\s*,?)+")
_LAST_MEMBERS = re.compile(rb"(?:,\s*" + _MEMBER + rb"\s*)+\}\s*$")
_ONE_MEMBER = re.compile(_MEMBER)


def salvage(data: bytes, reason: str) -> e.Entry | Unreadable:
    """Id and parent from the text of a line that is no JSON: from its beginning, else its end."""
    found: dict[str, str] = {}
    tail = data[-400:]
    for match in (_FIRST_MEMBERS.match(data), _LAST_MEMBERS.search(tail)):
        for key, text in _ONE_MEMBER.findall(match.group() if match else b""):
            found.setdefault(key.decode(), text.decode("utf-8", "replace"))
    if not found.get("id") or found.get("type") == "session":
        return Unreadable(reason)
    parent = found.get("parentId")
    return e.Entry(
        id=e.EntryId(found["id"]),
        parent=e.EntryId(parent) if parent else None,
        time=found.get("timestamp", ""),
        body=e.Damaged(reason),
    )


# --- writing ---


def encode_header(header: e.Header) -> bytes:
    """The first line, with its LF."""
    out: JsonObject = {
        "type": "session",
        "version": header.version,
        "id": header.id,
        "timestamp": header.timestamp,
        "cwd": header.cwd,
    }
    put(out, "parentSession", header.parent_session)
    return jsontext.dumps({**out, **header.extra}) + b"\n"


def encode_entry(entry: e.Entry) -> bytes:
    """One line, with its LF. Raises JsonError for what JSON cannot hold, ValueError for Damaged."""
    if isinstance(entry.body, e.Unknown):
        out = {k: v for k, v in entry.body.raw.items() if k != "ash"}
    else:
        kind, own = _encode_body(entry.body)
        out = {"type": kind, "id": entry.id, "parentId": entry.parent, "timestamp": entry.time}
        out.update(own)
        out.update({k: v for k, v in entry.extra.items() if k not in out})
    if entry.stamp is not None:
        out["ash"] = encode_stamp(entry.stamp)
    return jsontext.dumps(out) + b"\n"


def encode_stamp(stamp: e.Stamp) -> JsonObject:
    out: JsonObject = {"s": stamp.session, "n": stamp.line}
    if stamp.sources:
        out["src"] = list(stamp.sources)
    put(out, "req", stamp.request)
    put(out, "code", stamp.code)
    put(out, "h", stamp.seal)
    return out


def _encode_body(body: e.Body) -> tuple[str, JsonObject]:
    match body:
        case e.MessageBody():
            return "message", {"message": encode_message(body.message)}
        case e.ModelChange():
            return "model_change", {"provider": body.provider, "modelId": body.model_id}
        case e.ThinkingLevelChange():
            return "thinking_level_change", {"thinkingLevel": body.level}
        case e.Compaction():
            return "compaction", _encode_compaction(body)
        case e.BranchSummary():
            out: JsonObject = {"fromId": body.from_id, "summary": body.summary}
            put(out, "details", body.details)
            put(out, "usage", encode_usage(body.usage) if body.usage else None)
            out["fromHook"] = body.from_hook
            return "branch_summary", out
        case e.Custom():
            out = {"customType": body.custom_type}
            put(out, "data", body.data)
            return "custom", out
        case e.CustomMessage():
            out = {"customType": body.custom_type, "content": encode_blocks(body.content)}
            out["display"] = body.display
            put(out, "details", body.details)
            return "custom_message", out
        case e.Label() | e.SessionInfo() | e.UsageRecord() | e.ContextEdit():
            return _encode_mark(body)
        case e.Unknown() | e.Damaged():
            raise ValueError("an entry that was not understood cannot be written anew")
        case _:
            assert_never(body)


def _encode_mark(
    body: e.Label | e.SessionInfo | e.UsageRecord | e.ContextEdit,
) -> tuple[str, JsonObject]:
    match body:
        case e.Label():
            out: JsonObject = {"targetId": body.target}
            put(out, "label", body.label)
            return "label", out
        case e.SessionInfo():
            # an empty name clears for every version of Pi, a missing one not for all
            return "session_info", {} if body.name is None else {"name": body.name}
        case e.UsageRecord():
            out = {"kind": body.kind, "provider": body.provider, "model": body.model}
            out["usage"] = encode_usage(body.usage)
            put(out, "note", body.note)
            return "usage", out
        case e.ContextEdit():
            content = body.content
            replaced: JsonValue = None if content is None else {"content": encode_blocks(content)}
            return "context_edit", {"targetId": body.target, "replacement": replaced}
        case _:
            assert_never(body)


def _encode_compaction(body: e.Compaction) -> JsonObject:
    out: JsonObject = {"summary": body.summary}
    put(out, "firstKeptEntryId", body.first_kept)
    out["tokensBefore"] = body.tokens_before
    put(out, "details", body.details)
    put(out, "usage", encode_usage(body.usage) if body.usage else None)
    out["fromHook"] = body.from_hook
    if body.retained_tail is not None:
        out["retainedTail"] = [encode_message(m) for m in body.retained_tail]
    if body.system is not None:
        out["systemMessage"] = encode_message(body.system)
    return out
