"""An archive gives back the same bytes, and nothing is let go before that is certain."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.errors import RefusedError, SessionLockedError, SessionNotSavedError
from agentsh.session.file.session import open_session
from agentsh.session.store.archive import (
    MOST_UNPACKED,
    archive_session,
    archives,
    summarize_archive,
    unarchive_session,
    unpacked,
)
from agentsh.session.store.summary import summarize
from tests.session.disks import FaultyDisk

NOW = "2026-01-01T00:00:00.000Z"
HEADER = (
    b'{"type":"session","version":3,"id":"s-1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}\n'
)


def session(folder: Path, more: bytes = b"") -> Path:
    path = folder / "2026-01-01T00-00-00-000Z_s-1.jsonl"
    path.write_bytes(HEADER + more)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


@given(st.binary(max_size=2000))
def test_there_and_back_are_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, more: bytes
) -> None:
    path = session(tmp_path_factory.mktemp("a"), more)
    before, time = path.read_bytes(), path.stat().st_mtime

    packed = archive_session(path, now=NOW)

    assert not path.exists()
    assert packed.path.name == path.name + ".zst"
    assert (packed.size, packed.packed) == (len(before), packed.path.stat().st_size)
    assert b"".join(unpacked(packed.path)) == before
    assert archives([path.parent]) == [packed.path]

    back = unarchive_session(packed.path)

    assert back.path == path
    assert (path.read_bytes(), path.stat().st_mtime) == (before, time)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_a_large_one_is_much_smaller(tmp_path: Path) -> None:
    path = session(tmp_path, b'{"type":"message","id":"a","parentId":null}\n' * 100_000)

    packed = archive_session(path, now=NOW)

    assert packed.packed * 50 < packed.size


def test_a_list_can_tell_what_is_in_it(tmp_path: Path) -> None:
    message = b'{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-02T00:00:00.000Z",'
    path = session(tmp_path, message + b'"message":{"role":"user","content":"hello"}}\n')
    expected = summarize(path)
    scratch = tmp_path / "scratch"

    found = summarize_archive(archive_session(path, now=NOW).path, scratch)

    assert found == expected
    assert not scratch.exists()


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    path = session(tmp_path)
    taken = path.with_name(path.name + ".zst")
    taken.write_bytes(b"precious")

    with pytest.raises(RefusedError):
        archive_session(path, now=NOW)
    taken.unlink()
    packed = archive_session(path, now=NOW)
    path.write_bytes(b"precious")
    with pytest.raises(RefusedError):
        unarchive_session(packed.path)

    assert path.read_bytes() == b"precious"
    assert packed.path.exists()


def test_one_that_is_being_written_is_refused(tmp_path: Path) -> None:
    path = session(tmp_path)

    with open_session(path, write=True), pytest.raises(SessionLockedError):
        archive_session(path, now=NOW)

    assert path.read_bytes() == HEADER


def test_a_damaged_archive_is_named_and_stays(tmp_path: Path) -> None:
    packed = archive_session(session(tmp_path, b"x" * 5000), now=NOW)
    data = packed.path.read_bytes()
    for bad in (data[:-3], data[:20] + b"\0" + data[21:], b"no archive"):
        packed.path.write_bytes(bad)
        with pytest.raises(RefusedError):
            unarchive_session(packed.path)

    assert [p.name for p in tmp_path.iterdir()] == [packed.path.name]


def test_a_disk_that_fails_leaves_the_session_as_it_was(tmp_path: Path) -> None:
    path = session(tmp_path)

    with pytest.raises(SessionNotSavedError):
        archive_session(path, now=NOW, disk=FaultyDisk(broken={"sync"}))

    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == HEADER


def test_an_archive_that_stands_for_any_number_of_bytes_is_left_out_of_lists(
    tmp_path: Path,
) -> None:
    path = session(tmp_path, b"a" * MOST_UNPACKED)
    size = path.stat().st_size
    packed = archive_session(path, now=NOW)
    assert packed.packed * 1_000 < size
    scratch = tmp_path / "scratch"

    with pytest.raises(RefusedError, match="unpacks to more than"):
        summarize_archive(packed.path, scratch)

    assert not scratch.exists()
    assert unarchive_session(packed.path).size == size


def test_what_lies_in_the_place_of_an_archive_or_of_its_list_is_not_waited_for(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "pipe.zst")
    with pytest.raises(OSError, match="Not a regular file"):
        list(unpacked(tmp_path / "pipe.zst"))

    path = session(tmp_path)
    expected = summarize(path)
    scratch = tmp_path / "scratch"
    os.mkfifo(scratch)
    assert summarize_archive(archive_session(path, now=NOW).path, scratch) == expected
