"""Undo over real turns: a scripted model, real tools, a real shadow store."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.agent.events import Notice
from agentsh.agent.files.filestates import state_at
from agentsh.errors import RefusedError
from agentsh.messages import ToolResultMessage, UserMessage
from agentsh.session.format.entries import MessageBody
from tests.agent.builders import path_of, run
from tests.agent.files.desk import Desk, at_work, bash, write
from tests.support.scripted import Call


def test_undo_takes_back_what_a_turn_did_by_edits_and_by_commands(desk: Desk) -> None:
    desk.put("kept.txt", "mine")
    desk.put("gone.txt", "was here")
    before = desk.files()
    prompt = desk.turn(
        "go",
        write("new/a.txt", "made"),
        bash("rm gone.txt; echo more >> kept.txt; mkdir d; echo x > d/x"),
    )
    assert desk.files() != before

    moved = desk.agent.checkout(prompt, files=True)

    assert desk.files() == before
    assert not (desk.tree / "new").exists()
    assert moved.editor_text == "go"
    assert desk.whens() == ["turn", "step", "end", "left", "restored"]


def test_a_turn_without_changes_records_nothing_and_asks_git_nothing(desk: Desk) -> None:
    desk.turn("go", (Call("r1", "ls", {}),))

    assert desk.whens() == []
    assert not (desk.state / "checkpoints").exists()


def test_each_branch_has_its_files(desk: Desk) -> None:
    first = desk.turn("one", bash("echo one > a"))
    one = desk.leaf
    desk.agent.checkout(first, files=True)
    assert desk.files() == {}
    desk.turn("two", bash("echo two > a; echo b > b"))
    two = desk.leaf

    for _ in range(2):
        desk.agent.checkout(one, files=True)
        assert desk.files() == {"a": "one\n"}
        desk.agent.checkout(two, files=True)
        assert desk.files() == {"a": "two\n", "b": "b\n"}


def test_the_state_between_two_steps_of_a_turn_can_be_had(desk: Desk) -> None:
    desk.turn("go", bash("echo 1 > a"), bash("echo 2 > a"))
    results = [
        e.id
        for e in path_of(desk.agent.session)
        if isinstance(e.body, MessageBody) and isinstance(e.body.message, ToolResultMessage)
    ]

    desk.agent.checkout(results[0], files=True)

    assert desk.files() == {"a": "1\n"}


def test_what_the_person_changed_afterwards_is_shown_and_left_alone(desk: Desk) -> None:
    prompt = desk.turn("go", bash("echo agent > a; echo agent > b"))
    desk.put("a", "person")

    plan = desk.agent.files.plan(prompt)
    moved = desk.agent.checkout(prompt, files=True)

    assert [(c.path, c.conflict is None) for c in plan.changes] == [("a", False), ("b", True)]
    assert desk.files() == {"a": "person"}
    assert any("left alone: a" in notice for notice in moved.notices)


def test_what_the_person_changed_between_two_turns_is_kept_by_undoing_both(desk: Desk) -> None:
    desk.put("mine", "v1")
    first = desk.turn("one", bash("echo 1 > a"))
    desk.put("mine", "v2")
    second = desk.turn("two", bash("echo 2 > a"))

    desk.agent.checkout(second, files=True)
    assert desk.files() == {"mine": "v2", "a": "1\n"}
    moved = desk.agent.checkout(first, files=True)

    assert desk.files() == {"mine": "v2"}
    assert any("left alone: mine" in notice for notice in moved.notices)


def test_what_was_left_alone_once_stays_the_persons(desk: Desk) -> None:
    first = desk.turn("one", bash("echo 1 > a"))
    desk.put("a", "person")
    desk.turn("two", bash("echo 2 > b"))
    desk.agent.checkout(first, files=True)
    assert desk.files() == {"a": "person"}

    desk.agent.checkout(first, files=True)

    assert desk.files() == {"a": "person"}


def test_overwriting_takes_it_back_and_can_itself_be_taken_back(desk: Desk) -> None:
    prompt = desk.turn("go", bash("echo agent > a"))
    end = desk.leaf
    desk.put("a", "person")

    desk.agent.checkout(prompt, files=True, overwrite=True)
    assert desk.files() == {}
    desk.agent.checkout(end, files=True)

    assert desk.files() == {"a": "person"}


def test_only_the_files_may_go_back(desk: Desk) -> None:
    prompt = desk.turn("go", bash("echo agent > a"))
    path = [e.id for e in path_of(desk.agent.session)]

    words = desk.agent.files.restore(prompt)

    assert desk.files() == {}
    assert words[0] == "deleted: a"
    assert [e.id for e in path_of(desk.agent.session)][: len(path)] == path


def test_another_process_knows_the_states(desk: Desk) -> None:
    prompt = desk.turn("go", bash("echo agent > a"))
    desk.agent.session.close()
    again = at_work(desk.tree, desk.state)

    again.agent.checkout(prompt, files=True)

    assert again.files() == {}


def test_without_git_the_turn_goes_on_and_it_is_said_once(tmp_path: Path) -> None:
    tree, state = tmp_path / "project", tmp_path / "home"
    tree.mkdir()
    state.mkdir()
    desk = at_work(tree, state, path=str(tmp_path))
    desk.provider.script = [bash("echo 1 > a"), "done", bash("echo 2 > a"), "done"]

    events = [*run(desk.agent, "one"), *run(desk.agent, "two")]

    said = [e.text for e in events if isinstance(e, Notice)]
    assert desk.files() == {"a": "2\n"}
    assert len(said) == 1
    assert "git is not installed" in said[0]
    with pytest.raises(RefusedError, match="not recorded"):
        desk.agent.files.plan(desk.entry(lambda m: isinstance(m, UserMessage)))


def test_the_switch_is_off(tmp_path: Path) -> None:
    tree, state = tmp_path / "project", tmp_path / "home"
    tree.mkdir()
    state.mkdir()
    desk = at_work(tree, state, recording=False)

    desk.turn("go", bash("echo 1 > a"))

    assert desk.whens() == []


def test_where_nothing_was_changed_there_is_nothing_to_bring_back(desk: Desk) -> None:
    prompt = desk.turn("go")
    desk.put("mine", "x")

    moved = desk.agent.checkout(prompt, files=True)

    assert desk.files() == {"mine": "x"}
    assert "nothing to bring back" in moved.notices[0]


def test_a_large_file_is_named_and_stays_as_it_is(desk: Desk) -> None:
    (desk.tree / "big").write_bytes(b"1" * (6 << 20))
    desk.provider.script = [bash("echo 2 > big; echo 3 > a"), "done"]

    events = run(desk.agent, "go")
    desk.agent.checkout(desk.entry(lambda m: isinstance(m, UserMessage)), files=True)

    assert any(isinstance(e, Notice) and "over 5 MB" in e.text and "big" in e.text for e in events)
    assert desk.files() == {"big": "2\n"}


def test_agentshs_own_folder_in_the_project_is_never_brought_back(desk: Desk) -> None:
    desk.put(".gitignore", "!outputs/\n!*\n")
    prompt = desk.turn("go", bash("mkdir -p outputs; echo new > outputs/session.jsonl; echo x > a"))

    desk.agent.checkout(prompt, files=True)

    assert (desk.tree / "outputs/session.jsonl").read_text() == "new\n"
    assert not (desk.tree / "a").exists()


def test_a_state_belongs_to_the_place_and_not_to_where_another_branch_went_on(desk: Desk) -> None:
    desk.turn("one", bash("echo 1 > a"))
    one = desk.leaf
    desk.turn("two", bash("echo 2 > a"))
    desk.agent.checkout(one)
    desk.turn("three", bash("echo 3 > b"))

    state = state_at(desk.agent.session, one)
    desk.agent.checkout(one, files=True)

    assert state is not None
    assert state.exact
    assert desk.files() == {"a": "1\n"}
