"""The clock of a command without a screen: shown after a silence, and gone before all else."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from agentsh.ui.text.waiting import Ticker
from tests.support.endpoint import Handler, serve, text
from tests.support.terminal import pty_terminal
from tests.ui.chat.test_repl import surroundings
from tests.ui.screens import FakeTty, printed, terminal


def test_a_silence_is_told_with_a_clock_and_leaves_nothing() -> None:
    target = terminal(columns=60)
    ticker = Ticker(target, silence=0.02)
    ticker.start(lambda: "waiting for heron-1 0 s")
    time.sleep(0.2)
    ticker.stop()
    said = printed(target)[1]
    assert said == "\rwaiting for heron-1 0 s (Ctrl-C stops)\x1b[K\r\x1b[K"
    time.sleep(0.1)
    assert printed(target)[1] == said


def test_what_comes_at_once_shows_no_clock() -> None:
    target = terminal()
    ticker = Ticker(target)
    for _ in range(3):
        ticker.start(lambda: "waiting")
    ticker.stop()
    ticker.stop()
    assert printed(target)[1] == ""


@pytest.mark.parametrize("what", [{"dumb": True}, {"stdout": io.StringIO()}])
def test_nothing_is_written_where_the_line_could_not_be_taken_back(what: dict[str, object]) -> None:
    target = replace(terminal(), stderr=(err := FakeTty()), **what)
    ticker = Ticker(target, silence=0.01)
    ticker.start(lambda: "waiting")
    time.sleep(0.05)
    ticker.stop()
    assert err.getvalue() == ""


def test_a_terminal_that_is_gone_is_no_error() -> None:
    class Gone(FakeTty):
        def write(self, _: str) -> int:
            raise OSError(5, "Input/output error")

    ticker = Ticker(replace(terminal(), stderr=Gone()), silence=0.01)
    ticker.start(lambda: "waiting")
    time.sleep(0.05)
    ticker.stop()


def test_run_at_a_terminal_shows_what_it_waits_for_and_takes_it_back(tmp_path: Path) -> None:
    def slow(handler: Handler) -> None:
        time.sleep(3.5)
        text("an answer")(handler)

    with serve(slow) as endpoint:
        env = {
            **surroundings(tmp_path),
            "AGENTSH_HOME": str(tmp_path / "home"),
            "OPENAI_BASE_URL": endpoint.base_url,
            "AGENTSH_MODEL": "heron-1",
        }
        argv = [sys.executable, "-m", "agentsh", "run", "hello"]
        with pty_terminal(argv, env=env, cwd=tmp_path) as terminal:
            terminal.wait("waiting for heron-1")
            assert terminal.ends() == 0
            assert "an answer" in terminal.screen
            assert "waiting for" not in terminal.screen
