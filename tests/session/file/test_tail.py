"""Opening at the tail: what the whole file gives, at the cost of its end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentsh.context.projection import project
from agentsh.jsontext import JsonObject
from agentsh.messages import AssistantMessage, SystemMessage, ToolResultMessage, UserMessage
from agentsh.session.file.memory_log import MemoryLog
from agentsh.session.file.reading import Reading
from agentsh.session.file.scan import read_opening
from agentsh.session.file.session import open_session
from agentsh.session.file.tail import cut_start
from agentsh.session.file.writing import EndSearch
from agentsh.session.format.codec import encode_entry, encode_header
from agentsh.session.format.entries import (
    Body,
    Branch,
    Compaction,
    Entry,
    EntryId,
    Header,
    Label,
    MessageBody,
    ModelChange,
    SessionId,
    ThinkingLevelChange,
    besides,
)
from tests.session.builders import said, user
from tests.session.disks import CountingDisk, around

HEADER = Header(SessionId("s"), "2026-01-01T00:00:00.000Z", "/p")
CHECKPOINT: JsonObject = {"ash": {"provider": "p", "model": "m", "thinking": "off", "state": {}}}


def _file(entries: list[Entry]) -> bytes:
    return encode_header(HEADER) + b"".join(encode_entry(entry) for entry in entries)


def _reading(data: bytes) -> Reading:
    log = MemoryLog(data)
    return Reading(log.read, read_opening(log.read, log.size, "x"), log.size)


_small = st.integers(0, 11)
_shapes = st.lists(st.tuples(_small, _small, _small), min_size=1, max_size=14)


def _grow(entries: list[Entry], name: EntryId, shape: tuple[int, int, int]) -> None:
    """One more entry: its parent is near, nowhere or none; it may be a compaction, with a
    checkpoint or without, that keeps an ancestor, itself, nothing or something strange."""
    near = [e.id for e in entries[-3:]]
    parents: list[EntryId | None] = [*near, *near, *near, EntryId("missing!"), None]
    kept: list[EntryId | None] = [*(e.id for e in entries), name, None, EntryId("nowhere!")]
    kind, parent, first = shape
    body: Body
    match kind:
        case 0 | 1 | 2:
            details, system = (None if kind == 0 else CHECKPOINT), SystemMessage("s")
            body = Compaction(
                "s", kept[first % len(kept)], 1, details, None if kind == 1 else system
            )
        case 3:
            body = Label(EntryId("00000000"), "l")
        case _:
            body = MessageBody(user("x") if kind % 2 else said("y"))
    entries.append(Entry(name, parents[parent % len(parents)], "t", body))


def _grown(shapes: list[tuple[int, int, int]]) -> list[Entry]:
    entries: list[Entry] = []
    for number, shape in enumerate(shapes):
        _grow(entries, EntryId(f"{number:08x}"), shape)
    return entries


trees = _shapes.map(_grown)


def _besides(entries: Sequence[Entry]) -> list[int]:
    """What no prompt, answer or result is, asked of each."""
    talk = UserMessage | AssistantMessage | ToolResultMessage
    return [
        i
        for i, entry in enumerate(entries)
        if not (isinstance(entry.body, MessageBody) and isinstance(entry.body.message, talk))
    ]


def _check_live(found: Branch, whole: list[Entry]) -> None:
    start = cut_start(whole)
    # at a cut nobody looked whether what is before it exists
    assert not found.complete or start == 0
    live = whole[start:]
    if found.entries != tuple(live):
        assert not found.complete
        _check_thin(found, live)


def _check_thin(found: Branch, live: list[Entry]) -> None:
    """Missing is only what was said before the range that the last compaction kept."""
    last = next(e for e in reversed(live) if isinstance(e.body, Compaction))
    assert isinstance(last.body, Compaction)
    kept = [e.id for e in live].index(last.body.first_kept or last.id)
    there = {e.id for e in found.entries}
    missing = [number for number, e in enumerate(live) if e.id not in there]

    assert found.entries == tuple(e for e in live if e.id in there)
    assert all(isinstance(live[n].body, MessageBody) and n < kept for n in missing)
    assert project(found) == project(Branch(tuple(live)))


def _naive_path(entries: list[Entry], at: EntryId | None) -> list[Entry]:
    known = {entry.id: entry for entry in entries}
    path: list[Entry] = []
    while at is not None and at in known:
        path.insert(0, known[at])
        at = known[at].parent
    return path


@given(trees)
def test_the_tail_gives_the_live_part_of_the_whole_path(entries: list[Entry]) -> None:
    whole = _naive_path(entries, entries[-1].id)
    reading = _reading(_file(entries))

    _check_live(reading.live(reading.leaf), whole)
    assert reading.whole(reading.leaf) == Branch(tuple(whole))


@given(trees)
def test_any_place_gives_the_same_through_the_index(entries: list[Entry]) -> None:
    reading = _reading(_file(entries))
    for entry in entries:
        whole = _naive_path(entries, entry.id)

        _check_live(reading.live(entry.id), whole)
        assert reading.whole(entry.id) == Branch(tuple(whole))


@given(
    trees,
    st.lists(st.sampled_from([b"\n", b"{}\n", b"nonsense\n", b" \r\n"]), max_size=4),
    st.booleans(),
)
def test_lines_counted_on_the_way_are_those_of_the_file(
    entries: list[Entry], odd: list[bytes], is_torn: bool
) -> None:
    data = _file(entries[: len(entries) // 2]) + b"".join(odd)
    data += b"".join(encode_entry(entry) for entry in entries[len(entries) // 2 :])
    data = data[:-1] if is_torn else data
    reading = _reading(data)
    counted = data.count(b"\n") + (not data.endswith(b"\n"))
    assert reading.lines in (None, counted)
    assert reading.lines is not None or not reading.is_complete or not entries
    with_hint = EndSearch(MemoryLog(data).read, len(data), "other").position(reading.lines)
    without = EndSearch(MemoryLog(data).read, len(data), "other").position()
    assert (with_hint.line, with_hint.is_ended) == (without.line, without.is_ended)
    assert with_hint.chain.seal() == without.chain.seal()


@given(trees, _shapes)
def test_what_is_appended_anywhere_gives_what_reading_anew_gives(
    entries: list[Entry], shapes: list[tuple[int, int, int]]
) -> None:
    reading = _reading(_file(entries))
    for number, shape in enumerate(shapes[:4]):
        _grow(entries, EntryId(f"new{number:05d}"), shape)
        entry = entries[-1]
        if entry.parent not in {None, *(e.id for e in entries)}:
            entries[-1] = entry = replace(entry, parent=reading.leaf)
        assert besides(reading.entries) == _besides(reading.path)  # and is remembered
        reading.extend(entry)
        again = _reading(_file(entries))
        assert besides(reading.entries) == _besides(reading.path) == besides(reading.path)

        _check_live(reading.live(entry.id), _naive_path(entries, entry.id))
        assert reading.whole(entry.id) == again.whole(entry.id)
        assert list(reading.tree) == list(again.tree)


def _long_session(path: Path, *, lines: int, checkpoint: bool) -> int:
    entries: list[Entry] = []
    parent: EntryId | None = None
    for number in range(lines):
        name = EntryId(f"{number:08x}")
        entries.append(Entry(name, parent, "t", MessageBody(user("word " * 40))))
        parent = name
    if checkpoint:
        kept = entries[-3].id
        body = Compaction("s", kept, 1, CHECKPOINT, SystemMessage("s"))
        entries.append(Entry(EntryId("c" * 8), parent, "t", body))
    path.write_bytes(_file(entries))
    return path.stat().st_size


def test_opening_after_a_compaction_reads_the_end_of_the_file_only(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    size = _long_session(path, lines=20_000, checkpoint=True)
    disk = CountingDisk()

    with open_session(path, write=False, around=around(disk)) as session:
        live = session.live()
        cost = disk.bytes_read
        assert len(session.tree) == 20_001

    assert (len(live.entries), live.complete) == (4, False)
    # the header's block and the last one
    assert cost <= (1 << 20) + (1 << 16)
    assert size > 5 << 20


def test_a_path_is_read_once_and_only_its_lines_are_decoded(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    size = _long_session(path, lines=2_000, checkpoint=False)
    off_path = {"type": "label", "id": "off", "parentId": "00000000", "timestamp": "t", "bad": 1}
    # lines beside the path: decoding one of them would be an error, for it is no JSON
    broken = json.dumps(off_path, separators=(",", ":")).encode()[:-1] + b",}\n"
    data = path.read_bytes().split(b"\n", 1)
    path.write_bytes(data[0] + b"\n" + broken * 500 + data[1])
    disk = CountingDisk()

    with open_session(path, write=False, around=around(disk)) as session:
        assert len(session.live().entries) == 2_000
        assert session.notices == ()
    assert disk.bytes_read <= (size + 500 * len(broken)) + (1 << 20)


def test_what_was_said_before_a_compaction_of_pi_is_passed_but_not_what_was_set(
    tmp_path: Path,
) -> None:
    bodies: list[Body] = [ThinkingLevelChange("high"), ModelChange("p", "first")]
    bodies += [MessageBody(user("x") if n % 2 else said("y")) for n in range(2_000)]
    bodies[1_000] = ThinkingLevelChange("low")
    entries: list[Entry] = []
    for number, body in enumerate(bodies):
        parent = entries[-1].id if entries else None
        entries.append(Entry(EntryId(f"{number:08x}"), parent, "t", body))
    body = Compaction("s", entries[-3].id, 1)
    entries.append(Entry(EntryId("c" * 8), entries[-1].id, "t", body))
    (tmp_path / "s.jsonl").write_bytes(_file(entries))

    with open_session(tmp_path / "s.jsonl", write=False) as session:
        live, whole = session.live(), session.branch()

    assert len(whole.entries) == 2_003
    assert not live.complete
    assert len(live.entries) == 3 + 4
    assert project(live) == project(whole)


@pytest.mark.parametrize("first", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_crlf_and_a_byte_order_mark_are_read_around(first: bytes, end: bytes) -> None:
    entries = [
        Entry(EntryId("a"), None, "t", MessageBody(user("x"))),
        Entry(EntryId("b"), EntryId("a"), "t", MessageBody(said("y"))),
    ]
    reading = _reading(first + _file(entries).replace(b"\n", end))

    assert reading.live(reading.leaf) == Branch(tuple(entries))
    assert list(reading.tree) == ["a", "b"]
    assert [notice.kind for notice in reading.notices] == (["bom"] if first else [])
