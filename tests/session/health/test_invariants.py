"""Promises between the facts of a file, and what is said where one is not kept."""

from __future__ import annotations

from agentsh.jsontext import JsonObject
from agentsh.session.format.entries import Body, Compaction, Entry, EntryId, Header, SessionId
from agentsh.session.format.facts import (
    CompactionMark,
    Fact,
    Origin,
    Repaired,
    TurnEnded,
    TurnStarted,
)
from agentsh.session.health.invariants import Brackets
from tests.session.builders import body_of


def take(*bodies: Body | Fact, is_own: bool = True) -> Brackets:
    brackets = Brackets()
    for line, body in enumerate(bodies, 2):
        entry = Entry(EntryId(f"e{line}"), None, "t", body_of(body))
        brackets.take(line, entry, is_own=is_own)
    return brackets


def header(id_: str, parent: str | None = None) -> Header:
    return Header(SessionId(id_), "t", "/", parent_session=parent)


def test_turns_that_end_are_quiet_and_others_are_named() -> None:
    good = take(TurnStarted(1), TurnEnded(EntryId("e2"), "completed"))
    bad = take(TurnStarted(1), TurnStarted(2), TurnEnded(EntryId("zz"), "completed"))

    assert list(good.warnings()) == []
    assert [line for line, _ in bad.warnings()] == [4, 2, 3]


def test_what_a_fork_copied_need_not_be_closed_in_it() -> None:
    copied = (TurnStarted(1), TurnEnded(EntryId("zz"), "completed"), CompactionMark("start"))
    assert list(take(*copied, is_own=False).warnings()) == []


def test_a_compaction_that_was_never_finished_is_named() -> None:
    assert [n for n, _ in take(CompactionMark("start")).warnings()] == [2]
    assert not list(take(CompactionMark("start"), CompactionMark("end")).warnings())


def test_a_range_must_exist_where_the_line_is_ours() -> None:
    details: JsonObject = {"ash": {"src": {"from": "e1", "to": "gone", "count": 2}}}
    compaction = Compaction("sum", None, 1, details=details)

    assert [line for line, _ in take(compaction).problems({b"e1"})] == [2]
    assert not list(take(compaction).problems({b"e1", b"gone"}))
    assert not list(take(compaction, is_own=False).problems(set()))
    assert not list(take(Compaction("of another", None, 1, details=["x"])).problems(set()))


def test_torn_lines_are_those_that_a_repair_names() -> None:
    assert take(Repaired((), 7, 20)).torn == {7}


def test_a_header_must_be_that_of_the_root() -> None:
    root = take(Origin("s1", "agentsh", "user"))

    assert root.foreign_root(header("s1", "/parent")) is None
    assert root.foreign_root(header("s2")) is not None
    # another program's fork has our root inside
    assert root.foreign_root(header("s2", "/parent")) is None
    assert take().foreign_root(header("s2")) is None
    ours = take(Origin("s1", "agentsh", "fork", parent={"path": "/parent"}))
    assert ours.foreign_root(header("s2", "/parent")) is not None
