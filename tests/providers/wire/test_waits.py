from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.jsontext import JsonValue
from agentsh.providers.wire.waits import named_wait, read_retry_after, spoken

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ([{"error": {"details": [{"@type": "x.RetryInfo", "retryDelay": "4s"}]}}], 4.0),
        ({"error": {"message": "Limit 30000. Please try again in 4s."}}, 4.0),
        ({"error": {"message": "Please retry after 20 seconds."}}, 20.0),
        ({"error": {"message": "Please try again in 6m0s."}}, 360.0),
        ({"error": {"message": "please wait 2 minutes and 5 seconds"}}, 125.0),
        ({"error": {"message": "try again in 1.5 hours"}}, 5400.0),
        ({"message": "Retry the request in 250ms"}, 0.25),
        ({"error": {"retry_after": 7}}, 7.0),
        ({"error": {"retryAfterMs": 1500}}, 1.5),
        ({"error": {"retry_after_seconds": "30"}}, 30.0),
        ({"error": {"resets_in_seconds": 90}}, 90.0),
        ({"error": {"resets_at": NOW + 60}}, 60.0),
        ({"error": {"resets_at": (NOW + 60) * 1000}}, 60.0),
        ({"error": {"reset_at": "2027-01-15T08:01:00Z"}}, 60.0),
        ("try again in 3s", 3.0),
        (
            {
                "error": {
                    "metadata": {
                        "headers": {
                            "X-RateLimit-Remaining": "0",
                            "X-RateLimit-Reset": str(int(NOW + 60) * 1000),
                        }
                    }
                }
            },
            60.0,
        ),
        ({"X-RateLimit-Remaining": 3, "X-RateLimit-Reset": int(NOW + 60)}, None),
        ({"error": {"message": "Limit 30000 tokens per min. 4 models are busy."}}, None),
        ({"error": {"message": "try again later"}}, None),
        ({"error": {"resets_at": NOW - 60, "retry_after": -1}}, None),
        ({"error": {"message": "try again in 4 months"}}, None),
    ],
)
def test_a_wait_is_found_wherever_it_is_named(value: JsonValue, seconds: float | None) -> None:
    assert named_wait(value, now=NOW) == seconds


def test_a_header_may_have_a_unit() -> None:
    assert read_retry_after({"retry-after": "4s"}, now=0.0) == 4.0
    assert read_retry_after({"x-ratelimit-reset-after": "1.5"}, now=0.0) == 1.5


def test_the_end_of_a_count_is_a_wait_only_where_nothing_of_it_is_left() -> None:
    headers = {
        "x-ratelimit-remaining-requests": "12",
        "x-ratelimit-reset-requests": "6m0s",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "4s",
    }

    assert read_retry_after(headers, now=NOW) == 4.0
    assert read_retry_after({**headers, "retry-after": "2"}, now=NOW) == 2.0
    assert read_retry_after({**headers, "x-ratelimit-remaining-tokens": "1"}, now=NOW) is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (4.2, "5 s"),
        (61, "2 min"),
        (14_400, "4 h"),
        (14_401, "4 h 1 min"),
        (259_199.3, "3 d"),
        (90_061, "1 d 1 h"),
    ],
)
def test_a_wait_is_said_rounded_up_in_two_units(seconds: float, words: str) -> None:
    assert spoken(seconds) == words


@given(st.text(max_size=80), st.dictionaries(st.text(max_size=12), st.text(max_size=20)))
def test_no_body_names_a_wait_that_cannot_be_waited_for(text: str, members: JsonValue) -> None:
    for value in (text, members, {"retry_after": text}):
        wait = named_wait(value, now=NOW)
        assert wait is None or 0 <= wait < 1e9
