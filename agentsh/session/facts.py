"""The facts of a run: what happened beside the messages. Values, and their form inside `Custom`.

They are log-only: no fact ever changes the context (R29). Each is a `custom` entry whose
customType is `agentsh.<family>`, as log-requirements.md §2.2 lays out. Unknown facts are ignorable
unless their data say `required: true` (R44).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct, field

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.session.entries import EntryId

TurnEndReason: TypeAlias = Literal[
    "completed",
    "aborted",
    "blocked",
    "error",
    "max_tokens",
    "max_steps",
    "interrupted",
    "branched",
]
RequestReason: TypeAlias = Literal[
    "initial", "resume", "change", "retry", "compaction", "branch", "title"
]
Effect: TypeAlias = Literal["read", "write", "exec", "net", "unknown"]


class Origin(Struct, frozen=True):
    """`agentsh.session`: the root entry. Inherited unless `session_id` is the header's."""

    session_id: str
    created_by: str
    origin: Literal["user", "fork", "subagent", "import", "repair"]
    depth: int = 0
    parent: JsonObject | None = None
    """{id, path, leaf} of the session this was forked from."""
    seed: JsonObject | None = None
    """{count, leaf, sha256} of the copied entries."""


class Opened(Struct, frozen=True):
    """`agentsh.open`: written lazily, before the first real write of a process that resumed."""

    reason: Literal["resume", "fork", "repair", "import"]
    pid: int
    host: str
    version: str
    lines: int
    prefix: str | None = None


class TurnStarted(Struct, frozen=True):
    """`agentsh.turn` {ev: start}."""

    number: int


class TurnEnded(Struct, frozen=True):
    """`agentsh.turn` {ev: end}."""

    start: EntryId
    reason: TurnEndReason
    error: str | None = None


class RequestSent(Struct, frozen=True):
    """`agentsh.request`: durable before dispatch; with the path up to `leaf` it rebuilds the body.

    `kind` says how the messages were made: "step" from the projection at `leaf`; "compaction",
    "branch" and "title" from it plus `plan` (what the planner was given). `shape` is the frozen
    dialect the body was encoded with, `snapshot` the system entry (or compaction) in force.
    """

    turn: int
    attempt: int
    reason: RequestReason
    kind: Literal["step", "compaction", "branch", "title"]
    leaf: EntryId | None
    messages: int
    body_sha256: str
    body_bytes: int
    endpoint: str
    provider: str
    api: str
    model: str
    thinking: str
    shape: JsonObject
    max_tokens: int | None = None
    snapshot: EntryId | None = None
    plan: JsonObject | None = None
    builder: int = 1
    """Version of the code that makes bodies from entries; old ones stay rebuildable (R07)."""


class AttemptEnded(Struct, frozen=True):
    """`agentsh.attempt`: how one attempt of a request failed (a good one ends in its message)."""

    request: EntryId
    error: str
    status: int | None = None
    wait_seconds: float | None = None


class ToolStarted(Struct, frozen=True):
    """`agentsh.tool` {ev: start}: durable before the effect."""

    call_id: str
    name: str
    arguments: str
    """Raw JSON text, or `sha256:<hex>` of it where it is over 64 KiB (the call itself has it)."""
    effect: Effect
    key: str
    attempt: int = 1
    pre_images: tuple[JsonObject, ...] = ()
    """{path, sha256, size} of each file before; sha256 null where there was none."""
    expected: tuple[JsonObject, ...] = ()
    """{path, sha256} of each file as the call will leave it, where that can be known."""
    process: JsonObject | None = None
    """{spool}: the file that the output goes to while it runs; {pgid, start, boot} follow in a
    second `agentsh.tool` {ev: process} once the process exists."""
    approval: EntryId | None = None


class ToolProcess(Struct, frozen=True):
    """`agentsh.tool` {ev: process}: which process group a started tool runs in."""

    call_id: str
    pgid: int
    start: int
    """Start time of the process in clock ticks since boot (/proc/PID/stat field 22); 0 unknown."""
    boot: str
    spool: str | None = None


class ApprovalAsked(Struct, frozen=True):
    """`agentsh.approval` {ev: asked}."""

    call_id: str
    tool: str
    shown: str


class ApprovalDecided(Struct, frozen=True):
    """`agentsh.approval` {ev: decided}. Valid on its path only (R20)."""

    call_id: str
    outcome: Literal["once", "session", "rule", "no"]
    by: Literal["user", "policy"]
    rule: str | None = None
    reason: str | None = None


class InboxChanged(Struct, frozen=True):
    """`agentsh.inbox`: steering and follow-ups typed in the middle of a turn."""

    event: Literal["queued", "taken", "dropped"]
    message_id: str
    kind: Literal["steer", "follow-up"]
    text: str | None = None


class Navigated(Struct, frozen=True):
    """`agentsh.nav`: a move of the leaf; its parent is the target."""

    origin: EntryId | None
    reason: Literal["tree", "undo", "switch", "fork"]


class CompactionMark(Struct, frozen=True):
    """`agentsh.compaction`: bracket around Pi's own entry."""

    event: Literal["start", "end"]
    error: str | None = None


class Repaired(Struct, frozen=True):
    """`agentsh.repair`: what a cold start closed."""

    closed: tuple[EntryId, ...]
    torn_line: int | None = None
    torn_bytes: int | None = None
    evidence: Mapping[str, JsonValue] = field(default_factory=dict)


CheckpointTime: TypeAlias = Literal["turn", "step", "end", "left", "restored"]


class Checkpoint(Struct, frozen=True):
    """`agentsh.checkpoint`: the working tree's state at this place of the path (undo).

    `when`: before the first change of a turn, before that of a later step, at the turn's end;
    before files are brought back (at the place that is left), and after that (at the new one).
    What differs from the checkpoint before it in the file was done by somebody else for "turn" and
    "left", by the agent for "step" and "end", by going back for "restored".
    """

    commit: str
    store: str
    """Name of the store's folder, below the folder for checkpoints."""
    left_out: int = 0
    when: CheckpointTime = "turn"


class StateSet(Struct, frozen=True):
    """`agentsh.state`: latest wins on the path. The keys are registered in STATE_KEYS (R14)."""

    key: str
    value: JsonValue


class Titled(Struct, frozen=True):
    """`agentsh.title`: an automatic title. Latest in the file wins; a name of the person's always.

    `leaf` is the place that it was made from.
    """

    title: str
    leaf: EntryId


STATE_KEYS: Mapping[str, str] = {
    "approve.rules": "rules that the person added for this session",
    "settings": "endpoint profile in force where it is not the default",
}

Fact: TypeAlias = (
    Origin
    | Opened
    | TurnStarted
    | TurnEnded
    | RequestSent
    | AttemptEnded
    | ToolStarted
    | ToolProcess
    | ApprovalAsked
    | ApprovalDecided
    | InboxChanged
    | Navigated
    | CompactionMark
    | Repaired
    | Checkpoint
    | StateSet
    | Titled
)
