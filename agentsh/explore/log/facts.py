"""What an exploration's log holds: one closed union of records, and how each is spelled. Pure.

A record is the data of a `custom` entry `agentsh.explore`; its member `ev` tells the kinds apart.
The log is a session file of such facts alone, written by the coordinator; everything that is shown
of an exploration is a fold of it (state.py). A record of a kind that we do not know is passed over.
Read next: state.py, docs/session-format.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypeAlias, cast

import msgspec
from msgspec import Struct, ValidationError, convert, field, to_builtins

from agentsh.explore.plan import ExploreTask, PlannedBranch
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import Usage
from agentsh.session.format.codec import decode_line
from agentsh.session.format.entries import Custom, Entry

FAMILY = "agentsh.explore"
BranchEnd: TypeAlias = Literal[
    "completed", "blocked", "failed", "limit", "aborted", "lost", "skipped"
]


class ExploreFact(Struct, frozen=True, tag_field="ev", rename="camel"):
    """What they have in common: nothing but their spelling."""


class TrunkPlace(Struct, frozen=True, rename="camel"):
    """Where an exploration began: a session, its file, and the entry (None: before the first)."""

    session: str
    path: str
    leaf: str | None = None


class BaseState(Struct, frozen=True, rename="camel"):
    """The frozen state of one folder, as a commit of the exploration's store."""

    folder: str
    root: str
    """What a workspace stands for: the repository's top, else the folder."""
    commit: str
    files: int
    bytes: int
    left_out: tuple[str, ...] = ()
    is_repository: bool = False
    revision: str | None = None
    """The git revision that a task asked for instead of the folder as it is."""
    head: str | None = None
    """The commit that it meant."""


class ExploreLimits(Struct, frozen=True, rename="camel"):
    """What may be given anew at a resume. Costs in dollars, times in seconds."""

    parallel: int = 4
    cost: float | None = None
    tokens: int | None = None
    seconds: float = 3600.0
    steps: int | None = None
    retries: int = 1
    lead: float = 20.0
    is_kept: bool = False
    is_first: bool = False


class ClusterPlace(Struct, frozen=True, rename="camel"):
    """Where branches of `--engine ray` run. `address` None: a cluster of this machine's own."""

    address: str | None = None
    slots: int = 4
    """How many branches a machine takes."""


class PlanFact(ExploreFact, frozen=True, tag="plan"):
    """The exploration as it was asked for; never a key. `options`: those of `run`."""

    folder: str
    bases: tuple[BaseState, ...]
    limits: ExploreLimits
    trunk: TrunkPlace | None = None
    name: str | None = None
    engine: str = "local"
    cluster: ClusterPlace | None = None
    check: str | None = None
    check_timeout: float = 600.0
    protect: tuple[str, ...] = ()
    setup: str | None = None
    brought: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    workspaces: str | None = None
    """A folder for workspaces that is not in the data."""
    has_view: bool = True
    """Workspaces are seen at the folder's own path."""
    options: dict[str, Any] = field(default_factory=dict)


class TaskFact(ExploreFact, frozen=True, tag="task"):
    task: int
    what: ExploreTask


class BranchFact(ExploreFact, frozen=True, tag="branch"):
    what: PlannedBranch


class StartFact(ExploreFact, frozen=True, tag="start"):
    """A runner begins, or goes on with, branch `n`; `attempt` counts its tries from 1."""

    n: int
    attempt: int
    worker: str
    pid: int
    host: str
    session: str
    path: str


class TurnFact(ExploreFact, frozen=True, tag="turn"):
    """Its turn is at rest in its session; capture and check come next."""

    n: int
    status: BranchEnd
    leaf: str | None
    text: str
    usage: Usage
    steps: int
    error: str | None = None


class CaptureFact(ExploreFact, frozen=True, tag="capture"):
    """The branch's files, as a commit of the store."""

    n: int
    commit: str
    tree: str
    changed: tuple[tuple[str, str], ...]
    """(path, create | change | delete)."""
    added: int = 0
    removed: int = 0
    protected: tuple[str, ...] = ()


class CheckFact(ExploreFact, frozen=True, tag="check"):
    """`n` 0: the check on the base, before anything was done."""

    n: int
    exit: int
    seconds: float
    output: str
    timed_out: bool = False


class EndFact(ExploreFact, frozen=True, tag="end"):
    """Nothing more happens with the branch, unless a resume says so."""

    n: int
    status: BranchEnd
    seconds: float
    error: str | None = None
    workspace: str | None = None


class WaitFact(ExploreFact, frozen=True, tag="wait"):
    endpoint: str
    seconds: float
    why: str


class LimitFact(ExploreFact, frozen=True, tag="limit"):
    """A limit of the whole stopped what had not begun."""

    what: str


class StopFact(ExploreFact, frozen=True, tag="stop"):
    """The coordinator ended in order: all that was to be done, or as somebody wished."""

    how: Literal["ended", "interrupted", "limit", "failed"]
    exit: int
    error: str | None = None


class ResumeFact(ExploreFact, frozen=True, tag="resume"):
    limits: ExploreLimits
    again: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    engine: str | None = None
    """Where it goes on elsewhere than it began; then with that `cluster`."""
    cluster: ClusterPlace | None = None


class PickFact(ExploreFact, frozen=True, tag="picked"):
    """Branch `n`, as far as its entry `taken`, is in that session: `leaf` is its end there."""

    n: int
    session: str
    leaf: str | None
    taken: str | None = None


class CleanFact(ExploreFact, frozen=True, tag="clean"):
    """These branches' workspaces are gone."""

    branches: tuple[int, ...]


AnyExploreFact: TypeAlias = (
    PlanFact
    | TaskFact
    | BranchFact
    | StartFact
    | TurnFact
    | CaptureFact
    | CheckFact
    | EndFact
    | WaitFact
    | LimitFact
    | StopFact
    | ResumeFact
    | PickFact
    | CleanFact
)


def fact_body(record: AnyExploreFact) -> Custom:
    """How it is stored."""
    return Custom(FAMILY, cast("JsonObject", to_builtins(record)))


class _FactLine(Struct, frozen=True):
    """A stored line, of which only the record is looked at."""

    custom_type: str = field(name="customType")
    data: AnyExploreFact


_LINES = msgspec.json.Decoder(_FactLine)
_MARK = f'"{FAMILY}"'.encode()


def facts_of_lines(lines: Iterable[bytes]) -> Iterator[AnyExploreFact]:
    """Those that are known, in the order of the file. What is torn or damaged is passed over.

    A log has several lines a branch, and a record is decoded without the entry around it.
    """
    for line in lines:
        if _MARK not in line:
            continue
        try:
            read = _LINES.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            yield from _facts_of(decode_line(line))  # a kind of a later version
        else:
            if read.custom_type == FAMILY:
                yield read.data


def _facts_of(entry: object) -> Iterator[AnyExploreFact]:
    if isinstance(entry, Entry) and isinstance(entry.body, Custom):
        record = _decoded(entry.body.data) if entry.body.custom_type == FAMILY else None
        if record is not None:
            yield record


def _decoded(data: JsonValue) -> AnyExploreFact | None:
    try:
        return cast("AnyExploreFact", convert(data, AnyExploreFact))
    except ValidationError:
        return None
