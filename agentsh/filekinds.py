"""What a file is by its first bytes, where it is no session. A name says nothing.

Nothing of it but its beginning is read. Read next: session/exchange/unwrapping.py.
"""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Final

from agentsh.errors import SessionNotFoundError
from agentsh.files import open_foreign

ZSTD: Final = b"\x28\xb5\x2f\xfd"
GZIP: Final = b"\x1f\x8b"
_KINDS: Final = (
    (ZSTD, "a file compressed with zstd"),
    (GZIP, "a file compressed with gzip"),
    (b"BZh", "a file compressed with bzip2"),
    (b"\xfd7zXZ\x00", "a file compressed with xz"),
    (b"PK\x03\x04", "a zip archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x7fELF", "a program"),
)


_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins with the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def marked(start: bytes) -> tuple[bytes, str]:
    """The byte order mark with which a text begins, and the encoding that it says; else UTF-8."""
    return next(((mark, name) for mark, name in _MARKS if start.startswith(mark)), (b"", "utf-8"))


def foreign_kind(start: bytes) -> str | None:
    """The kind of a file by its first bytes; None for a session, or if uncertain."""
    for magic, kind in _KINDS:
        if start.startswith(magic):
            return kind
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not text:
        return "an empty file"
    return "a web page" if text.startswith((b"<!doctype html", b"<html")) else None


def foreign_kind_of_file(path: Path) -> str | None:
    """As foreign_kind, for a file. Raises SessionNotFoundError: it cannot be read."""
    return foreign_kind(first_bytes(path))


def first_bytes(path: Path) -> bytes:
    """Enough of a file to tell its kind. Raises SessionNotFoundError: it cannot be read."""
    try:
        with open_foreign(path) as file:
            return file.read(64)
    except OSError as e:
        raise SessionNotFoundError(f"cannot read {path}: {e.strerror}", path=str(path)) from e
