"""Damaged files: everything sound is read, everything else is told, appending goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.errors import SessionNotFoundError
from agentsh.session.file.session import new_session, open_session
from agentsh.session.format.entries import Damaged, Entry, Header, MessageBody, SessionId
from tests.session.builders import said, user
from tests.session.disks import QuickDisk, around

HEADER = Header(SessionId("01a2-5e551011"), "2026-01-01T00:00:00.000Z", "/p")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    with new_session(path, HEADER, around=around()) as session:
        for text in ("one", "two é", "three"):
            session.append(MessageBody(user(text)))
            session.append(MessageBody(said(f"about {text}")))
            session.barrier()
    return path


def _entries(path: Path) -> list[Entry]:
    with open_session(path, write=False, around=around()) as session:
        return list(session.branch(repaired=False).entries)


def test_a_file_cut_at_any_byte_gives_its_whole_entries_and_takes_the_next(path: Path) -> None:
    data = b"".join(path.read_bytes().splitlines(keepends=True)[:5])
    path.write_bytes(data)
    whole = _entries(path)
    ends = [i for i, byte in enumerate(data) if byte == 0x0A]
    quick = around(QuickDisk())
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        if cut < ends[0]:
            with pytest.raises(SessionNotFoundError):
                open_session(path, write=True, around=quick)
            continue
        # a line is whole without its LF, too
        count = sum(1 for end in ends[1:] if end <= cut)
        with open_session(path, write=True, around=quick) as session:
            assert list(session.branch(repaired=False).entries) == whole[:count]
            torn = [notice for notice in session.notices if notice.kind == "torn"]
            is_torn = cut not in ends and cut - 1 not in ends
            assert [notice.line for notice in torn] == ([count + 2] if is_torn else [])
            if cut % 7 == 0:  # writing at each offset would only take longer
                session.rename("after")
        assert path.read_bytes()[:cut] == data[:cut]
        if cut % 7 == 0:
            again = _entries(path)
            assert again[:count] == whole[:count]
            assert [entry.parent for entry in again[1:]] == [entry.id for entry in again[:-1]]


def test_the_repair_of_a_torn_line_is_told_with_its_line_and_length(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:-20])
    length = len(data.split(b"\n")[-2]) - 19

    with open_session(path, write=True, around=around()) as session:
        assert [(n.line, f"{length} bytes" in n.text) for n in session.notices] == [(8, True)]
        session.rename("x")
    last = path.read_bytes()[len(data) - 20 :]
    assert last.startswith(b"\n")
    assert f'"torn":{{"line":8,"bytes":{length}}}'.encode() in last
    with open_session(path, write=True, around=around()) as session:
        size = path.stat().st_size
        session.branch()
    assert path.stat().st_size == size


def test_a_tail_of_nuls_is_torn(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data + b"\0" * 4096)

    with open_session(path, write=True, around=around()) as session:
        assert [notice.kind for notice in session.notices] == ["torn"]
        session.rename("x")
    assert path.read_bytes().startswith(data + b"\0" * 4096 + b"\n")
    assert len(_entries(path)) == 10


@pytest.mark.parametrize("number", range(1, 7))
def test_a_broken_line_in_the_middle_keeps_its_place_on_the_path(path: Path, number: int) -> None:
    whole = _entries(path)
    lines = path.read_bytes().split(b"\n")
    lines[number] = lines[number][: len(lines[number]) * 2 // 3]
    path.write_bytes(b"\n".join(lines))

    read = _entries(path)

    assert [entry.id for entry in read] == [entry.id for entry in whole]
    damaged = [i for i, entry in enumerate(read) if isinstance(entry.body, Damaged)]
    assert damaged == [number - 1]
    with open_session(path, write=False, around=around()) as session:
        assert [notice.line for notice in session.notices] == [number + 1]
        _ = session.tree
        assert {notice.line for notice in session.notices} == {number + 1}


def test_a_broken_last_line_is_no_leaf(path: Path) -> None:
    whole = _entries(path)
    lines = path.read_bytes().split(b"\n")
    lines[-2] = lines[-2][:-5]
    path.write_bytes(b"\n".join(lines))

    assert _entries(path) == whole[:-1]


def test_a_lost_line_is_told_and_its_children_are_a_second_root(path: Path) -> None:
    whole = _entries(path)
    lines = path.read_bytes().split(b"\n")
    del lines[3]
    path.write_bytes(b"\n".join(lines))

    with open_session(path, write=False, around=around()) as session:
        assert session.branch(repaired=False).entries == tuple(whole[3:])
        assert [(n.line, whole[2].id in n.text) for n in session.notices] == [(4, True)]
        assert session.tree.roots == (whole[0].id, whole[3].id)


def test_lines_that_stand_twice_count_once(path: Path) -> None:
    whole = _entries(path)
    lines = path.read_bytes().split(b"\n")[:-1]
    # Pi writes the header and everything again when it goes on with a file without an answer
    path.write_bytes(b"\n".join([*lines, *lines]) + b"\n")

    with open_session(path, write=True, around=around()) as session:
        assert list(session.branch(repaired=False).entries) == whole
        assert list(session.tree) == [entry.id for entry in whole]
        texts = [(notice.line, notice.text) for notice in session.notices]
        assert texts == [
            (9, "a second header; the first one counts"),
            (10, "lines 10 to 16 repeat earlier ones"),
        ]
        session.rename("x")
    ids = [entry.id for entry in _entries(path)]
    assert len(ids) == len(set(ids))


def test_of_two_different_lines_with_one_id_each_is_an_entry(path: Path) -> None:
    whole = _entries(path)
    lines = path.read_bytes().split(b"\n")
    lines.insert(4, lines[2].replace(b"two", b"TWO").replace(b"one", b"ONE"))
    path.write_bytes(b"\n".join(lines))

    with open_session(path, write=False, around=around()) as session:
        found = list(session.entries())
        assert [e.body for e in found if e.id != found[3].id] == [e.body for e in whole]
        assert len({e.id for e in found}) == len(whole) + 1
        assert [session.entry(e.id) for e in found] == found
        assert [notice.line for notice in session.notices] == [5]


@pytest.mark.parametrize(
    "junk", [b"", b"junk", b"[1,2]", b'"s"', b"null", b"{}", b"\0\0", b"\xff\xfe"]
)
def test_lines_that_are_nothing_are_skipped_and_told(path: Path, junk: bytes) -> None:
    whole = _entries(path)
    lines = path.read_bytes().split(b"\n")
    for place in (2, len(lines)):
        lines.insert(place, junk)
    path.write_bytes(b"\n".join(lines) + b"\n")

    with open_session(path, write=False, around=around()) as session:
        assert list(session.branch(repaired=False).entries) == whole
        _ = session.tree
        told = {notice.line for notice in session.notices}
    assert told == ({3, 10} if junk else set())


def test_a_circle_of_parents_is_opened_and_told(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    line = '{{"type":"label","id":"{}","parentId":"{}","timestamp":"t","targetId":"a"}}\n'
    header = '{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/"}\n'
    path.write_text(header + line.format("a", "b") + line.format("b", "a"))

    with open_session(path, write=False, around=around()) as session:
        assert [entry.id for entry in session.branch().entries] == ["a", "b"]
        assert ["circle" in notice.text for notice in session.notices] == [True]


def test_a_parent_that_stands_later_is_found(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    line = '{{"type":"label","id":"{}","parentId":{},"timestamp":"t","targetId":"a"}}\n'
    header = '{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/"}\n'
    rows = [("b", '"a"'), ("a", "null"), ("c", '"b"')]
    path.write_text(header + "".join(line.format(*row) for row in rows))

    assert [entry.id for entry in _entries(path)] == ["a", "b", "c"]
