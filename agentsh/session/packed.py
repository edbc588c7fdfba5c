"""Sources of archived sessions, beside those of plain ones; loads zstd, so only who meets one does.

An archive is unpacked in memory. Read next: source.py, archive.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentsh.session.archive import ARCHIVED, unpacked
from agentsh.session.entries import VERSION
from agentsh.session.migrate import convert
from agentsh.session.scan import read_opening
from agentsh.session.source import Source, open_source


@contextmanager
def open_any(path: Path) -> Iterator[Source]:
    """Raises SessionNotFoundError, and RefusedError for a damaged archive."""
    if not path.name.endswith(ARCHIVED):
        with open_source(path) as source:
            yield source
        return
    data = b"".join(unpacked(path))
    opening = read_opening(lambda start, end: data[start:end], len(data), str(path))
    if opening.header.version < VERSION:
        data = convert(data)
        opening = read_opening(lambda start, end: data[start:end], len(data), str(path))
    yield Source(lambda start, end: data[start:end], len(data), opening, is_converted=True)
