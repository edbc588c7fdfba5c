"""What a session file holds: the header, and entries in a closed union. Values only. Pure.

An entry is an envelope (id, parent, time, stamp) around one body. Bodies are Pi's entry types
(docs/session-format.md §4); our own facts travel in `Custom` bodies named `agentsh.*` and are read
through facts.py. `Unknown` keeps types that we do not know; `Damaged` stands for a line that could
not be parsed but whose id and parent could be salvaged, so that its children stay reachable.
A body's `type` is its line's; how members are spelled is codec.py's. Read next: codec.py, tree.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Final, NewType, TypeAlias

from msgspec import Struct, field

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import (
    AssistantBlock,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolResultMessage,
    Usage,
    UserBlock,
    UserMessage,
)

EntryId = NewType("EntryId", str)
SessionId = NewType("SessionId", str)

VERSION = 3


class Header(Struct, frozen=True):
    """Line 1. At most 512 bytes long where the folder's name allows it (P1)."""

    id: SessionId
    timestamp: str
    cwd: str
    version: int = VERSION
    parent_session: str | None = None
    extra: Mapping[str, JsonValue] = field(default_factory=dict)


class MessageBody(Struct, frozen=True, gc=False):
    type: ClassVar[str] = "message"
    message: Message


class ModelChange(Struct, frozen=True):
    type: ClassVar[str] = "model_change"
    provider: str
    model_id: str


class ThinkingLevelChange(Struct, frozen=True):
    type: ClassVar[str] = "thinking_level_change"
    level: str


class Compaction(Struct, frozen=True):
    """`first_kept` is an ancestor, or the entry itself for "keep none"; None keeps none as well.

    `system` is the checkpoint of the system prompt and tools in force (Pi 1.6 `systemMessage`): it
    leads the context, and system messages in the kept range are then dropped.
    """

    type: ClassVar[str] = "compaction"
    summary: str
    first_kept: EntryId | None
    tokens_before: int
    details: JsonValue = None
    system: SystemMessage | None = None
    usage: Usage | None = None
    retained_tail: tuple[Message, ...] | None = None
    from_hook: bool = False


class BranchSummary(Struct, frozen=True):
    """`from_id` is the leaf that was left (Pi 1.6), or "root"/the target (Pi 0.x)."""

    type: ClassVar[str] = "branch_summary"
    summary: str
    from_id: str
    details: JsonValue = None
    usage: Usage | None = None
    from_hook: bool = False


class Custom(Struct, frozen=True, gc=False):
    """Log-only data; never sent. Ours are `agentsh.*` (facts.py)."""

    type: ClassVar[str] = "custom"
    custom_type: str
    data: JsonValue = None


class CustomMessage(Struct, frozen=True):
    """Sent as a user's message; `display` False only hides it on the screen."""

    type: ClassVar[str] = "custom_message"
    custom_type: str
    content: tuple[UserBlock, ...]
    display: bool = True
    details: JsonValue = None


class Label(Struct, frozen=True):
    """Latest in the file for a target wins; None or "" clears."""

    type: ClassVar[str] = "label"
    target: EntryId
    label: str | None


class SessionInfo(Struct, frozen=True):
    """Latest in the file wins; None or "" clears the name."""

    type: ClassVar[str] = "session_info"
    name: str | None


class UsageRecord(Struct, frozen=True):
    """Cost only (Pi 1.6 `usage`)."""

    type: ClassVar[str] = "usage"
    kind: str
    provider: str
    model: str
    usage: Usage
    note: str | None = None


class ContextEdit(Struct, frozen=True):
    """Hides (`content` None) or replaces one earlier message; latest on the path wins.

    In place of an answer's content there may be thinking and calls, too.
    """

    type: ClassVar[str] = "context_edit"
    target: EntryId
    content: tuple[UserBlock | AssistantBlock, ...] | None


class Unknown(Struct, frozen=True):
    """A type that this version does not know; `raw` is the whole line as parsed."""

    type: str
    raw: JsonObject


class Damaged(Struct, frozen=True):
    """A line that is no entry; only its id and parent could be salvaged."""

    type: ClassVar[str] = ""
    reason: str


Body: TypeAlias = (
    MessageBody
    | ModelChange
    | ThinkingLevelChange
    | Compaction
    | BranchSummary
    | Custom
    | CustomMessage
    | Label
    | SessionInfo
    | UsageRecord
    | ContextEdit
    | Unknown
    | Damaged
)


ASIDE: Final = "aside"
"""The `code` of a side question and of its answer: never the leaf of the file that they are of."""
PICKED: Final = "agentsh.pick"
"""The customType of what was brought from another branch, or session."""


class Stamp(Struct, frozen=True, gc=False):
    """Our namespaced member `ash` (docs/session-format.md §3).

    `session`: last 8 characters of the session's id (copies made by Pi are recognised by it).
    `line`: zero-based physical line number. `seal`: 16 hex digits, on barrier lines only: SHA-256
    over the previous seal and every byte of the file since it, this line's own bytes up to its seal
    included. `sources`: the entries that this one was derived from. `request`: the
    `agentsh.request` entry that this message answers. `code`: machine word of a repair result.
    """

    session: str
    line: int
    seal: str | None = None
    sources: tuple[EntryId, ...] = ()
    request: EntryId | None = None
    code: str | None = None


class Entry(Struct, frozen=True, gc=False):
    """One line after the header. `time` is ISO 8601 UTC with milliseconds."""

    id: EntryId
    parent: EntryId | None
    time: str
    body: Body
    stamp: Stamp | None = None
    extra: Mapping[str, JsonValue] = field(default_factory=dict)


class Branch(Struct, frozen=True):
    """The entries of one path, oldest first: all that a projection needs.

    `complete` False: it begins at the kept range of the last compaction, which then carries what
    was in force before (its `system` checkpoint, and `details["ash"]`: {"provider", "model",
    "thinking", "state": {key: value}}). A projection of it equals that of the whole path.
    """

    entries: tuple[Entry, ...]
    complete: bool = True


_TALK = (UserMessage, AssistantMessage, ToolResultMessage)


class PathEntries(tuple[Entry, ...]):
    """The entries of a path, oldest first, which remember where anything but talk stands.

    A path has tens of thousands of messages and few of all else. To ask each of them what it is
    takes longer than what is then done with the few, and nearly all who look at a path look for
    those.
    """

    @cached_property
    def besides(self) -> list[int]:
        """The indices of all that is no prompt, no answer and no result of a tool."""
        return _besides(self)


def besides(entries: Sequence[Entry]) -> list[int]:
    """The indices of all that is no prompt, no answer and no result of a tool."""
    return entries.besides if isinstance(entries, PathEntries) else _besides(entries)


def _besides(entries: Sequence[Entry]) -> list[int]:
    return [
        i
        for i, entry in enumerate(entries)
        if type(body := entry.body) is not MessageBody or type(body.message) not in _TALK
    ]


def places_of(entries: Sequence[Entry], kind: type[Body]) -> list[int]:
    """The indices of the entries with a body of that kind, which is no message's."""
    return [i for i in besides(entries) if type(entries[i].body) is kind]


def last_place(entries: Sequence[Entry], kind: type[Body]) -> int | None:
    """The index of the last of them."""
    places = places_of(entries, kind)
    return places[-1] if places else None


class ReadNotice(Struct, frozen=True):
    """Something that a reader found and read around. `line` counts from 1, as a person would."""

    text: str
    line: int | None = None
    kind: str = "damage"
