"""A project whose explorations are over: what commands say of them, in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Ended, agentsh
from tests.support.endpoint import Endpoint, serve
from tests.support.exploring import PROMPT, environ, numbered, repository


class Explored:
    """A project in which two branches have written `answer.txt`."""

    def __init__(self, folder: Path, endpoint: Endpoint) -> None:
        self.folder = folder
        self.endpoint = endpoint

    def explore(self, *words: str) -> Ended:
        return agentsh("explore", *words, cwd=self.folder)

    def json(self, *words: str) -> Any:
        done = self.explore(*words, "--json")
        assert done.code == 0, done.err
        return done.json()

    def run(self, *words: str) -> Any:
        done = self.explore("--output", "json", *words)
        assert done.code == 0, done.err
        return done.json()

    def sessions(self) -> list[str]:
        """The ids of those of the folder."""
        listed: Any = agentsh("sessions", "--json", cwd=self.folder).json()
        return [row["id"] for row in listed]

    @property
    def answer(self) -> str | None:
        file = self.folder / "answer.txt"
        return file.read_text() if file.exists() else None

    def patch(self, *words: str) -> str:
        done = self.explore("diff", *words)
        assert done.code == 0, done.err
        return done.out


TWO = ("-n", "2", "-j", "1", "--check", "grep -q 2 answer.txt", PROMPT)
"""Two branches, one after the other; the second one passes."""


@contextmanager
def explored_in(parent: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Explored]:
    """A project below `parent`, the endpoint of its branches, and this process set up for both."""
    folder = repository(parent / "project")
    with serve(numbered()) as endpoint:
        for name, value in environ(folder, endpoint).items():
            monkeypatch.setenv(name, value)
        yield Explored(folder, endpoint)
