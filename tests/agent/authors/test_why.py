"""The records of several folders on one file, as one answer."""

from __future__ import annotations

from agentsh.agent.authors.calls import BEFORE, PERSON, UNKNOWN, Author, RecordedCall
from agentsh.agent.authors.why import AuthoredLine, Origins, joined_lines
from agentsh.session.format.entries import EntryId

ONE, OTHER = (
    Author("agent", (RecordedCall(name, EntryId("p"), "go", "c", "bash", "make", "t"),))
    for name in ("one", "other")
)


def answer(*authors: Author, has_states: bool = True) -> Origins:
    lines = (AuthoredLine(n, "x", author) for n, author in enumerate(authors, 1))
    return Origins(tuple(lines), has_states=has_states)


def joined(*answers: Origins) -> list[Author]:
    return [line.author for line in joined_lines(answers)]


def test_a_call_that_one_record_knows_is_the_answer() -> None:
    here, above = answer(ONE, PERSON, BEFORE), answer(PERSON, OTHER, BEFORE)

    assert joined(here, above) == joined(above, here) == [ONE, OTHER, BEFORE]


def test_of_two_calls_that_may_both_have_done_it_nobody_is_named() -> None:
    assert joined(answer(ONE), answer(OTHER)) == [UNKNOWN]


def test_a_person_wrote_what_no_record_with_states_doubts() -> None:
    here, above = answer(PERSON, PERSON, BEFORE), answer(BEFORE, UNKNOWN, BEFORE)
    elsewhere = answer(UNKNOWN, UNKNOWN, OTHER, has_states=False)

    assert joined(here, above, elsewhere) == [PERSON, UNKNOWN, OTHER]
    assert joined(elsewhere) == [UNKNOWN, UNKNOWN, OTHER]
