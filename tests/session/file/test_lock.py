"""One writer a session, for as long as it lives and no longer."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentsh.errors import SessionLockedError
from agentsh.files import boot_id
from agentsh.session.file.disk import Disk
from agentsh.session.file.lock import acquire, live_holder, lock_path
from tests.session.disks import FaultyDisk

_HOLDER = """
import sys
from agentsh.session.file.disk import Disk
from agentsh.session.file.lock import acquire
lock = acquire(sys.argv[1], disk=Disk(), now="t")
print("held", flush=True)
sys.stdin.read()
"""


def _session(tmp_path: Path) -> str:
    return str(tmp_path / "s.jsonl")


def test_a_second_writer_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    lock = acquire(_session(tmp_path), disk=Disk(), now="t")

    with pytest.raises(SessionLockedError, match=str(os.getpid())) as caught:
        acquire(_session(tmp_path), disk=Disk(), now="t")
    assert str(os.getpid()) in caught.value.holder

    lock.release()
    acquire(_session(tmp_path), disk=Disk(), now="t").release()


def test_the_file_says_who_where_and_since_when_and_is_private(tmp_path: Path) -> None:
    lock = acquire(_session(tmp_path), disk=Disk(), now="2026-01-01T00:00:00.000Z")
    path = Path(lock_path(_session(tmp_path)))

    found = json.loads(path.read_bytes())
    assert (found["pid"], found["host"]) == (os.getpid(), os.uname().nodename)
    assert (set(found), path.stat().st_mode & 0o777) == ({"pid", "host", "boot", "time"}, 0o600)

    lock.release()
    assert not path.exists()


def test_the_lock_of_a_killed_process_is_free_at_once(tmp_path: Path) -> None:
    session = _session(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, session],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        holder = live_holder(session)
        assert holder is not None
        assert holder.pid == child.pid
        with pytest.raises(SessionLockedError, match=str(child.pid)):
            acquire(session, disk=Disk(), now="t")
        child.send_signal(signal.SIGKILL)
        child.wait()

    assert live_holder(session) is None
    acquire(session, disk=Disk(), now="t").release()


def test_a_lock_file_that_was_left_or_holds_nonsense_is_taken_over(tmp_path: Path) -> None:
    Path(lock_path(_session(tmp_path))).write_text("not json")

    assert live_holder(_session(tmp_path)) is None
    acquire(_session(tmp_path), disk=Disk(), now="t").release()


@pytest.mark.parametrize("error", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("call", ["lock", "open"])
def test_where_locks_do_not_work_one_is_told_and_goes_on(
    tmp_path: Path, error: int, call: str
) -> None:
    disk = FaultyDisk(broken={call}, error=error)

    lock = acquire(_session(tmp_path), disk=disk, now="t")

    assert lock.notice is not None
    assert lock.notice.kind == "lock"
    lock.release()


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_lock_file_is_left_alone_and_waited_for_by_nobody(
    tmp_path: Path, kind: str
) -> None:
    place, theirs = Path(lock_path(_session(tmp_path))), tmp_path / "bashrc"
    theirs.write_text("mine")
    match kind:
        case "link":
            place.symlink_to(theirs)
        case "pipe":
            os.mkfifo(place)
        case "folder":
            place.mkdir()

    lock = acquire(_session(tmp_path), disk=Disk(), now="t")
    assert lock.notice is not None
    assert str(place) in lock.notice.text
    lock.release()

    assert live_holder(_session(tmp_path)) is None
    assert (os.path.lexists(place), theirs.read_text()) == (True, "mine")


@pytest.mark.parametrize("pid", [10**30, -1, 0, True, "1", None])
def test_a_lock_of_a_process_that_cannot_be_is_free(tmp_path: Path, pid: object) -> None:
    row = {"pid": pid, "host": os.uname().nodename, "boot": boot_id(), "time": "t"}
    Path(lock_path(_session(tmp_path))).write_text(json.dumps(row))

    assert live_holder(_session(tmp_path)) is None
    acquire(_session(tmp_path), disk=Disk(), now="t").release()
