"""The crash matrix: kill a turn at a point, go on in another process, and say what was found.

`crash(place, point, folder, …)` runs one cell: earlier turns by the real command, the turn that is
killed in a child of its own (crash_driver.py), the looks before, the next `run`, the looks after.
What must hold everywhere is checked here; what differs from point to point is in the `Found` that
comes back. docs/reliability.md is made of these (tests/reliability.py).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from agentsh.context.projection import project
from agentsh.jsontext import JsonObject
from agentsh.messages import AssistantMessage, Text, ToolResultMessage, UserMessage
from agentsh.session.file.session import open_session
from agentsh.session.format.entries import Custom, Entry, MessageBody
from agentsh.session.format.factcodec import decode_fact
from agentsh.session.format.facts import Repaired, RequestSent, ToolProcess, ToolStarted
from tests.cli.program import Ended, agentsh
from tests.support.endpoint import Endpoint, Reply, calls, text

PLACES: Final = ("first turn", "later turn", "on a branch")
POINTS: Final = (
    "after user",
    "after request",
    "mid-stream",
    "after assistant",
    "after tool start",
    "mid-tool",
    "after result",
    "before turn end",
    "mid-write",
)
PROMPT: Final = "the prompt that is cut off"
NEXT: Final = "go on"
HALF: Final = "the half that came"
_DRIVER = Path(__file__).with_name("crash_driver.py")
_PATIENCE = 30.0
_VIEWS = ("chat", "trace", "model", "raw")


class Found(Struct, frozen=True):
    """What a cell showed."""

    kept: tuple[str, ...]
    """What of the killed turn was in the file."""
    code: str
    """What the repair said of the call; "" where there was nothing to say."""
    text: str
    """The result that the model is given in its place."""
    repairs: int
    """`agentsh.repair` entries after the next run, and after the one after that."""


def crash(place: str, point: str, folder: Path, endpoint: Endpoint) -> Found:
    """One cell. Raises AssertionError where something that must hold everywhere does not."""
    earlier_turns(place, folder, endpoint)
    path = kill_turn(place, point, folder, endpoint)
    try:
        return _after(path, folder, endpoint)
    finally:
        _end_leftovers(path)


def run(endpoint: Endpoint, folder: Path, script: Sequence[Reply], *words: str) -> Ended:
    """The real `agentsh run`, against that script."""
    endpoint.requests.clear()
    endpoint.script = list(script)
    return agentsh("run", *words, "--base-url", endpoint.base_url, "--approve", "all", cwd=folder)


# ---- up to the kill ----------------------------------------------------------------------------


def earlier_turns(place: str, folder: Path, endpoint: Endpoint) -> None:
    """What stands in the file before the turn that is killed."""
    if place == "first turn":
        return
    assert run(endpoint, folder, [text("answer one")], "question one").code == 0
    assert run(endpoint, folder, [text("answer two")], "-c", "question two").code == 0
    if place == "on a branch":
        shown = agentsh("tree", "--json", cwd=folder).json()
        assert isinstance(shown, dict)
        there = next(e["id"] for e in shown["entries"] if e["text"] == "answer one")
        assert agentsh("checkout", "last", there, cwd=folder).code == 0


def kill_turn(place: str, point: str, folder: Path, endpoint: Endpoint) -> Path:
    """Run the turn in a child, kill it at the point; the session's file."""
    marker = folder / "marker"
    command = "echo ran >> effects"
    if point == "mid-tool":
        command += f"; printf '{HALF}'; sleep 0.6; echo mid-tool > {marker}; exec sleep 25"
    answer = calls(("call_1", "bash", {"command": command}))
    if point == "mid-stream":
        answer = text(HALF * 2)
    endpoint.requests.clear()
    endpoint.script = [answer, text("done")]
    which = "new" if place == "first turn" else "last"
    environ = {**os.environ, "OPENAI_BASE_URL": endpoint.base_url}
    child = subprocess.Popen(
        [sys.executable, str(_DRIVER), point, str(marker), which, PROMPT],
        cwd=folder,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        deadline = time.monotonic() + _PATIENCE
        while not marker.exists() and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        if not marker.exists():
            child.kill()
            out, _ = child.communicate()
            raise AssertionError(f"{point} was not reached: {out.decode(errors='replace')}")
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()
    assert child.returncode == -signal.SIGKILL
    marker.unlink()
    files = list(Path(os.environ["AGENTSH_HOME"]).rglob("*.jsonl"))
    assert len(files) == 1
    return files[0]


# ---- what is found ------------------------------------------------------------------------------


def _after(path: Path, folder: Path, endpoint: Endpoint) -> Found:
    left = path.read_bytes()
    with open_session(path, write=False) as session:
        kept = _kept(session.branch(repaired=False).entries)
        asked_before = [i.message for i in project(session.live(repaired=False)).items]
        previewed = [e.body for e in session.branch().entries]
    for view in _VIEWS:
        shown = agentsh("show", str(path), "--view", view, "--json", cwd=folder)
        assert shown.code == 0, shown.err
    model = _messages(agentsh("show", str(path), "--view", "model", "--json", cwd=folder))
    assert path.read_bytes() == left, "looking wrote something"

    went_on = run(endpoint, folder, [text("all is well")], "-c", NEXT)
    assert went_on.code == 0, went_on.err
    now = path.read_bytes()
    assert now.startswith(left), "old bytes were changed"
    sent = endpoint.requests[0].body["messages"]
    assert isinstance(sent, list)
    assert sent[:-1] == model, "what was shown is not what was sent"
    assert sent[-1] == {"role": "user", "content": NEXT}

    with open_session(path, write=False) as session:
        entries = session.branch().entries
        items = project(session.live()).items
    answers = [e for e in entries if e.stamp is not None and e.stamp.code is not None]
    # R53: what the model knew is what it knows, with the answers to open calls and the new turn
    added = {e.id for e in answers} | {e.id for e in entries[-_new_turn(entries) :]}
    assert [i.message for i in items if i.entry not in added] == asked_before
    # what readers showed is what the writer appended
    at = next(i for i, e in enumerate(entries) if isinstance(decoded(e), Repaired))
    shown_bodies = [b for b in previewed if b in [e.body for e in entries[: at + 1]]]
    assert len(shown_bodies) == len(previewed), "the repair that was shown is another one"

    repairs = _repairs(path)
    _second_open(path)
    assert run(endpoint, folder, [text("and again")], "-c", "once more").code == 0
    assert _repairs(path) == repairs, "a second repair"
    checked = agentsh("verify", str(path), "--json", cwd=folder)
    assert checked.code == 0, checked.out
    assert agentsh("replay", str(path), "--check", cwd=folder).code == 0
    effects = folder / "effects"
    assert not effects.exists() or effects.read_text() == "ran\n", "a tool ran twice"
    code, words = _said_of_the_call(answers)
    return Found(kept, code, words, repairs)


def _kept(entries: Sequence[Entry]) -> tuple[str, ...]:
    """The killed turn's entries, in words."""
    words: list[str] = []
    begun = False
    for entry in entries:
        match entry.body:
            case MessageBody(UserMessage(content)):
                begun = content == (Text(PROMPT),)
                words += ["prompt"] if begun else []
            case MessageBody(AssistantMessage() as message) if begun:
                words.append("call" if message.tool_calls else "answer")
            case MessageBody(ToolResultMessage()) if begun:
                words.append("result")
            case Custom() if begun and isinstance(decoded(entry), RequestSent):
                words.append("request")
            case Custom() if begun and isinstance(decoded(entry), ToolStarted):
                words.append("start")
            case _:
                pass
    return tuple(words)


def decoded(entry: Entry) -> object:
    return decode_fact(entry.body) if isinstance(entry.body, Custom) else None


def _new_turn(entries: Sequence[Entry]) -> int:
    """How many entries at the end the next run added behind the repair."""
    for number, entry in enumerate(reversed(entries)):
        if isinstance(decoded(entry), Repaired):
            return number
    raise AssertionError("no repair on the path")


def _messages(shown: Ended) -> list[JsonObject]:
    value = json.loads(shown.out)
    messages: list[JsonObject] = value["messages"]
    return messages


def _repairs(path: Path) -> int:
    return path.read_bytes().count(b'"customType":"agentsh.repair"')


def _second_open(path: Path) -> None:
    before = path.read_bytes()
    with open_session(path, write=True) as session:
        session.begin()
        assert session.saved, "something is left to repair"
    assert path.read_bytes() == before


def _said_of_the_call(answers: Sequence[Entry]) -> tuple[str, str]:
    assert len(answers) <= 1
    for entry in answers:
        assert entry.stamp is not None
        assert isinstance(entry.body, MessageBody)
        message = entry.body.message
        assert isinstance(message, ToolResultMessage)
        assert message.is_error
        words = "".join(block.text for block in message.content if isinstance(block, Text))
        return entry.stamp.code or "", words
    return "", ""


def _end_leftovers(path: Path) -> None:
    """The process group of a tool that outlived its agentsh."""
    with open_session(path, write=False) as session:
        facts = [decoded(entry) for entry in session.entries()]
    for fact in facts:
        if isinstance(fact, ToolProcess):
            with suppress(ProcessLookupError):
                os.killpg(fact.pgid, signal.SIGKILL)
