"""The read tool: lines of a text file, a picture as a picture, anything else by its name.

Text keeps its head; every cut names the next `offset`, and inside a line that is too long by itself
the next `column` (a byte of that line, from 1), so that everything can be reached with this tool
alone. Files of any size are read in one pass with flat memory (linescan.py). What was read is
remembered in the ledger. It shows text as it is: making it safe for a terminal is
agentsh/sanitize.py's.
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
from agentsh.files import real
from agentsh.jsontext import JsonObject
from agentsh.messages import OWN_DETAILS, Image, Text, ToolSchema
from agentsh.tools import schemas
from agentsh.tools.arguments import check_arguments
from agentsh.tools.base import Effect, ToolContext, ToolOutcome
from agentsh.tools.files.linescan import Scan, scan_lines
from agentsh.tools.files.paths import failure, hidden_words, open_for_tool, resolve_existing, shown
from agentsh.tools.files.truncate import MAX_BYTES, MAX_LINES, MIN_CLIP, bytes_words, utf8_size
from agentsh.tools.ledger import fact_of

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
        with os.fdopen(open_for_tool(path, name), "rb") as file:
            if context.hidden and context.hides(_opened(file, path)):
                raise ToolFailedError(hidden_words(name))
            unsaved = (
                None if context.editor_texts is None else context.editor_texts.unsaved(real(path))
            )
            try:
                reading = _Reading(arguments, context, path, name, file)
                return reading.outcome() if unsaved is None else reading.of_editor(unsaved)
            except OSError as e:
                raise failure(name, e) from e


def _opened(file: BinaryIO, path: Path) -> Path:
    """The real path of what was opened: a link on the way may have been exchanged since."""
    try:
        return Path(f"/proc/self/fd/{file.fileno()}").readlink()
    except OSError:
        return real(path)


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

    def of_editor(self, text: str) -> ToolOutcome:
        """The text that the person sees; the ledger keeps to the disk."""
        if self.context.editor_texts is not None:
            self.context.editor_texts.learn(Path(self.path), text)
        scan = scan_of(self, io.BytesIO(text.encode("utf-8", "replace")))
        note = f"[This is the unsaved text of {self.name} in the user's editor.]"
        return self._text(scan, note, {"unsaved": True})

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
        data = self.file.read(images.MAX_IMAGE_BYTES + 1)
        judged = images.inspect(data, size=os.fstat(self.file.fileno()).st_size)
        assert judged is not None
        fact: JsonObject = {}
        if len(data) <= images.MAX_IMAGE_BYTES:
            fact = self._remember(hashlib.sha256(data).hexdigest(), len(data))
        if isinstance(judged, images.Unusable):
            text = f"[{self.name} is an image ({judged.mime_type}) that cannot be sent: "
            return ToolOutcome((Text(f"{text}{judged.reason}.]"),), details={OWN_DETAILS: fact})
        text = f"Image {self.name}: {judged.mime_type}, {judged.width} x {judged.height} pixels"
        block = Image(base64.b64encode(data).decode("ascii"), judged.mime_type)
        return ToolOutcome((Text(text), block), details={OWN_DETAILS: fact})

    def _binary(self, head: bytes) -> ToolOutcome:
        size = os.fstat(self.file.fileno()).st_size
        text = (
            f"[{self.name} is a binary file{_kind(head)}, {bytes_words(size)}: not shown as text."
            " Look into it with bash (file, xxd, strings).]"
        )
        return ToolOutcome((Text(text),))

    def _utf16(self, encoding: str) -> ToolOutcome:
        raw = self.file.read(_UTF16_LIMIT + 1)
        try:
            text = raw[2:].decode(encoding)
        except UnicodeDecodeError:
            return self._binary(b"\0")
        if len(raw) > _UTF16_LIMIT:
            return self._binary(b"\0")
        scan = scan_of(self, io.BytesIO(text.encode("utf-8")))
        fact = self._remember(hashlib.sha256(raw).hexdigest(), len(raw))
        return self._text(scan, note=f"[{self.name} is {encoding.upper()} text.]", fact=fact)

    def _text(self, scan: Scan, note: str, fact: JsonObject | None = None) -> ToolOutcome:
        if fact is None:
            fact = self._remember(scan.sha256, scan.seen_bytes)
        if b"\0" in scan.data:
            return self._binary(b"\0")
        if not scan.seen_bytes:
            if self.offset > 1:
                raise ToolFailedError(f"{self.name} is empty: there is no line {self.offset}")
            return ToolOutcome((Text("(empty file)"),), details={OWN_DETAILS: {**fact, "lines": 0}})
        if not scan.data:
            raise ToolFailedError(self._beyond(scan))
        text, on = self._cut(scan)
        count = text.count("\n") + (not text.endswith("\n"))
        if "\ufffd" in text and not _is_utf8(scan.data):
            note = (
                f"[{self.name} is no UTF-8: the bytes that are none are shown as \ufffd,"
                " edit keeps them. To read them: bash, iconv -f THEIR-ENCODING -t UTF-8.]"
            )
        notes = [n for n in (note, on) if n]
        if notes:
            text = text.removesuffix("\n") + "\n\n" + "\n".join(notes)
        details: JsonObject = {OWN_DETAILS: {**fact, "lines": count}}
        if on:
            details["truncation"] = {"truncated": True, "totalLines": scan.total_lines}
        return ToolOutcome((Text(text),), details=details)

    def _beyond(self, scan: Scan) -> str:
        if scan.total_lines is None:
            return (
                f"offset {self.offset} of {self.name} lies beyond what read looks through ("
                f"{bytes_words(scan.seen_bytes)}, {scan.seen_lines} lines). Use bash (sed, tail)."
            )
        if self.offset > scan.total_lines:
            return f"offset {self.offset} is past the end: {self.name} has {scan.total_lines} lines"
        return f"line {self.offset} of {self.name} is shorter than column {self.column}"

    def _cut(self, scan: Scan) -> tuple[str, str]:
        """The text that fits, and a note how to go on ("" if all is shown)."""
        lines = _split(scan.data)
        pieces: list[str] = []
        room = MAX_BYTES
        number = self.offset
        begin = self.column - 1
        for i, raw in enumerate(lines):
            begin = self.column - 1 if i == 0 else 0
            text, skipped = _decoded(raw, number == 1 and begin == 0, begin > 0)
            size = utf8_size(text)
            length = scan.last_line_bytes if i == len(lines) - 1 else len(raw)
            if size <= room and len(raw) == length:
                pieces.append(text)
                room -= size
                number += 1
                continue
            if not pieces or (max(length, size) > MAX_BYTES and room >= MIN_CLIP):
                taken = _clip(raw[skipped:], room)
                pieces.append(taken.decode("utf-8", "replace"))
                upto = begin + skipped + len(taken)
                return "".join(pieces), self._clipped(scan, number, begin, upto, begin + length)
            break
        last = number - 1
        if scan.total_lines is not None and last >= scan.total_lines:
            return "".join(pieces), ""
        total = scan.total_lines or f"more than {scan.seen_lines}"
        shown_lines = f"Lines {self.offset}-{last}" if last > self.offset else f"Line {last}"
        return "".join(pieces), f"[{shown_lines} of {total} shown. Go on with offset={number}.]"

    def _clipped(self, scan: Scan, line: int, begin: int, upto: int, length: int) -> str:
        """The note after a line that is too long by itself."""
        before = f"Lines {self.offset}-{line - 1}, and of" if line > self.offset else "Of"
        after = ""
        if scan.total_lines is None or line < scan.total_lines:
            after = f", after it with offset={line + 1}"
        total = scan.total_lines or f"more than {scan.seen_lines}"
        return (
            f"[{before} line {line} (of {total}) bytes {begin + 1}-{upto} of {length} are shown:"
            f" it is too long. Go on in it with offset={line} column={upto + 1}{after}.]"
        )


def scan_of(reading: _Reading, file: BinaryIO) -> Scan:
    return scan_lines(
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


def _is_utf8(data: bytes) -> bool:
    """Whether this part of a file is, the characters apart that it cuts at its ends."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data[start:])
    except UnicodeDecodeError:
        return False
    return True


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
    return next((f" ({name})" for magic, name in kinds if head.startswith(magic)), "")
