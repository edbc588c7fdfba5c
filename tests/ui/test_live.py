"""What still changes at the bottom: waits with their time, compactions, what was folded."""

from __future__ import annotations

from agentsh.agent.events import (
    Compacted,
    Compacting,
    Retry,
    StepStart,
    TextPart,
    ThinkingPart,
    ToolEnd,
    ToolStart,
    TurnEnd,
)
from agentsh.messages import Text, ToolResultMessage
from agentsh.ui.live import MORE, Transcript, wrap_tail
from agentsh.ui.render import Renderer
from agentsh.ui.theme import choose
from tests.ui.fakes import NO_USAGE, call, entry_id
from tests.ui.screens import terminal
from tests.ui.test_render import bare


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def transcript() -> tuple[Transcript, Clock]:
    target = terminal(columns=60)
    clock = Clock()
    return Transcript(Renderer(target, choose("none", "dark", target.colours)), clock), clock


def test_a_model_that_says_nothing_yet_is_waited_for_with_a_clock() -> None:
    shown, clock = transcript()
    shown.feed(StepStart(1, "heron-1"))
    assert shown.tail(8) == []
    clock.now += 12
    assert shown.tail(8) == ["○ waiting for heron-1 12 s"]
    shown.feed(TextPart("well"))
    assert shown.tail(8) == ["well"]


def test_a_compaction_shows_its_time_while_it_runs_and_afterwards() -> None:
    shown, clock = transcript()
    shown.feed(Compacting(9000, "the window is nearly full"))
    clock.now += 7
    assert shown.tail(8) == [
        "○ compacting 9000 tokens (the window is nearly full) 7 s (…",
    ]
    shown.feed(Retry(1, 4.0, "overloaded"))
    clock.now += 1
    assert shown.tail(8)[-1] == "repeat 1 waits; again in 3 s (Esc stops)"
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
    shown.feed(TextPart("```\n" + "".join(f"line {n}\n" for n in range(3))))
    assert MORE not in shown.tail(6)
    shown.feed(TextPart("".join(f"line {n}\n" for n in range(3, 30))))
    assert shown.tail(4) == [MORE, "line 28", "line 29", ""]
    assert shown.tail(2) == ["line 29", ""]


def test_the_tail_breaks_lines_at_blanks_as_the_block_will() -> None:
    assert wrap_tail("many words that go on and on", 12, 3) == [
        "many words",
        "that go on",
        "and on",
    ]
    assert wrap_tail("漢" * 9, 10, 2) == ["漢" * 5, "漢" * 4]
