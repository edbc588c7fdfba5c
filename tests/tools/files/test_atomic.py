"""A file is replaced whole or not at all, whatever goes wrong, and stays whose it was."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from agentsh.errors import ToolFailedError
from agentsh.tools.files.atomic import write_atomic


def write(target: Path, data: bytes = b"new") -> None:
    write_atomic(target, data, "x", cwd=target.parent)


def test_a_full_disk_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "x"
    target.write_bytes(b"old")

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(ToolFailedError, match="No space left"):
        write(target)

    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"x": b"old"}


def test_a_file_that_changed_since_it_was_read_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.write_bytes(b"old")
    before = target.stat()
    target.write_bytes(b"somebody's")

    with pytest.raises(ToolFailedError, match="changed by somebody else"):
        write_atomic(target, b"new", "x", cwd=tmp_path, unchanged=before)

    assert target.read_bytes() == b"somebody's"


@pytest.mark.parametrize("name", ["link", "file"])
def test_a_folder_on_the_way_that_is_none_any_more_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(ToolFailedError, match="a folder of it is a file or a link; nothing was wr"):
        write_atomic(tmp_path / name / "x", b"new", "x", cwd=tmp_path)

    assert list((tmp_path / "real").iterdir()) == []


@pytest.mark.parametrize("name", ["folder", "pipe"])
def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(ToolFailedError, match="not a regular file"):
        write(tmp_path / name)


def test_nothing_is_written_where_the_working_folder_is_gone(tmp_path: Path) -> None:
    with pytest.raises(ToolFailedError, match="the working folder is gone"):
        write_atomic(tmp_path / "x", b"new", "x", cwd=tmp_path / "gone")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_stays_whose_it_was(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.write_bytes(b"old")
    os.chown(target, 65534, 65533)
    target.chmod(0o640)

    write(target)

    status = target.stat()
    assert target.read_bytes() == b"new"
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (65534, 65533, 0o640)
