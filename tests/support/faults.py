"""The disk that fails at a barrier of a turn, gets better, and what became of the session.

`trouble(place, barrier, call, error, folder)` runs one cell: the turn in which the disk begins to
fail, the turn after it has got better, and the looks at the file. What must hold everywhere is
checked here; docs/reliability.md is made of the answers (tests/reliability.py).
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from msgspec import Struct

from agentsh.agent.agent import Agent
from agentsh.agent.events import AgentEvent, Notice, TurnEnd
from agentsh.agent.replay import check
from agentsh.session.file.disk import Disk
from agentsh.session.file.session import Session, open_session
from agentsh.session.health.verify import verify_file
from tests.agent.builders import make_agent, reopen, start_session
from tests.session.disks import around
from tests.support.crash_driver import END, REQUEST, RESULT, START
from tests.support.scripted import Call, ScriptedProvider

FIRST_TURN, LATER_TURN = PLACES = ("first turn", "later turn")
BARRIERS: Final = {
    "request": REQUEST,
    "tool start": START,
    "tool result": RESULT,
    "turn end": END,
}
CALLS: Final = ("write", "half a write", "sync")
ERRORS: Final = (errno.ENOSPC, errno.EIO, errno.EROFS)
PROMPT: Final = "the prompt in trouble"
LOST = "this session is no longer saved"
SAVED = "this session is saved again"


class TroubledDisk(Disk):
    """Sound until a batch with the words comes; then all writes, or all syncs, fail until `heal`.

    `call` "half a write" takes a part of the batch first, as a full disk does.
    """

    def __init__(self, words: bytes, call: str, error: int) -> None:
        self.words = words
        self.call = call
        self.error = error
        self.armed = False
        self.failing = False

    def heal(self) -> None:
        self.armed = self.failing = False

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.armed and self.words in bytes(data):
            self.armed, self.failing = False, True
            if self.call == "half a write":
                return super().write(fd, bytes(data)[: len(data) // 2])
        if self.failing and self.call != "sync":
            self._fail()
        return super().write(fd, data)

    def fdatasync(self, fd: int) -> None:
        if self.failing and self.call == "sync":
            self._fail()

    fsync = fdatasync

    def sync_folder(self, path: str) -> None:
        pass

    def _fail(self) -> None:
        raise OSError(self.error, os.strerror(self.error))


class Suffered(Struct, frozen=True):
    """What a cell showed."""

    told: bool
    """Before anything else of the turn it was said that the session is no longer saved."""
    asked: int
    """Requests that were sent in the turn in trouble."""
    ran: int
    """How often the command ran, in both turns."""
    prompts: int
    """How often the prompt stands in the file after it was typed a second time."""
    ended: str
    """How the turn in trouble ended."""


def trouble(place: str, barrier: str, call: str, error: int, folder: Path) -> Suffered:
    """One cell. Raises AssertionError where something that must hold everywhere does not."""
    disk = TroubledDisk(BARRIERS[barrier], call, error)
    provider = ScriptedProvider(*_script(place))
    session = start_session(folder, around(disk))
    agent = make_agent(session, provider, folder)
    if place == LATER_TURN:
        assert _end(list(agent.prompt("an earlier question"))).reason == "completed"
    asked_before = len(provider.requests)
    disk.armed = True

    events = list(agent.prompt(PROMPT))
    asked = len(provider.requests) - asked_before
    end = _end(events)
    notices = [e.text for e in events if isinstance(e, Notice)]
    told = bool(notices) and notices[0].startswith(LOST)
    assert notices.count(notices[0]) == 1, "said more than once"
    assert SAVED not in notices
    _sound_or_absent(session)

    disk.heal()
    again = list(agent.prompt(PROMPT))
    assert _end(again).reason == "completed"
    assert SAVED in [e.text for e in again if isinstance(e, Notice)]
    assert session.saved
    _same_as_shown(agent, session)
    effects = folder / "effects"
    path = session.path
    assert path is not None
    return Suffered(
        told,
        asked,
        effects.read_text().count("ran") if effects.exists() else 0,
        path.read_bytes().count(PROMPT.encode()),
        end.reason,
    )


def _script(place: str) -> list[str | tuple[Call, ...]]:
    turn: list[str | tuple[Call, ...]] = [
        (Call("call_1", "bash", {"command": "echo ran >> effects"}),),
        "done",
    ]
    return ["an earlier answer", *turn] if place == LATER_TURN else turn


def _end(events: list[AgentEvent]) -> TurnEnd:
    end = events[-1]
    assert isinstance(end, TurnEnd)
    return end


def _sound_or_absent(session: Session) -> None:
    """In the trouble: what is in the file is whole, and readable beside the writer."""
    assert session.path is not None
    if not session.path.exists():
        return
    report = verify_file(session.path)
    assert report.ok, report.problems
    assert session.path.read_bytes().endswith(b"\n")


def _same_as_shown(agent: Agent, session: Session) -> None:
    """No ghost and no loss: another process reads what this one shows; requests can be rebuilt."""
    assert session.path is not None
    shown = [(e.id, e.parent, e.body) for e in session.branch().entries]
    report = verify_file(session.path)
    assert report.ok, report.problems
    assert not report.warnings, report.warnings
    with open_session(session.path, write=False, around=around()) as other:
        assert [(e.id, e.parent, e.body) for e in other.branch().entries] == shown
        assert list(check(other)) == []
    agent.close()
    before = session.path.read_bytes()
    with reopen(session.path.parent) as opened:
        opened.begin()
        assert opened.saved
    assert session.path.read_bytes() == before
