"""Times as a session file spells them (ISO 8601, UTC, milliseconds, `Z`), and as people do.

What a person reads or types is in the time of the place where they are; what is stored or given to
a program is in UTC and says so. It imports nothing but the clock: lists are made with it.
"""

from __future__ import annotations

import time


def iso_time(seconds: float) -> str:
    """Seconds since 1970 → `2026-11-29T22:55:00.788Z`."""
    millis = int(seconds * 1000)
    whole, thousandths = divmod(millis, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{thousandths:03d}Z"


def local_minute(stored: str) -> str:
    """`2026-11-29T22:55:00.788Z` → `2026-11-29 23:55` where that is the time; else as it stands."""
    try:
        here = time.localtime(_seconds(stored))
    except (ValueError, OverflowError, OSError):
        return stored[:16].replace("T", " ")
    year, month, day, hour, minute, *_ = here
    return f"{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}"


def utc_minute(stored: str) -> str:
    """`2026-11-29 22:55 UTC`, for what is read elsewhere."""
    return stored[:16].replace("T", " ") + " UTC" if stored else ""


def local_month(stored: str) -> str:
    """`2026-11`; empty where there is no time."""
    return local_minute(stored)[:7]


def _seconds(stored: str) -> int:
    """Since 1970, of a time in UTC to the second. Raises ValueError."""
    if len(stored) < 16 or stored[10] not in "T ":
        raise ValueError(stored)
    year, month, day = int(stored[:4]), int(stored[5:7]), int(stored[8:10])
    hour, minute = int(stored[11:13]), int(stored[14:16])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        raise ValueError(stored)
    # days since 1970-01-01 in a year that begins in March
    if month <= 2:
        year, month = year - 1, month + 12
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month - 457) // 5 + day
    return ((days - 719469) * 24 + hour) * 3600 + minute * 60
