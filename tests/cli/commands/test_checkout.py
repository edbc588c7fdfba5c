from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.cli.program import agentsh
from tests.cli.working import Project
from tests.support.endpoint import serve, text
from tests.support.terminal import ENTER, pty_terminal


def test_checkout_files_takes_back_what_commands_did(project: Project) -> None:
    project.put("kept", "mine")
    project.turn("first words", "echo agent > made; rm kept")

    ended = agentsh("checkout", "last", project.prompt("first words"), "--files", cwd=project.tree)

    assert ended.code == 0
    assert project.files() == {"kept": "mine"}
    assert "deleted: made" in ended.err
    assert "created again: kept" in ended.err


def test_in_a_folder_whose_name_is_no_utf_8_the_same_from_inside_and_from_anywhere(
    project: Project, tmp_path: Path
) -> None:
    project.tree = tmp_path / os.fsdecode(b"pro\xff\xe9j")
    project.tree.mkdir()
    project.put("kept", "mine")
    with project.answering(
        (("c1", "write", {"path": "kept", "content": "agent"}),),
        (("c2", "bash", {"command": "echo agent > made"}),),
    ):
        assert project.run("--approve", "all", "first words").code == 0
    place, leaf = project.prompt("first words"), project.leaf()
    session = agentsh("sessions", "--all", "--json", cwd=tmp_path).json()
    assert isinstance(session, list)

    for cwd in (project.tree, tmp_path):
        back = agentsh("checkout", session[0]["id"], place, "--files", cwd=cwd)
        assert (back.code, project.files()) == (0, {"kept": "mine"}), back.err
        assert "not recorded" not in back.err
        assert agentsh("checkout", session[0]["id"], leaf, "--files", cwd=cwd).code == 0
        assert project.files() == {"kept": "agent", "made": "agent\n"}

    diff = agentsh("diff", session[0]["id"], place, leaf, cwd=tmp_path)
    assert "made" in diff.out
    assert "on another machine" not in diff.err


def test_a_dry_run_says_it_and_does_nothing(project: Project) -> None:
    project.turn("first words", "echo agent > made")
    place, leaf = project.prompt("first words"), project.leaf()

    ended = agentsh("checkout", "last", place, "--files", "--dry-run", cwd=project.tree)

    assert ended.code == 0
    assert "delete: made" in ended.err
    assert (project.files(), project.leaf()) == ({"made": "agent\n"}, leaf)


def test_what_the_person_changed_is_named_and_kept_unless_overwritten(project: Project) -> None:
    project.turn("first words", "echo agent > a; echo agent > b")
    project.put("a", "person")
    place, leaf = project.prompt("first words"), project.leaf()

    ended = agentsh("checkout", "last", place, "--files", cwd=project.tree)
    assert "left alone: a" in ended.err
    assert project.files() == {"a": "person"}

    agentsh("checkout", "last", leaf, "--files", cwd=project.tree)
    assert project.files() == {"a": "person", "b": "agent\n"}
    agentsh("checkout", "last", place, "--files", "--overwrite", cwd=project.tree)
    assert project.files() == {}


def test_undo_can_be_switched_off(project: Project) -> None:
    project.settings("[undo]\nenabled = false\n")
    project.turn("first words", "echo agent > made")

    ended = agentsh("checkout", "last", project.prompt("first words"), "--files", cwd=project.tree)

    assert ended.code == 4
    assert "was not recorded" in ended.err
    assert project.files() == {"made": "agent\n"}


def test_its_options_go_with_files_only(project: Project) -> None:
    assert agentsh("checkout", "last", "root", "--dry-run", cwd=project.tree).code == 2


def test_without_files_nothing_of_them_moves(project: Project) -> None:
    project.turn("first words", "echo agent > made")

    assert agentsh("checkout", "last", project.prompt("first words"), cwd=project.tree).code == 0
    assert project.files() == {"made": "agent\n"}


def test_on_a_terminal_it_is_shown_and_asked_first(project: Project) -> None:
    project.turn("first words", "echo agent > made")
    place, leaf = project.prompt("first words"), project.leaf()
    words = [sys.executable, "-m", "agentsh", "checkout", "last", place, "--files"]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])}

    for answer, files in ((ENTER, {"made": "agent\n"}), (f"y{ENTER}", {})):
        with pty_terminal(words, env=env, cwd=project.tree) as terminal:
            terminal.wait("[y/N]")
            assert "delete: made" in terminal.everything
            terminal.send(answer)
            assert terminal.ends() == 0
        assert project.files() == files
        assert (project.leaf() == leaf) == bool(files)


def test_with_a_summary_the_model_is_asked_for_what_was_left(project: Project) -> None:
    project.turn("first words", "echo agent > made")
    place = project.prompt("first words")
    with serve(text("## Goal\nto make a file")) as endpoint:
        ended = agentsh(
            *("checkout", "last", place, "herons", "--summarize"),
            *("--base-url", endpoint.base_url, "-m", "m"),
            cwd=project.tree,
        )
        (asked,) = endpoint.requests

    assert ended.code == 0, ended.err
    assert b"herons" in asked.raw
    assert "to make a file" in agentsh("show", "last", cwd=project.tree).out
    assert project.files() == {"made": "agent\n"}


def test_with_a_summary_and_files_both_go_and_nothing_goes_where_it_is_not_agreed(
    project: Project,
) -> None:
    project.turn("first words", "echo agent > made")
    place, leaf = project.prompt("first words"), project.leaf()
    project.put("made", "mine")
    with serve(text("## Goal\nto make a file")) as endpoint:
        words = (
            *("checkout", "last", place, "--summarize", "--files"),
            *("--base-url", endpoint.base_url, "-m", "m"),
        )
        shown = agentsh(*words, "--dry-run", cwd=project.tree)
        assert (shown.code, project.leaf(), endpoint.requests) == (0, leaf, [])
        went = agentsh(*words, "--overwrite", cwd=project.tree)

    assert went.code == 0, went.err
    assert project.files() == {}
