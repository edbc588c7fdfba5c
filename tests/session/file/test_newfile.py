"""A file is there whole under its name, or not at all; nothing is overwritten."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from agentsh.errors import RefusedError, SessionNotSavedError
from agentsh.session.file.disk import Disk
from agentsh.session.file.newfile import NewFile
from agentsh.session.format.entries import Header, ModelChange, SessionId
from agentsh.session.health.verify import verify_file

HEADER = Header(SessionId("s-1"), "2026-01-01T00:00:00.000Z", "/p")


class FullDisk(Disk):
    """Takes the header and no more."""

    def write(self, fd: int, data: bytes | memoryview) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class SlowDisk(Disk):
    """Takes a few bytes at a time."""

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return super().write(fd, data[:7])


def fill(file: NewFile, count: int = 1) -> None:
    for i in range(count):
        last = i == count - 1
        file.add(ModelChange("p", "m" * 100), parent=None, time=HEADER.timestamp, seal=last)


def test_nothing_is_there_before_it_is_published(tmp_path: Path) -> None:
    path = tmp_path / "new" / "s.jsonl"
    with NewFile(path, HEADER, disk=Disk(), copied_ids=set()) as file:
        fill(file)
        assert not path.exists()
        assert [p.suffix for p in path.parent.iterdir()] == [".new"]
        file.publish()

    assert [p.name for p in path.parent.iterdir()] == ["s.jsonl"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_is_not_published_leaves_nothing(tmp_path: Path) -> None:
    with NewFile(tmp_path / "s.jsonl", HEADER, disk=Disk(), copied_ids=set()) as file:
        fill(file)

    assert list(tmp_path.iterdir()) == []


def test_a_name_that_was_taken_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with NewFile(path, HEADER, disk=Disk(), copied_ids=set()) as file:
        fill(file)
        path.write_text("somebody was quicker")
        with pytest.raises(RefusedError):
            file.publish()

    assert path.read_text() == "somebody was quicker"
    assert len(list(tmp_path.iterdir())) == 1


def write(path: Path, disk: Disk, count: int) -> None:
    with NewFile(path, HEADER, disk=disk, copied_ids=set()) as file:
        fill(file, count)
        file.publish()


@pytest.mark.parametrize("count", [1, 20_000])  # at the end; in the middle of a large file
def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path, count: int) -> None:
    with pytest.raises(SessionNotSavedError, match="No space"):
        write(tmp_path / "s.jsonl", FullDisk(), count)

    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    with pytest.raises(SessionNotSavedError):
        NewFile(tmp_path / "file" / "s.jsonl", HEADER, disk=Disk(), copied_ids=set())


def test_a_disk_that_takes_parts_gets_all_of_it(tmp_path: Path) -> None:
    with NewFile(tmp_path / "s.jsonl", HEADER, disk=SlowDisk(), copied_ids=set()) as file:
        fill(file, 5)
        path = file.publish()

    report = verify_file(path)
    assert report.ok
    assert report.lines == 6
