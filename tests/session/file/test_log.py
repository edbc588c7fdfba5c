"""The append-only file: private, whole batches or nothing, nobody else's bytes touched."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from agentsh.errors import SessionChangedError, SessionNotFoundError, SessionNotSavedError
from agentsh.session.file.disk import Disk
from agentsh.session.file.log import SessionLog
from tests.session.disks import CountingDisk, FaultyDisk


def _log(path: Path, disk: Disk, data: bytes = b"old\n") -> SessionLog:
    path.write_bytes(data)
    return SessionLog.open(path, disk=disk)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_file_and_folders_are_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "a" / "b" / "s.jsonl"
    before = os.umask(umask)
    try:
        SessionLog.create(path, disk=Disk()).commit(b"x\n", durable=True)
    finally:
        os.umask(before)

    modes = [p.stat().st_mode & 0o777 for p in (path, path.parent, path.parent.parent)]
    assert modes == [0o600, 0o700, 0o700]


def test_nothing_is_there_before_the_first_commit(tmp_path: Path) -> None:
    SessionLog.create(tmp_path / "a" / "s.jsonl", disk=Disk()).close()

    assert list(tmp_path.iterdir()) == []


def test_a_durable_commit_is_one_write_then_a_sync_and_a_new_name_is_synced(
    tmp_path: Path,
) -> None:
    disk = CountingDisk()
    log = SessionLog.create(tmp_path / "s.jsonl", disk=disk)
    log.commit(b"one\ntwo\n", durable=True)
    log.commit(b"three\n", durable=True)

    assert disk.order == ["write", "sync", "folder", "write", "sync"]


def test_a_new_log_never_takes_over_a_file(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    log = SessionLog.create(path, disk=Disk())
    path.write_bytes(b"somebody else's\n")

    with pytest.raises(SessionChangedError):
        log.commit(b"x\n", durable=True)
    assert path.read_bytes() == b"somebody else's\n"


@pytest.mark.parametrize("room", range(8))
def test_a_full_disk_leaves_the_file_as_it_was_and_saving_resumes(
    tmp_path: Path, room: int
) -> None:
    disk = FaultyDisk(room=room)
    log = _log(tmp_path / "s.jsonl", disk)

    with pytest.raises(SessionNotSavedError, match="No space"):
        log.commit(b"new line\n", durable=True)
    assert log.path.read_bytes() == b"old\n"

    disk.room = None
    log.commit(b"new line\n", durable=True)
    assert log.path.read_bytes() == b"old\nnew line\n"


def test_a_failed_sync_takes_back_all_since_the_last_durable_point(tmp_path: Path) -> None:
    disk = FaultyDisk()
    log = _log(tmp_path / "s.jsonl", disk)
    log.commit(b"written\n", durable=False)
    disk.broken = {"sync"}

    with pytest.raises(SessionNotSavedError):
        log.commit(b"more\n", durable=True)

    assert log.path.read_bytes() == b"old\n"
    assert log.size == 4


def test_a_partial_write_that_cannot_be_cut_off_is_cut_off_later(tmp_path: Path) -> None:
    disk = FaultyDisk(room=3, broken={"truncate"})
    log = _log(tmp_path / "s.jsonl", disk)
    with pytest.raises(SessionNotSavedError):
        log.commit(b"new line\n", durable=True)
    assert log.path.read_bytes() == b"old\nnew"

    with pytest.raises(SessionNotSavedError):
        log.commit(b"new line\n", durable=True)

    disk.room, disk.broken = None, set()
    log.commit(b"new line\n", durable=True)
    assert log.path.read_bytes() == b"old\nnew line\n"


@pytest.mark.parametrize("broken", ["sync", "write"])
def test_a_first_write_that_fails_leaves_no_empty_file(tmp_path: Path, broken: str) -> None:
    disk = FaultyDisk(broken={broken})
    log = SessionLog.create(tmp_path / "s.jsonl", disk=disk)
    with pytest.raises(SessionNotSavedError):
        log.commit(b"x\n", durable=True)
    assert list(tmp_path.iterdir()) == []

    disk.broken = set()
    log.commit(b"x\n", durable=True)
    assert log.path.read_bytes() == b"x\n"


class _InterruptedDisk(CountingDisk):
    """Ctrl-C arrives behind each write, as a signal handler lets it."""

    is_on = True

    def write(self, fd: int, data: bytes | memoryview) -> int:
        done = super().write(fd, data[:5] if self.is_on else data)
        if self.is_on:
            raise KeyboardInterrupt
        return done


def test_an_interrupt_in_a_write_leaves_nothing_half(tmp_path: Path) -> None:
    disk = _InterruptedDisk()
    log = _log(tmp_path / "s.jsonl", disk)
    with pytest.raises(KeyboardInterrupt):
        log.commit(b"new line\n", durable=True)
    assert log.path.read_bytes() == b"old\n"

    disk.is_on = False
    log.commit(b"new line\n", durable=True)
    assert log.path.read_bytes() == b"old\nnew line\n"


def test_foreign_bytes_are_never_written_over_or_cut_off(tmp_path: Path) -> None:
    log = _log(tmp_path / "s.jsonl", Disk())
    log.commit(b"mine\n", durable=True)
    with log.path.open("ab") as file:
        file.write(b"Pi's\n")

    for _ in range(2):
        with pytest.raises(SessionChangedError):
            log.commit(b"mine too\n", durable=True)
    assert log.path.read_bytes() == b"old\nmine\nPi's\n"


def test_a_file_that_was_removed_or_replaced_is_not_written(tmp_path: Path) -> None:
    log = _log(tmp_path / "s.jsonl", Disk())
    fresh = tmp_path / "other"
    fresh.write_bytes(b"old\n")
    fresh.replace(log.path)

    with pytest.raises(SessionChangedError):
        log.commit(b"x\n", durable=True)
    assert log.path.read_bytes() == b"old\n"


def test_a_read_only_place_says_so_at_the_first_commit(tmp_path: Path) -> None:
    disk = FaultyDisk(broken={"open"}, error=errno.EROFS)
    log = _log(tmp_path / "s.jsonl", disk)

    with pytest.raises(SessionNotSavedError, match="Read-only"):
        log.commit(b"x\n", durable=True)


def test_what_is_no_regular_file_is_not_found(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "nothing", tmp_path, tmp_path / "fifo"):
        with pytest.raises(SessionNotFoundError):
            SessionLog.open(path, disk=Disk())


@pytest.mark.parametrize("kept", ["a copy", "nothing"])
def test_nothing_is_written_to_a_file_that_lost_its_name_to_an_editors_backup(
    tmp_path: Path, kept: str
) -> None:
    log = SessionLog.create(tmp_path / "s.jsonl", disk=Disk())
    log.commit(b"one\n", durable=True)
    backup = log.path.rename(tmp_path / "s.jsonl~")
    if kept == "a copy":
        shutil.copy(backup, log.path)

    with pytest.raises(SessionChangedError, match="replaced"):
        log.commit(b"two\n", durable=True)

    assert backup.read_bytes() == b"one\n"
