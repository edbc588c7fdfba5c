"""The display in the time that it took (R03: the timed projection)."""

from __future__ import annotations

from agentsh.session.format.entries import Entry, EntryId, Label
from agentsh.ui.text.pacing import LONGEST_PAUSE, paced


def at(time: str) -> Entry:
    return Entry(EntryId("e"), None, time, Label(EntryId("x"), "y"))


def waits(speed: float, *times: str) -> list[float]:
    return [round(wait, 3) for wait, _ in paced([at(time) for time in times], speed)]


def test_pauses_are_those_of_then_made_shorter_and_never_long() -> None:
    seconds = "2026-01-01T00:00:{}Z".format
    times = seconds("00.000"), seconds("01.000"), seconds("01.500"), seconds("59.000")

    assert waits(1, *times) == [0, 1, 0.5, LONGEST_PAUSE]
    assert waits(2, *times) == [0, 0.5, 0.25, LONGEST_PAUSE]
    assert waits(100, *times) == [0, 0.01, 0.005, 0.575]


def test_a_time_that_is_none_or_runs_back_is_no_pause() -> None:
    assert waits(1, "nonsense", "2026-01-01T00:00:05Z", "", "2026-01-01T00:00:04Z") == [0, 0, 0, 0]
    assert waits(1, "2026-01-01T00:00:05Z", "?", "2026-01-01T00:00:06Z") == [0, 0, 1]
