"""How the turns of a prompt ended → the one answer to it: why it stopped, what it took, or words.

It stands alone because the protocol has five words for an end and we have more: which is which is
one table. Read next: agent/events.py, editorsession.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from acp import schema

from agentsh.agent.events import TurnEnd
from agentsh.messages import Usage
from agentsh.remote.acp.jsonrpc import INTERNAL_ERROR
from agentsh.remote.acp.responders import Responder

_STOPS: Final[Mapping[str, schema.StopReason]] = {
    "completed": "end_turn",
    "max_tokens": "max_tokens",
    "max_steps": "max_turn_requests",
    "blocked": "refusal",
}


def answer_ends(answer: Responder, ends: Sequence[TurnEnd], *, is_cancelled: bool) -> None:
    """How a prompt ended, and what it took."""
    end = ends[-1] if ends else None
    usage = sum((each.usage for each in ends), Usage())
    stop = "cancelled" if end is None or end.reason == "aborted" else _STOPS.get(end.status)
    if is_cancelled and stop != "end_turn":
        stop = "cancelled"
    if stop is None or (end is None and not is_cancelled):
        words = "the turn did not begin" if end is None else end.error or f"stopped: {end.status}"
        hint = f"\n{end.hint}" if end is not None and end.hint else ""
        answer.failed(INTERNAL_ERROR, f"{words}{hint}")
    else:
        answer.done(schema.PromptResponse(stop_reason=stop, usage=_taken(usage)))


def _taken(usage: Usage) -> schema.Usage | None:
    """None: nothing was asked of any model."""
    if usage == Usage():
        return None
    return schema.Usage(
        total_tokens=usage.total_tokens or usage.input + usage.output + usage.cache_read,
        input_tokens=usage.input,
        output_tokens=usage.output,
        thought_tokens=usage.reasoning or None,
        cached_read_tokens=usage.cache_read or None,
        cached_write_tokens=usage.cache_write or None,
    )
