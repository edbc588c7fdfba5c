"""`run --output events` and `--output json`: JSON for scripts, in the contract's stable names.

Events: one line each, flushed at once; `session` first, `done` last.
JSON: one value when the turn is over. Text is given as it came (JSON escapes what a terminal would
obey). Which lines there are: lines.py.
"""

from __future__ import annotations

from typing import TextIO

from msgspec import Struct, to_builtins

from agentsh.agent.events import AgentEvent, MessageDone, StepStart, ToolEnd
from agentsh.jsontext import dumps_text
from agentsh.remote.values.lines import (
    DoneLine,
    EventLine,
    RefusedCall,
    RunResult,
    SessionLine,
    event_line,
)


class EventLines:
    """`--output events`."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def session(self, line: SessionLine) -> None:
        _write(self._out, line)

    def show(self, event: AgentEvent) -> None:
        line = event_line(event)
        if line is not None:
            _write(self._out, line)

    def done(self, line: DoneLine) -> None:
        _write(self._out, line)


class JsonSummary(Struct):
    """`--output json`: collects a turn, then gives one value."""

    out: TextIO
    _session: SessionLine | None = None
    _text: str = ""
    _steps: int = 0
    _refused: tuple[RefusedCall, ...] = ()

    def session(self, line: SessionLine) -> None:
        self._session = line

    def show(self, event: AgentEvent) -> None:
        """The text is that of the last answer: what the turn was about."""
        match event:
            case MessageDone(message):
                self._text = message.text
            case StepStart():
                self._steps += 1
            case ToolEnd(call, is_refused=True):
                refused = RefusedCall(call.id, call.name, dict(call.arguments))
                self._refused = (*self._refused, refused)
            case _:
                pass

    def done(self, line: DoneLine) -> None:
        session = self._session
        assert session is not None, "a run begins with its session"
        result = RunResult(
            session=session.id,
            path=session.path,
            cwd=session.cwd,
            model=session.model,
            context_files=session.context_files,
            text=self._text,
            steps=self._steps,
            status=line.status,
            leaf=line.leaf,
            usage=line.usage,
            cost=line.cost,
            exit=line.exit,
            refused=self._refused,
            error=line.error,
            data=line.data,
        )
        _write(self.out, result)


def _write(out: TextIO, value: EventLine | RunResult) -> None:
    out.write(dumps_text(to_builtins(value)) + "\n")
    out.flush()
