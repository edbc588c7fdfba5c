"""Whole runs in a project: a scripted endpoint answers, the commands run in this process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import Struct

from agentsh.jsontext import JsonObject
from tests.cli.program import Ended, agentsh
from tests.support.endpoint import Endpoint, calls, serve, text


class Project(Struct):
    """A folder that runs happen in, and where agentsh keeps its things."""

    tree: Path
    home: Path
    monkeypatch: pytest.MonkeyPatch

    def settings(self, toml: str) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "config.toml").write_text(toml)

    def put(self, name: str, content: str) -> Path:
        place = self.tree / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
        return place

    def files(self) -> dict[str, str]:
        places = (p for p in self.tree.rglob("*") if p.is_file())
        return {str(p.relative_to(self.tree)): p.read_text() for p in places}

    @contextmanager
    def answering(self, *steps: tuple[tuple[str, str, JsonObject], ...]) -> Iterator[Endpoint]:
        """An endpoint that asks for these calls, step by step, and then says "done"."""
        with serve(*(calls(*step) for step in steps), text("done")) as endpoint:
            self.monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
            yield endpoint

    def run(self, *words: str) -> Ended:
        return agentsh("run", "-m", "m", *words, cwd=self.tree)

    def turn(self, prompt: str, *commands: str, more: tuple[str, ...] = ()) -> Ended:
        """A turn that runs these commands with bash, one a step."""
        steps: list[tuple[tuple[str, str, JsonObject], ...]] = [
            ((f"c{i}", "bash", {"command": c}),) for i, c in enumerate(commands)
        ]
        with self.answering(*steps):
            return self.run("--approve", "all", *more, prompt)

    def prompt(self, words: str) -> str:
        """The entry of a prompt of the last session."""
        found = agentsh("show", "last", "--view", "raw", "--json", cwd=self.tree).json()
        assert isinstance(found, dict)
        for entry in found["entries"]:
            message = entry.get("message", {})
            if message.get("role") == "user" and words in json.dumps(message["content"]):
                return str(entry["id"])
        raise LookupError(words)

    def leaf(self) -> str:
        found = agentsh("tree", "last", "--json", cwd=self.tree).json()
        assert isinstance(found, dict)
        return str(found["leaf"])


def results(endpoint: Endpoint) -> list[str]:
    """What the tools said, as the model was told with the last request."""
    messages = endpoint.requests[-1].body["messages"]
    assert isinstance(messages, list)
    return [str(m["content"]) for m in messages if isinstance(m, dict) and m["role"] == "tool"]
