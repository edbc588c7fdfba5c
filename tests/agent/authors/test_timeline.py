"""Many records as one past: who could change a file between two states."""

from __future__ import annotations

from agentsh.agent.authors.between import Between
from agentsh.agent.authors.calls import ABSENT, RecordedCall, Whole, Write
from agentsh.agent.authors.timeline import Past
from agentsh.agent.authors.witness import (
    CallBegan,
    CallEnded,
    Event,
    Stood,
    Turned,
    What,
    Witness,
)
from agentsh.session.format.entries import EntryId
from agentsh.session.format.facts import Checkpoint, CheckpointTime


def call(name: str) -> RecordedCall:
    return RecordedCall(name[0], EntryId("p"), "p", name, "bash", "", "t")


def state(name: str, when: CheckpointTime) -> Stood:
    return Stood(Checkpoint(name * 40, "store", 0, when))


def session(name: str, *events: tuple[int, What]) -> Witness:
    """Events with the second of each."""
    return Witness(
        name,
        f"2026-01-01T00:00:{events[0][0]:02}Z",
        tuple(
            Event(EntryId(f"{name}{at:02}{i}"), f"2026-01-01T00:00:{at:02}Z", what)
            for i, (at, what) in enumerate(events)
        ),
    )


def could(past: Past) -> list[str]:
    """Of each time between two states, the last one to now: the calls, and "person"."""
    states = [None, *past.states]
    return [
        said(past.between(old, new, ("f",)))
        for old, new in zip(states, [*past.states, None], strict=True)
    ]


def said(between: Between) -> str:
    words = [each.id for each in between.calls]
    return " ".join([*words, *(["person"] if any(g.person for g in between.gaps) else [])])


def turn(at: int, name: str, *calls: str) -> list[tuple[int, What]]:
    """A turn with a state before and behind it, a second for each event."""
    events: list[What] = [Turned(), state(name, "turn")]
    for each in map(call, calls):
        events += [CallBegan(each), CallEnded(each)]
    events += [state(name, "end"), Turned()]
    return [(at + i, event) for i, event in enumerate(events)]


def test_a_person_has_the_time_outside_of_turns_only() -> None:
    past = Past([session("a", *turn(0, "1", "a1"), *turn(20, "2", "a2", "a3"))])

    assert could(past) == ["person", "a1", "person", "a2 a3", "person"]


def test_sessions_by_turns_and_at_once() -> None:
    by_turns = Past([session("b", *turn(10, "2", "b1")), session("a", *turn(0, "1", "a1"))])
    first = call("a1")
    long = session(
        "a",
        (0, state("1", "turn")),
        (1, CallBegan(first)),
        (40, CallEnded(first)),
        (41, state("2", "end")),
    )
    at_once = Past([long, session("b", *turn(10, "3", "b1"))])

    assert could(by_turns) == ["person", "a1", "person", "b1", "person"]
    assert could(at_once) == ["person", "a1", "a1 b1", "a1", "person"]


def test_a_call_that_a_crash_cut_off_and_a_person_share_what_comes_then() -> None:
    cut = call("a1")
    past = Past(
        [
            session(
                "a",
                (0, Turned()),
                (1, state("1", "turn")),
                (2, CallBegan(cut)),
                (30, Turned(is_new_process=True)),
                *turn(31, "2", "a2"),
            )
        ]
    )

    assert could(past) == ["person", "a1 person", "a2", "person"]


def test_a_turn_without_states_is_one_from_its_first_call_to_its_last() -> None:
    made = call("a1")
    write = Write(made, "f", Whole(b"x"), ABSENT)
    off = session(
        "a",
        (0, Turned()),
        (1, CallBegan(made, write)),
        (2, CallEnded(made)),
        (3, CallBegan(call("a2"))),
        (9, Turned()),
    )
    [before, behind] = Past([off]).between(None, None, ("f",)).gaps

    assert (before.calls, before.person) == ((), True)
    assert ([c.id for c in behind.calls], behind.person) == (["a2"], True)


def test_what_a_fork_copied_counts_once_and_where_it_was_made() -> None:
    parent = session("a", *turn(0, "1", "a1"))
    child = Witness(
        "b", "2026-01-02T00:00:00Z", (*parent.events, *session("b", *turn(30, "2", "b1")).events)
    )
    past = Past([child, parent])

    assert could(past) == ["person", "a1", "person", "b1", "person"]
    assert [each.session for each in past.states] == ["a", "a", "b", "b"]


def test_a_write_in_whose_time_another_session_worked_is_one_of_those_that_could() -> None:
    slow = call("a1")
    write = Write(slow, "f", Whole(b"x"), ABSENT)
    other = Write(call("a2"), "g", Whole(b"x"), ABSENT)
    past = Past(
        [
            session(
                "a",
                (0, state("1", "turn")),
                (1, CallBegan(other.call, other)),
                (2, CallEnded(other.call)),
                (3, CallBegan(slow, write)),
                (40, CallEnded(slow)),
                (41, state("2", "end")),
            ),
            session("b", *turn(10, "3", "b1")),
        ]
    )

    assert could(past) == ["person", "a1", "a1 b1", "a1", "person"]
