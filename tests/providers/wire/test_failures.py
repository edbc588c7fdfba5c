from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.errors import (
    AuthenticationError,
    ContextOverflowError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitedError,
    RequestRejectedError,
    ServerFailedError,
)
from agentsh.jsontext import JsonValue, dumps
from agentsh.providers.wire.explanation import read_error
from agentsh.providers.wire.failures import ErrorSource, error_of_status
from agentsh.providers.wire.overflow import window_named

KEY = "sk-check-0123456789abcdef0123456789abcdef"
SOURCE = ErrorSource("host:1", (KEY,))
WORDS = "the purple option is not known here"


def error(
    status: int, body: JsonValue | bytes, source: ErrorSource = SOURCE, **headers: str
) -> ProviderError:
    data = body if isinstance(body, bytes) else dumps(body)
    return error_of_status(source, status, headers, data, now=0.0)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": WORDS}},
        {"error": WORDS},
        {"message": WORDS},
        {"detail": WORDS},
        {"errors": [{"message": WORDS}]},
        {"error": {"message": {"detail": WORDS}}},
        [{"error": {"code": 400, "message": WORDS, "status": "INVALID_ARGUMENT"}}],
        {"detail": [{"type": "value_error", "loc": ["body"], "msg": WORDS}]},
        WORDS,
        WORDS.encode(),
    ],
)
def test_the_servers_words_are_found_in_a_body_of_any_shape(body: JsonValue | bytes) -> None:
    made = error(400, body)

    assert type(made) is RequestRejectedError
    assert made.words == WORDS
    assert str(made) == f"host:1: HTTP 400 Bad Request: {WORDS}"


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, RequestRejectedError, False),
        (401, AuthenticationError, False),
        (403, AuthenticationError, False),
        (404, RequestRejectedError, False),
        (408, ProviderTimeoutError, True),
        (413, ContextOverflowError, False),
        (422, RequestRejectedError, False),
        (429, RateLimitedError, True),
        (500, ServerFailedError, True),
        (501, ServerFailedError, False),
        (502, ServerFailedError, True),
        (503, ServerFailedError, True),
        (529, ServerFailedError, True),
        (302, RequestRejectedError, False),
    ],
)
def test_a_status_is_a_kind_of_error(
    status: int, kind: type[ProviderError], retryable: bool
) -> None:
    made = error(status, {"error": {"message": "odd"}})

    assert (type(made), made.retryable, made.status) == (kind, retryable, status)


def test_a_key_that_is_refused_says_what_is_known_of_where_it_came_from() -> None:
    source = ErrorSource("host", key_hint="It comes from HERON_KEY.")
    assert error_of_status(source, 401, {}, b"no", now=0).hint == "It comes from HERON_KEY."
    assert error_of_status(source, 403, {}, b"no", now=0).hint is None
    assert error(401, b"no").hint is None


def test_a_quota_that_is_used_up_is_not_waited_for() -> None:
    made = error(429, {"error": {"message": "pay first", "code": "insufficient_quota"}})

    assert not made.retryable


def test_a_page_of_a_gateway_is_a_short_excerpt_without_markup() -> None:
    page = b"<html><head><style>p{}</style><title>502 Bad Gateway</title></head><body>" + (
        b"<div class='x'>The upstream is away.</div>\n" * 500
    )
    made = error(502, page)

    assert len(str(made)) < 300
    assert "502 Bad Gateway The upstream is away." in str(made)
    assert "<" not in str(made)


def test_a_redirect_is_named_and_not_followed() -> None:
    assert "elsewhere.example" in str(error(307, b"", location="https://elsewhere.example/v1"))


def test_no_explanation_is_said_to_be_none() -> None:
    assert str(error(500, b"")) == "host:1: HTTP 500 Internal Server Error (no explanation)"


