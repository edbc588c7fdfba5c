"""Commands that look through many sessions name each file that they could not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Ended, agentsh, make_talk
from tests.support.plain_user import plain_user

COMMANDS = {
    "search": ("search", "kestrel"),
    "cost": ("cost",),
    "cost of all": ("cost", "--all", "--by", "month"),
}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTSH_HOME", str(tmp_path / "home"))


def closed(tmp_path: Path, file: Path, *words: str) -> Ended:
    """The command with that file closed; once before, so that nothing is left to be imported."""
    agentsh(*words, cwd=tmp_path)
    file.chmod(0)
    with plain_user(tmp_path):
        return agentsh(*words, cwd=tmp_path)


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("json", [(), ("--json",)], ids=["text", "json"])
def test_a_session_that_cannot_be_read_is_named_beside_what_was_found(
    tmp_path: Path, words: tuple[str, ...], json: tuple[str, ...]
) -> None:
    lost, kept = make_talk(tmp_path, "kestrel one"), make_talk(tmp_path, "kestrel two")

    ended = closed(tmp_path, lost.path, *words, *json)

    assert f"agentsh: {lost.path} cannot be read: Permission denied\n" in ended.err
    assert str(kept.path) not in ended.err
    assert ended.code == (0 if ended.out.strip() not in ("", "[]") and kept.id in ended.out else 1)


@pytest.mark.parametrize("words", [("search", "kestrel"), ("cost", "--all")], ids=" ".join)
def test_where_nothing_could_be_read_it_is_a_failure(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    lost = make_talk(tmp_path, "kestrel one")

    ended = closed(tmp_path, lost.path, *words)

    assert ended.code == 1
    assert f"{lost.path} cannot be read: Permission denied" in ended.err


def test_a_parent_that_cannot_be_read_is_not_called_gone(tmp_path: Path) -> None:
    parent = make_talk(tmp_path, "alpha")
    child = agentsh("fork", parent.id, cwd=tmp_path).out.strip()

    ended = closed(tmp_path, parent.path, "lineage", child)

    assert ended.code == 0
    assert ended.out == f"parent  (not readable) {parent.id} {parent.path}\n"
    assert f"{parent.path} cannot be read: Permission denied" in ended.err


def test_a_child_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    parent = make_talk(tmp_path, "alpha")
    child = agentsh("fork", parent.id, cwd=tmp_path).out.strip()
    file = Path(agentsh("sessions", "path", child, cwd=tmp_path).out.strip())

    ended = closed(tmp_path, file, "lineage", parent.id)

    assert (ended.code, ended.out) == (1, "")
    assert f"{file} cannot be read: Permission denied" in ended.err


@pytest.mark.parametrize("words", [("show",), ("lineage",), ("cost",), ("verify",)], ids=" ".join)
@pytest.mark.parametrize("what", ["", "sessions", "file"])
def test_a_session_that_is_not_found_is_not_called_absent_where_something_is_closed(
    tmp_path: Path, words: tuple[str, ...], what: str
) -> None:
    talk = make_talk(tmp_path, "alpha")
    place = talk.path if what == "file" else tmp_path / "home" / what

    ended = closed(tmp_path, place, *words, talk.id)

    assert ended.code == 3
    assert "cannot be read: Permission denied" in ended.err
