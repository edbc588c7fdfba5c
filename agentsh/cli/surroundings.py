"""What a command stands on and may lose: its three streams, and the folder it was started in.

A stream that the caller closed is replaced before anything is opened, or the first file opened
would take its number and be written to by whoever prints. Output that cannot be written, and a
folder that is gone, end a command wherever it happens to notice; that is no bug of ours, and the
door says which it was. Broken pipes are not here: app.py ends quietly for them.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import Final

from agentsh.errors import AgentshError, OutputError, UsageError

_REFUSED: Final = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.ENXIO)
)
"""What a write to stdout fails with. A file's errors name the file, the log's are translated."""


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
