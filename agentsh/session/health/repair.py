"""What closes a turn that a crash cut off: a pure plan, the same each time it is made.

A session may end anywhere: after a prompt, in a stream, between a call and its result. The plan
appends, in this order: the half answer that the spool kept (as an aborted message), one error
result for each unanswered call in the order of the transcript, the end of the turn, and the fact
that a repair was made. A call without a start on record was not started (if the program that wrote
it keeps such records: Pi does not); one with a start may have taken effect, and the text says what
the evidence shows. Never "success", never a second run (R56, H06).

It changes nothing itself, and plans nothing for calls of earlier, closed turns: what the model sees
of those is the outbound pass's business. The times are those of the last real entry, so that a
repair neither reorders a list nor differs from the next one.
Read next: unfinished.py, evidence.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from agentsh.jsontext import JsonValue
from agentsh.messages import (
    AssistantMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    Usage,
)
from agentsh.session.format.entries import (
    Body,
    Branch,
    EntryId,
    MessageBody,
)
from agentsh.session.format.facts import (
    Fact,
    Repaired,
    RequestSent,
    ToolStarted,
    TurnEnded,
    TurnEndReason,
)
from agentsh.session.health.unfinished import ANYBODY, Unfinished, Whose, unfinished_of

TOOL_NOT_STARTED = "TOOL_NOT_STARTED"
TOOL_OUTCOME_UNKNOWN = "TOOL_OUTCOME_UNKNOWN"


class Evidence(Struct, frozen=True):
    """What the machine shows of an interrupted turn; gathered read-only (evidence.py)."""

    files: Mapping[str, str | None] = field(default_factory=dict)
    """path → SHA-256 of what it holds now; None: there is no such file. Absent: not looked at."""
    outputs: Mapping[str, str] = field(default_factory=dict)
    """call id → the last that the command had printed."""
    running: Mapping[str, int] = field(default_factory=dict)
    """call id → process group that is still alive."""
    text: str = ""
    thinking: str = ""
    """What had come of the answer that was streaming."""
    torn_line: int | None = None
    torn_bytes: int | None = None
    """A last line without its end: number from 1, length."""


NOTHING_KNOWN = Evidence()


class Closing(Struct, frozen=True):
    """One entry to append, with its stamp's parts and its time."""

    body: Body | Fact
    time: str
    sources: tuple[EntryId, ...] = ()
    request: EntryId | None = None
    code: str | None = None


def plan(
    branch: Branch,
    evidence: Evidence = NOTHING_KNOWN,
    *,
    reason: TurnEndReason = "interrupted",
    whose: Whose = ANYBODY,
) -> tuple[Closing, ...]:
    """What to append so that the path can go on; empty where nothing is open."""
    tail = unfinished_of(branch.entries, whose)
    time = branch.entries[-1].time if branch.entries else ""
    out: list[Closing] = []
    closed: list[EntryId] = []
    if tail.request is not None and (evidence.text or evidence.thinking):
        id_, sent = tail.request
        out.append(
            Closing(
                MessageBody(_half_answer(sent, evidence, tail.timestamp)),
                time,
                sources=(id_,),
                request=id_,
            )
        )
        closed.append(id_)
    if tail.asked is not None and tail.unanswered:
        closed.append(tail.asked[0])
        out += [_answer(call, tail, evidence, time) for call in tail.unanswered]
    if tail.turn is not None:
        closed.append(tail.turn)
        out.append(Closing(TurnEnded(tail.turn, reason), time, sources=(tail.turn,)))
    if closed or evidence.torn_line is not None:
        fact = Repaired(
            tuple(closed), evidence.torn_line, evidence.torn_bytes, _recorded(tail, evidence)
        )
        out.append(Closing(fact, time))
    return tuple(out)


# ---- what is appended ---


def _half_answer(sent: RequestSent, evidence: Evidence, timestamp: int) -> AssistantMessage:
    """What had come of an answer. `aborted`: Pi and agentsh show it and never send it (R27)."""
    thinking = (Thinking(evidence.thinking),) if evidence.thinking else ()
    text = (Text(evidence.text),) if evidence.text else ()
    return AssistantMessage(
        content=(*thinking, *text),
        api=sent.api,
        provider=sent.provider,
        model=sent.model,
        usage=Usage(),
        stop_reason="aborted",
        timestamp=timestamp,
        error_message="the session was interrupted while this answer was coming",
    )


