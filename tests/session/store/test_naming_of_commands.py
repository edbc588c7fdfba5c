"""A command that is printed works as printed: quoted, and with the folder that it was told of."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.session.store.naming import command_hint, words_for_session
from tests.support.shellreading import WORDS, words_of_a_shell


def test_a_session_of_the_store_is_named_by_its_id(tmp_path: Path) -> None:
    words = words_for_session("s1", tmp_path / "x.jsonl", is_owned=True, session_dir=None)

    assert command_hint("sessions restore", words) == "agentsh sessions restore s1"


def test_the_folder_that_an_option_named_goes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = words_for_session("s1", tmp_path / "x.jsonl", is_owned=True, session_dir="a b")

    assert command_hint("checkout", words, "root", "--files") == (
        f"agentsh checkout s1 root --files --session-dir '{tmp_path}/a b'"
    )


def test_a_file_from_elsewhere_is_named_itself(tmp_path: Path) -> None:
    words = words_for_session("s1", tmp_path / "it's.jsonl", is_owned=False, session_dir="sd")

    assert words_of_a_shell(command_hint("resume", words)) == [
        "agentsh",
        "resume",
        str(tmp_path / "it's.jsonl"),
    ]


@given(st.lists(WORDS, min_size=1, max_size=4), WORDS)
def test_a_shell_reads_back_the_words_whatever_they_are(session: list[str], more: str) -> None:
    hint = command_hint("show", session, more)

    assert words_of_a_shell(hint) == ["agentsh", "show", session[0], more, *session[1:]]
