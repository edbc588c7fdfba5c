"""One line ↔ one entry. Lenient in, strict out; the envelope and Pi's entry types are spelled here.

The grammar of a line is docs/session-format.md. A line of ours begins with type, id, parentId,
timestamp and ends with the member `ash`, the seal last in it, which linehead.py reads without a
JSON parser. Reading never raises for a bad line: it
yields an Entry with an Unknown or Damaged body, or Unreadable where not even an id could be had.
Messages are messagecodec.py's, our facts factcodec.py's. This module is pure: it knows no file.
"""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from agentsh import jsontext
from agentsh.jsontext import JsonError, JsonObject, JsonValue
from agentsh.messages import Usage
from agentsh.session.format import entries as e
from agentsh.session.format.blockcodec import (
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
from agentsh.session.format.fastpath import decode_usual_line
from agentsh.session.format.junk import has_junk, record_in
from agentsh.session.format.linehead import salvaged_envelope
from agentsh.session.format.messagecodec import (
    decode_message,
    decode_system,
    encode_message,
)


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
        if has_junk(data) and (record := record_in(data)):
            decoded = decode_line(record)
            if isinstance(decoded, e.Header) or (
                isinstance(decoded, e.Entry) and not isinstance(decoded.body, e.Damaged)
            ):
                return decoded
        return salvage_entry(data, "nested too deep" if jsontext.is_deeper(data) else "not JSON")
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
        members: JsonObject = {}
    else:
        members = value
        del members["type"], members["id"]
        members.pop("parentId", None)
        if isinstance(time, str):
            del members["timestamp"]
        if stamp is not None:
            del members["ash"]
    return e.Entry(
        id=e.EntryId(given),
        parent=e.EntryId(parent) if isinstance(parent, str) else None,
        time=time if isinstance(time, str) else "",
        body=body,
        stamp=stamp,
        extra=members or NOTHING,
    )


def decode_header(value: JsonObject) -> e.Header | Unreadable:
    members = dict(value)
    members.pop("type", None)
    name = members.pop("id", None)
    if not isinstance(name, str):
        return Unreadable("a header without an id")
    version = members.pop("version", 1)
    return e.Header(
        id=e.SessionId(name),
        timestamp=pop_str(members, "timestamp"),
        cwd=pop_str(members, "cwd"),
        version=version if isinstance(version, int) else 1,
        parent_session=pop_optional(members, "parentSession"),
        extra=members or NOTHING,
    )


def _decode_body(kind: JsonValue, members: JsonObject) -> e.Body:
    """Takes the members of the type out of `members`."""
    match kind:
        case e.MessageBody.type if is_object(message := members.get("message")):
            del members["message"]
            return e.MessageBody(decode_message(message))
        case e.Custom.type:
            return e.Custom(pop_str(members, "customType"), members.pop("data", None))
        case e.ModelChange.type:
            return _model_change(members)
        case e.ThinkingLevelChange.type:
            return e.ThinkingLevelChange(pop_str(members, "thinkingLevel", "off"))
        case e.Compaction.type:
            return _compaction(members)
        case e.BranchSummary.type:
            return e.BranchSummary(
                summary=pop_str(members, "summary"),
                from_id=pop_str(members, "fromId"),
                details=members.pop("details", None),
                usage=_pop_usage(members),
                from_hook=pop_bool(members, "fromHook"),
            )
        case e.CustomMessage.type:
            return e.CustomMessage(
                custom_type=pop_str(members, "customType"),
                content=decode_user_blocks(members.pop("content", None)),
                display=pop_bool(members, "display", True),
                details=members.pop("details", None),
            )
        case _:
            return _decode_mark(kind, members)


def _decode_mark(kind: JsonValue, members: JsonObject) -> e.Body:
    """The small types: what names, counts or edits other entries."""
    match kind:
        case e.Label.type:
            return e.Label(e.EntryId(pop_str(members, "targetId")), pop_optional(members, "label"))
        case e.SessionInfo.type:
            return e.SessionInfo(pop_optional(members, "name"))
        case e.UsageRecord.type:
            return e.UsageRecord(
                kind=pop_str(members, "kind"),
                provider=pop_str(members, "provider"),
                model=pop_str(members, "model"),
                usage=decode_usage(members.pop("usage", None)),
                note=pop_optional(members, "note"),
            )
        case e.ContextEdit.type:
            return _context_edit(members)
        case _:
            return e.Unknown(kind if isinstance(kind, str) else "", members)


def _model_change(members: JsonObject) -> e.ModelChange:
    model = pop_str(members, "modelId")
    provider = pop_str(members, "provider")
    both = members.get("model")
    if not model and isinstance(both, str):
        # a dialect seen in the wild: one member `model` with "provider/id"
        del members["model"]
        first, slash, second = both.partition("/")
        provider, model = (first, second) if slash and not provider else (provider, both)
    return e.ModelChange(provider, model)


def _compaction(members: JsonObject) -> e.Compaction:
    first_kept = pop_optional(members, "firstKeptEntryId")
    system = members.get("systemMessage")
    if is_object(system):
        del members["systemMessage"]
    tail = members.get("retainedTail")
    messages = None
    if isinstance(tail, list) and all(is_object(item) for item in tail):
        del members["retainedTail"]
        messages = tuple(decode_message(item) for item in tail if is_object(item))
    return e.Compaction(
        summary=pop_str(members, "summary"),
        first_kept=e.EntryId(first_kept) if first_kept is not None else None,
        tokens_before=pop_int(members, "tokensBefore") or 0,
        details=members.pop("details", None),
        system=decode_system(system) if is_object(system) else None,
        usage=_pop_usage(members),
        retained_tail=messages,
        from_hook=pop_bool(members, "fromHook"),
    )


def _context_edit(members: JsonObject) -> e.ContextEdit:
    target = e.EntryId(pop_str(members, "targetId"))
    replacement = members.get("replacement")
    if is_object(replacement) and "content" in replacement and len(replacement) == 1:
        del members["replacement"]
        return e.ContextEdit(target, decode_any_blocks(replacement["content"]))
    drop_null(members, "replacement")
    return e.ContextEdit(target, None)


def _pop_usage(members: JsonObject) -> Usage | None:
    value = members.get("usage")
    if not is_object(value):
        drop_null(members, "usage")
        return None
    del members["usage"]
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


def salvage_entry(data: bytes, reason: str) -> e.Entry | Unreadable:
    """Id and parent from the text of a line that is no JSON: from its beginning, else its end."""
    said = salvaged_envelope(data)
    if not said.id or said.type == "session":
        return Unreadable(reason)
    parent = None if said.parent is None else e.EntryId(said.parent)
    return e.Entry(e.EntryId(said.id), parent, said.time, e.Damaged(reason))


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
        head = {"id": entry.id, "parentId": entry.parent, "timestamp": entry.time}
        out = {"type": entry.body.type, **head, **_encode_body(entry.body)}
        out.update({k: v for k, v in entry.extra.items() if k not in out})
    if entry.stamp is not None:
        out["ash"] = encode_stamp(entry.stamp)
    line = jsontext.dumps(out)
    if jsontext.is_deeper(line):
        raise JsonError("nested too deep: the line could not be read again")
    return line + b"\n"


def encode_stamp(stamp: e.Stamp) -> JsonObject:
    out: JsonObject = {"s": stamp.session, "n": stamp.line}
    if stamp.sources:
        out["src"] = list(stamp.sources)
    put(out, "req", stamp.request)
    put(out, "code", stamp.code)
    put(out, "h", stamp.seal)
    return out


def _encode_body(body: e.Body) -> JsonObject:
    match body:
        case e.MessageBody():
            return {"message": encode_message(body.message)}
        case e.ModelChange():
            return {"provider": body.provider, "modelId": body.model_id}
        case e.ThinkingLevelChange():
            return {"thinkingLevel": body.level}
        case e.Compaction():
            return _encode_compaction(body)
        case e.BranchSummary():
            out: JsonObject = {"fromId": body.from_id, "summary": body.summary}
            put(out, "details", body.details)
            put(out, "usage", encode_usage(body.usage) if body.usage else None)
            out["fromHook"] = body.from_hook
            return out
        case e.Custom():
            out = {"customType": body.custom_type}
            put(out, "data", body.data)
            return out
        case e.CustomMessage():
            out = {"customType": body.custom_type, "content": encode_blocks(body.content)}
            out["display"] = body.display
            put(out, "details", body.details)
            return out
        case e.Label() | e.SessionInfo() | e.UsageRecord() | e.ContextEdit():
            return _encode_mark(body)
        case e.Unknown() | e.Damaged():
            raise ValueError("an entry that was not understood cannot be written anew")
        case _:
            assert_never(body)


def _encode_mark(
    body: e.Label | e.SessionInfo | e.UsageRecord | e.ContextEdit,
) -> JsonObject:
    match body:
        case e.Label():
            out: JsonObject = {"targetId": body.target}
            put(out, "label", body.label)
            return out
        case e.SessionInfo():
            # an empty name clears for every version of Pi, a missing one not for all
            return {} if body.name is None else {"name": body.name}
        case e.UsageRecord():
            out = {"kind": body.kind, "provider": body.provider, "model": body.model}
            out["usage"] = encode_usage(body.usage)
            put(out, "note", body.note)
            return out
        case e.ContextEdit():
            content = body.content
            replaced: JsonValue = None if content is None else {"content": encode_blocks(content)}
            return {"targetId": body.target, "replacement": replaced}
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
