"""What a crash cut off, in words for a person who goes on (R54). Pure; nothing is run again.

Read next: session/repair.py, which closes it; cli/interrupted.py, which asks what to do.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from agentsh.messages import AssistantMessage, Text, ToolResultMessage, UserMessage
from agentsh.session.entries import Custom, Entry, MessageBody
from agentsh.session.factcodec import decode_fact
from agentsh.session.facts import Repaired, TurnStarted
from agentsh.session.repair import plan_open_turn

MAX_PROMPT = 100


class Interrupted(Struct, frozen=True):
    """The turn that the path ends in. `calls` are the tools whose results never came."""

    prompt: str
    calls: tuple[str, ...] = ()
    running: tuple[int, ...] = ()
    """Process groups of its commands that are still alive (R22)."""

    def words(self) -> str:
        text = " ".join(self.prompt.split())
        short = text if len(text) <= MAX_PROMPT else text[: MAX_PROMPT - 1] + "…"
        said = f"the last turn was interrupted: {short}" if short else "a turn was interrupted"
        if self.calls:
            said += f" (no result of: {', '.join(self.calls)})"
        if self.running:
            groups = " ".join(f"-{group}" for group in self.running)
            said += f"; a command of it is still running: `kill -- {groups}` ends it"
        return said


def still_running(repaired: Sequence[Entry]) -> tuple[int, ...]:
    """The living process groups that the repair at the end of a path has found."""
    last = repaired[-1].body if repaired else None
    fact = decode_fact(last) if isinstance(last, Custom) else None
    calls = fact.evidence.get("calls") if isinstance(fact, Repaired) else None
    found = calls.values() if isinstance(calls, dict) else ()
    groups = (call.get("running") for call in found if isinstance(call, dict))
    return tuple(group for group in groups if isinstance(group, int))


def find_interrupted(entries: Sequence[Entry]) -> Interrupted | None:
    """What the path, as it is in the file, left open; None where the last turn has its end."""
    start = plan_open_turn(entries)
    if start is None:
        return None
    prompt, waiting = "", {}
    at = next(i for i, entry in enumerate(entries) if entry.id == start)
    for entry in entries[at:]:
        match entry.body:
            case MessageBody(UserMessage(content)):
                prompt = prompt or "\n".join(b.text for b in content if isinstance(b, Text))
            case MessageBody(AssistantMessage() as said):
                waiting = {call.id: call.name for call in said.tool_calls}
            case MessageBody(ToolResultMessage(tool_call_id=call_id)):
                waiting.pop(call_id, None)
            case _:
                pass
    return Interrupted(prompt, tuple(waiting.values()))


def last_turn(entries: Sequence[Entry]) -> int:
    """The number of the newest turn on the path, 0 before the first."""
    for entry in reversed(entries):
        number = _turn_number(entry)
        if number is not None:
            return number
    return 0


def _turn_number(entry: Entry) -> int | None:
    if not isinstance(entry.body, Custom):
        return None
    fact = decode_fact(entry.body)
    return fact.number if isinstance(fact, TurnStarted) else None
