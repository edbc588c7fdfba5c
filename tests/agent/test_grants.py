"""What a person agreed to is kept outside of the session, by session and folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.agent.grants import Grants, grants_file, hand_on


def test_what_was_added_is_there_for_the_next_process_in_that_folder_only(tmp_path: Path) -> None:
    file = grants_file(tmp_path, "s1")
    Grants(file, "/p").add("git status")
    Grants(file, "/p").add("= make all")

    again = Grants(file, "/p")
    assert "git status" in again
    assert "= make all" in again
    assert "git" not in again
    assert "git status" not in Grants(file, "/other")
    assert "git status" not in Grants(grants_file(tmp_path, "s2"), "/p")
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("id_", ["../../x", "/etc/passwd", "a\0b", "\ud800", "", "x" * 5000])
def test_an_id_from_a_file_becomes_no_path(id_: str, tmp_path: Path) -> None:
    file = grants_file(tmp_path, id_)

    Grants(file, "/p").add("ls")
    assert file.resolve().is_relative_to(tmp_path)
    assert "ls" in Grants(file, "/p")


def test_a_fork_made_here_goes_on_with_what_its_parent_has(tmp_path: Path) -> None:
    Grants(grants_file(tmp_path, "parent"), "/p").add("ls")
    hand_on(tmp_path, "parent", "child")
    hand_on(tmp_path, "nobody", "other")

    assert "ls" in Grants(grants_file(tmp_path, "child"), "/p")
    assert not grants_file(tmp_path, "other").exists()


@pytest.mark.parametrize("data", [b"\0\0\0", b'{"folder":"/p"', b"[1]\n3\n"])
def test_a_damaged_file_grants_nothing(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "grants"
    file.write_bytes(data)

    assert "ls" not in Grants(file, "/p")
    assert (Grants(file, "/p").trouble is None) == (data == b"[1]\n3\n")


def test_a_link_in_its_place_is_not_followed_and_told(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text('{"folder":"/p","rule":"ls"}\n')
    (tmp_path / "grants").symlink_to(tmp_path / "elsewhere")

    grants = Grants(tmp_path / "grants", "/p")
    assert "ls" not in grants
    assert "cannot be read" in (grants.trouble or "")
