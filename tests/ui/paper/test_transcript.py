"""What still changes at the bottom: waits with their time, compactions, what was folded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.agent.events import (
    ApprovalNeeded,
    CallPart,
    Compacted,
    Compacting,
    MessageDone,
    Restarted,
    Retry,
    StepStart,
    TextPart,
    ThinkingPart,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnEnd,
)
from agentsh.messages import Text, ToolResultMessage
from agentsh.ui.cells import wrapped
from agentsh.ui.paper.render import Renderer
from agentsh.ui.paper.transcript import MORE, PROGRESS_KEPT, Transcript, wrap_tail
from agentsh.ui.terminal import Colours
from agentsh.ui.theme import choose_theme
from tests.ui.fakes import NO_USAGE, answer, call, entry_id
from tests.ui.paper.test_render import bare
from tests.ui.screens import terminal


def rows_of(shown: Transcript, rows: int) -> list[str]:
    """The tail without looks and empty rows."""
    return [line for line in map(bare, shown.tail(rows)) if line]


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def transcript() -> tuple[Transcript, Clock]:
    target = terminal(columns=60)
    clock = Clock()
    return Transcript(Renderer(target, choose_theme("none", "dark", target.colours)), clock), clock


def test_a_compaction_shows_what_it_is_about_and_afterwards_its_time() -> None:
    shown, clock = transcript()
    shown.feed(Compacting(9000, "the window is nearly full"))
    clock.now += 7
    assert shown.tail(8) == [
        "○ compacting 9000 tokens (the window is nearly full)",
    ]
    shown.feed(Retry(1, 4.0, "overloaded"))
    clock.now += 1
    shown.feed(Compacted(entry_id("c"), 9000, 2000))
    assert shown.tail(8) == []
    assert "compacted: 9000 → about 2000 tokens, in 8 s" in bare(shown.take())


def test_what_is_over_leaves_no_clock_however_it_ended() -> None:
    shown, clock = transcript()
    shown.feed(Compacting(9000))
    clock.now += 2
    shown.at_rest()
    assert shown.tail(8) == []
    shown.feed(StepStart(1, "m"))
    shown.feed(ToolStart(call("bash", command="sleep 9")))
    clock.now += 2
    shown.feed(TurnEnd("aborted", None, None, NO_USAGE))
    assert shown.tail(8) == []


def test_thoughts_and_calls_are_folded_in_the_text_and_whole_on_the_shelf() -> None:
    shown, clock = transcript()
    shown.feed(ThinkingPart("herons are "))
    shown.feed(ThinkingPart("birds"))
    clock.now += 3
    made = call("bash", command="seq 99")
    shown.feed(ToolStart(made))
    result = ToolResultMessage(made.id, "bash", (Text("\n".join("abcdefghijkl")),), False)
    shown.feed(ToolEnd(made, result, entry_id("r")))
    text = bare(shown.take())

    assert "thought for 3 s, about 3 words (Ctrl-T shows them)" in text
    assert "herons" not in text
    assert "… 5 lines" in text
    assert [line.text for line in shown.shelf.thoughts()[0].lines()] == ["herons are birds"]
    assert [line.text for line in shown.shelf.calls()[0].lines()][-1] == "l"


def test_a_tail_that_shows_only_the_end_of_a_block_says_so() -> None:
    shown, _ = transcript()
    shown.feed(TextPart("".join(f"> line {n}\n" for n in range(3))))
    assert MORE not in shown.tail(6)
    shown.feed(TextPart("".join(f"> line {n}\n" for n in range(3, 30))))
    assert rows_of(shown, 3) == [MORE, "▌ line 28", "▌ line 29"]
    assert rows_of(shown, 2) == ["▌ line 28", "▌ line 29"]


def test_a_line_of_code_is_final_and_coloured_when_it_ends() -> None:
    target = terminal(columns=60, colours=Colours.ANSI)
    shown = Transcript(Renderer(target, choose_theme("dark", "dark", target.colours)), Clock())
    shown.feed(TextPart('```python\nx = """one\ntwo'))
    assert bare(shown.take()) == '\n  x = """one\n'
    assert rows_of(shown, 8) == ["  two"]
    green = "\x1b[32m"  # the string goes on
    assert green in shown.tail(8)[0]
    shown.feed(TextPart('"""\ny'))
    assert shown.take() == f'  {green}two"""\x1b[0m\n'
    assert shown.tail(8) == ["  y"]


def test_a_long_line_of_code_is_seen_to_its_end_while_it_grows_and_printed_whole() -> None:
    shown, _ = transcript()
    line = "value = compute(" + "argument, " * 12
    shown.feed(TextPart(f"```python\n{line}"))
    assert "".join(" ".join(rows_of(shown, 8)).split()) == "".join(line.split())
    assert max(map(len, rows_of(shown, 8))) <= 59
    shown.feed(TextPart(")\n"))
    assert bare(shown.take()) == f"\n  {line})\n"


