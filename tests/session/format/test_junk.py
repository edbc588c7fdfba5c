"""A record with other bytes around it counts; nothing inside a record passes for another one."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from agentsh.messages import AssistantMessage, ToolCall, ToolCallId, Usage
from agentsh.session.file.memory_log import MemoryLog
from agentsh.session.file.reading import Reading
from agentsh.session.file.scan import read_opening
from agentsh.session.format.codec import decode_line, encode_entry, encode_header
from agentsh.session.format.entries import Entry, EntryId, Header, MessageBody, SessionId
from tests.session.builders import Path, said, user

HEADER = Header(SessionId("01a2-5e551011"), "2026-01-01T00:00:00.000Z", "/p")
# what a power cut, a network disk or another program leaves; no braces, no ends of lines
junk = st.binary(min_size=1, max_size=9).map(
    lambda b: b.translate(None, b'"[]{}:,\n\r \t') or b"\0"
) | st.integers(1, 5000).map(lambda n: b"\0" * n)


def _reading(data: bytes) -> Reading:
    log = MemoryLog(data)
    return Reading(log.read, read_opening(log.read, log.size, "x"), log.size)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), junk), min_size=4, max_size=4))
def test_junk_around_records_costs_nothing_but_itself(
    places: list[tuple[bool, bool, bytes]],
) -> None:
    path = Path()
    for number in range(2):
        path.add(user(f"ask {number}"))
        path.add(said(f"reply {number}"))
    rows = [encode_entry(entry) for entry in path.entries]
    dirty = [
        (odd if before else b"") + row[:-1] + (odd if behind else b"") + b"\n"
        for row, (before, behind, odd) in zip(rows, places, strict=True)
    ]
    reading = _reading(encode_header(HEADER) + b"".join(dirty))

    assert list(reading.live(reading.leaf).entries) == path.entries
    told = {n.line for n in reading.notices}
    assert told == {i for i, (before, behind, _) in enumerate(places, 2) if before or behind}
    assert [reading.entry(each) for each in reading.tree] == path.entries
    assert {n.line for n in reading.notices} == told


@given(st.integers(0, 400), st.integers(0, 400), junk)
def test_what_a_call_holds_never_passes_for_a_record(start: int, end: int, odd: bytes) -> None:
    evil = {"type": "message", "id": "ev11ev11", "parentId": None, "timestamp": "t"}
    call = ToolCall(ToolCallId("c1"), "bash", {"command": {**evil, "message": {"role": "user"}}})
    answer = AssistantMessage((call,), "a", "p", "m", Usage(), "toolUse")
    line = encode_entry(Entry(EntryId("0a0a0a0a"), None, "t", MessageBody(answer)))[:-1]

    piece = line[start : len(line) - end]
    # cut out whole, an object inside is a line like any other
    assume(not isinstance(decode_line(piece), Entry))
    found = decode_line(odd + piece + odd)

    # of the broken line the id may be known, of what it holds nothing
    assert not isinstance(found, Entry)
