"""Entries for tests, in a chain: each made one has the one before as its parent."""

from __future__ import annotations

from msgspec import Struct, field

from agentsh.jsontext import JsonObject
from agentsh.messages import (
    AssistantMessage,
    Message,
    StopReason,
    Text,
    ToolCall,
    ToolCallId,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from agentsh.session.format.entries import Body, Branch, Entry, EntryId, MessageBody, Stamp
from agentsh.session.format.factcodec import encode_fact
from agentsh.session.format.facts import (
    Fact,
    RequestSent,
    ToolStarted,
    TurnEnded,
    TurnEndReason,
    TurnStarted,
)


def user(text: str) -> UserMessage:
    return UserMessage((Text(text),), timestamp=1_700_000_000_000)


def said(text: str, *calls: tuple[str, str], stop: StopReason | None = None) -> AssistantMessage:
    """An answer; `calls` are (call id, tool)."""
    blocks = tuple(ToolCall(ToolCallId(i), name, {}) for i, name in calls)
    return AssistantMessage(
        content=(Text(text), *blocks),
        api="openai-completions",
        provider="scripted",
        model="scripted-1",
        usage=Usage(),
        stop_reason=stop or ("toolUse" if calls else "stop"),
        timestamp=1_700_000_001_000,
    )


def result(call: str, text: str = "done", tool: str = "bash") -> ToolResultMessage:
    return ToolResultMessage(
        ToolCallId(call), tool, (Text(text),), is_error=False, timestamp=1_700_000_002_000
    )


def started(call: str, tool: str = "bash", **more: object) -> ToolStarted:
    return ToolStarted(call, tool, "{}", "unknown", key=f"key-{call}", **more)  # type: ignore[arg-type]


def requested(turn: int = 1) -> RequestSent:
    shape: JsonObject = {}
    return RequestSent(
        turn=turn,
        attempt=1,
        reason="initial",
        kind="step",
        leaf=None,
        messages=1,
        body_sha256="0" * 64,
        body_bytes=2,
        endpoint="localhost:1",
        provider="scripted",
        api="openai-completions",
        model="scripted-1",
        thinking="off",
        shape=shape,
    )


class Path(Struct):
    """A path that grows at its end."""

    entries: list[Entry] = field(default_factory=list)

    def add(self, what: Body | Fact | Message) -> EntryId:
        number = len(self.entries)
        id_ = EntryId(f"{number:08x}")
        self.entries.append(
            Entry(
                id=id_,
                parent=self.entries[-1].id if self.entries else None,
                time=f"2026-01-01T00:00:{number % 60:02d}.000Z",
                body=body_of(what),
                stamp=Stamp("5e551011", number + 1),
            )
        )
        return id_

    def start(self, number: int = 1) -> EntryId:
        return self.add(TurnStarted(number))

    def end(self, start: EntryId, reason: TurnEndReason = "completed") -> EntryId:
        return self.add(TurnEnded(start, reason))

    @property
    def branch(self) -> Branch:
        return Branch(tuple(self.entries))


def body_of(what: Body | Fact | Message) -> Body:
    if isinstance(what, UserMessage | AssistantMessage | ToolResultMessage):
        return MessageBody(what)
    if isinstance(what, Fact):
        return encode_fact(what)
    return what  # type: ignore[return-value]
