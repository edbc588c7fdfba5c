"""Which context files are read, in which order, and what is not read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentsh.cli.contextfiles import MOST_BYTES, find_context_files
from agentsh.cli.places import Places, find_places


@pytest.fixture
def places(tmp_path: Path) -> Places:
    (tmp_path / "home").mkdir()
    return find_places({"AGENTSH_HOME": str(tmp_path / "home")})


def texts(cwd: Path, places: Places) -> list[str]:
    return [file.text for file in find_context_files(cwd, places)]


def test_from_the_users_folder_and_the_repositorys_root_down_to_the_folder(
    tmp_path: Path, places: Places
) -> None:
    root = tmp_path / "repo"
    cwd = root / "a/b"
    cwd.mkdir(parents=True)
    (root / ".git").mkdir()
    for folder, name in (
        (places.config, "AGENTS.md"),
        (tmp_path, "AGENTS.md"),
        (root, "CLAUDE.md"),
        (root / "a", "AGENTS.md"),
        (root / "a", "CLAUDE.md"),
        (cwd, "AGENTS.md"),
    ):
        (folder / name).write_text(f"{folder.name}/{name}")

    assert texts(cwd, places) == ["home/AGENTS.md", "repo/CLAUDE.md", "a/AGENTS.md", "b/AGENTS.md"]


def test_without_a_repository_only_the_folder_itself(tmp_path: Path, places: Places) -> None:
    cwd = tmp_path / "plain"
    cwd.mkdir()
    (tmp_path / "AGENTS.md").write_text("above")
    (cwd / "AGENTS.md").write_text("here")

    assert texts(cwd, places) == ["here"]


def test_one_file_by_two_names_is_read_once(tmp_path: Path, places: Places) -> None:
    (tmp_path / "AGENTS.md").write_text("once")
    (places.config / "AGENTS.md").symlink_to(tmp_path / "AGENTS.md")

    assert texts(tmp_path, places) == ["once"]


def test_a_projects_file_does_not_lead_to_the_readers_own(tmp_path: Path, places: Places) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key")
    root = tmp_path / "repo"
    cwd = root / "a"
    cwd.mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "AGENTS.md").symlink_to(secret)
    (root / "CLAUDE.md").write_text("of the root")
    (cwd / "AGENTS.md").symlink_to("../CLAUDE.md")
    (places.config / "AGENTS.md").symlink_to(secret)
    told: list[str] = []

    found = find_context_files(cwd, places, told.append)

    assert [file.text for file in found] == ["key", "of the root"]
    assert told == [f"{root / 'AGENTS.md'} leads out of the project: left out"]


def test_what_is_no_regular_file_is_passed_over_at_once(tmp_path: Path, places: Places) -> None:
    os.mkfifo(tmp_path / "AGENTS.md")
    (tmp_path / "CLAUDE.md").mkdir()

    assert texts(tmp_path, places) == []


def test_a_huge_file_is_cut_at_a_line_and_says_so(tmp_path: Path, places: Places) -> None:
    line = "0123456789\n"
    (tmp_path / "AGENTS.md").write_text(line * (MOST_BYTES // 5))

    [text] = texts(tmp_path, places)

    assert len(text) <= MOST_BYTES + 100
    assert text.endswith(f"0123456789\n(cut here: AGENTS.md has {11 * (MOST_BYTES // 5)} bytes)\n")
