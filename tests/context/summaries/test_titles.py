"""A title is one short clean line, whatever the model answers; its request stays small."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.context.outbound import OutboundRules
from agentsh.context.projection import Context, Item
from agentsh.context.summaries.titles import MAX_TITLE, plan_title, title_of, title_request
from agentsh.context.tokens import estimate_text
from agentsh.messages import Text, UserMessage


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Herons of the lake", "Herons of the lake"),
        ('  "Herons of the lake."\n', "Herons of the lake"),
        ("“Herons”.", "Herons"),
        ("„Reiher am See“", "Reiher am See"),
        ("**Title: Herons**", "Herons"),
        ("# Herons\n\nThis title says it all.", "Herons"),
        ("<think>Which?\nHm.</think>\nHerons", "Herons"),
        ("<think>never ended", None),
        ("`a` and `b`", "`a` and `b`"),
        ("__init__ is missing", "__init__ is missing"),
        ("#42 crashes", "#42 crashes"),
        ("Her\x1b[31mons\x07\u202e fly\tlow", "Her [31mons fly low"),
        ("サギの湖。", "サギの湖"),
        ("", None),
        (' "." \n\n', None),
        ("\ud800", "\ufffd"),
    ],
)
def test_an_answer_is_cleaned(answer: str, title: str | None) -> None:
    assert title_of(answer) == title


def test_a_long_answer_is_cut_at_a_word() -> None:
    title = title_of("herons and " * 20)

    assert title is not None
    assert len(title) <= MAX_TITLE
    assert title.endswith(("herons…", "and…"))


@given(st.text() | st.text(alphabet="\"'.*#> \n\x1b<think>/-a", max_size=90))
def test_whatever_is_answered_a_title_is_one_printable_line(answer: str) -> None:
    title = title_of(answer)

    assert title is None or (title.isprintable() and 0 < len(title) <= MAX_TITLE)
    assert title is None or title == title.strip()


@given(st.lists(st.integers(0, 30_000), min_size=1, max_size=90))
def test_its_request_stays_small_however_long_the_session_is(lengths: list[int]) -> None:
    said = tuple(Item(None, UserMessage((Text("x" * n or "-"),))) for n in lengths)
    context = Context(items=said)
    plan = plan_title(context)

    assert plan is not None
    asked = title_request(context, OutboundRules("p", "m", "openai-completions"), plan)
    assert asked.tools == ()
    assert sum(estimate_text(str(m.content)) for m in asked.messages) < 1500


def test_where_nothing_was_said_there_is_nothing_to_name() -> None:
    assert plan_title(Context()) is None
