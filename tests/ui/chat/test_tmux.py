"""The chat in tmux, which reflows and keeps a history: nothing doubled, nothing lost."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux here"),
]


def until(claim: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < end
        time.sleep(0.1)


class Tmux:
    """A server of its own with one window that runs the chat with a script."""

    def __init__(self, folder: Path, script: str, columns: int, rows: int) -> None:
        self._folder = folder
        run = f"cd {folder}; PYTHONPATH={ROOT} {sys.executable} -m tests.ui.driver {script}"
        self("new-session", "-d", "-x", str(columns), "-y", str(rows), f"{run}; sleep 60")
        until(lambda: "/help" in self.history() and "›" in self.history())
        time.sleep(0.5)

    def __call__(self, *args: str) -> str:
        return subprocess.run(
            ["tmux", "-S", str(self._folder / "tmux"), "-f", "/dev/null", *args],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
            cwd=self._folder,
        ).stdout

    def history(self) -> str:
        return self("capture-pane", "-p", "-J", "-S", "-5000")

    def say(self, text: str) -> None:
        self("send-keys", "-l", text)
        self("send-keys", "Enter")

    def resize(self, columns: int, rows: int) -> None:
        self("resize-window", "-x", str(columns), "-y", str(rows))


@contextmanager
def chatting(folder: Path, script: str, columns: int, rows: int) -> Iterator[Tmux]:
    tmux = Tmux(folder, script, columns, rows)
    try:
        yield tmux
    finally:
        tmux("kill-server")


def counts(text: str, most: int, times: int = 1) -> dict[int, int]:
    """Of the marked lines, those that do not stand there exactly so often."""
    found = {n: text.count(f"K{n:03d}z") for n in range(1, most + 1)}
    return {n: count for n, count in found.items() if count != times}


def test_every_line_once_after_streaming_and_changes_of_size(tmp_path: Path) -> None:
    with chatting(tmp_path, "long", 80, 24) as tmux:
        tmux.say("go")
        until(lambda: "K020z" in tmux.history())
        tmux.resize(100, 30)
        until(lambda: "Over." in tmux.history(), 40)
        for columns, rows in ((60, 24), (100, 30), (80, 15), (80, 24)):
            tmux.resize(columns, rows)
            time.sleep(0.5)
        assert counts(tmux.history(), 180) == {}


@pytest.mark.parametrize("sizes", [((60, 25), (110, 32)), ((80, 28), (60, 30)), ((60, 30),)])
def test_lines_that_are_still_changing_leave_nothing_behind_in_a_narrower_window(
    tmp_path: Path, sizes: tuple[tuple[int, int], ...]
) -> None:
    with chatting(tmp_path, "wide", 100, 30) as tmux:
        tmux.say("go")  # fills the window: what tmux wraps into its history nobody can take back
        until(lambda: "Over." in tmux.history(), 40)
        time.sleep(0.5)
        tmux.say("again")
        until(lambda: tmux.history().count("K012z") == 2)
        for columns, rows in sizes:
            tmux.resize(columns, rows)
            time.sleep(0.8)
        until(lambda: tmux.history().count("Over.") == 2, 40)
        time.sleep(0.5)
        assert counts(tmux.history(), 40, times=2) == {}


def test_thoughts_fill_half_of_the_window_and_leave_one_line(tmp_path: Path) -> None:
    with chatting(tmp_path, "ponder", 80, 24) as tmux:
        tmux.say("go")
        until(lambda: tmux.history().count("goes on and on") >= 7)
        assert "thinking…" in tmux.history()
        until(lambda: "Over." in tmux.history(), 40)
        time.sleep(0.5)
        assert counts(tmux.history(), 80, times=0) == {}
        assert "Ctrl-T shows them" in tmux.history()
