"""HTTP dates (RFC 9110 §5.6.7) → seconds since the epoch. Pure.

Not the stdlib's `email.utils`, which brings sockets, random numbers and the calendar of the locale.
"""

from __future__ import annotations

import re
from calendar import timegm
from typing import Final

_MONTHS: Final = (
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
)
_DATE: Final = (
    r"\w{3,9},\s+(?P<day>\d{1,2})[ -](?P<month>[A-Za-z]{3})[ -](?P<year>\d{2,4})\s+"
    r"(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)(?:\s+(?:GMT|UTC|[+-]0000))?\s*\Z"
)


def read_http_date(text: str) -> float | None:
    """None when it is no date in GMT."""
    found = re.match(_DATE, text.strip())
    if found is None or found["month"].lower() not in _MONTHS:
        return None
    year = int(found["year"])
    if year < 100:
        year += 2000 if year < 70 else 1900
    month = _MONTHS.index(found["month"].lower()) + 1
    clock = (int(found["h"]), int(found["m"]), int(found["s"]))
    return float(timegm((year, month, int(found["day"]), *clock)))
