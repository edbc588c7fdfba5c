"""The order of events that agent/events.py promises, as a machine that shares no code with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from agentsh.agent.events import (
    AgentEvent,
    ApprovalNeeded,
    MessageDone,
    Notice,
    StepEnd,
    StepStart,
    ToolEnd,
    ToolProgress,
    ToolStart,
)

# where each event may come; what follows it, where that is another state
_FROM: Mapping[str, tuple[str, ...]] = {
    "TurnStart": ("out",),
    "Steered": ("between",),
    "Compacting": ("between", "asking"),
    "Compacted": ("between", "asking"),
    "Retry": ("between", "asking"),
    "StepStart": ("between",),
    "TextPart": ("asking",),
    "ThinkingPart": ("asking",),
    "CallPart": ("asking",),
    "Restarted": ("asking",),
    "MessageDone": ("asking",),
    "ToolStart": ("working",),
    "ToolProgress": ("working",),
    "ApprovalNeeded": ("working",),
    "ToolEnd": ("working",),
    "StepEnd": ("working",),
    "TurnEnd": ("between", "asking", "working"),
}
_TO: Mapping[str, str] = {
    "TurnStart": "between",
    "StepStart": "asking",
    "MessageDone": "working",
    "StepEnd": "between",
    "TurnEnd": "out",
}


class _Machine(Struct):
    state: str = "out"
    step: int = 0
    calls: list[str] = field(default_factory=list)
    """Calls of the answer whose results have not come."""
    started: set[str] = field(default_factory=set)

    def take(self, event: AgentEvent) -> bool:
        """False: out of order."""
        name = type(event).__name__
        fits = self.state in _FROM[name] and self._fits(event)
        self.state = _TO.get(name, self.state)
        if name == "TurnStart":
            self.step = 0
        return fits

    def _fits(self, event: AgentEvent) -> bool:
        match event:
            case StepStart(number=number):
                self.step += 1
                return number == self.step
            case StepEnd(number=number):
                return number == self.step and not self.calls
            case MessageDone(message=message):
                self.calls = [call.id for call in message.tool_calls]
                self.started = set()
                return True
            case ToolStart(call=call) | ApprovalNeeded(call=call):
                self.started.add(call.id)
                return call.id in self.calls
            case ToolProgress(call=call):
                return call.id in self.started
            case ToolEnd(call=call, result=result):
                first = self.calls.pop(0) if self.calls else None
                return first == call.id == result.tool_call_id
            case _:
                return True


def faults(events: Iterable[AgentEvent]) -> list[str]:
    """What of a run of turns is not in the promised order."""
    machine, found = _Machine(), []
    for i, event in enumerate(events):
        if isinstance(event, Notice):
            continue
        was = machine.state
        if not machine.take(event):
            found.append(f"{i}: {type(event).__name__} in state {was}")
    if machine.state != "out":
        found.append("no TurnEnd")
    return found
