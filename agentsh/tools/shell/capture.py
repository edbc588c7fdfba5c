"""What a running command printed: the end in memory, the whole in a file, both bounded.

Memory holds no more than the last `_KEPT` bytes, of lines that redraw themselves only the last
state; the file has every state. The file is the spool where one was asked for,
else it is begun once the output outgrows a result; it stops at FILE_CAP. A disk that refuses
costs the file, never the command. Every file is 0600 from its first byte. Counting and cutting
only: harmless text is made of it in `text` (controls.py).
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from msgspec import Struct

from agentsh.files import create_private, open_foreign, open_regular, private_folder
from agentsh.tools.files.truncate import MAX_BYTES, MAX_LINES, bytes_words, tail
from agentsh.tools.shell.controls import count_moves, harmless, settled

FILE_CAP = 100 * 1024 * 1024
_KEPT = 256 * 1024
_COPY = 1 << 20


class Captured(Struct, frozen=True):
    """The end of an output as text, and a note on what is missing ("" if nothing is)."""

    text: str
    note: str
    is_cut: bool
    lines: int
    size: int


class Capture:
    """One command's output. Not thread-safe: one feeder at a time."""

    def __init__(self, output_dir: Path, spool: Path | None) -> None:
        self._output_dir = output_dir
        self._spool = spool
        self._fd: int | None = None
        self._tail = bytearray()
        self._breaks = 0
        self._returns = 0
        """Carriage returns that end no line, and their like: something was redrawn."""
        self._is_whole = True
        """Nothing was dropped from the front."""
        self._last = b""
        self._file_size = 0
        self._closed = False
        self.size = 0
        self.path: Path | None = None
        """The file with the whole output, where there is one."""
        self.file_error: str | None = None
        if spool is not None:
            self._open(spool)

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        self.size += len(data)
        self._breaks += data.count(b"\n")
        self._returns += data.count(b"\r") - data.count(b"\r\n") + count_moves(data)
        if self._last == b"\r" and data.startswith(b"\n"):
            self._returns -= 1
        self._last = data[-1:]
        self._tail += data
        outgrown = self.size > MAX_BYTES or self._breaks > MAX_LINES
        if self._fd is not None:
            self._write(data)
        elif outgrown and self.path is None and self.file_error is None and not self._closed:
            self._open(self._new_path())
            self._write(bytes(self._tail))
        if len(self._tail) > 2 * _KEPT:
            self._shrink()

    def _shrink(self) -> None:
        """Fold what was redrawn, up to where the next bytes may still belong to it; then drop."""
        end = max(self._tail.rfind(mark) for mark in (b"\n", b"\r", b"\x1b["))
        if self._returns and end > 0:
            text = self._tail[:end].decode("utf-8", "surrogateescape")
            self._tail[:end] = settled(text).encode("utf-8", "surrogateescape")
        if len(self._tail) > 2 * _KEPT:
            self._is_whole = False
            del self._tail[:-_KEPT]

    def close(self) -> None:
        """No more will come."""
        self._closed = True
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def keep_file(self) -> Path | None:
        """Make sure that the file outlives the spool, and say where it is.

        The spool is the caller's to remove; a hard link (or a copy) of it stays, and what still
        has it open goes on writing to the same file.
        """
        if self.path is None and self.file_error is None and not self._closed:
            self._open(self._new_path())
            self._write(bytes(self._tail))
        if self.path is None or self.path != self._spool:
            return self.path
        target = self._new_path()
        try:
            private_folder(target.parent)
            try:
                os.link(self.path, target)
            except OSError:
                _copy(self.path, target)
        except OSError as e:
            self.file_error = e.strerror or str(e)
            return None
        self.path = target
        return target

    def text(self) -> Captured:
        """The end of it, as much as a result may hold."""
        data = bytes(self._tail)
        if not self._is_whole:  # begin at a character
            data = data[-_KEPT:]
            data = data.lstrip(bytes(range(0x80, 0xC0)))
        cut = tail(harmless(settled(data.decode("utf-8", "replace"))))
        lines = self._breaks + (self._last not in (b"", b"\n"))
        is_cut = not (self._is_whole and cut.is_whole)
        note = self._note(cut.lines, cut.clipped, lines) if is_cut else ""
        if self._returns and self.size > MAX_BYTES:  # the file says more than what is shown
            is_cut = True
            note = f"{note} Lines that redraw themselves are shown as they ended.".strip()
        return Captured(cut.text, note, is_cut, lines, self.size)

    def _note(self, shown: int, clipped: int | None, lines: int) -> str:
        note = f"Lines {max(lines - shown + 1, 1)}-{lines} of {lines} shown"
        note += f" ({bytes_words(self.size)} in all)."
        if clipped is not None:
            note += f" The first of them is too long: its last {clipped} bytes are shown."
        return note

    def where(self) -> str:
        """Where the whole output is, in words."""
        if self.file_error is not None:
            return f"The whole output could not be kept: {self.file_error}."
        if self.path is None:
            return ""
        if self.size > FILE_CAP:
            return f"The first {bytes_words(FILE_CAP)} of the output: {self.path}"
        return f"Whole output: {self.path}"

    def _new_path(self) -> Path:
        return self._output_dir / f"bash-{secrets.token_hex(8)}.log"

    def _open(self, path: Path) -> None:
        try:
            private_folder(path.parent)
            self._fd = _emptied(path)
            self.path = path
        except OSError as e:
            self.file_error = e.strerror or str(e)

    def _write(self, data: bytes) -> None:
        if self._fd is None:
            return
        view = memoryview(data)[: max(0, FILE_CAP - self._file_size)]
        try:
            while view:
                done = os.write(self._fd, view)
                self._file_size += done
                view = view[done:]
        except OSError as e:
            self.file_error = e.strerror or str(e)
            os.close(self._fd)
            self._fd = None


def _emptied(path: Path) -> int:
    """A private file with nothing in it; one of an earlier run is used again. Raises OSError."""
    try:
        return create_private(path)
    except FileExistsError:
        return open_regular(path, os.O_WRONLY | os.O_TRUNC, follow=False)


def _copy(source: Path, target: Path) -> None:
    with open_foreign(source, follow=False) as old, os.fdopen(create_private(target), "wb") as new:
        while piece := old.read(_COPY):
            new.write(piece)
