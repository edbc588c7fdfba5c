"""The facts of a run: what happened beside the messages; each states how it is stored. Pure.

They are log-only: no fact ever changes the context (R29). Each is a `custom` entry whose
customType is `agentsh.<family>`, as docs/session-format.md §8 lays out. Unknown facts are ignorable
unless their data say `required: true` (R44).

A new fact is one class here, an example and a row on that page; encoding, decoding and names follow
from it (factcodec.py). The order of the fields is that of the members. A member has the field's
name in camel case, or the `name` that the field states; a dot in it leads into an object. A field
without a default must be there; a default, null and an absent member are one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, TypeAlias

from msgspec import Meta, Struct, field

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.session.format.entries import EntryId

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
TurnEndCause: TypeAlias = Literal["max_cost", "max_time", "schema_mismatch"]
"""What a reason leaves open; a word of its own, so that older versions know the reason."""
RequestReason: TypeAlias = Literal[
    "initial", "resume", "change", "continue", "retry", "compaction", "branch", "title", "aside"
]
RequestKind: TypeAlias = Literal["step", "compaction", "branch", "title", "aside", "schema"]
RecordedEffect: TypeAlias = Literal["read", "write", "exec", "net", "unknown"]


class Fact(Struct, frozen=True, rename="camel"):
    """What each fact states of itself besides its fields. Its subclasses are all the facts."""

    family: ClassVar[str]
    """The customType without `agentsh.`."""
    ev: ClassVar[str | None] = None
    """The member `ev`, which tells the facts of a family apart; a field may state it instead."""
    since: ClassVar[str] = "0.1"
    """The version of agentsh that wrote it first."""


class Origin(Fact, frozen=True):
    """The root entry: who made the file, of what. Inherited unless `session_id` is the header's."""

    family = "session"

    session_id: str
    created_by: str
    origin: Literal["user", "fork", "subagent", "import", "repair", "explore"]
    depth: int = 0
    """Of a branch of an exploration: one more than its trunk's."""
    parent: JsonObject | None = None
    """{id, path, leaf} of the session this was forked from."""
    seed: JsonObject | None = None
    """{count, leaf, sha256} of the copied entries."""
    explore: JsonObject | None = None
    """{exploration, n, base} of a branch: its exploration's name, its number, the base's commit."""


class Opened(Fact, frozen=True):
    """Written lazily, before the first real write of a process that resumed."""

    family = "open"

    reason: Literal["resume", "fork", "repair", "import"]
    pid: int
    host: str
    version: str
    lines: int
    prefix: str | None = None


class TurnStarted(Fact, frozen=True):
    """A turn begins, where git's HEAD stood then."""

    family = "turn"
    ev = "start"

    number: int = field(name="no")
    commit: str | None = field(default=None, name="head.commit")
    branch: str | None = field(default=None, name="head.branch")
    """Without `refs/heads/`; None: HEAD is detached, or there is no repository."""


class TurnEnded(Fact, frozen=True):
    """A turn is over, where git's HEAD stands now."""

    family = "turn"
    ev = "end"

    start: EntryId
    reason: TurnEndReason
    error: str | None = None
    commit: str | None = field(default=None, name="head.commit")
    branch: str | None = field(default=None, name="head.branch")
    checkpoint: EntryId | None = None
    """The state of the working files that the turn left, where one was recorded."""
    cause: TurnEndCause | None = None
    """With blocked max_cost, with aborted max_time, with error schema_mismatch."""


class HeadMoved(Fact, frozen=True):
    """Git's HEAD is elsewhere than when the turn began, or than the last such fact of it says."""

    family = "head"
    since = "0.2"

    commit: str | None = None
    branch: str | None = None
    through: tuple[str, ...] = ()
    """The commits that it was at on the way there, oldest first, as far as git's own log says."""


class RequestSent(Fact, frozen=True):
    """Durable before dispatch; with the path up to `leaf` it rebuilds the body.

    `kind` says how the messages were made: "step" from the projection at `leaf`; "compaction",
    "branch", "title" and "aside" from it plus `plan` (what the planner was given), "schema" as a
    step without tools, for an answer that fits the JSON Schema of `plan`. `shape` is the frozen
    dialect the body was encoded with, `snapshot` the system entry (or compaction) in force.
    """

    family = "request"

    turn: int
    attempt: int
    reason: RequestReason
    kind: RequestKind
    leaf: EntryId | None = field(name="ctx.leaf")
    messages: int = field(name="ctx.messages")
    body_sha256: str = field(name="body.sha256")
    body_bytes: int = field(name="body.bytes")
    endpoint: str = field(name="header.endpoint")
    provider: str = field(name="header.provider")
    api: str = field(name="header.api")
    model: str = field(name="header.model")
    thinking: str = field(name="header.thinking")
    shape: JsonObject = field(name="header.shape")
    max_tokens: int | None = field(default=None, name="header.maxTokens")
    snapshot: EntryId | None = field(default=None, name="ctx.snapshot")
    plan: JsonObject | None = None
    builder: int = 1
    """Version of the code that makes bodies from entries; old ones stay rebuildable (R07)."""


class AttemptEnded(Fact, frozen=True):
    """How one attempt of a request failed (a good one ends in its message)."""

    family = "attempt"

    request: EntryId
    error: str
    status: int | None = None
    wait_seconds: float | None = field(default=None, name="wait")


