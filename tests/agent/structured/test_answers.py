"""An answer is read as it is, or not at all."""

from __future__ import annotations

import pytest

from agentsh.agent.structured.answers import (
    MOST_COMPLAINT,
    AnswerSchema,
    StructuredAnswer,
    fenced_blocks,
)
from agentsh.jsontext import JsonValue


def fits(_: JsonValue) -> str | None:
    return None


ANY = AnswerSchema({"type": "object"}, fits)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"birds":4}', {"birds": 4}),
        ('\ufeff {"birds":4}\n', {"birds": 4}),
        ('Here:\n```json\n{"birds":4}\n```\nDone.', {"birds": 4}),
        ("~~~\n[1,\n2]\n~~~", [1, 2]),
        ("```\n1", 1),
        ("````md\n1\n````", 1),
        ("```json\r\n1\r\n```\r\n", 1),
        ('"```\\n1\\n```\\n```\\n2\\n```"', "```\n1\n```\n```\n2\n```"),
        ("12345678901234567890123", 12345678901234567890123),
        ("null", None),
    ],
)
def test_the_value_is_the_whole_answer_or_its_only_fenced_block(
    text: str, value: JsonValue
) -> None:
    assert ANY.read(text) == StructuredAnswer(value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Expecting value"),
        ("four", "Expecting value"),
        ('I say {"birds":4}', "Expecting value"),
        ("```\n1\n```\nor\n```\n2\n```", "2 fenced blocks"),
        ("NaN", "NaN is no JSON value"),
        ("[" * 101 + "]" * 101, "nested in more than 100 levels"),
    ],
)
def test_what_is_no_value_is_not_guessed_at(text: str, why: str) -> None:
    complaint = ANY.read(text).complaint

    assert complaint is not None
    assert why in complaint


def test_the_schema_said_back_is_no_value() -> None:
    assert ANY.read('{"type":"object"}').complaint == (
        "it is the schema itself, and not a value that fits"
    )
    assert AnswerSchema({}, fits).read("{}") == StructuredAnswer({})


def test_a_complaint_has_an_end() -> None:
    long = AnswerSchema({}, lambda value: "x" * 9999)

    assert long.read("1") == StructuredAnswer(1, "x" * MOST_COMPLAINT)


def test_a_fence_ends_with_as_many_signs_as_it_began_with() -> None:
    assert fenced_blocks("````\n```\n1\n```\n````\n") == ["```\n1\n```"]


def test_the_schema_is_told_whole() -> None:
    assert ANY.asked.endswith('\n{"type":"object"}')
    assert "it is no JSON" in ANY.asked_again("it is no JSON")
