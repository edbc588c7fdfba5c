"""A folder above that is closed to us: what lies below cannot be looked at, and that is no crash.

One is in such a folder after `su`, or when somebody takes a right away meanwhile.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.program import agentsh, make_talk
from tests.support.plain_user import plain_user

UNREACHABLE = ("--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--max-retries", "0")
COMMANDS = {
    "sessions": (("sessions",), 0),
    "search": (("search", "x"), 0),
    "config": (("config",), 0),
    "cost": (("cost",), 0),
    "doctor": (("doctor", *UNREACHABLE), 2),
    "run": (("run", *UNREACHABLE, "hello"), 1),
    "why": (("why", "x"), 3),
}


@pytest.mark.parametrize(("words", "code"), COMMANDS.values(), ids=COMMANDS)
def test_a_command_in_a_folder_below_a_closed_one_ends_as_it_should(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int
) -> None:
    inside = tmp_path / "closed" / "inside"
    inside.mkdir(parents=True)
    monkeypatch.setenv("AGENTSH_HOME", str(tmp_path / "home"))
    make_talk(inside, "kestrel")
    agentsh(*words, cwd=inside)  # what is imported is imported by now
    monkeypatch.chdir(inside)

    with plain_user(tmp_path):
        (tmp_path / "closed").chmod(0)
        ended = agentsh(*words)

    (tmp_path / "closed").chmod(0o755)
    assert ended.code == code, ended.err
    assert "Traceback" not in ended.err


def test_a_link_into_a_closed_folder_hides_no_other_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTSH_HOME", str(tmp_path / "home"))
    talk = make_talk(tmp_path, "kestrel")
    closed = tmp_path / "closed"
    closed.mkdir()
    link = talk.path.with_name("2026-11-29T00-00-00-000Z_linked.jsonl")
    os.link(talk.path, closed / link.name)
    link.symlink_to(closed / link.name)
    agentsh("search", "kestrel", cwd=tmp_path)

    with plain_user(tmp_path):
        closed.chmod(0)
        ended = agentsh("search", "kestrel", cwd=tmp_path)

    assert (ended.code, talk.id in ended.out) == (0, True)
    assert f"{link} cannot be read: Permission denied" in ended.err
