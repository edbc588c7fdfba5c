"""Another program enters and leaves a path anywhere: what it left there is not called cut off."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agentsh.session.exchange.salvage import salvage
from agentsh.session.file.memory_log import MemoryLog
from agentsh.session.file.scan import read_opening
from agentsh.session.file.session import Session, new_session, open_session
from agentsh.session.format.codec import encode_entry, encode_header
from agentsh.session.format.entries import (
    Body,
    Branch,
    BranchSummary,
    Compaction,
    Custom,
    Entry,
    EntryId,
    Header,
    Label,
    MessageBody,
    SessionId,
    SessionInfo,
    ThinkingLevelChange,
)
from agentsh.session.format.facts import Navigated, Repaired, TurnEnded
from agentsh.session.health.repair import plan
from agentsh.session.health.unfinished import plan_open_turn
from agentsh.session.health.verify import verify_file
from tests.session.builders import Path as Turns
from tests.session.builders import requested, result, said, started, user
from tests.session.disks import QuickDisk, around

OWN = Header(SessionId("01a2-4000-5e551011"), "2026-01-01T00:00:00.000Z", "/p")
OTHER = Header(SessionId("01a2-4000-0f000000"), "2026-01-01T00:00:00.000Z", "/p")

SILENT: tuple[Body, ...] = (
    Label(EntryId("00000000"), "here"),
    SessionInfo("a name"),
    ThinkingLevelChange("low"),
    Custom("someone.else"),
)
SAYING: tuple[Body, ...] = (
    MessageBody(user("from there")),
    BranchSummary("it led nowhere", "00000001"),
    Compaction("all of it", None, 1),
)
steps = st.lists(st.sampled_from(["answer", "work", "fail"]), min_size=1, max_size=3)


def _turn(path: Turns, kinds: Sequence[str]) -> EntryId:
    """A turn without its end; the start."""
    start = path.start()
    path.add(user("go"))
    for kind in kinds:
        path.add(requested())
        if kind == "work":
            call = f"c{len(path.entries)}"
            path.add(said("", (call, "bash")))
            path.add(started(call))
            path.add(result(call))
        else:
            path.add(said("well", stop="error" if kind == "fail" else None))
    return start


def _session(entries: Sequence[Entry], header: Header = OWN) -> Session:
    log = MemoryLog(encode_header(header) + b"".join(encode_entry(e) for e in entries))
    opening = read_opening(log.read, log.size, "x")
    here = around(QuickDisk())
    return Session(log, opening, path=None, lock=None, writable=True, origin=None, around=here)


def _entered(entries: Sequence[Entry], at: int, bodies: Sequence[Body]) -> list[Entry]:
    """The file after another program went to an entry and wrote these there."""
    found = list(entries)
    parent = entries[at].id
    for number, body in enumerate(bodies):
        name = EntryId(f"0ff1ce{number:02x}")
        found.append(Entry(name, parent, "2026-01-02T00:00:00.000Z", body))
        parent = name
    return found


def _nothing_is_open(session: Session) -> None:
    branch = session.branch(repaired=False)
    assert session.live() == session.live(repaired=False)
    assert plan_open_turn(branch.entries, session.whose(branch.entries)) is None
    assert plan(branch, whose=session.whose(branch.entries)) == ()


foreign_lines = st.lists(st.sampled_from([*SILENT, *SAYING]), min_size=1, max_size=3)


@given(st.lists(steps, min_size=1, max_size=3), st.integers(0, 40), foreign_lines)
def test_in_finished_turns_nothing_is_open_wherever_another_program_goes(
    turns: list[list[str]], at: int, bodies: list[Body]
) -> None:
    path = Turns()
    for kinds in turns:
        path.end(_turn(path, kinds))

    session = _session(_entered(path.entries, at % len(path.entries), bodies))

    _nothing_is_open(session)


@given(st.lists(steps, min_size=1, max_size=3), st.integers(0, 40), foreign_lines)
def test_in_a_copy_under_another_header_nothing_is_open(
    turns: list[list[str]], at: int, bodies: list[Body]
) -> None:
    path = Turns()
    for kinds in turns:
        path.end(_turn(path, kinds))
    place = at % len(path.entries)
    copied = path.entries[: place + 1]

    _nothing_is_open(_session(copied, OTHER))
    _nothing_is_open(_session(_entered(copied, place, bodies), OTHER))


@given(steps, st.lists(st.sampled_from(SILENT), max_size=3))
def test_a_turn_that_was_cut_off_is_so_however_often_another_program_opened_the_file(
    kinds: list[str], bodies: list[Body]
) -> None:
    path = Turns()
    path.end(_turn(path, ["answer"]))
    start = _turn(path, kinds)
    path.add(requested())
    entries = _entered(path.entries, len(path.entries) - 1, bodies)

    closings = plan(Branch(tuple(entries)), whose=_session(entries).whose(entries))

    assert [type(c.body) for c in closings] == [TurnEnded, Repaired]
    assert closings[0].body == TurnEnded(start, "interrupted")


@given(steps, st.sampled_from(SAYING))
def test_a_turn_that_was_cut_off_is_left_where_another_program_went_on(
    kinds: list[str], body: Body
) -> None:
    path = Turns()
    _turn(path, kinds)
    path.add(requested())

    _nothing_is_open(_session(_entered(path.entries, len(path.entries) - 1, [body])))


def test_a_finished_answer_with_a_line_of_another_program_behind_it_was_left() -> None:
    path = Turns()
    _turn(path, ["answer"])

    _nothing_is_open(_session(_entered(path.entries, len(path.entries) - 1, SILENT[:1])))
    assert plan(path.branch) != ()


def test_calls_on_a_place_that_another_program_went_to_are_not_called_not_started() -> None:
    path = Turns()
    start = path.start()
    path.add(user("go"))
    asked = len(path.entries)
    path.add(said("", ("c1", "bash")))
    path.add(started("c1"))
    path.add(result("c1"))
    path.end(start)

    _nothing_is_open(_session(_entered(path.entries, asked, SILENT[:1])))


def test_above_64_mib_a_turn_that_another_program_went_into_has_its_end_elsewhere() -> None:
    path = Turns()
    start = path.start()
    path.add(user("go"))
    path.add(Custom("someone.else", "x" * (65 << 20)))
    asked = len(path.entries)
    path.add(said("", ("c1", "bash")))
    path.add(started("c1"))
    path.add(result("c1"))
    path.end(start)

    _nothing_is_open(_session(_entered(path.entries, asked, SILENT[:1])))


def test_our_own_moves_are_ends_as_before() -> None:
    path = Turns()
    _turn(path, ["work"])
    path.add(Navigated(None, "tree"))

    _nothing_is_open(_session(path.entries))


def test_a_salvaged_file_says_that_the_turn_was_cut_off(tmp_path: Path) -> None:
    source, target = tmp_path / "s.jsonl", tmp_path / "sound.jsonl"
    here = around(QuickDisk())
    with new_session(source, OWN, around=here) as session:
        path = Turns()
        _turn(path, ["work"])
        for entry in path.entries:
            session.append(entry.body)
        session.append(MessageBody(said("", ("c9", "bash"))))
        session.barrier()
    with open_session(source, write=False, around=here) as session:
        shown = session.branch().entries[-3:]

    salvage(source, target, around=here)

    with open_session(target, write=False, around=here) as session:
        closed = session.branch(repaired=False).entries[-4:-1]
        assert session.live() == session.live(repaired=False)
    assert [e.body for e in closed] == [e.body for e in shown]
    assert verify_file(target).ok
