"""Sources of archived sessions, beside those of plain ones; loads zstd, so only who meets one does.

An archive is unpacked in memory. It stands alone so that nobody else loads zstd. Read next:
reader.py, archive.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentsh.session.file.scan import read_opening
from agentsh.session.format.entries import VERSION
from agentsh.session.format.migrate import convert
from agentsh.session.store.archive import ARCHIVED, unpacked
from agentsh.session.store.reader import SessionReader, open_reader


@contextmanager
def open_any(path: Path) -> Iterator[SessionReader]:
    """Raises SessionNotFoundError, and RefusedError for a damaged archive."""
    if not path.name.endswith(ARCHIVED):
        with open_reader(path) as source:
            yield source
        return
    data = b"".join(unpacked(path))
    opening = read_opening(lambda start, end: data[start:end], len(data), str(path))
    if opening.header.version < VERSION:
        data = convert(data)
        opening = read_opening(lambda start, end: data[start:end], len(data), str(path))
    yield SessionReader(lambda start, end: data[start:end], len(data), opening, is_converted=True)
