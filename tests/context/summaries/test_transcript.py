"""A conversation as one text keeps to its budget."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from agentsh.context.projection import ContextMessage, project
from agentsh.context.summaries.transcript import (
    _STEPS,
    MIN_BUDGET,
    _parts,
    clipped,
    render_transcript,
)
from agentsh.context.tokens import estimate_text
from agentsh.messages import BashExecutionMessage, Image, Message, Thinking
from agentsh.session.format.entries import Body, Branch, BranchSummary, CustomMessage
from tests.context.builders import PNG, bodies, call, context, path, result, said, talks, user


def rendered(*made: Body | Message, budget: int = 10_000, results: bool = True) -> str:
    messages = [item.message for item in context(*made).items]
    return render_transcript(messages, budget, results=results)


def test_everything_that_was_said_is_labelled() -> None:
    text = rendered(
        user("look", Image(PNG, "image/png")),
        said(Thinking("hm"), "on it", call("a", "bash", command="ls")),
        result("a", "out", error=True, tool="bash"),
        BashExecutionMessage("make", "done"),
        CustomMessage("x", user("note").content),
        BranchSummary("detour", "e0"),
    )
    assert text.split("\n\n") == [
        "[User]: look\n[image]",
        "[Assistant thinks]: hm",
        "[Assistant]: on it",
        '[Assistant calls]: bash(command="ls")',
        "[Result of bash (error)]: out",
        "[User]: I ran this command myself: `make`\n```\ndone\n```",
        "[Note]: note",
        "[Summary of a branch]: detour",
    ]


def test_results_can_be_left_out() -> None:
    talk = (user("go"), said(call("a")), result("a", "secret"))
    assert "secret" in rendered(*talk)
    assert "secret" not in rendered(*talk, results=False)


def test_a_long_result_is_clipped_in_the_middle_and_says_so() -> None:
    text = rendered(user("go"), said(call("a")), result("a", "A" + "x" * 9000 + "Z"))
    assert "characters left out" in text
    assert text.endswith("Z")
    assert len(text) < 2200


def test_under_pressure_the_first_part_and_the_newest_stay() -> None:
    talk = [
        m for i in range(200) for m in (user(f"question {i} " + "x" * 200), said(f"answer {i}"))
    ]
    text = rendered(*talk, budget=1000)
    assert "question 0 " in text
    assert "answer 199" in text
    assert "question 50 " not in text
    assert "parts left out here" in text


def test_a_long_first_part_gives_way_to_all_the_others() -> None:
    text = rendered(user("x" * 4000), said("y" * 280), said("z" * 280), budget=300)
    assert "parts left out" not in text
    assert text.index("characters left out") < text.index("y" * 280) < text.index("z" * 280)


def test_text_cannot_end_the_element_that_it_is_put_into() -> None:
    assert "</conversation>" not in rendered(user("a </conversation> b"))


def test_clipping_keeps_beginning_and_end() -> None:
    assert clipped("short", 10) == "short"
    assert clipped("a" * 60 + "b" * 60, 30) == (
        "a" * 20 + "\n[… 90 characters left out …]\n" + "b" * 10
    )


@given(bodies(), st.integers(0, 2000))
def test_no_transcript_is_larger_than_its_budget(made: list[Body], budget: int) -> None:
    messages = [item.message for item in project(Branch(path(*made))).items]
    assert estimate_text(render_transcript(messages, budget)) <= max(budget, MIN_BUDGET)


@given(talks(), st.integers(300, 1500))
def test_no_transcript_of_a_long_talk_is_larger_than_its_budget(
    talk: list[Message], budget: int
) -> None:
    text = rendered(*talk, *talk, *talk, budget=budget)
    assert estimate_text(text) <= budget
    assert "question 0" in text


def _plainly(messages: Sequence[ContextMessage], budget: int) -> str:
    """What `render_transcript` says, by way of every part of every message."""
    parts: list[str] = []
    for limits in _STEPS:
        parts = [p for m in messages for p in _parts(m, limits, results=True)]
        if sum(estimate_text(p) + 1 for p in parts) <= budget:
            return "\n\n".join(parts)
    first = clipped(parts[0], budget)
    room = budget - estimate_text(first) - 40
    kept: list[str] = []
    for part in reversed(parts[1:]):
        room -= estimate_text(part) + 1
        if room < 0:
            break
        kept.insert(0, part)
    gone = len(parts) - 1 - len(kept)
    return "\n\n".join([first, *[f"[{gone} parts left out here]"][: gone > 0], *kept])


@given(st.lists(bodies(), max_size=6), st.integers(300, 700))
def test_counting_what_is_left_out_changes_nothing(made: list[list[Body]], budget: int) -> None:
    found = project(Branch(path(*[body for each in made for body in each])))
    messages = [item.message for item in found.items]
    assert render_transcript(messages, budget) == _plainly(messages, budget)


@given(talks(), st.integers(300, 3000))
def test_nor_does_it_in_a_long_talk(talk: list[Message], budget: int) -> None:
    messages = [item.message for item in context(*talk, *talk, *talk).items]
    assert render_transcript(messages, budget) == _plainly(messages, budget)
