"""`agentsh run`: one prompt to the end of its turn, without a person.

The answer is on stdout, everything else on stderr; the exit code says how it ended. SIGINT, SIGTERM
and SIGHUP stop the turn, which still ends well in the log. Read next: wiring.py, ui/text/plain.py.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Protocol

from msgspec import UNSET
from msgspec.structs import replace

from agentsh.cli.notices import warn
from agentsh.cli.output import speak_json
from agentsh.cli.parsing.modeloptions import RunOptions
from agentsh.cli.parsing.options import Attach, Continue, ForkOption, FromEntry, SessionOption
from agentsh.cli.parsing.words import Argument, Option
from agentsh.cli.setup.standard_streams import read_input
from agentsh.errors import NoPromptError, UsageError
from agentsh.files import is_there

if TYPE_CHECKING:
    from agentsh.abort import Abort
    from agentsh.agent.agent import Agent
    from agentsh.agent.events import AgentEvent, TurnEnd
    from agentsh.agent.structured.answers import AnswerSchema
    from agentsh.cli.assembly.wiring import Wired
    from agentsh.cli.lookup.choosing import Chosen, StartAt
    from agentsh.cli.setup.paths import Paths
    from agentsh.messages import Image
    from agentsh.remote.values.events import EventLines, JsonSummary
    from agentsh.session.file.session import Session
    from agentsh.ui.terminal import Terminal
    from agentsh.ui.text.plain import PlainOutput
    from agentsh.ui.text.ticking import TickingOutput


_FORMS = ("text", "json", "events")
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_GOES_ON = ("max_steps", "max_cost", "max_time", "aborted", "error")
"""Ends that another run takes up (U23)."""


class _Front(Protocol):
    """What shows the events of a run; programs are told besides how it begins and ends."""

    tells_errors: bool
    """On stderr, as they come."""

    def begin(self, wired: Wired) -> None: ...

    def show(self, event: AgentEvent) -> None: ...

    def end(self, end: TurnEnd, code: int) -> None: ...


def run(
    options: RunOptions,
    prompt: Annotated[str, Argument(help="the prompt (after -- if it has a dash) or - for stdin")],
    last: Continue = False,
    session: SessionOption = None,
    fork: ForkOption = None,
    at: FromEntry = None,
    attach: Attach = [],  # noqa: B006
    output: Annotated[
        str, Option("--output", metavar="FORM", help="text, json or events")
    ] = "text",
) -> int:
    """Run one prompt to the end of its turn; the answer is on stdout."""
    from agentsh.agent.config import RunLimits
    from agentsh.cli.assembly.safety import confine
    from agentsh.cli.assembly.wiring import wire
    from agentsh.cli.lookup.choosing import StartAt
    from agentsh.cli.lookup.interrupted import STOPPED, asker, check_way, may_go_on
    from agentsh.cli.setup.configuration import configure
    from agentsh.ui.terminal import describe_terminal

    check_way(options.on_interrupted)
    left = Countdown(options.max_time)
    schema = _schema(output, options.output_schema)
    cwd = Path.cwd()
    configuration = configure(options, os.environ, cwd)
    warn(configuration.notices)
    confine(configuration, cwd)  # without a sandbox that was asked for, nothing is even opened
    chosen = _opened(configuration.places, cwd, StartAt(last, session, fork, at))
    limits = RunLimits(options.max_steps, options.max_cost)
    with wire(configuration, options, chosen, limits=limits) as wired:
        terminal = describe_terminal(sys.stdin, sys.stdout, sys.stderr, os.environ)
        warn(wired.notices)
        if not may_go_on(wired.agent, options.on_interrupted or "continue", asker(terminal)):
            return STOPPED
        text, pictures = _said(prompt, attach)
        with _front(output, terminal, schema) as front, left.ending(wired.agent):
            return _turn(wired, front, text, pictures, schema)


def _schema(output: str, name: str | None) -> AnswerSchema | None:
    """What `--output-schema` names. Raises UsageError: none, or `--output` is no form."""
    if output not in _FORMS:
        raise UsageError(f"--output {output!r} is none of " + ", ".join(_FORMS))
    if output != "text" or name is not None:
        speak_json()
    if name is None:
        return None
    from agentsh.cli.setup.answerschema import read_schema

    return read_schema(name, Path.cwd())


def _opened(places: Paths, cwd: Path, choice: StartAt) -> Chosen:
    """The session; what was read of it lives until the end, so no collector looks at it again."""
    from agentsh.cli.lookup.choosing import open_chosen
    from agentsh.session.format.decoding import collecting_paused

    with collecting_paused():
        chosen = open_chosen(places, cwd, choice)
        gc.freeze()
    return chosen


def _said(prompt: str, attach: list[str]) -> tuple[str, tuple[Image, ...]]:
    """The prompt with what is attached to it."""
    text = read_input(sys.stdin) if prompt == "-" else prompt
    pictures: tuple[Image, ...] = ()
    if attach:
        from agentsh.cli.setup.attachments import attached

        stdin = None if prompt == "-" else sys.stdin
        text, pictures = attached(text, tuple(attach), Path.cwd(), stdin)
    if not text.strip() and not pictures:
        raise NoPromptError("there is no prompt")
    return text, pictures


@contextmanager
def _front(output: str, terminal: Terminal, schema: AnswerSchema | None) -> Iterator[_Front]:
    if output != "text":
        from agentsh.remote.values.events import EventLines, JsonSummary

        form = EventLines if output == "events" else JsonSummary
        yield _ForPrograms(form(terminal.stdout))
        return
    is_value = schema is not None
    if not (terminal.stdout_tty and terminal.stderr_tty) or terminal.dumb:
        from agentsh.ui.text.plain import PlainOutput

        yield _ForPeople(PlainOutput(terminal, is_value=is_value))
        return
    from agentsh.ui.text.ticking import TickingOutput

    ticking = TickingOutput(terminal, is_value=is_value)
    try:
        yield _ForPeople(ticking)
    finally:
        ticking.rest()


class _ForPeople:
    """Text: no first line, and a last one only where the answer is a value."""

    tells_errors = True

    def __init__(self, output: PlainOutput | TickingOutput) -> None:
        self._output = output
        self.show = output.show

    def begin(self, wired: Wired) -> None:
        pass

    def end(self, end: TurnEnd, code: int) -> None:
        if end.data is not UNSET:
            self._output.value(end.data)


class _ForPrograms:
    """JSON: the session first, how it ended last."""

    tells_errors = False

    def __init__(self, output: EventLines | JsonSummary) -> None:
        self._output = output
        self.show = output.show

    def begin(self, wired: Wired) -> None:
        from agentsh.remote.values.lines import SessionLine

        agent = wired.agent
        session = agent.session
        self._output.session(
            SessionLine(
                session.header.id,
                str(session.path) if session.path else None,
                str(agent.workbench.cwd),
                agent.model.model,
                session.leaf,
                wired.context_files,
            )
        )

    def end(self, end: TurnEnd, code: int) -> None:
        from agentsh.remote.values.lines import done_line

        self._output.done(done_line(end, code))


def _turn(
    wired: Wired, front: _Front, text: str, pictures: tuple[Image, ...], schema: AnswerSchema | None
) -> int:
    from agentsh.agent.events import TurnEnd, code_of
    from agentsh.messages import Usage

    agent = wired.agent
    front.begin(wired)
    end = TurnEnd("error", None, agent.session.leaf, Usage(), "the turn did not end")
    with stopping(agent) as caught:
        for event in agent.prompt(text, pictures, schema):
            front.show(event)
            if isinstance(event, TurnEnd):
                end = event
    code = code_of(end.status)
    if caught:
        code = 128 + caught[0]
    front.end(replace(end, leaf=agent.session.leaf), code)
    _tell(agent, end, is_shown=front.tells_errors)
    return code


def _tell(agent: Agent, end: TurnEnd, *, is_shown: bool) -> None:
    """What stderr still has to say. `is_shown`: that the turn failed, and why, it has said."""
    if end.error is not None and not is_shown:
        warn([end.error, *([end.hint] if end.hint else [])])
    if end.status in _GOES_ON and _is_on_disk(agent.session):
        from agentsh.session.store.naming import command_hint

        warn(["go on with: " + command_hint("run --session", agent.config.named, "Go on.")])


def _is_on_disk(session: Session) -> bool:
    return session.saved and session.path is not None and is_there(session.path)


class Countdown:
    """Of so many seconds (None: it never ends), from its making on."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    @contextmanager
    def ending(self, agent: Agent) -> Iterator[None]:
        """Stop the agent's turn when the time is over, while inside."""
        if self._end is None:
            yield
            return
        left = min(max(self._end - time.monotonic(), 0), threading.TIMEOUT_MAX)
        timer = threading.Timer(left, agent.abort, ("max_time",))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


@contextmanager
def stopping(agent: Agent, aside: Abort | None = None) -> Iterator[list[int]]:
    """While inside, the stopping signals abort the turn; gives the list of those that came."""
    caught: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        caught.append(number)
        agent.abort()
        if aside is not None:
            aside.set()

    before = {number: signal.signal(number, stop) for number in _STOPPING}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
