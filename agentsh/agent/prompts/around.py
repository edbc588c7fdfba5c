"""What the hooks around a turn lead to: a prompt that gains words or is refused, a next prompt.

The hooks themselves are tools/extend/turnhooks.py's; an agent without any has none of this. What
before_prompt prints is a block of its own, marked as the hook's: it is not the person's. What
after_turn says with a failing exit is the next prompt, three times in a row at most (H08).
Read next: expansion.py, sequence.py.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.events import AgentEvent, Notice, TurnEnd
from agentsh.agent.prompts.expansion import Spoken
from agentsh.jsontext import JsonObject
from agentsh.messages import AssistantMessage
from agentsh.session.file.session import Session
from agentsh.session.format.entries import MessageBody
from agentsh.tools.extend.turnhooks import EndedTurn, TurnHooks

MOST_IN_A_ROW: Final = 3
_AFTER_ABORT: Final = 3.0
"""Seconds: whoever stopped the turn waits."""
_TAG: Final = "before_prompt"


class HookedTurns:
    """The hooks around the turns of one session."""

    def __init__(self, hooks: TurnHooks) -> None:
        self._hooks = hooks

    def admit(self, spoken: Spoken, abort: Abort) -> Spoken | str:
        """With what before_prompt adds; words: why it is not said."""
        answer = self._hooks.before_prompt(spoken.text, abort)
        if not answer.is_good:
            return f"{_TAG} refused the prompt: {answer.text}"
        if not answer.text:
            return spoken
        text = answer.text.replace(f"</{_TAG}>", f"< /{_TAG}>")
        return replace(spoken, note=f"\n\n<{_TAG}>\n{text}\n</{_TAG}>")

    def follow(
        self, end: TurnEnd, row: int, session: Session, abort: Abort
    ) -> Generator[AgentEvent, None, Spoken | None]:
        """What after_turn makes of a turn that is at rest. `row`: how often it did so already."""
        seconds = _AFTER_ABORT if end.reason == "aborted" else None
        cost = end.usage.cost.total
        ended = EndedTurn(end.reason, last_answer(session), f"{cost:.6f}" if cost else "")
        answer = self._hooks.after_turn(ended, abort, seconds)
        for words in answer.notices:
            yield Notice(words, "warning")
        if answer.is_good or end.reason != "completed" or abort.is_set:
            if answer.text:
                yield Notice(f"after_turn: {answer.text}")
            return None
        if row >= MOST_IN_A_ROW:
            yield Notice(
                f"after_turn is still not content after {row} more turns; it says: {answer.text}",
                "warning",
            )
            return None
        return Spoken(answer.text, by="after_turn")

    def asked(self, tool: str, arguments: JsonObject, shown: str) -> tuple[str, ...]:
        """An approval is waited for, or nobody can be asked. Returns at once, with what failed."""
        return self._hooks.on_question(tool, arguments, shown)


def last_answer(session: Session) -> str:
    """The text of the newest answer of the path."""
    for entry in reversed(session.live().entries):
        if isinstance(entry.body, MessageBody) and isinstance(entry.body.message, AssistantMessage):
            return entry.body.message.text
    return ""
