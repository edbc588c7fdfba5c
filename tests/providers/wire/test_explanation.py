from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.providers.wire.explanation import read_error
from agentsh.providers.wire.failures import ErrorSource

SCRUB = ErrorSource("host:1", ("sk-0123456789abcdef",)).scrub
REASON = "the tool named heron has no schema"


@pytest.mark.parametrize(
    "more",
    [
        {"metadata": {"provider_name": "pond", "raw": json.dumps({"error": {"message": REASON}})}},
        {"metadata": {"raw": REASON}},
        {"details": [{"issue": REASON}]},
        {"innererror": {"code": "BadSchema", "message": REASON}},
        {"failed_output": REASON},
        {"cause": {"cause": {"message": REASON}}},
        {"upstream": [{"error": REASON}]},
    ],
)
def test_the_reason_is_shown_behind_the_message_whatever_holds_it(more: JsonObject) -> None:
    said = read_error(SCRUB, {"error": {"message": "Provider returned error", **more}})

    assert said.words == f"Provider returned error: {REASON}"


@pytest.mark.parametrize(
    ("value", "words", "fields"),
    [
        (
            {"detail": [{"loc": ["body", "max_tokens"], "msg": "Extra inputs", "input": 512}]},
            "max_tokens: Extra inputs",
            ("max_tokens",),
        ),
        (
            {"detail": [{"loc": ["body", "messages", 0, "content"], "msg": "not a string"}]},
            "messages.0.content: not a string",
            ("messages",),
        ),
        (
            {"errors": [{"source": {"pointer": "/seed"}, "detail": "is unknown"}]},
            "seed: is unknown",
            ("seed",),
        ),
        (
            {"title": "Wrong fields", "errors": {"/stream_options": ["is not allowed here"]}},
            "Wrong fields: stream_options: is not allowed here",
            ("stream_options",),
        ),
        (
            {"error": {"message": "Failed", "fields": [{"name": "seed", "reason": "unknown"}]}},
            "Failed: seed: unknown",
            ("seed",),
        ),
        (
            {"error": {"message": "Unknown parameter", "param": "messages.[1].content"}},
            "messages.1.content: Unknown parameter",
            ("messages",),
        ),
        (
            {"error": {"message": "Unsupported parameter: 'seed'", "param": "seed"}},
            "Unsupported parameter: 'seed'",
            ("seed",),
        ),
        (
            {"error": {"message": "Bad", "details": [{"pointer": "#/tools/0", "detail": "odd"}]}},
            "Bad: tools.0: odd",
            ("tools",),
        ),
    ],
)
def test_a_field_is_found_beside_the_words(
    value: JsonValue, words: str, fields: tuple[str, ...]
) -> None:
    said = read_error(SCRUB, value)

    assert (said.words, said.fields) == (words, fields)


def test_nothing_is_said_twice_and_marks_are_no_words() -> None:
    value: JsonValue = {
        "error": {
            "message": "No such model here.",
            "type": "not found error",
            "details": [
                {"@type": "a b", "locale": "en US", "message": "No such model here."},
                {"retryDelay": "4 s"},
            ],
        }
    }

    assert read_error(SCRUB, value).words == "No such model here."


def test_a_reason_goes_through_the_same_scrubbing_as_the_message() -> None:
    words = read_error(
        SCRUB, {"error": {"message": "No", "raw": "key sk-0123456789abcdef\x1b[2J is <b> bad"}}
    ).words

    assert words == "No: key [key] [2J is <b> bad"


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=30),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["error", "message", "loc", "raw", "details", "param", "field"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_no_explanation_is_too_odd(value: JsonValue) -> None:
    said = read_error(SCRUB, value)

    assert "\n" not in said.words
    assert len(said.words) < 4000
