from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.providers.wire.failures import Sent
from agentsh.providers.wire.overflow import Judgement, Refusal, counts, judge

SENT = Sent(43_000, 172_000)
OTHER = Judgement("other")
FULL = (
    "'max_tokens' is too large: 60000. This model's maximum context length is 65536 tokens and your"
    " request has 51256 input tokens (60000 > 65536 - 51256)."
)


def verdict(
    words: str, sent: Sent = SENT, status: int | None = 400, fields: tuple[str, ...] = ()
) -> Judgement:
    return judge(Refusal(words, frozenset(), fields, status), sent, None)


@pytest.mark.parametrize(
    "words",
    [
        "This deployment takes prompts of up to 32,768 tokens; yours holds 42,318.",
        "Range of input length should be [1, 32768]",
        "number of tokens in messages (42318) is above 32768",
        "Die Anfrage ist mit 42.318 Token länger als erlaubt (32.768).",
        "提示词长度 42318 超过了最大限制 32768",
        "L'invite compte 42 318 jetons, le maximum est 32 768",
        "42318 > 32768",
        "got 42318, limit is 32768 for this deployment",
    ],
)
def test_a_limit_below_what_was_sent_is_an_overflow_in_any_words(words: str) -> None:
    assert verdict(words) == Judgement("prompt", window=32_768)


@pytest.mark.parametrize(
    "words",
    [
        "At most 128 tools may be given, 131 were",
        "At most 1024 tools may be given, 1310 were",
        "Image 2 has 43000 bytes, 32768 are allowed",
        "max_tokens must be at most 8192, 43000 was given",
        "This key may use 32768 tokens a day; 43000 are used",
        "Rate limit: 32768 tokens per minute, 43000 requested",
        "insufficient credits: 43000 tokens need more than your 32768",
        "the schema of tool 3 is not known here",
        "This prompt was made for another model, one of 131072 tokens",
    ],
)
def test_numbers_about_something_else_fold_nothing(words: str) -> None:
    assert verdict(words) == OTHER


@pytest.mark.parametrize("status", [401, 402, 403, 429])
def test_a_refusal_of_the_person_or_of_the_pace_is_no_overflow(status: int) -> None:
    assert verdict("prompt is too long: 43000 tokens > 32768", status=status) == OTHER


def test_another_field_than_the_messages_is_no_overflow() -> None:
    words = "43000 is above 32768"

    assert verdict(words, fields=("seed",)) == OTHER
    assert verdict(words, fields=("messages",)).subject == "prompt"


def test_a_prompt_that_fits_without_the_answers_limit_asks_for_less() -> None:
    sent = Sent(51_000, 204_000, 60_000)

    assert verdict(FULL, sent) == Judgement("answer", room=12_495)
    assert verdict("max_tokens must be at most 8192, 60000 was given", sent) == Judgement(
        "answer", room=8192
    )


@pytest.mark.parametrize(
    "words",
    [
        "Output limit 60000 is above 16384 for this model",
        "60000 > 16384",
        "Ausgabe: 60.000 verlangt, 16.384 sind erlaubt",
    ],
)
def test_the_limit_that_was_sent_is_known_by_its_number_in_any_words(words: str) -> None:
    assert verdict(words, Sent(51_000, 204_000, 60_000)) == Judgement("answer", room=16_384)


def test_a_prompt_that_leaves_no_room_is_too_long_whatever_field_is_named() -> None:
    words = FULL.replace("51256", "65100")

    assert verdict(words, Sent(60_000, 240_000, 60_000)) == Judgement("prompt", window=65_536)


def test_a_sum_of_prompt_and_answer_is_neither_of_them() -> None:
    words = (
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"
        " (1000 in the messages, 8000 in the completion)."
    )

    assert verdict(words, Sent(1100, 4400, 8000)) == Judgement("answer", room=6293)


def test_a_picture_that_is_too_large_is_no_overflow_of_the_prompt() -> None:
    assert verdict("Request Entity Too Large", status=413).subject == "prompt"
    assert verdict("the image is too large", status=413) == OTHER


def test_numbers_are_read_in_the_spellings_of_many_places() -> None:
    words = "32,768 and 32.768 and 32 768 and 32'768 and 32k and 4.5 and v1.2.3 and 32768."

    assert counts(words) == [32_768, 32_768, 32_768, 32_768, 32_000, 32_768]


WORDS = st.lists(
    st.sampled_from(["alpha", "beta", "größer", "长度", "limit", "is", "of", "up", "to"]),
    max_size=5,
)


@given(
    st.integers(2000, 900_000),
    st.floats(0.72, 1.3),
    st.floats(0.05, 0.95),
    WORDS,
    WORDS,
    st.booleans(),
)
def test_two_numbers_decide_whatever_the_words_and_their_order(
    sent: int, off: float, part: float, one: list[str], two: list[str], limit_first: bool
) -> None:
    counted = round(sent * off)
    limit = max(256, round(counted * part))
    both = [str(limit), str(counted)] if limit_first else [str(counted), str(limit)]
    words = " ".join([*one, both[0], *two, "<", both[1], "!"])

    assert verdict(words, Sent(sent, sent * 4)) == Judgement("prompt", window=limit)


@given(st.integers(300, 1_000_000), st.floats(1.6, 50), WORDS)
def test_a_limit_far_above_what_was_sent_never_folds(
    sent: int, times: float, words: list[str]
) -> None:
    limit = round(sent * 4 * times)

    assert verdict(" ".join([*words, str(limit), "tokens"]), Sent(sent, sent * 4)) == OTHER


@given(st.text(max_size=200), st.sampled_from([400, 413, 422, 500, None]), st.integers(0, 10**7))
def test_no_words_are_too_odd(words: str, status: int | None, sent: int) -> None:
    made = judge(Refusal(words, frozenset(), (), status), Sent(sent, sent * 4), None)

    assert made.subject in ("prompt", "answer", "other")
