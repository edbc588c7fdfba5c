"""`agentsh resume` and a bare chat where there is no terminal to type at."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import agentsh, make_talk
from tests.support.endpoint import serve, text


def started(cwd: Path, *words: str, said: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agentsh", *words],
        cwd=cwd,
        env=dict(os.environ),
        input=said,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("words", "what", "instead"),
    [
        (["resume"], "resume", "`agentsh run -c PROMPT`"),
        (["resume", "last"], "resume", "`agentsh run --session last PROMPT`"),
        ([], "a chat", "`agentsh run PROMPT`"),
        (["-c"], "a chat", "`agentsh run -c PROMPT`"),
    ],
)
@pytest.mark.parametrize("said", ["", " \n"])
def test_u21_what_needs_a_terminal_says_so_and_names_what_does_not(
    tmp_path: Path, clean_environment: Path, words: list[str], what: str, instead: str, said: str
) -> None:
    make_talk(tmp_path, "one")
    options = ("-m", "m", "--base-url", "http://127.0.0.1:9/v1")
    ended = started(tmp_path, *words, *options, said=said)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"{what} needs a terminal" in ended.stderr
    assert instead in ended.stderr


def test_u21_a_prompt_on_standard_input_needs_no_terminal(
    tmp_path: Path, clean_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_talk(tmp_path, "one")
    with serve(text("well")) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        ended = started(tmp_path, "resume", "-m", "m", said="go on")

    assert (ended.returncode, ended.stdout) == (0, "well\n")


def test_the_help_says_that_without_a_session_one_is_picked() -> None:
    told = agentsh("resume", "--help").out

    assert "without it, pick one" in told
    assert "(the default)" not in told.partition("Options:")[0]
