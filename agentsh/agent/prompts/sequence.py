"""The turns that one prompt leads to: its own, those that after_turn asks for, those that waited.

One turn is the agent's (agent.py); here is only which comes next. A turn that after_turn holds goes
on before what waits in the queue. It writes nothing but that a refused message is dropped.
Read next: around.py, agent/turn/loop.py.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, TypeAlias

from agentsh.abort import Abort
from agentsh.agent.events import AgentEvent, TurnEnd
from agentsh.agent.prompts.expansion import Spoken
from agentsh.agent.turn.inbox import Inbox, Queued
from agentsh.messages import Usage, UserMessage
from agentsh.session.file.session import Session
from agentsh.session.format.facts import TurnEndReason

if TYPE_CHECKING:  # hooks come along, which most runs never need
    from agentsh.agent.prompts.around import HookedTurns

OneTurn: TypeAlias = Callable[
    [Spoken | None, Queued | None], Generator[AgentEvent, None, TurnEnd | None]
]


class TurnSequence:
    """What follows what. `forget_abort`: the turn that a wish to stop was meant for is over."""

    def __init__(
        self,
        session: Session,
        inbox: Inbox,
        around: HookedTurns | None,
        run_turn: OneTurn,
        abort: Callable[[], Abort],
        forget_abort: Callable[[], None],
    ) -> None:
        self._session = session
        self._inbox = inbox
        self._around = around
        self._run_turn = run_turn
        self._abort = abort
        self._forget_abort = forget_abort

    def run(
        self, spoken: Spoken | None, queued: Queued | None = None
    ) -> Generator[AgentEvent, None, bool]:
        """A turn, and those that after_turn makes of it; True if it came to its end by itself."""
        around, row = self._around, 0
        if around is not None and spoken is not None:
            admitted = around.admit(spoken, self._abort())
            if isinstance(admitted, str):
                if queued is not None:
                    self._inbox.drop(queued)
                reason: TurnEndReason = "aborted" if self._abort().is_set else "blocked"
                yield TurnEnd(reason, None, self._session.leaf, Usage(), admitted)
                return False
            spoken = admitted
        while True:
            end = yield from self._run_turn(spoken, queued)
            if around is not None and end is not None:
                self._forget_abort()
                spoken = yield from around.follow(end, row, self._session, self._abort())
                if spoken is not None:
                    queued, row = None, row + 1
                    continue
            return end is not None and end.reason in ("completed", "max_tokens")

    def run_queued(self, well: bool) -> Generator[AgentEvent, None, bool]:
        """What waits longest; a steer that came too late for its turn goes first."""
        take = self._inbox.take
        while well and not self._abort().is_set and (item := take("steer") or take("follow-up")):
            well = yield from self.run(Spoken(item.words, item.images), item)
        return well

    def admit(self, item: Queued) -> UserMessage | str:
        """A steer, as it is about to be said; or why it is not."""
        said = Spoken(item.words, item.images)
        spoken = said if self._around is None else self._around.admit(said, self._abort())
        return spoken if isinstance(spoken, str) else spoken.message()
