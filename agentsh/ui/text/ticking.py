"""Plain output of a run: no first and no last line; where it is silent, a clock shows why.

It stands alone beside plain.py: a chat in plain lines has no clock, nor has a pipe. Read next:
plain.py.
"""

from __future__ import annotations

from agentsh.agent.events import (
    AgentEvent,
    CallPart,
    Compacting,
    Retry,
    StepStart,
    ThinkingPart,
    ToolProgress,
    ToolStart,
)
from agentsh.jsontext import JsonValue
from agentsh.ui.state.activity import Activity
from agentsh.ui.terminal import Terminal
from agentsh.ui.text.plain import PlainOutput
from agentsh.ui.text.waiting import Ticker


class TickingOutput:
    """`is_value` as in PlainOutput."""

    def __init__(self, terminal: Terminal, *, is_value: bool = False) -> None:
        self._plain = PlainOutput(terminal, is_value=is_value)
        self._ticker = Ticker(terminal)
        self._activity = Activity()

    def show(self, event: AgentEvent) -> None:
        self._activity.hear(event)
        if isinstance(event, ThinkingPart | CallPart | ToolProgress):
            return  # nothing of it is printed, and the clock goes on
        self._ticker.stop()
        self._plain.show(event)
        if isinstance(event, StepStart | Retry | Compacting | ToolStart):
            self._ticker.start(self._activity.words)

    def rest(self) -> None:
        self._ticker.stop()

    def value(self, data: JsonValue) -> None:
        """The answer, where it is one."""
        self._plain.value(data)
