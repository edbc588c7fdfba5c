"""The read tool: lines of a text file, a picture as a picture, anything else by its name.

Text keeps its head; every cut names the next `offset`, and inside a line that is too long by itself
the next `column` (a byte of that line, from 1), so that everything can be reached with this tool
alone. Files of any size are read in one pass with flat memory (linescan.py). What was read is
remembered in the ledger. It shows text as it is: making it safe for a terminal is ui/sanitize.py's.
"""

from __future__ import annotations

import base64
import codecs
import hashlib
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from agentsh import images
from agentsh.errors import ToolAbortedError, ToolFailedError
from agentsh.jsontext import JsonObject
from agentsh.messages import Image, Text, ToolSchema
from agentsh.tools import schemas
from agentsh.tools.arguments import check_arguments
from agentsh.tools.base import Effect, ToolContext, ToolOutcome
from agentsh.tools.ledger import fact_of
from agentsh.tools.linescan import Scan, scan
from agentsh.tools.paths import failure, open_regular, real, resolve_existing, shown
from agentsh.tools.truncate import MAX_BYTES, MAX_LINES, MIN_CLIP, bytes_words, utf8_size

_SPARE = 64
_SNIFF = 8192
_UTF16_LIMIT = 32 * 1024 * 1024
_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


class ReadTool(Struct, frozen=True):
    """`read`."""

    schema: ToolSchema = schemas.READ
    effect: Effect = Effect.READ

    def check(self, arguments: JsonObject) -> JsonObject:
        return check_arguments(self.schema, arguments)

    def touches(self, arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
        return (real(resolve_existing(str(arguments["path"]), cwd, home)),)

    def expect(self, arguments: JsonObject, context: ToolContext) -> Mapping[str, str] | None:
        return None

    def run(self, arguments: JsonObject, context: ToolContext) -> ToolOutcome:
        path = resolve_existing(str(arguments["path"]), context.cwd, context.home)
        name = shown(path, context.cwd)
        with os.fdopen(open_regular(path, name), "rb") as file:
            try:
                return _Reading(arguments, context, path, name, file).outcome()
            except OSError as e:
                raise failure(name, e) from e


class _Reading:
    """One call: an open file and what is wanted of it."""

    def __init__(
        self, arguments: JsonObject, context: ToolContext, path: Path, name: str, file: BinaryIO
    ) -> None:
        self.context = context
        self.path = str(real(path))
        self.name = name
        self.file = file
        self.offset = _number(arguments, "offset", 1)
        self.column = _number(arguments, "column", 1)
        self.limit = min(_number(arguments, "limit", MAX_LINES), MAX_LINES)

    def outcome(self) -> ToolOutcome:
        head = self.file.read(_SNIFF)
        self.file.seek(0)
        if images.sniff(head):
            return self._picture()
        encoding = _UTF16.get(head[:2])
        if encoding is not None:
            return self._utf16(encoding)
        if b"\0" in head:
            return self._binary(head)
        return self._text(scan_of(self, self.file), note="")

    def pulse(self) -> None:
        if self.context.abort.is_set:
            raise ToolAbortedError("stopped by the user")

    def _remember(self, sha256: str | None, size: int) -> JsonObject:
        """Tell the ledger; what the details say lets a later process do the same."""
        if sha256 is None:
            self.context.ledger.forget(self.path)
            return {}
        self.context.ledger.remember(self.path, sha256, os.fstat(self.file.fileno()))
        return fact_of(self.path, sha256, size)

    def _picture(self) -> ToolOutcome:
        data = self.file.read(images.MAX_BYTES + 1)
        judged = images.inspect(data)
        assert judged is not None
        fact: JsonObject = {}
        if len(data) <= images.MAX_BYTES:
            fact = self._remember(hashlib.sha256(data).hexdigest(), len(data))
        if isinstance(judged, images.Unusable):
            words = f"[{self.name} is an image ({judged.mime_type}) that cannot be sent: "
            return ToolOutcome((Text(f"{words}{judged.reason}.]"),), details={"ash": fact})
        words = f"Image {self.name}: {judged.mime_type}, {judged.width} x {judged.height} pixels"
        block = Image(base64.b64encode(data).decode("ascii"), judged.mime_type)
        return ToolOutcome((Text(words), block), details={"ash": fact})

    def _binary(self, head: bytes) -> ToolOutcome:
        size = os.fstat(self.file.fileno()).st_size
        words = (
            f"[{self.name} is a binary file{_kind(head)}, {bytes_words(size)}: not shown as text."
            " Look into it with bash (file, xxd, strings).]"
        )
        return ToolOutcome((Text(words),))

    def _utf16(self, encoding: str) -> ToolOutcome:
        raw = self.file.read(_UTF16_LIMIT + 1)
        try:
            text = raw[2:].decode(encoding)
        except UnicodeDecodeError:
            return self._binary(b"\0")
        if len(raw) > _UTF16_LIMIT:
            return self._binary(b"\0")
        found = scan_of(self, io.BytesIO(text.encode("utf-8")))
        fact = self._remember(hashlib.sha256(raw).hexdigest(), len(raw))
        return self._text(found, note=f"[{self.name} is {encoding.upper()} text.]", fact=fact)

    def _text(self, found: Scan, note: str, fact: JsonObject | None = None) -> ToolOutcome:
        if fact is None:
            fact = self._remember(found.sha256, found.seen_bytes)
        if b"\0" in found.data:
            return self._binary(b"\0")
        if not found.seen_bytes:
            if self.offset > 1:
                raise ToolFailedError(f"{self.name} is empty: there is no line {self.offset}")
            return ToolOutcome((Text("(empty file)"),), details={"ash": {**fact, "lines": 0}})
        if not found.data:
            raise ToolFailedError(self._beyond(found))
        text, on = self._cut(found)
        count = text.count("\n") + (not text.endswith("\n"))
        notes = [n for n in (note, on) if n]
        if notes:
            text = text.removesuffix("\n") + "\n\n" + "\n".join(notes)
        details: JsonObject = {"ash": {**fact, "lines": count}}
        if on:
            details["truncation"] = {"truncated": True, "totalLines": found.total_lines}
        return ToolOutcome((Text(text),), details=details)

    def _beyond(self, found: Scan) -> str:
        if found.total_lines is None:
            return (
                f"offset {self.offset} of {self.name} lies beyond what read looks through ("
                f"{bytes_words(found.seen_bytes)}, {found.seen_lines} lines). Use bash (sed, tail)."
            )
        if self.offset > found.total_lines:
            return (
                f"offset {self.offset} is past the end: {self.name} has {found.total_lines} lines"
            )
        return f"line {self.offset} of {self.name} is shorter than column {self.column}"

    def _cut(self, found: Scan) -> tuple[str, str]:
        """The text that fits, and the note that says how to go on ("" when all is shown)."""
        lines = _split(found.data)
        kept: list[str] = []
        room = MAX_BYTES
        number = self.offset
        begin = self.column - 1
        for i, raw in enumerate(lines):
            begin = self.column - 1 if i == 0 else 0
            text, skipped = _decoded(raw, number == 1 and begin == 0, begin > 0)
            size = utf8_size(text)
            length = found.last_line_bytes if i == len(lines) - 1 else len(raw)
            if size <= room and len(raw) == length:
                kept.append(text)
                room -= size
                number += 1
                continue
            if not kept or (max(length, size) > MAX_BYTES and room >= MIN_CLIP):
                taken = _clip(raw[skipped:], room)
                kept.append(taken.decode("utf-8", "replace"))
                upto = begin + skipped + len(taken)
                return "".join(kept), self._clipped(found, number, begin, upto, begin + length)
            break
        last = number - 1
        if found.total_lines is not None and last >= found.total_lines:
            return "".join(kept), ""
        total = found.total_lines or f"more than {found.seen_lines}"
        shown_lines = f"Lines {self.offset}-{last}" if last > self.offset else f"Line {last}"
        return "".join(kept), f"[{shown_lines} of {total} shown. Go on with offset={number}.]"

    def _clipped(self, found: Scan, line: int, begin: int, upto: int, length: int) -> str:
        """The note after a line that is too long by itself."""
        before = f"Lines {self.offset}-{line - 1}, and of" if line > self.offset else "Of"
        after = ""
        if found.total_lines is None or line < found.total_lines:
            after = f", after it with offset={line + 1}"
        total = found.total_lines or f"more than {found.seen_lines}"
        return (
            f"[{before} line {line} (of {total}) bytes {begin + 1}-{upto} of {length} are shown:"
            f" it is too long. Go on in it with offset={line} column={upto + 1}{after}.]"
        )


def scan_of(reading: _Reading, file: BinaryIO) -> Scan:
    return scan(
        file,
        offset=reading.offset,
        column=reading.column,
        max_lines=reading.limit,
        max_bytes=MAX_BYTES + _SPARE,
        pulse=reading.pulse,
    )


def _number(arguments: JsonObject, name: str, default: int) -> int:
    value = arguments.get(name)
    return value if isinstance(value, int) else default


def _split(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    last = parts.pop()
    return [part + b"\n" for part in parts] + ([last] if last else [])


def _decoded(raw: bytes, may_have_bom: bool, may_be_inside: bool) -> tuple[str, int]:
    """A line's text without a mark at the file's beginning, and how many bytes were left out."""
    skipped = 0
    if may_have_bom and raw.startswith(codecs.BOM_UTF8):
        skipped = 3
    elif may_be_inside:  # a column in the middle of a character: begin at the next one
        while skipped < min(3, len(raw)) and raw[skipped] & 0xC0 == 0x80:
            skipped += 1
    return raw[skipped:].decode("utf-8", "replace"), skipped


def _clip(raw: bytes, room: int) -> bytes:
    """The longest beginning, whole characters, whose text takes at most so many bytes."""
    part = raw[:room]
    while (size := utf8_size(part.decode("utf-8", "replace"))) > room:
        part = part[: max(1, len(part) * room // size - 1)]
    for back in range(1, min(4, len(part)) + 1):
        byte = part[-back]
        if byte & 0xC0 == 0x80:
            continue
        width = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return part[:-back] if width > back and back < len(part) else part
    return part


def _kind(head: bytes) -> str:
    kinds = (
        (b"\x7fELF", "ELF program"),
        (b"MZ", "Windows program"),
        (b"PK\x03\x04", "zip archive"),
        (b"\x1f\x8b", "gzip data"),
        (b"%PDF", "PDF"),
        (b"SQLite format 3", "SQLite database"),
    )
    return next((f" ({words})" for magic, words in kinds if head.startswith(magic)), "")
