"""`agentsh run`: one prompt to the end of its turn, without a person.

The answer is on stdout, everything else on stderr; the exit code says how it ended. SIGINT, SIGTERM
and SIGHUP stop the turn, which still ends well in the log. Read next: wiring.py, ui/plain.py.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Protocol

from agentsh.agent.agent import Agent
from agentsh.agent.events import (
    AgentEvent,
    CallPart,
    Compacting,
    StepStart,
    ThinkingPart,
    ToolProgress,
    ToolStart,
    TurnEnd,
)
from agentsh.cli.choosing import Choice, choose
from agentsh.cli.configuration import configure
from agentsh.cli.interrupted import STOPPED, asker, check_way, may_go_on
from agentsh.cli.modeloptions import TurnOptions
from agentsh.cli.notices import warn
from agentsh.cli.safety import confine
from agentsh.cli.wiring import Wired, wire
from agentsh.errors import UsageError
from agentsh.messages import Image, Usage
from agentsh.session.facts import TurnEndReason
from agentsh.ui.jsonl import DoneLine, EventLines, JsonSummary, SessionLine
from agentsh.ui.plain import PlainOutput
from agentsh.ui.terminal import Terminal, describe
from agentsh.ui.ticker import Ticker

_FORMS = ("text", "json", "events")
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_EXIT: dict[TurnEndReason, int] = {
    "completed": 0,
    "blocked": 6,
    "max_steps": 6,
    "aborted": 130,
}


class _Front(Protocol):
    """What shows the events of a run."""

    def session(self, line: SessionLine) -> None: ...

    def show(self, event: AgentEvent) -> None: ...

    def done(self, line: DoneLine) -> None: ...


class _Text:
    """Plain output has no first and no last line; where it is silent, a clock shows why."""

    def __init__(self, terminal: Terminal) -> None:
        self._plain = PlainOutput(terminal)
        self._ticker = Ticker(terminal)

    def show(self, event: AgentEvent) -> None:
        if isinstance(event, ThinkingPart | CallPart | ToolProgress):
            return  # nothing of it is printed, and the clock goes on
        self._ticker.stop()
        self._plain.show(event)
        match event:
            case StepStart(model=model):
                self._ticker.start(f"waiting for {model}")
            case Compacting():
                self._ticker.start("compacting")
            case ToolStart(call):
                self._ticker.start(f"running {call.name}")

    def rest(self) -> None:
        self._ticker.stop()

    def session(self, line: SessionLine) -> None:
        pass

    def done(self, line: DoneLine) -> None:
        pass


def start(
    prompt: str,
    options: TurnOptions,
    *,
    last: bool,
    session: str | None,
    fork: str | None,
    at: str | None,
    attach: tuple[str, ...],
    output: str,
    max_steps: int | None,
) -> int:
    """Run it. Gives the exit code. Raises AgentshError before anything was sent."""
    if output not in _FORMS:
        raise UsageError(f"--output {output!r} is none of " + ", ".join(_FORMS))
    check_way(options.on_interrupted)
    cwd = Path.cwd()
    configuration = configure(options, os.environ, cwd)
    warn(configuration.notices)
    confine(configuration, cwd)  # without a sandbox that was asked for, nothing is even opened
    chosen = choose(configuration.places, cwd, Choice(last, session, fork, at))
    with wire(configuration, options, chosen, max_steps=max_steps) as wired:
        terminal = describe(sys.stdin, sys.stdout, sys.stderr, os.environ)
        warn(wired.notices)
        if not may_go_on(wired.agent, options.on_interrupted or "continue", asker(terminal)):
            return STOPPED
        text, pictures = _said(prompt, attach)
        with _front(output, terminal) as front:
            return _turn(wired, front, text, pictures)


def _said(prompt: str, attach: tuple[str, ...]) -> tuple[str, tuple[Image, ...]]:
    """The prompt with what is attached to it."""
    text = sys.stdin.read() if prompt == "-" else prompt
    pictures: tuple[Image, ...] = ()
    if attach:
        from agentsh.cli.attachments import attached

        text, pictures = attached(text, attach, Path.cwd())
    if not text.strip() and not pictures:
        raise UsageError("there is no prompt")
    return text, pictures


@contextmanager
def _front(output: str, terminal: Terminal) -> Iterator[_Front]:
    match output:
        case "events":
            yield EventLines(terminal.stdout)
        case "json":
            yield JsonSummary(terminal.stdout)
        case _:
            text = _Text(terminal)
            try:
                yield text
            finally:
                text.rest()


def _turn(wired: Wired, front: _Front, text: str, pictures: tuple[Image, ...]) -> int:
    agent = wired.agent
    session = agent.session
    front.session(
        SessionLine(
            session.header.id,
            str(session.path) if session.path else None,
            str(agent.workbench.cwd),
            agent.model.model,
            session.leaf,
            wired.context_files,
        )
    )
    end = TurnEnd("error", None, session.leaf, Usage(), "the turn did not end")
    with stopping(agent) as caught:
        for event in agent.prompt(text, pictures):
            front.show(event)
            if isinstance(event, TurnEnd):
                end = event
    code = _EXIT.get(end.reason, 1)
    if caught:
        code = 128 + caught[0]
    front.done(DoneLine(end.reason, session.leaf, end.usage, code, end.error))
    return code


@contextmanager
def stopping(agent: Agent) -> Iterator[list[int]]:
    """While inside, the stopping signals abort the turn; gives the list of those that came."""
    caught: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        caught.append(number)
        agent.abort()

    before = {number: signal.signal(number, stop) for number in _STOPPING}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
