"""Three sessions of different make, written by the real commands: straight, grown, forked."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.cli.program import agentsh
from tests.support.crash import run
from tests.support.endpoint import Endpoint, calls, text

NAMES: Final = ("straight", "grown", "forked")


def write(name: str, folder: Path, endpoint: Endpoint) -> Path:
    """The file of that session."""
    one = calls(("call_1", "bash", {"command": "echo one"}))
    two = calls(
        ("call_2", "write", {"path": "new.txt", "content": "x"}),
        ("call_3", "read", {"path": "new.txt"}),
    )
    _well(run(endpoint, folder, [one, text("first answer")], "first question").code)
    _well(run(endpoint, folder, [two, text("second answer")], "-c", "second question").code)
    if name == "straight":
        return _last(folder)
    _well(run(endpoint, folder, [text("a branch")], "-c", "--at", "root", "elsewhere").code)
    _well(agentsh("label", "last", "leaf", "here", cwd=folder).code)
    _well(run(endpoint, folder, [text("more")], "-c", "third question " * 40).code)
    endpoint.script = [text("a short summary")]
    words = ("compact", "last", "--keep", "0", "--base-url", endpoint.base_url)
    _well(agentsh(*words, cwd=folder).code)
    _well(run(endpoint, folder, [text("after it")], "-c", "fourth question").code)
    if name == "grown":
        return _last(folder)
    assert name == "forked"
    parent = _last(folder)
    made = agentsh("fork", "last", "--json", cwd=folder)
    _well(made.code)
    value = made.json()
    assert isinstance(value, dict)
    child = Path(value["path"])
    assert child != parent
    there = [text("said there")]
    _well(run(endpoint, folder, there, "--session", str(child), "in the child").code)
    return child


def _well(code: int) -> None:
    assert code == 0


def _last(folder: Path) -> Path:
    return Path(agentsh("sessions", "path", "last", cwd=folder).out.strip())
