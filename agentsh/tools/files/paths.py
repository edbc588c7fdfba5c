"""Where a path of a tool call leads, and whether it is a file that may be touched at all.

Relative to the session's folder; `~` is the home; one leading `@` is dropped. What counts is the
real path, all links resolved: the policy judges it, the ledger keeps it, calls are put in order
by it. Only regular files are ever opened, and nothing here blocks: a pipe or a device is an error
at once. It decides nothing about rights (policy.py) and writes nothing (atomic.py).
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from agentsh import files
from agentsh.alike import as_there
from agentsh.errors import InvalidArgumentsError, ToolFailedError
from agentsh.files import real
from agentsh.tools.base import PreImage, ToolContext
from agentsh.tools.files import anchored
from agentsh.tools.ledger import MOST_HASHED, digest_of

UNSAVED = "It is in the user's editor, not saved to the disk: commands see the saved text."
"""What is said of a change that went to an editor."""
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISLNK, "a link"),
)


def resolve(text: str, cwd: Path, home: Path) -> Path:
    """The absolute path that a call's words name; links are not followed yet."""
    name = text.removeprefix("@")
    if not name.strip() or "\0" in name:
        raise InvalidArgumentsError(f"{text!r} is no path")
    try:
        os.fsencode(name)
    except UnicodeEncodeError as e:
        raise InvalidArgumentsError(f"{text!r} is no path: it cannot be encoded") from e
    if name == "~" or name.startswith("~/"):
        return Path(os.path.normpath(home)) / name[2:]
    return cwd / name


def resolve_existing(text: str, cwd: Path, home: Path) -> Path:
    """As `resolve`, but a name that nothing has may stand for the one that looks the same.

    Models type a plain space for a narrow one (names of screenshots), or composed for decomposed
    letters. Several candidates: none is taken. Where a person wrote `@name`, they put the folder
    before the `@`.
    """
    path = resolve(text, cwd, home)
    if os.path.lexists(path):
        return path
    named = path.name.removeprefix("@")
    if named not in ("", ".", "..", path.name) and os.path.lexists(path.parent / named):
        return path.parent / named
    alike = as_there(path)
    return alike if os.path.lexists(alike) else path


def resolve_target(text: str, cwd: Path, home: Path) -> Path:
    """As `resolve`, for what may be new: what is there of it may be spelled in another way.

    So no second file or folder is made beside the one that looks the same, and a file is the same
    one for reading and writing (T20).
    """
    return as_there(resolve(text, cwd, home))


def shown(path: Path, cwd: Path) -> str:
    """The path for a result: relative to the session's folder where it lies in it."""
    for folder in (cwd, real(cwd)):
        if path.is_relative_to(folder):
            return printable(str(path.relative_to(folder)))
    return printable(str(path))


def printable(name: str) -> str:
    """A file name as valid text: undecodable bytes become U+FFFD."""
    return (
        name if name.isprintable() else name.encode("utf-8", "replace").decode("utf-8", "replace")
    )


def what_it_is(mode: int) -> str:
    return next((name for test, name in _KINDS if test(mode)), "no regular file")


def stat_regular(path: Path, name: str) -> os.stat_result:
    """The stat of a regular file, links followed. Raises ToolFailedError for anything else."""
    try:
        status = path.stat()
    except OSError as e:
        raise failure(name, e) from e
    if not stat.S_ISREG(status.st_mode):
        raise ToolFailedError(f"{name} is {what_it_is(status.st_mode)}, not a regular file")
    return status


def open_for_tool(path: Path, name: str) -> int:
    """A descriptor for reading a regular file; never blocks. Raises ToolFailedError.

    The kind is looked at before (opening a device may do something) and after (it may have been
    exchanged in between).
    """
    stat_regular(path, name)
    try:
        return files.open_regular(path)
    except files.NotRegularError:
        raise ToolFailedError(f"{name} is no longer a regular file") from None
    except OSError as e:
        raise failure(name, e) from e


def judged(path: Path, context: ToolContext) -> Path:
    """The real path that the policy judged for this call; resolved here where nobody judged."""
    return context.judged[0] if context.judged else real(path)


def open_judged(path: Path, name: str) -> int:
    """As `open_for_tool`, of a real path: no link is followed any more."""
    try:
        with anchored.parent_of(path) as folder:
            status = anchored.status_in(folder, path.name)
            if status is None:
                raise ToolFailedError(f"no such file: {name}")
            if not stat.S_ISREG(status.st_mode):
                raise ToolFailedError(f"{name} is {what_it_is(status.st_mode)}, not a regular file")
            return files.open_regular(path.name, follow=False, folder=folder)
    except OSError as e:
        raise failure(name, e) from e


def read_whole(fd: int, name: str, limit: int) -> tuple[bytes, os.stat_result]:
    """All bytes of an open regular file and its stat; at most `limit`. Raises ToolFailedError."""
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(file.fileno())
        try:
            data = b"" if status.st_size > limit else file.read(limit + 1)
        except OSError as e:
            raise failure(name, e) from e
    if max(status.st_size, len(data)) > limit:
        raise ToolFailedError(
            f"{name} is too large for this tool: {max(status.st_size, len(data))} bytes,"
            f" at most {limit} can be taken. Use bash for it."
        )
    return data, status


def hidden_words(name: str) -> str:
    return f"{name} is agentsh's own, which the sandbox hides"


def failure(name: str, error: OSError) -> ToolFailedError:
    """An OSError in a result's words."""
    match error:
        case FileNotFoundError():
            return ToolFailedError(f"no such file: {name}")
        case _:
            return ToolFailedError(f"{name}: {error.strerror or error}")


def pre_image(path: Path) -> PreImage:
    """The file at a real path as it is now, for the record of a call."""
    try:
        status = anchored.status_of(path)
        if status is not None and stat.S_ISREG(status.st_mode):
            whole = status.st_size <= MOST_HASHED
            return PreImage(str(path), digest_of(str(path)) if whole else None, status.st_size)
    except OSError:
        pass  # what cannot be read is recorded as absent; the call itself will say why
    return PreImage(str(path), None, 0)
