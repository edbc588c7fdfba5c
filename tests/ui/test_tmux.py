"""The chat in tmux, which reflows and keeps a history: nothing doubled, nothing lost."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux here"),
]


def until(claim: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_every_line_once_after_streaming_and_changes_of_size(tmp_path: Path) -> None:
    socket = str(tmp_path / "tmux")

    def tmux(*args: str) -> str:
        return subprocess.run(
            ["tmux", "-S", socket, "-f", "/dev/null", *args],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
            cwd=tmp_path,
        ).stdout

    def history() -> str:
        return tmux("capture-pane", "-p", "-S", "-5000")

    run = f"cd {tmp_path}; PYTHONPATH={ROOT} {sys.executable} -m tests.ui.driver long; sleep 60"
    try:
        tmux("new-session", "-d", "-x", "80", "-y", "24", run)
        until(lambda: "/help" in history() and "›" in history())
        time.sleep(0.5)
        tmux("send-keys", "-l", "go")
        tmux("send-keys", "Enter")
        until(lambda: "K020z" in history())
        tmux("resize-window", "-x", "100", "-y", "30")
        until(lambda: "Over." in history(), 40)
        for columns, rows in ((60, 24), (100, 30), (80, 15), (80, 24)):
            tmux("resize-window", "-x", str(columns), "-y", str(rows))
            time.sleep(0.5)
        text = history()
    finally:
        tmux("kill-server")

    counts = {n: text.count(f"K{n:03d}z") for n in range(1, 181)}
    assert {n: c for n, c in counts.items() if c != 1} == {}
