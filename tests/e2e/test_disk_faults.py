"""A disk that is full, faulty or read-only, at every barrier of whole turns (R48, S07)."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from agentsh.agent.events import Notice, TurnEnd
from agentsh.errors import SessionNotSavedError
from agentsh.session.file.session import open_session
from agentsh.session.health.verify import verify_file
from tests.agent.builders import make_agent, start_session
from tests.reliability import documented, fault_row
from tests.session.disks import around
from tests.support.faults import (
    BARRIERS,
    CALLS,
    ERRORS,
    LOST,
    PLACES,
    PROMPT,
    SAVED,
    Suffered,
    TroubledDisk,
    trouble,
)
from tests.support.scripted import Call, ScriptedProvider

EXPECTED = {
    # nothing was sent: the prompt is still the person's, and stands once
    "request": Suffered(told=True, asked=0, ran=1, prompts=1, ended="error"),
    # the call was never started, in this turn and the next: the model is told so
    "tool start": Suffered(told=True, asked=1, ran=0, prompts=2, ended="error"),
    # it ran, once; its result is kept until it can be written
    "tool result": Suffered(told=True, asked=1, ran=1, prompts=2, ended="error"),
    "turn end": Suffered(told=True, asked=2, ran=1, prompts=2, ended="error"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("error", ERRORS, ids=lambda e: errno.errorcode[e])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("barrier", BARRIERS)
def test_r48_a_disk_that_fails_costs_no_entry_and_leaves_no_ghost(
    place: str, error: int, call: str, barrier: str, tmp_path: Path
) -> None:
    suffered = trouble(place, barrier, call, error, tmp_path)

    assert suffered == EXPECTED[barrier]
    assert fault_row(barrier, suffered) == documented(barrier)


@pytest.mark.parametrize("barrier", BARRIERS)
def test_a_process_that_ends_while_the_disk_fails_leaves_a_sound_file(
    barrier: str, tmp_path: Path
) -> None:
    disk = TroubledDisk(BARRIERS[barrier], "write", errno.ENOSPC)
    session = start_session(tmp_path, around(disk))
    call = (Call("call_1", "bash", {"command": "echo ran >> effects"}),)
    agent = make_agent(session, ScriptedProvider("fine", call, "done"), tmp_path)
    list(agent.prompt("an earlier question"))
    disk.armed = True
    list(agent.prompt(PROMPT))
    assert session.path is not None
    before = session.path.read_bytes()

    if barrier == "request":
        agent.close()  # the turn was taken back: nothing waits
    else:
        with pytest.raises(SessionNotSavedError):
            agent.close()

    assert session.path.read_bytes() == before
    assert verify_file(session.path).ok
    disk.heal()
    with open_session(session.path, write=True, around=around(disk)) as again:
        again.begin()  # what is open is closed as after any crash
        again.barrier()
    assert verify_file(session.path).ok


def test_the_withdrawn_prompt_is_no_ghost_for_the_model(tmp_path: Path) -> None:
    disk = TroubledDisk(BARRIERS["request"], "write", errno.ENOSPC)
    provider = ScriptedProvider("first", "second")
    agent = make_agent(start_session(tmp_path, around(disk)), provider, tmp_path)
    list(agent.prompt("said"))
    leaf = agent.session.leaf
    disk.armed = True
    list(agent.prompt("taken back"))

    assert agent.session.leaf == leaf
    assert agent.session.saved
    disk.heal()
    list(agent.prompt("said instead"))

    assert b"taken back" not in provider.bodies[-1]
    assert b"said instead" in provider.bodies[-1]
    assert b"taken back" not in (tmp_path / "session.jsonl").read_bytes()


def test_a_first_prompt_that_cannot_be_saved_leaves_no_file_at_all(tmp_path: Path) -> None:
    disk = TroubledDisk(BARRIERS["request"], "half a write", errno.ENOSPC)
    agent = make_agent(start_session(tmp_path, around(disk)), ScriptedProvider("x"), tmp_path)
    disk.armed = True
    list(agent.prompt("lost"))
    agent.close()

    assert [p.name for p in tmp_path.iterdir() if p.name.endswith(".jsonl")] == []


def test_trouble_that_goes_on_is_told_once_and_its_end_once(tmp_path: Path) -> None:
    disk = TroubledDisk(BARRIERS["request"], "write", errno.EIO)
    agent = make_agent(start_session(tmp_path, around(disk)), ScriptedProvider("x"), tmp_path)
    disk.armed = True
    told: list[str] = []
    ends: list[str] = []
    for number in range(4):
        if number == 3:
            disk.heal()
        for event in agent.prompt(f"try {number}"):
            if isinstance(event, Notice):
                told.append(event.text)
            if isinstance(event, TurnEnd):
                ends.append(event.reason)

    assert [t.startswith(LOST) for t in told] == [True, False]
    assert told[1] == SAVED
    assert ends == ["error", "error", "error", "completed"]
    text = (tmp_path / "session.jsonl").read_text()
    assert ["try 0" in text, "try 1" in text, "try 2" in text, "try 3" in text] == [
        *(False, False, False, True)
    ]


def test_a_foreign_line_before_a_prompt_takes_the_prompt_back_and_stops_writing(
    tmp_path: Path,
) -> None:
    provider = ScriptedProvider("first", "second")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    list(agent.prompt("said"))
    path = tmp_path / "session.jsonl"
    with path.open("ab") as file:
        file.write(b'{"type":"custom","id":"f0f0f0f0","parentId":null,"timestamp":""}\n')
    before = path.read_bytes()

    end = list(agent.prompt("not any more"))[-1]

    assert isinstance(end, TurnEnd)
    assert end.reason == "error"
    assert "another program wrote" in (end.error or "")
    assert len(provider.requests) == 1
    agent.close()
    assert path.read_bytes() == before


def _mounted(folder: Path, size: str = "96k") -> bool:
    options = ["-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    return subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 1024)


@pytest.mark.slow
def test_s07_a_real_full_disk(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    if os.geteuid() != 0 or not _mounted(folder):
        pytest.skip("no file system can be mounted here")
    try:
        filler = folder / "filler"
        agent = make_agent(start_session(folder), ScriptedProvider("x"), tmp_path)
        assert [e for e in agent.prompt("fits") if isinstance(e, Notice)] == []
        with pytest.raises(OSError, match="No space"):
            _fill(filler)
        # the file's last page may have room still: a prompt that is larger than that
        events = list(agent.prompt("too much " * 2000))
        told = [e.text for e in events if isinstance(e, Notice)]
        assert "No space left on device" in told[0]
        assert isinstance(events[-1], TurnEnd)
        assert events[-1].reason == "error"
        assert verify_file(folder / "session.jsonl").ok
        filler.unlink()
        events = list(agent.prompt("fits again"))
        assert SAVED in [e.text for e in events if isinstance(e, Notice)]
        agent.close()
        assert verify_file(folder / "session.jsonl").ok
        assert b"too much" not in (folder / "session.jsonl").read_bytes()
    finally:
        subprocess.run(["umount", str(folder)], check=False)


def test_s06b_a_home_that_cannot_be_written_is_said_and_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.cli.program import agentsh
    from tests.support.endpoint import serve, text

    blocker = tmp_path / "a file"
    blocker.write_text("not a folder")
    monkeypatch.setenv("AGENTSH_SESSION_DIR", str(blocker / "sessions"))
    with serve(text("hello")) as endpoint:
        ended = agentsh("run", "hello", "--base-url", endpoint.base_url, cwd=tmp_path)

    assert ended.code == 1
    assert LOST in ended.err
    assert "Traceback" not in ended.err
    assert endpoint.requests == []


@pytest.mark.slow
def test_s06b_on_a_read_only_disk_one_can_look_and_is_told_that_nothing_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.cli.program import agentsh
    from tests.support.crash import run
    from tests.support.endpoint import serve, text

    home = tmp_path / "home"
    home.mkdir()
    if os.geteuid() != 0 or not _mounted(home, "4m"):
        pytest.skip("no file system can be mounted here")
    monkeypatch.setenv("AGENTSH_HOME", str(home))
    try:
        with serve(text("hello")) as endpoint:
            assert run(endpoint, tmp_path, [text("hello")], "first").code == 0
            subprocess.run(["mount", "-o", "remount,ro", str(home)], check=True)
            for look in (("sessions",), ("show", "last"), ("tree", "--plain"), ("verify", "last")):
                looked = agentsh(*look, cwd=tmp_path)
                assert (looked.code, "hello" in looked.out or look[0] != "show") == (0, True)
            for words in (("new",), ("-c", "go on")):
                ended = run(endpoint, tmp_path, [text("never")], *words)
                assert ended.code == 1, ended.err
                assert LOST in ended.err
                assert "Read-only file system" in ended.err
                assert endpoint.requests == []
            assert "nothing keeps a second program from writing" in ended.err
    finally:
        subprocess.run(["umount", str(home)], check=False)