class ToolStarted(Fact, frozen=True):
    """A call is about to run: durable before the effect."""

    family = "tool"
    ev = "start"

    call_id: str
    name: str
    arguments: str = field(name="args")
    """Raw JSON text, or `sha256:<hex>` of it where it is over 64 KiB (the call itself has it)."""
    effect: RecordedEffect
    key: str
    attempt: int = 1
    pre_images: tuple[JsonObject, ...] = field(default=(), name="pre")
    """{path, sha256, size} of each file before; sha256 null where there was none, or, with a size,
    where its bytes were too many to be read."""
    expected: tuple[JsonObject, ...] = ()
    """{path, sha256} of each file as the call will leave it, where that can be known."""
    process: JsonObject | None = None
    """{spool}: the file that the output goes to while it runs; ToolProcess says the rest."""
    approval: EntryId | None = None


class ToolProcess(Fact, frozen=True):
    """Which process group a started tool runs in."""

    family = "tool"
    ev = "process"

    call_id: str
    pgid: int
    start: int
    """Start time of the process in clock ticks since boot (/proc/PID/stat field 22); 0 unknown."""
    boot: str
    spool: str | None = None


class JobEnded(Fact, frozen=True):
    """A background job has ended, by itself or by agentsh. `seconds` as its shell ran."""

    family = "job"
    ev = "end"
    since = "0.2"

    call_id: str
    """The call that started it."""
    group: int = field(name="id")
    seconds: float
    bytes: int
    """What it printed."""
    code: int | None = None
    """Exit code of its shell, 128+N after signal N; None: it could not be ended."""


class ApprovalAsked(Fact, frozen=True):
    """A person is asked whether a call may run."""

    family = "approval"
    ev = "asked"

    call_id: str
    tool: str
    shown: str


class ApprovalDecided(Fact, frozen=True):
    """A person's answer, or what let the call through unasked: a policy, or a rule.

    Valid on its path only (R20). By a policy, `policy` names it, or `rule` the rule.
    """

    family = "approval"
    ev = "decided"

    call_id: str
    outcome: Literal["once", "session", "rule", "no"]
    by: Literal["user", "policy"]
    rule: str | None = None
    reason: str | None = None
    policy: str | None = None


class InboxChanged(Fact, frozen=True):
    """Steering and follow-ups typed in the middle of a turn."""

    family = "inbox"

    event: Literal["queued", "taken", "dropped"] = field(name="ev")
    message_id: str = field(name="mid")
    kind: Literal["steer", "follow-up"]
    text: str | None = None
    images: tuple[JsonObject, ...] = ()
    """Each `{data, mimeType}`, as a message's own pictures."""


class PromptTyped(Fact, frozen=True):
    """What was typed, or who spoke, where the message behind it does not say so.

    That message names this fact as its source. A skill's or template's call, or a prompt that a
    hook added to; for what was queued the queue's own fact says it.
    """

    family = "prompt"
    since = "0.2"

    text: str
    by: Literal["user", "after_turn"] = "user"


MoveReason: TypeAlias = Literal["tree", "undo", "switch", "fork"]


class Navigated(Fact, frozen=True):
    """A move of the leaf; its parent is the target."""

    family = "nav"

    origin: EntryId | None = field(name="from")
    reason: MoveReason


class CompactionMark(Fact, frozen=True):
    """Bracket around Pi's own entry."""

    family = "compaction"

    event: Literal["start", "end"] = field(name="ev")
    error: str | None = None


class Repaired(Fact, frozen=True):
    """What a cold start closed."""

    family = "repair"

    closed: tuple[EntryId, ...]
    torn_line: int | None = field(default=None, name="torn.line")
    torn_bytes: int | None = field(default=None, name="torn.bytes")
    evidence: Mapping[str, JsonValue] = field(default_factory=dict)


StateName: TypeAlias = Annotated[str, Meta(pattern="[0-9a-f]{40}|[0-9a-f]{64}")]
"""git's name for a state. It becomes a word of a command line, and a file may be a stranger's."""
CheckpointTime: TypeAlias = Literal["turn", "step", "end", "left", "restored"]


class Checkpoint(Fact, frozen=True):
    """The working tree's state at this place of the path (undo).

    `when`: before the first change of a turn, before that of a later step, at the turn's end;
    before files are brought back (at the place that is left), and after that (at the new one).
    What differs from the checkpoint before it in the file was done by somebody else for "turn" and
    "left", by the agent for "step" and "end", by going back for "restored".
    """

    family = "checkpoint"

    commit: StateName
    store: str
    """Name of the store's folder, below the folder for checkpoints."""
    left_out: int = 0
    when: CheckpointTime = "turn"


class StateSet(Fact, frozen=True):
    """Latest wins on the path. The keys are registered in STATE_KEYS (R14)."""

    family = "state"

    key: str
    value: JsonValue


class Titled(Fact, frozen=True):
    """An automatic title. Latest in the file wins; a name of the person's always.

    `leaf` is the place that it was made from.
    """

    family = "title"

    title: str
    leaf: EntryId


class AsideLeft(Fact, frozen=True):
    """A side question was asked and answered; its parent is the leaf, which is where it was."""

    family = "aside"
    since = "0.2"

    question: EntryId


class Folded(Fact, frozen=True):
    """A dead branch is put away where the tree is shown, or is shown again.

    Latest in the file for an entry wins; where the entry is on the path it says nothing.
    """

    family = "fold"
    since = "0.2"

    event: Literal["folded", "unfolded"] = field(name="ev")
    entry: EntryId
    """Where the branch begins."""


STATE_KEYS: Mapping[str, str] = {
    "approve.rules": "rules that the person added for this session",
    "tools.chosen": 'names of the tools that the person chose to offer, or "all"',
    "settings": "endpoint profile in force where it is not the default",
}
