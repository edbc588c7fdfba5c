"""What a command stands on and may lose: its three streams, and the folder it was started in.

A stream that the caller closed is replaced before anything is opened, or the first file opened
would take its number and be written to by whoever prints. Bytes of standard input that do not
spell text are read as U+FFFD, and that is said, whoever reads them (U17). Output that cannot be
written, and a folder that is gone, end a command wherever it happens to notice; that is no bug of
ours, and the door says which it was. A pipe that somebody made non-blocking is waited for: Python
drops without a word what does not fit. Broken pipes are not here: app.py ends quietly for them.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from typing import TYPE_CHECKING, Final, TextIO

from agentsh.errors import AgentshError, OutputError, UsageError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer
    from _typeshed import WriteableBuffer

_REFUSED: Final = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.ENXIO)
)
"""What a write to stdout fails with. A file's errors name the file, the log's are translated."""
_BLOCK: Final = 1 << 16
_REPLACED: Final = "agentsh-replaced"
"""The name under which codecs knows what to do with bytes that spell nothing."""


def replace_closed_streams() -> None:
    """Give each closed standard stream its number back: nothing to read, errors to nowhere.

    Results must not be lost without a word, so writing to a closed stdout fails as it did.
    """
    for number, (stream, flags) in enumerate(
        ((sys.stdin, os.O_RDONLY), (sys.stdout, os.O_RDONLY), (sys.stderr, os.O_WRONLY))
    ):
        if stream is None:
            _open_as(number, flags)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="replace", closefd=False)


def _open_as(number: int, flags: int) -> None:
    opened = os.open(os.devnull, flags)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    os.set_inheritable(number, True)


class _WaitingFile(io.FileIO):
    """Bytes of a standard stream, whole also where whoever shares it made it non-blocking."""

    def write(self, data: Buffer, /) -> int:
        left = memoryview(data).cast("B")
        size = len(left)
        while left:
            written = super().write(left)
            if written is None:
                self._wait(for_reading=False)
            left = left[written or 0 :]
        return size

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        while (size := super().readinto(buffer)) is None:
            self._wait(for_reading=True)
        return size

    def readall(self) -> bytes:
        block, blocks = bytearray(_BLOCK), []
        while size := self.readinto(block):
            blocks.append(bytes(block[:size]))
        return b"".join(blocks)

    def _wait(self, *, for_reading: bool) -> None:
        import select

        streams = [self.fileno()]
        select.select(streams if for_reading else [], [] if for_reading else streams, [])


def wait_for_streams() -> None:
    """Let the standard streams wait where they would give up. Before their first use."""
    out, err, given = sys.stdout, sys.stderr, sys.stdin
    if isinstance(out, io.TextIOWrapper):
        sys.stdout = _waiting(out, _written(out))
    if isinstance(err, io.TextIOWrapper):
        sys.stderr = _waiting(err, _written(err))
    if isinstance(given, io.TextIOWrapper) and not os.get_blocking(given.fileno()):
        file = _WaitingFile(given.fileno(), closefd=False)
        sys.stdin = _waiting(given, io.BufferedReader(file))


def _written(stream: io.TextIOWrapper) -> io.BufferedWriter | _WaitingFile:
    """Where PYTHONUNBUFFERED says that nothing is held back, nothing is."""
    file = _WaitingFile(stream.fileno(), "w", closefd=False)
    return file if stream.write_through else io.BufferedWriter(file)


def _waiting(
    stream: io.TextIOWrapper, buffer: io.BufferedWriter | io.BufferedReader | _WaitingFile
) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        buffer,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def read_any_bytes() -> None:
    """Let standard input be any bytes: before its first read, once in a process.

    It is UTF-8, also where the locale knows nothing but ASCII; a locale or PYTHONIOENCODING that
    names another encoding of text keeps it. The first byte that spells nothing is told on stderr.
    """
    stream = sys.stdin
    if not isinstance(stream, io.TextIOWrapper):
        return
    encoding = stream.encoding if _is_of_a_locale(stream.encoding) else "utf-8"
    is_told = False

    def replaced(error: UnicodeError) -> tuple[str | bytes, int]:
        nonlocal is_told
        if not is_told:
            is_told = True
            _tell_replaced(encoding)
        return codecs.replace_errors(error)

    codecs.register_error(_REPLACED, replaced)
    stream.reconfigure(encoding=encoding, errors=_REPLACED)


def read_input(stream: TextIO, most: int = -1) -> str:
    """What stands on standard input, so many characters at most; a mark says how it is spelled.

    PowerShell and Windows' editors write UTF-16 with one (U17).
    """
    from agentsh.filekinds import marked

    if isinstance(stream, io.TextIOWrapper) and isinstance(stream.buffer, io.BufferedReader):
        mark, encoding = marked(stream.buffer.peek(4))
        if mark:
            stream.reconfigure(encoding=encoding, errors=stream.errors)
    return stream.read(most).removeprefix("\ufeff")


def _is_of_a_locale(encoding: str) -> bool:
    """Whether it has more than ASCII, and ASCII as ASCII has it; UTF-16 and idna do not."""
    try:
        shown = b"agentsh\xff".decode(encoding, "replace")
    except UnicodeError:
        return False
    return shown.startswith("agentsh") and codecs.lookup(encoding).name not in ("ascii", "utf-8")


def _tell_replaced(encoding: str) -> None:
    from agentsh.cli.notices import warn

    warn([f"standard input has bytes that are not {encoding.upper()}; each is read as U+FFFD"])


def cause_outside(error: Exception) -> AgentshError | None:
    """What outside agentsh made a command fail, as far as that can be seen; else None."""
    if not isinstance(error, OSError):
        return None
    if isinstance(error, FileNotFoundError) and _is_folder_gone():
        return UsageError(
            "the folder that this was started in is gone", hint="cd to one that is there"
        )
    if error.errno in _REFUSED and error.filename is None:
        return OutputError(f"the output cannot be written: {error.strerror}")
    return None


def _is_folder_gone() -> bool:
    try:
        os.getcwd()  # noqa: PTH109  asked for its failure, not for the folder
    except FileNotFoundError:
        return True
    return False
