"""A time as a person says it (2026-01-31, 2026-01, 3d, 12h) → as session files spell it, in UTC.

What is typed is the time where the person is, unless it ends in Z. Times in files are text that
sorts by time. It stands alone because it knows the clock and no session.
"""

from __future__ import annotations

import re
import time
from calendar import timegm
from collections.abc import Sequence

from agentsh.errors import UsageError
from agentsh.session.format.times import iso_time

_AGO = re.compile(r"(\d{1,5})\s*([hdwmy])")
_SECONDS = {"h": 3600, "d": 86400, "w": 7 * 86400, "m": 30 * 86400, "y": 365 * 86400}
_LAST_FIELD = {7: 1, 10: 2, 16: 4, 19: 5}
"""The field of a broken-down time that each form ends in."""
_FORMS = {7: "%Y-%m", 10: "%Y-%m-%d", 16: "%Y-%m-%dT%H:%M", 19: "%Y-%m-%dT%H:%M:%S"}


def since(word: str, now: float) -> str:
    """The first moment that counts. Raises UsageError."""
    return iso_time(_span(word, now)[0])


def until(word: str, now: float) -> str:
    """What comes before it counts; a day, a month, a minute that is named counts whole."""
    return iso_time(_span(word, now)[1])


def _span(word: str, now: float) -> tuple[float, float]:
    """Begin and end of the span of time that the words mean."""
    if ago := _AGO.fullmatch(word.strip().lower()):
        moment = max(0.0, now - int(ago[1]) * _SECONDS[ago[2]])
        return moment, moment + 0.001
    said = word.strip().upper().replace(" ", "T")
    text = said.removesuffix("Z").partition(".")[0]
    try:
        first = time.strptime(text, _FORMS[len(text)])
        following = list(first)
        following[_LAST_FIELD[len(text)]] += 1
        if said.endswith("Z"):
            return float(timegm(first)), float(timegm(_carried(following)))
        # whether it is summer time there and then, the system knows
        return _local(first), _local(following)
    except (KeyError, ValueError, OverflowError):
        raise UsageError(
            f"{word[:60]!r} is no time", hint="for example 2026-01-31, 2026-01, 12h, 3d, 2w"
        ) from None


def _local(fields: Sequence[int]) -> float:
    year, month, day, hour, minute, second = fields[:6]
    return time.mktime((year, month, day, hour, minute, second, 0, 1, -1))


def _carried(fields: list[int]) -> tuple[int, ...]:
    """A thirteenth month is the first of the next year; what is smaller, the sum carries itself."""
    year, month = fields[0] + (fields[1] - 1) // 12, (fields[1] - 1) % 12 + 1
    return (year, month, *fields[2:])
