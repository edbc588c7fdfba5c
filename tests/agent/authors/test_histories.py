"""Over histories whose authors are known: nothing that is said of a line is wrong."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from agentsh.session.format.facts import Checkpoint
from agentsh.tools.undo.checkpointer import Checkpointer
from tests.agent.authors.histories import HISTORIES, History, Tally, World, lived
from tests.agent.authors.quickstates import QuickStates
from tests.agent.builders import facts

_IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where many small files are made and removed; nothing here is about disks."""


def tally_of(history: History, states: type[Checkpointer] = Checkpointer) -> Tally:
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as folder:
        return lived(Path(folder), history, states).tally()


def states_of(world: World) -> list[dict[str, str]]:
    """What each recorded state holds: path → git's name for the content."""
    contents = world.checkpointer.contents(world.checkpointer.store)
    told = [fact for agent in world.agents for fact in facts(agent.session.entries())]
    return [dict(contents.all_of(f.commit)) for f in told if isinstance(f, Checkpoint)]


@settings(max_examples=6)
@given(history=HISTORIES)
def test_no_line_is_said_to_be_by_somebody_who_did_not_write_it(history: History) -> None:
    assert tally_of(history).wrong == []


@settings(max_examples=3)
@given(history=HISTORIES)
def test_quick_states_hold_what_those_of_git_hold(history: History) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("real", "quick"):
            Path(folder, name).mkdir()
        real = lived(Path(folder, "real"), history)
        quick = lived(Path(folder, "quick"), history, QuickStates)
        assert states_of(quick) == states_of(real)
        assert quick.tally() == real.tally()


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_over_many_histories_lines_are_right_to_the_prompt_and_the_call() -> None:
    """None wrong; all but a few known to the prompt, and 95 of 100 to the call."""
    total = Tally()

    @settings(max_examples=200)
    @given(history=HISTORIES)
    def live(history: History) -> None:
        tally = tally_of(history, QuickStates)
        total.add(tally)
        assert tally.wrong == []

    live()
    assert total.prompt >= 0.99 * total.lines
    assert total.call >= 0.95 * total.lines
