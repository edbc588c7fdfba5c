"""Times as a session file spells them: ISO 8601 in UTC with milliseconds and `Z`."""

from __future__ import annotations

import time


def iso_time(seconds: float) -> str:
    """Seconds since 1970 → `2026-11-29T22:55:00.788Z`."""
    millis = int(seconds * 1000)
    whole, rest = divmod(millis, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{rest:03d}Z"
