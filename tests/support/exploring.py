"""`agentsh explore` with real processes: a project, an endpoint that answers, a run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from agentsh.explore.workspace.view import find_view
from agentsh.programs import OWN_PROGRAM
from tests.support.endpoint import Endpoint, Handler, Reply, calls, text

PROMPT = "Write a colour into answer.txt."
REAL = [
    pytest.mark.slow,
    pytest.mark.skipif(find_view(os.environ, Path("/")) is None, reason="no bubblewrap that works"),
]
"""What tests with real branches are marked with."""


def repository(folder: Path) -> Path:
    """A repository with one file and one commit."""
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "base")
    return folder


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@localhost"]
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode()


def numbered() -> Reply:
    """Each branch writes its own number, by the order in which they ask first."""
    begun: list[int] = []

    def reply(handler: Handler) -> None:
        body = json.loads(handler.received.raw)
        if body["messages"][-1]["role"] == "tool":
            text("done")(handler)
            return
        begun.append(1)
        content = f"colour {len(begun)}\n"
        calls(("c1", "write", {"path": "answer.txt", "content": content}))(handler)

    return reply


class AtOnce:
    """Answers after a while, and counts how many asked at once."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self._lock = threading.Lock()

    def reply(self, handler: Handler) -> None:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.3)
        with self._lock:
            self.now -= 1
        text("done")(handler)


def run(
    project: Path, endpoint: Endpoint, *words: str, home: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """`agentsh explore` with those words, to its end."""
    return agentsh(project, endpoint, "explore", *words, home=home)


def agentsh(
    project: Path, endpoint: Endpoint, *words: str, home: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    own = {} if home is None else {"AGENTSH_HOME": str(home)}
    return subprocess.run(
        [*OWN_PROGRAM, *words],
        cwd=project,
        env={**environ(project, endpoint), **own},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )


def begin(project: Path, endpoint: Endpoint, *words: str) -> subprocess.Popen[bytes]:
    """The same, and not waited for."""
    return subprocess.Popen(
        [sys.executable, "-m", "agentsh", "explore", *words],
        cwd=project,
        env=environ(project, endpoint),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def environ(project: Path, endpoint: Endpoint) -> dict[str, str]:
    return {
        **os.environ,
        "AGENTSH_HOME": str(project.parent / "home"),
        "OPENAI_BASE_URL": endpoint.base_url,
        "OPENAI_API_KEY": "sk-secret",
        "AGENTSH_MODEL": "m",
    }
