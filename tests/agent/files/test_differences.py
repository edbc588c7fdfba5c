"""Two places side by side: what only one of them says, and what differs in the files."""

from __future__ import annotations

import os
from pathlib import Path

from agentsh.agent.files.differences import MOST_PATCH, Differences, compare
from agentsh.session.format.entries import EntryId
from agentsh.tools.undo.checkpointer import Checkpointer
from tests.agent.files.desk import Desk, at_work, bash, write


def compared(desk: Desk, a: EntryId | None, b: EntryId | None) -> Differences:
    checkpointer = Checkpointer(desk.tree, desk.state / "checkpoints", os.environ)
    return compare(desk.agent.session, checkpointer, a, b)


def test_the_files_of_two_turns_differ_by_what_was_done_between(desk: Desk) -> None:
    before = desk.turn("first", bash("echo one > made"))
    found = compared(desk, before, desk.leaf)

    assert found.common == before
    assert (found.only_a, found.only_b[-1].id) == ((), desk.leaf)
    assert [(c.path, c.kind) for c in found.files] == [("made", "create")]
    assert found.patch.endswith("+one")
    assert found.notices == ()


def test_of_places_with_the_same_files_nothing_is_said_of_them(desk: Desk) -> None:
    desk.turn("first", bash("echo one > made"))
    rest = desk.leaf
    desk.turn("second")
    found = compared(desk, rest, desk.leaf)

    assert (found.files, found.patch, found.notices) == ((), "", ())


def test_where_nothing_was_recorded_only_the_talk_is_compared(tmp_path: Path) -> None:
    desk = at_work(tmp_path, tmp_path / "state", recording=False)
    begin = desk.turn("first", write("made", "one"))
    checkpointer = Checkpointer(tmp_path, tmp_path / "state", {})
    found = compare(desk.agent.session, checkpointer, begin, desk.leaf)

    assert found.only_b
    assert (found.files, found.patch, found.notices) == ((), "", ())


def test_states_whose_store_is_gone_cannot_be_compared(desk: Desk, tmp_path: Path) -> None:
    before = desk.turn("first", bash("echo one > made"))
    elsewhere = Checkpointer(desk.tree, tmp_path / "no stores", {})
    found = compare(desk.agent.session, elsewhere, before, desk.leaf)

    assert (found.files, found.patch) == ((), "")
    assert found.notices == (
        "the files' states cannot be compared: their store is another, or gone",
    )


def test_a_patch_that_nobody_would_read_is_cut_at_a_line_and_says_so(desk: Desk) -> None:
    before = desk.turn("first", bash(f"yes heron | head -c {2 * MOST_PATCH} > large"))
    found = compared(desk, before, desk.leaf)

    assert len(found.patch) <= MOST_PATCH
    assert found.patch.endswith("\n+heron")
    assert found.notices == (f"the patch is cut at {MOST_PATCH} characters",)
