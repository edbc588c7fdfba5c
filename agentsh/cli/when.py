"""A time as a person says it (2026-01-31, 2026-01, 3d, 12h) → as session files spell it, in UTC.

Times in files are text that sorts by time, so a day is the beginning of all its times.
"""

from __future__ import annotations

import re
import time

from agentsh.errors import UsageError
from agentsh.session.times import iso_time

_AGO = re.compile(r"(\d{1,5})\s*([hdwmy])")
_SECONDS = {"h": 3600, "d": 86400, "w": 7 * 86400, "m": 30 * 86400, "y": 365 * 86400}
_FORMS = {7: "%Y-%m", 10: "%Y-%m-%d", 16: "%Y-%m-%dT%H:%M", 19: "%Y-%m-%dT%H:%M:%S"}
# sorts behind all that goes on after the text before it
_LAST = "~"


def since(word: str, now: float) -> str:
    """The first moment that counts. Raises UsageError."""
    return _moment(word, now)


def until(word: str, now: float) -> str:
    """What comes before it counts; a day, a month, a minute that is named counts whole."""
    return _moment(word, now) + _LAST


def _moment(word: str, now: float) -> str:
    if ago := _AGO.fullmatch(word.strip().lower()):
        return iso_time(max(0.0, now - int(ago[1]) * _SECONDS[ago[2]]))
    text = word.strip().upper().replace(" ", "T").removesuffix("Z").partition(".")[0]
    try:
        time.strptime(text, _FORMS[len(text)])
    except (KeyError, ValueError):
        raise UsageError(
            f"{word[:60]!r} is no time", hint="for example 2026-01-31, 2026-01, 12h, 3d, 2w"
        ) from None
    return text