def _answer(call: ToolCall, tail: Unfinished, evidence: Evidence, time: str) -> Closing:
    assert tail.asked is not None
    start = tail.started.get(call.id)
    sources: tuple[EntryId, ...] = (tail.asked[0],)
    if start is None and tail.has_record:
        text, code = _not_started(call, waiting=call.id in tail.waiting), TOOL_NOT_STARTED
    elif start is None:
        text, code = _not_recorded(call), TOOL_OUTCOME_UNKNOWN
    else:
        text, code = _outcome_unknown(call, start[1], evidence), TOOL_OUTCOME_UNKNOWN
        sources = (tail.asked[0], start[0])
    message = ToolResultMessage(
        tool_call_id=call.id,
        tool_name=call.name,
        content=(Text(text),),
        is_error=True,
        timestamp=tail.timestamp,
    )
    return Closing(MessageBody(message), time, sources=sources, code=code)


def _not_started(call: ToolCall, *, waiting: bool) -> str:
    moment = "while it waited for an approval" if waiting else "before it ran"
    return (
        f"The call of {call.name} was not started: the session was interrupted {moment}. "
        "Nothing of it was done, so it may be called again."
    )


def _not_recorded(call: ToolCall) -> str:
    return (
        f"There is no result of {call.name}: the session ends here, and the program that wrote it "
        "keeps no record of what it had started. The outcome is unknown. Repeat the call only if "
        "it does no harm to do it twice; otherwise look at the state first, or ask."
    )


def _outcome_unknown(call: ToolCall, start: ToolStarted, evidence: Evidence) -> str:
    parts = [
        f"The session was interrupted while {call.name} ran. Its outcome is unknown: it may or may "
        "not have taken effect, in whole or in part."
    ]
    parts += _file_words(start, evidence)
    if (group := evidence.running.get(call.id)) is not None:
        parts.append(f"Its process group {group} is still running.")
    if output := evidence.outputs.get(call.id):
        parts.append(f"What it had printed until then:\n{output}\n")
    parts.append(
        "Repeat it only if it does no harm to do it twice; otherwise look at the state first, or "
        "ask."
    )
    return "\n".join(parts)


def _file_words(start: ToolStarted, evidence: Evidence) -> list[str]:
    expected = {str(e.get("path")): e.get("sha256") for e in start.expected}
    before = {str(p.get("path")): p.get("sha256") for p in start.pre_images}
    return [
        f"{path}: {_compared(path, evidence.files[path], before, expected)}"
        for path in dict.fromkeys((*before, *expected))
        if path in evidence.files
    ]


def _compared(
    path: str, now: str | None, before: Mapping[str, JsonValue], expected: Mapping[str, JsonValue]
) -> str:
    """One file against what it was and what the call would have made of it (R61)."""
    if now is not None and path in expected and now == expected[path]:
        return "the file has the content that the call wanted, so the change was applied."
    if path in before and now == before[path]:
        if now is None:
            return "there was no such file before the call and there is none now: not applied."
        return "the file is as it was before the call: the change was not applied."
    if now is None:
        return "the file is missing now."
    return "the file is something else now: neither as it was before nor as the call wanted it."


def _recorded(tail: Unfinished, evidence: Evidence) -> dict[str, JsonValue]:
    """The evidence as it goes into the log: digests and numbers, not texts."""
    calls: dict[str, JsonValue] = {}
    for call in tail.unanswered:
        if call.id not in tail.started:
            code = TOOL_NOT_STARTED if tail.has_record else TOOL_OUTCOME_UNKNOWN
            calls[call.id] = {"code": code}
            continue
        start = tail.started[call.id][1]
        paths = {str(f.get("path")) for f in (*start.pre_images, *start.expected)}
        evidence_of_call: dict[str, JsonValue] = {"code": TOOL_OUTCOME_UNKNOWN}
        if files := {p: evidence.files[p] for p in sorted(paths) if p in evidence.files}:
            evidence_of_call["files"] = files
        if call.id in evidence.running:
            evidence_of_call["running"] = evidence.running[call.id]
        calls[call.id] = evidence_of_call
    return {"calls": calls} if calls else {}
