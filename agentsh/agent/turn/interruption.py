"""What a crash cut off, in words for a person who goes on (R54). Nothing is run again.

Read next: session/health/repair.py, which closes it; cli/lookup/interrupted.py, which asks what to
do.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from agentsh.context.projection import turn_of
from agentsh.messages import AssistantMessage, Text, ToolResultMessage, UserMessage
from agentsh.session.file.session import Session
from agentsh.session.file.tail import lacks_facts
from agentsh.session.format.entries import Compaction, Custom, Entry, MessageBody, besides
from agentsh.session.format.factcodec import decode_fact
from agentsh.session.format.facts import Repaired, TurnStarted
from agentsh.session.health.unfinished import ANYBODY, Whose, plan_open_turn

_MAX_PROMPT = 100


class Interrupted(Struct, frozen=True):
    """The turn that the path ends in. `calls` are the tools whose results never came."""

    prompt: str
    calls: tuple[str, ...] = ()
    running: tuple[int, ...] = ()
    """Process groups of its commands that are still alive (R22)."""

    def words(self) -> str:
        text = " ".join(self.prompt.split())
        short = text if len(text) <= _MAX_PROMPT else text[: _MAX_PROMPT - 1] + "…"
        said = f"the last turn was interrupted: {short}" if short else "a turn was interrupted"
        if self.calls:
            said += f" (no result of: {', '.join(self.calls)})"
        if self.running:
            groups = " ".join(f"-{group}" for group in self.running)
            said += f"; a command of it is still running: `kill -- {groups}` ends it"
        return said


def groups_left(repaired: Sequence[Entry]) -> tuple[int, ...]:
    """The living process groups that the repair at the end of a path has found."""
    last = repaired[-1].body if repaired else None
    fact = decode_fact(last) if isinstance(last, Custom) else None
    calls = fact.evidence.get("calls") if isinstance(fact, Repaired) else None
    evidence = calls.values() if isinstance(calls, dict) else ()
    groups = (call.get("running") for call in evidence if isinstance(call, dict))
    return tuple(group for group in groups if isinstance(group, int))


def find_interrupted(entries: Sequence[Entry], whose: Whose = ANYBODY) -> Interrupted | None:
    """What the path, as it is in the file, left open; None where the last turn has its end."""
    start = plan_open_turn(entries, whose)
    if start is None:
        return None
    prompt, waiting = "", {}
    index = next(i for i, entry in enumerate(entries) if entry.id == start)
    for entry in entries[index:]:
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


def cut_off(session: Session, entries: Sequence[Entry]) -> Interrupted | None:
    """The turn that a crash cut off at the end of the live path, and what of it still runs."""
    interrupted = find_interrupted(entries, session.whose(entries))
    return interrupted and replace(interrupted, running=groups_left(session.live().entries))


def last_turn(session: Session) -> int:
    """The number of the newest turn on the path, 0 before the first. Numbers on a path only grow.

    What a compaction left out of the live path is read only where the compaction does not say it.
    """
    live = session.live(repaired=False)
    number = _newest(live.entries)
    if number is None and lacks_facts(live):
        number = _newest(session.branch(repaired=False).entries)
    return number or 0


def _newest(entries: Sequence[Entry]) -> int | None:
    for index in reversed(besides(entries)):
        body = entries[index].body
        fact = decode_fact(body) if isinstance(body, Custom) else None
        number = turn_of(body) if isinstance(body, Compaction) else None
        if isinstance(fact, TurnStarted):
            return fact.number
        if number is not None:
            return number
    return None
