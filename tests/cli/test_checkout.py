from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.cli.commands import agentsh
from tests.cli.working import Project
from tests.support.terminal import ENTER, pty_terminal


def test_checkout_files_takes_back_what_commands_did(project: Project) -> None:
    project.put("kept", "mine")
    project.turn("first words", "echo agent > made; rm kept")

    ended = agentsh("checkout", "last", project.prompt("first words"), "--files", cwd=project.tree)

    assert ended.code == 0
    assert project.files() == {"kept": "mine"}
    assert "deleted: made" in ended.err
    assert "created again: kept" in ended.err


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
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}

    for answer, files in ((ENTER, {"made": "agent\n"}), (f"y{ENTER}", {})):
        with pty_terminal(words, env=env, cwd=project.tree) as terminal:
            terminal.wait("[y/N]")
            assert "delete: made" in terminal.everything
            terminal.send(answer)
            assert terminal.ends() == 0
        assert project.files() == files
        assert (project.leaf() == leaf) == bool(files)
