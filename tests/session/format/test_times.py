"""Times: as they are stored, and as a person reads them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.session.format.times import iso_time, local_minute, local_month, utc_minute


@pytest.fixture(scope="module", autouse=True)
def five_and_a_half_hours_ahead() -> Iterator[None]:
    patch = pytest.MonkeyPatch()
    patch.setenv("TZ", "FAR-5:30")
    time.tzset()
    yield
    patch.undo()
    time.tzset()


@given(st.integers(0, 4_000_000_000))
def test_a_stored_time_is_shown_as_the_clock_here_shows_it(seconds: int) -> None:
    here = time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))

    assert local_minute(iso_time(seconds)) == here
    assert local_month(iso_time(seconds)) == here[:7]


@pytest.mark.parametrize(
    "odd", ["", "soon", "2026-13-01T00:00:00Z", "2026-01-01Tab:cd:00Z", "9" * 30]
)
def test_what_is_no_time_is_shown_as_it_stands(odd: str) -> None:
    assert local_minute(odd) == odd[:16].replace("T", " ")


def test_what_is_read_elsewhere_says_where_it_holds() -> None:
    assert utc_minute("2026-11-29T22:55:00.788Z") == "2026-11-29 22:55 UTC"
    assert utc_minute("") == ""
