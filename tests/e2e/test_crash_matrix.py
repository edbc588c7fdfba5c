"""SIGKILL at nine points of a turn, in a first turn, a later one, and on a branch (R38, R39)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability import crash_cell, crash_row, documented
from tests.support.crash import HALF, PLACES, POINTS, crash
from tests.support.endpoint import serve, text

UNKNOWN = "TOOL_OUTCOME_UNKNOWN"
EXPECTED = {
    "after user": (("prompt",), ""),
    "after request": (("prompt", "request"), ""),
    "mid-stream": (("prompt", "request"), ""),
    "after assistant": (("prompt", "request", "call"), "TOOL_NOT_STARTED"),
    "after tool start": (("prompt", "request", "call", "start"), UNKNOWN),
    "mid-tool": (("prompt", "request", "call", "start"), UNKNOWN),
    "after result": (("prompt", "request", "call", "start", "result"), ""),
    "before turn end": (
        ("prompt", "request", "call", "start", "result", "request", "answer"),
        "",
    ),
    "mid-write": (("prompt", "request", "call", "start"), UNKNOWN),
}


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("point", POINTS)
def test_r38_killed_there_everything_before_is_kept_and_it_goes_on(
    place: str, point: str, tmp_path: Path
) -> None:
    with serve(text("unused")) as endpoint:
        found = crash(place, point, tmp_path, endpoint)

    assert (found.kept, found.code) == EXPECTED[point]
    assert found.repairs == 1
    row = documented(point)
    assert row[:3] == crash_row(point, found)
    assert row[3 + PLACES.index(place)] == crash_cell(found)
    match found.code:
        case "TOOL_NOT_STARTED":  # R59
            assert "was not started" in found.text
            assert "may be called again" in found.text
        case "TOOL_OUTCOME_UNKNOWN":  # R56: unknown, never success
            assert "outcome is unknown" in found.text
        case _:
            assert found.text == ""
    if point == "mid-tool":  # R22
        assert HALF in found.text
        assert "still running" in found.text