def test_of_a_line_that_grows_only_the_last_row_is_not_final() -> None:
    shown, _ = transcript()
    words = [f"word{n}" for n in range(200)]
    said = ""
    for word in words:
        shown.feed(TextPart(f"{word} "))
        said += bare(shown.take())
        assert len(shown.tail(20)) <= 5
    shown.feed(TextPart("end\n"))
    said += bare(shown.take())
    assert said.split() == [*words, "end"]
    assert said.strip("\n").split("\n") == wrapped(" ".join([*words, "end"]), 59)


def test_a_mark_that_is_open_keeps_its_rows_until_it_closes() -> None:
    shown, _ = transcript()
    shown.feed(TextPart("**" + "word " * 60))
    assert shown.take() == ""
    assert len(shown.tail(20)) > 5
    shown.feed(TextPart("over** and on"))
    assert "**" not in bare(shown.take())


def test_a_table_appears_when_it_is_whole() -> None:
    shown, _ = transcript()
    shown.feed(TextPart("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 "))
    assert shown.take() == ""
    assert rows_of(shown, 8) == ["… a table, 2 rows so far"]
    shown.feed(TextPart("| 4 |\n\n"))
    assert said(shown) == [" a  b", " ────", " 1  2", " 3  4"]


def test_what_was_said_before_a_thought_stands_above_it() -> None:
    shown, _ = transcript()
    shown.feed(TextPart("first words"))
    shown.feed(ThinkingPart("hm"))
    shown.feed(TextPart("last words\n"))
    assert said(shown) == [
        "first words",
        "thought for 0 s, about 1 words (Ctrl-T shows them)",
        "last words",
    ]


_PIECES = st.lists(
    st.sampled_from(
        [
            *"ab *_`~[]|>-#1.",
            "\n",
            "\n\n",
            "words that go on and on ",
            "**bold** ",
            "`code`",
            "[x](http://y)",
            "- item\n",
            "  - in\n",
            "2. two\n",
            "```py\n",
            "```\n",
            'x = """s\n',
            "    four\n",
            "> said\n",
            "a|b\n-|-\n",
            "漢字漢字",
            "---\n",
        ]
    ),
    max_size=60,
)


@given(_PIECES, st.lists(st.integers(1, 20), min_size=1, max_size=10))
def test_a_text_is_printed_the_same_however_it_is_cut(pieces: list[str], sizes: list[int]) -> None:
    """But where a row of a long line was given; the terminal here is wide."""
    text = "".join(pieces)
    printed = []
    for pattern in ([len(text) + 1], sizes):
        target = terminal(columns=2000)
        shown = Transcript(Renderer(target, choose_theme("none", "dark", target.colours)), Clock())
        at, turn, result = 0, 0, ""
        while at < len(text):
            size = pattern[turn % len(pattern)]
            shown.feed(TextPart(text[at : at + size]))
            shown.tail(20)
            result += shown.take()
            at, turn = at + size, turn + 1
        shown.feed(MessageDone(answer("x"), entry_id("a")))
        printed.append(result + shown.take())
    assert printed[0] == printed[1]


@given(_PIECES, st.integers(21, 50))
def test_no_letter_of_a_text_is_lost_or_doubled_however_narrow_the_window_is(
    pieces: list[str], columns: int
) -> None:
    text = "".join(pieces)
    target = terminal(columns=columns)
    shown = Transcript(Renderer(target, choose_theme("none", "dark", target.colours)), Clock())
    for piece in pieces:
        shown.feed(TextPart(piece))
    shown.feed(MessageDone(answer("x"), entry_id("a")))
    printed = bare(shown.take())
    for letter in "ab漢x":
        if "```" not in text and "a|b" not in text:
            assert printed.count(letter) == text.count(letter)


def test_the_tail_breaks_lines_at_blanks_as_the_block_will() -> None:
    assert wrap_tail("many words that go on and on", 12, 3) == [
        "many words",
        "that go on",
        "and on",
    ]
    assert wrap_tail("漢" * 9, 10, 2) == ["漢" * 5, "漢" * 4]


def said(shown: Transcript) -> list[str]:
    return [line for line in bare(shown.take()).split("\n") if line]


def test_a_call_that_is_written_is_counted_in_characters() -> None:
    shown, _ = transcript()
    shown.feed(CallPart(0, "write", "{"))
    assert shown.tail(8) == ["○ writes a call of write: 1 character"]
    shown.feed(CallPart(0, "", '"path'))
    assert shown.tail(8) == ["○ writes a call of write: 6 characters"]
    shown.feed(CallPart(1, "read", "{}"))
    assert shown.tail(8) == ["○ writes a call of read: 2 characters"]
    shown.feed(ToolStart(call("read", path="a")))
    assert shown.tail(8) == ["○ read: a 0 s"]


def test_what_a_command_prints_is_shown_by_its_last_lines() -> None:
    shown, clock = transcript()
    made = call("bash", command="make")
    shown.feed(ToolStart(made))
    shown.feed(ToolProgress(made, "one\ntwo\nthr"))
    shown.feed(ToolProgress(made, "ee\nfour\n"))
    clock.now += 4

    assert shown.tail(8) == ["○ bash: make 4 s", "  two", "  three", "  four"]


