"""States of the files cost a bounded share of a turn."""

from __future__ import annotations

from pathlib import Path

from agentsh.abort import Abort
from agentsh.agent.files.checkpoints import Checkpoints
from agentsh.agent.turn.recorder import Recorder
from agentsh.messages import Text, UserMessage
from agentsh.session.format.entries import EntryId
from agentsh.session.format.facts import Checkpoint
from agentsh.tools.undo.checkpoint import Checkpointed
from agentsh.tools.undo.checkpointer import Checkpointer
from tests.agent.builders import facts, path_of, start_session


class SlowCheckpointer(Checkpointer, frozen=True, kw_only=True):
    """Taking a state takes one second of the clock that it is given."""

    now: list[float]

    def has(self, store: str) -> bool:
        return True

    def take(self, store: str, abort: Abort | None = None) -> Checkpointed:
        self.now[0] += 1.0
        return Checkpointed("c" * 40)


def states_taken(step_seconds: float, steps: int = 20) -> int:
    now = [0.0]
    with start_session(None) as session:
        recorder = Recorder(session, lambda: now[0], lambda _notice: None)
        states = Checkpoints(
            recorder,
            lambda: SlowCheckpointer(Path("/tree"), Path("/stores"), {}, now=now),
            lambda _notice: None,
            clock=lambda: now[0],
            share=20,
        )
        recorder.start_turn((), 1, UserMessage((Text("go"),)))
        for step in range(steps):
            states.before_change(EntryId(f"step{step}"), Abort())
            now[0] += step_seconds
        return sum(isinstance(fact, Checkpoint) for fact in facts(path_of(session)))


def test_slow_steps_have_a_state_each() -> None:
    assert states_taken(step_seconds=25.0) == 20


def test_quick_steps_share_them_so_that_they_take_a_twentieth_of_the_time() -> None:
    assert states_taken(step_seconds=5.0) == 5
    assert states_taken(step_seconds=0.01) == 1
