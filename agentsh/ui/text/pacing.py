"""The display of a session in the time that it took: each entry with the pause before it. Pure.

The pauses are those between the entries' times, made shorter by `speed` and never longer than
`LONGEST_PAUSE`, for nobody wants to sit through a lunch again. It stands alone as a reckoning
without a clock. Read next: views.py, cli/commands/show.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from agentsh.session.format.entries import Entry

LONGEST_PAUSE = 3.0


def paced(entries: Iterable[Entry], speed: float) -> Iterator[tuple[float, Entry]]:
    """Seconds to wait, and the entry to show then. A time that is none or runs back: no wait."""
    before: float | None = None
    for entry in entries:
        now = _seconds(entry.time)
        wait = 0.0 if now is None or before is None else (now - before) / speed
        before = before if now is None else now
        yield min(max(wait, 0.0), LONGEST_PAUSE), entry


def _seconds(time: str) -> float | None:
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return None