def test_no_more_of_what_is_printed_is_kept_than_can_be_shown() -> None:
    shown, _ = transcript()
    made = call("bash", command="yes")
    shown.start_call(made)
    shown.call_printed(made.id, "a" + "\n" * (PROGRESS_KEPT - 1))
    assert shown.tail(8)[1:] == ["  a"]
    shown.call_printed(made.id, "\n")
    assert shown.tail(8)[1:] == []


def test_printing_of_a_call_that_is_over_shows_nothing() -> None:
    shown, clock = transcript()
    made = call("bash", command="make")
    shown.start_call(made)
    clock.now += 2.5

    assert shown.end_call(made.id) == 2.5
    assert shown.end_call(made.id) is None
    shown.call_printed(made.id, "late")
    assert shown.tail(8) == []


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (TurnEnd("completed", None, None, NO_USAGE), []),
        (TurnEnd("aborted", None, None, NO_USAGE), ["stopped"]),
        (TurnEnd("max_steps", None, None, NO_USAGE), ["stopped at the limit of steps"]),
        (TurnEnd("error", None, None, NO_USAGE, "it burns"), ["error: it burns"]),
        (TurnEnd("aborted", None, None, NO_USAGE, "it burns"), ["error: it burns"]),
        (
            TurnEnd("error", None, None, NO_USAGE, "it burns", "put it out"),
            ["error: it burns", "put it out"],
        ),
    ],
)
def test_the_end_of_a_turn_says_what_a_person_does_not_see(end: TurnEnd, words: list[str]) -> None:
    shown, _ = transcript()
    shown.feed(end)

    assert said(shown) == words


def test_an_answer_that_was_cut_at_its_limit_says_so() -> None:
    shown, _ = transcript()
    shown.feed(MessageDone(answer("well"), entry_id("a")))
    assert said(shown) == []
    shown.feed(MessageDone(answer("well", stop="length"), entry_id("a")))
    assert said(shown) == ["the answer was cut at its limit of tokens"]


def test_an_answer_that_begins_anew_leaves_what_was_said_above() -> None:
    shown, _ = transcript()
    shown.feed(TextPart("half an"))
    shown.feed(Restarted())
    shown.feed(TextPart("a whole one\n\n"))
    shown.feed(MessageDone(answer("a whole one"), entry_id("a")))

    assert said(shown) == ["half an", "the answer broke off and begins anew", "a whole one"]


def test_a_call_that_nobody_agreed_to_says_what_would_allow_it() -> None:
    shown, _ = transcript()
    shown.feed(ApprovalNeeded(call("bash", command="make"), "make", "make"))
    first, *more = said(shown)

    assert first == "not approved: bash: make"
    assert "make" in " ".join(more)


def test_a_compaction_that_failed_says_why_and_shows_no_time_any_more() -> None:
    shown, clock = transcript()
    shown.feed(Compacting(9000))
    clock.now += 3
    assert shown.tail(8) == ["○ compacting 9000 tokens"]
    shown.feed(Compacted(None, 9000, 9000, "it burns"))
    assert said(shown) == ["compaction failed: it burns"]
    shown.feed(Compacted(entry_id("c"), 9000, 2000))
    assert said(shown) == ["compacted: 9000 → about 2000 tokens"]


def test_thinking_shows_its_end_while_it_goes_on_and_one_line_afterwards() -> None:
    shown, clock = transcript()
    shown.feed(ThinkingPart("one two three"))
    clock.now += 1.4
    assert rows_of(shown, 8) == ["thinking… 1 s", "  one two three"]
    shown.feed(TextPart("well"))
    assert rows_of(shown, 8) == ["well"]
    assert said(shown) == ["thought for 1 s, about 3 words (Ctrl-T shows them)"]


def test_thoughts_of_blanks_are_none() -> None:
    shown, _ = transcript()
    shown.thought(" \n", 1.0)
    shown.thought("hm", None)

    assert said(shown) == ["thought, about 1 words (Ctrl-T shows them)"]


def test_a_tail_is_at_most_as_long_as_its_room_and_keeps_its_end() -> None:
    shown, clock = transcript()
    for number in range(5):
        shown.start_call(call("bash", f"c{number}", command=f"make {number}"))
    clock.now += 1

    assert shown.tail(2) == ["○ bash: make 3 1 s", "○ bash: make 4 1 s"]


def test_an_answer_of_its_own_stands_whole_within_what_is_written_meanwhile() -> None:
    shown, _ = transcript()
    shown.feed(TextPart("first line\n\n- an item\n- anoth"))
    before = shown.take()
    shown.whole("**grey**, and\n\n- its wings")
    aside = shown.take()
    shown.feed(TextPart("er item\n\nlast line\n"))
    shown.feed(MessageDone(answer(""), entry_id("a")))

    assert [bare(text).split() for text in (before, aside)] == [
        ["first", "line", "•", "an", "item"],
        ["grey,", "and", "•", "its", "wings"],
    ]
    assert bare(shown.take()).split() == ["•", "another", "item", "last", "line"]
