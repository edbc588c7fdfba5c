"""What goes between a coordinator and a runner: JSON lines, two closed unions. Pure.

To the runner: the job, its permits, the wish to stop, a sign of life. From it: who it is, what it
needs and took, what it does, how it ended. A worker passes lines on and reads none of them. A key
is in one only, and where somebody asked for that. Read next: runner.py, coordinator.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

import msgspec
from msgspec import Struct, field

from agentsh import jsontext
from agentsh.errors import BadLineError
from agentsh.explore.log.facts import BranchEnd, CaptureFact, CheckFact, TrunkPlace, TurnFact
from agentsh.messages import Usage

LEASE = 60.0
"""Seconds without a sign of life after which a runner ends itself."""
HowStopped: TypeAlias = Literal["aborted", "limit"]


class RunnerLine(Struct, frozen=True, tag_field="type", rename="camel"):
    """What all have in common: nothing but their spelling."""


# ---- to the runner -------------------------------------------------------------------------------


class BranchJob(RunnerLine, frozen=True, tag="job"):
    """One branch to be run, or one check of the base (`n` 0). Paths are absolute.

    `cwd`: the folder that the agent works in, at its own path; `root`: what the workspace stands
    for. `session`: the file to go on with; None: a new one in `sessions`. `kind` "finish": the turn
    is over already, its state is to be captured and checked.
    """

    n: int
    attempt: int
    kind: Literal["branch", "check"]
    prompt: str
    cwd: str
    root: str
    branch: str
    """The branch's folder in the data."""
    store: str
    base_index: str
    base_commit: str
    base_files: str
    sessions: str
    options: dict[str, Any] = field(default_factory=dict)
    steps: int | None = None
    trunk: TrunkPlace | None = None
    session: str | None = None
    group: str | None = None
    setup: str | None = None
    check: str | None = None
    check_timeout: float = 600.0
    protect: tuple[str, ...] = ()
    seconds: float = 3600.0
    turn: TurnFact | None = None
    folder: str = ""
    """The person's own folder, of which `cwd` is a copy: at the same path, or elsewhere."""
    apart: str | None = None
    """What stands at that path is the original, which nothing of the branch may reach."""
    own_processes: str | None = None
    """The bubblewrap that gives checks and setups processes of their own."""


class KeysLine(RunnerLine, frozen=True, tag="keys"):
    """Before the job, where keys were sent along: variable → key. It is never stored."""

    keys: Mapping[str, str]


class PermitLine(RunnerLine, frozen=True, tag="go"):
    """Its request may go out."""


class DenialLine(RunnerLine, frozen=True, tag="no"):
    why: str
    is_limit: bool


class StopLine(RunnerLine, frozen=True, tag="stop"):
    how: HowStopped


class BeatLine(RunnerLine, frozen=True, tag="beat"):
    """The coordinator lives. A runner that hears nothing for its lease ends itself."""


ToRunner: TypeAlias = BranchJob | KeysLine | PermitLine | DenialLine | StopLine | BeatLine


# ---- from the runner -----------------------------------------------------------------------------


class HelloLine(RunnerLine, frozen=True, tag="hello"):
    """First of all. `session` and `path`: the session that it writes (none for a check)."""

    version: str
    pid: int
    host: str
    session: str = ""
    path: str = ""


class NeedLine(RunnerLine, frozen=True, tag="need"):
    """A request wants to go out."""

    endpoint: str
    tokens: int
    cost: float
    group: str | None = None


class BeganLine(RunnerLine, frozen=True, tag="began"):
    """The first bytes of the answer are there."""


class UsedLine(RunnerLine, frozen=True, tag="used"):
    usage: Usage


class RefusedLine(RunnerLine, frozen=True, tag="refused"):
    """The server said to wait so many seconds."""

    seconds: float
    why: str


class KeyLine(RunnerLine, frozen=True, tag="key"):
    """The endpoint does not take the key: nobody else need ask it."""

    why: str


class FullLine(RunnerLine, frozen=True, tag="full"):
    """What it did cannot be kept for want of room; that of nobody else can."""

    why: str


class StepLine(RunnerLine, frozen=True, tag="step"):
    usage: Usage


class ToldLine(RunnerLine, frozen=True, tag="told"):
    """For a person, on stderr."""

    text: str


class TurnLine(RunnerLine, frozen=True, tag="turn"):
    what: TurnFact
    hint: str | None = None


class CaptureLine(RunnerLine, frozen=True, tag="captured"):
    what: CaptureFact


class CheckLine(RunnerLine, frozen=True, tag="checked"):
    what: CheckFact


class OverLine(RunnerLine, frozen=True, tag="over"):
    """The last line. `status`: where it never came to a turn, or was captured in vain."""

    status: BranchEnd
    error: str | None = None


FromRunner: TypeAlias = (
    HelloLine
    | NeedLine
    | BeganLine
    | UsedLine
    | RefusedLine
    | KeyLine
    | FullLine
    | StepLine
    | ToldLine
    | TurnLine
    | CaptureLine
    | CheckLine
    | OverLine
)

_to_runner = msgspec.json.Decoder(ToRunner)
_from_runner = msgspec.json.Decoder(FromRunner)


def encode_runner_line(line: ToRunner | FromRunner) -> bytes:
    """With its end of line. Names and words of a command need not be UTF-8: they arrive as is."""
    try:
        return msgspec.json.encode(line) + b"\n"
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(line)).encode("ascii") + b"\n"


def read_to_runner(data: bytes) -> ToRunner:
    """Raises BadLineError."""
    try:
        return cast("ToRunner", _decoded(data, _to_runner, ToRunner))
    except (msgspec.DecodeError, ValueError) as e:
        raise BadLineError(f"no line of a coordinator: {e}") from e


def read_from_runner(data: bytes) -> FromRunner:
    """Raises BadLineError."""
    try:
        return cast("FromRunner", _decoded(data, _from_runner, FromRunner))
    except (msgspec.DecodeError, ValueError) as e:
        raise BadLineError(f"no line of a runner: {e}") from e


def _decoded(data: bytes, decoder: msgspec.json.Decoder[Any], union: object) -> object:
    """A line that holds what is no text is read by the parser that takes it."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return msgspec.convert(jsontext.loads(data), union)
