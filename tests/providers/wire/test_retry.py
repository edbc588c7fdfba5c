from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.errors import (
    ConnectionFailedError,
    EmptyAnswerError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitedError,
    RequestRejectedError,
    ServerFailedError,
    StreamProtocolError,
)
from agentsh.providers.wire.retry import (
    DEFAULT_RETRIES,
    LONGEST_NAMED_WAIT,
    LONGEST_WAIT,
    plan_retry,
)
from agentsh.providers.wire.waits import read_retry_after

WEATHER = (ConnectionFailedError, ProviderTimeoutError, ServerFailedError, EmptyAnswerError)


@pytest.mark.parametrize("kind", WEATHER)
def test_weather_is_tried_again_within_two_seconds(kind: type[ProviderError]) -> None:
    for jitter in (0.0, 1.0):
        wait = plan_retry(kind("x"), attempt=1, jitter=jitter)

        assert wait is not None
        assert 0 < wait <= 2


@pytest.mark.parametrize("kind", [RequestRejectedError, StreamProtocolError])
def test_what_cannot_succeed_is_not_tried_again(kind: type[ProviderError]) -> None:
    assert plan_retry(kind("x"), attempt=1) is None


def test_the_number_of_retries_is_bounded() -> None:
    waits = [plan_retry(ServerFailedError("x"), attempt=n, max_retries=2) for n in (1, 2, 3)]

    assert [w is not None for w in waits] == [True, True, False]
    assert plan_retry(ServerFailedError("x"), attempt=1, max_retries=0) is None


def test_nothing_is_repeated_that_was_handed_out() -> None:
    error = ServerFailedError("x")
    error.emitted = True

    assert plan_retry(error, attempt=1) is None
    assert plan_retry(error, attempt=1, from_stored_state=True) is not None


@given(st.floats(0, 600), st.floats(0, 1))
def test_a_wait_that_the_server_names_is_kept_in_full(named: float, jitter: float) -> None:
    wait = plan_retry(RateLimitedError("x", retry_after=named), attempt=1, jitter=jitter)

    assert wait is not None
    assert named <= wait <= named + 1


def test_a_wait_of_hours_is_the_users_to_decide() -> None:
    assert plan_retry(RateLimitedError("x", retry_after=7200), attempt=1) is None


@given(st.integers(1, 5000), st.floats(0, 1))
def test_waits_grow_and_are_capped(attempt: int, jitter: float) -> None:
    def wait(n: int) -> float:
        planned = plan_retry(ServerFailedError("x"), attempt=n, max_retries=9999, jitter=jitter)
        assert planned is not None
        return planned

    assert wait(attempt) <= wait(attempt + 1) <= LONGEST_WAIT * 1.25


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": formatdate(1_000_005, usegmt=True)}, 5.0),
        ({"retry-after": formatdate(999_000, usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert read_retry_after(headers, now=1_000_000.0) == seconds


@given(st.integers(1_000_000, 4_000_000_000))
def test_every_http_date_is_a_wait_until_then(at: int) -> None:
    dated = {"retry-after": formatdate(at, usegmt=True)}

    assert read_retry_after(dated, now=1_000_000.0) == at - 1_000_000


@pytest.mark.parametrize("text", ["", "yesterday", "Sun, 06 Foo 1994 08:49:37 GMT"])
def test_what_is_no_date_names_no_wait(text: str) -> None:
    assert read_retry_after({"retry-after": text}, now=0.0) is None


def test_the_old_form_of_a_date_is_read() -> None:
    dated = {"retry-after": "Sunday, 06-Nov-94 08:49:37 GMT"}

    assert read_retry_after(dated, now=784111770.0) == 7


def test_a_server_that_stayed_silent_is_asked_once_more_and_no_oftener() -> None:
    silent = ProviderTimeoutError("silent")
    silent.is_silence = True

    assert plan_retry(silent, attempt=1, max_retries=9) is not None
    assert plan_retry(silent, attempt=2, max_retries=9) is None
    assert plan_retry(ProviderTimeoutError("later"), attempt=2, max_retries=9) is not None


@pytest.mark.parametrize(
    ("attempt", "shortest", "longest"),
    [(1, 0.75, 1.25), (2, 1.5, 2.5), (6, 24.0, 40.0), (7, 45.0, 75.0), (5000, 45.0, 75.0)],
)
def test_our_own_wait_doubles_up_to_a_minute_and_chance_moves_it_by_a_quarter(
    attempt: int, shortest: float, longest: float
) -> None:
    def wait(jitter: float) -> float | None:
        error = ServerFailedError("x")
        return plan_retry(error, attempt=attempt, max_retries=9999, jitter=jitter)

    assert (wait(0.0), wait(1.0)) == (shortest, longest)


def test_the_last_repeat_is_the_one_that_was_asked_for() -> None:
    error = ServerFailedError("x")

    assert plan_retry(error, attempt=3, max_retries=3) is not None
    assert plan_retry(error, attempt=4, max_retries=3) is None
    assert plan_retry(error, attempt=DEFAULT_RETRIES) is not None
    assert plan_retry(error, attempt=DEFAULT_RETRIES + 1) is None


def test_a_named_wait_is_kept_up_to_its_limit_and_not_beyond() -> None:
    def wait(named: float) -> float | None:
        error = RateLimitedError("x", retry_after=named)
        return plan_retry(error, attempt=1, jitter=0.0)

    assert wait(LONGEST_NAMED_WAIT) == LONGEST_NAMED_WAIT
    assert wait(LONGEST_NAMED_WAIT + 0.001) is None
    assert wait(0.0) == 0.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("0", 0.0), ("999999999", 999_999_999.0), ("1000000000", None), ("-0.1", None), ("inf", None)],
)
def test_a_named_wait_is_a_number_that_can_be_one(value: str, seconds: float | None) -> None:
    assert read_retry_after({"retry-after": value}, now=0.0) == seconds
