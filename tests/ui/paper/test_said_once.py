"""What is printed once, or in part: a long paste, the reason of repeats, a question."""

from __future__ import annotations

from agentsh.agent.events import Retry, TurnEnd, TurnStart
from agentsh.messages import Text, UserMessage
from agentsh.session.format.entries import EntryId
from agentsh.ui.paper.cards import question_text
from tests.ui.fakes import NO_USAGE
from tests.ui.paper.test_render import bare, shown, transcript


def test_of_a_long_paste_the_beginning_and_the_end_are_printed() -> None:
    pasted = "\n".join(f"line {n}" for n in range(1, 101))
    rows = shown([TurnStart(UserMessage((Text(pasted),)), EntryId("a"))]).strip("\n").split("\n")
    assert rows[10:15] == [
        "┃ line 11",
        "┃ line 12",
        "┃ … 80 lines (Space in /tree shows all)",
        "┃ line 93",
        "┃ line 94",
    ]
    assert (rows[0], rows[-1], len(rows)) == ("┃ line 1", "┃ line 100", 21)


def test_why_a_request_is_repeated_is_said_once() -> None:
    target = transcript(columns=80)
    for number in (1, 2):
        target.feed(Retry(number, float(number), "overloaded"))
    target.feed(Retry(3, 3.0, "cut"))
    target.feed(TurnEnd("error", None, None, NO_USAGE, "cut"))
    target.feed(Retry(1, 1.0, "cut"))
    assert [line for line in bare(target.take()).split("\n") if line] == [
        "request failed: overloaded; repeat 1 in 1.0 s",
        "repeat 2 in 2.0 s",
        "request failed: cut; repeat 3 in 3.0 s",
        "error: cut",
        "request failed: cut; repeat 1 in 1.0 s",
    ]


def test_a_question_is_the_last_word_until_something_is_printed() -> None:
    target = transcript()
    assert target.question_rows == 0
    target.ask(question_text(target._renderer, "bash asks to:", "  make", None))
    target.take()
    assert target.question_rows == 3
    target.say("a note")
    assert target.question_rows == 0