# ---- overflow --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "window"),
    [
        ({"error": "prompt too long; exceeded max context length by 4096 tokens"}, None),
        (
            {"error": "Input length (300001) exceeds model's maximum context length (262144)."},
            262144,
        ),
        (
            {
                "error": {
                    "message": "This model's maximum context length is 32768 tokens. However, your"
                    " messages resulted in 42000 tokens. Please reduce the length of the messages.",
                    "code": "context_length_exceeded",
                }
            },
            32768,
        ),
        (
            {
                "error": {
                    "code": 400,
                    "message": "request (60919 tokens) exceeds the available context size (16384"
                    " tokens), try increasing it",
                    "type": "exceed_context_size_error",
                }
            },
            16384,
        ),
        ({"message": "Too much for me.", "code": "context_length_exceeded"}, None),
        ({"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}, None),
        (
            {
                "error": {
                    "message": "The input token count (1200000) exceeds the maximum number of"
                    " tokens allowed (1048576)."
                }
            },
            None,
        ),
        (
            {
                "object": "error",
                "message": "This model's maximum context length is 4096 tokens. However, you"
                " requested 5000 tokens (4000 in the messages, 1000 in the completion).",
            },
            4096,
        ),
        (
            {
                "message": "Requested token count exceeds the model's maximum context length of"
                " 131,072 tokens."
            },
            131072,
        ),
        (
            {"error": "Trying to keep the first 9000 tokens when context overflows. However, the"
                " model is loaded with context length of only 4096 tokens, which is too small."},
            4096,
        ),
    ],
)  # fmt: skip
def test_overflow_is_known_in_the_words_of_many_servers(
    body: JsonValue, window: int | None
) -> None:
    made = error(400, body)

    assert type(made) is ContextOverflowError
    if window is not None:
        assert made.window == window


@pytest.mark.parametrize(
    "words",
    [
        WORDS,
        "Unsupported parameter: 'max_tokens' is not supported with this model.",
        "messages.0.content: input should be a valid string",
        "Request too large for the tier: tokens per minute (TPM): Limit 6000",
        "Invalid value: 'max_tokens' must be at least 1",
        "image exceeds 5 MB maximum",
        "Unrecognized request argument supplied: max_context",
    ],
)
def test_other_refusals_are_no_overflow(words: str) -> None:
    assert type(error(400, {"error": {"message": words}})) is RequestRejectedError


def test_a_pattern_of_the_user_is_an_overflow_as_well() -> None:
    source = ErrorSource("host:1", overflow=re.compile("the jar is full", re.IGNORECASE))

    assert type(error(400, {"error": "The jar is full."}, source)) is ContextOverflowError


def test_a_window_is_the_smallest_number_that_can_be_one() -> None:
    assert window_named("context length 200 is silly") is None


# ---- what must not be shown ------------------------------------------------------------------


def test_the_key_is_taken_out_of_what_is_said() -> None:
    made = error(401, {"error": {"message": f"Incorrect API key provided: {KEY}. See there."}})

    assert KEY not in str(made) + made.words
    assert "Incorrect API key provided: [key]. See there." in str(made)


def test_what_looks_like_a_key_is_taken_out_too() -> None:
    text = "no such key: sk-proj-abcdefghijklmnopqrstuv, Bearer abcdefghijklmnop"

    assert ErrorSource("h").scrub(text) == "no such key: [key], [key]"


def test_control_codes_and_line_breaks_are_blanks() -> None:
    assert ErrorSource("h").scrub("a\x1b[31mb\x07\r\n c\u202ed") == "a [31mb c d"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["error", "message", "detail", "code", "x"]), inner)
        ),
    )
)
def test_no_error_value_is_too_odd(value: JsonValue) -> None:
    said = read_error(SOURCE.scrub, value)

    assert "\n" not in said.words
    assert len(said.words) < 4000


@given(st.binary(max_size=200), st.integers(300, 599))
def test_no_body_is_too_odd(body: bytes, status: int) -> None:
    assert str(error(status, body)).startswith(f"host:1: HTTP {status}")
