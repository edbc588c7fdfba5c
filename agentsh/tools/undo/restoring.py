"""Files are made what a state has them, each whole or not at all, and no link is followed.

The bytes come from the store as they were recorded: no filter and no line ending of git's touches
them, and git writes nothing into the folder. What the system refuses (a full disk, a right) is
named, and the others are done; each file is old or new, so the same restore can be done again.
Which files is undo.py's. Read next: anchored.py.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from agentsh.errors import ToolFailedError
from agentsh.files import open_regular, write_all
from agentsh.tools.files import anchored
from agentsh.tools.undo.shadow import Shadow

ChangeKind: TypeAlias = Literal["create", "change", "delete"]
RefusedPaths: TypeAlias = dict[str, str]
"""Path → why the system refused it."""

PROGRAM = b"100755"
LINK = b"120000"


class Row(Struct, frozen=True):
    """How one path becomes what the wanted state has there.

    `blob` None: its bytes are right, and the mode is not. `mode` None: no state says it (a link, or
    one that an earlier version recorded).
    """

    path: bytes
    kind: ChangeKind
    git_kind: bytes
    blob: str | None
    mode: int | None


def take_away(tree: Path, rows: Sequence[Row]) -> RefusedPaths:
    """Delete files, and the folders that became empty by it."""
    refused: RefusedPaths = {}
    for row in rows:
        path = tree / os.fsdecode(row.path)
        try:
            with anchored.parent_of(path) as folder:
                anchored.remove_in(folder, path.name)
        except FileNotFoundError:
            pass  # somebody was faster
        except OSError as e:
            refused[os.fsdecode(row.path)] = e.strerror or str(e)
            continue
        anchored.drop_empty(path, below=tree)
    return refused


def put_back(shadow: Shadow, rows: Sequence[Row]) -> RefusedPaths:
    """Make files, links and modes what the rows say."""
    refused: RefusedPaths = {}
    if not rows:
        return refused
    with _blobs(shadow) as blobs:
        for row in rows:
            path = os.fsdecode(row.path)
            try:
                data = None if row.blob is None else blobs.read(row.blob)
                _put(shadow.tree, row, data)
            except OSError as e:
                refused[path] = e.strerror or str(e)
            except ToolFailedError as e:
                refused[path] = str(e)
    return refused


def _put(tree: Path, row: Row, data: bytes | None) -> None:
    path = tree / os.fsdecode(row.path)
    with anchored.parent_of(path, make=data is not None, keep=tree) as folder:
        if data is None:
            _set_mode(folder, path.name, row.mode)
            return
        now = anchored.status_in(folder, path.name)
        if now is not None and stat.S_ISDIR(now.st_mode):
            anchored.drop_hollow(folder, path.name)
        temporary = anchored.new_name()
        try:
            if row.git_kind == LINK:
                os.symlink(data, os.fsencode(temporary), dir_fd=folder)
            else:
                _write(folder, temporary, data, row, now)
            anchored.replace_in(folder, temporary, path.name)
        except BaseException:
            with suppress(OSError):
                anchored.remove_in(folder, temporary)
            raise
        anchored.sync_in(folder)


def _write(folder: int, temporary: str, data: bytes, row: Row, now: os.stat_result | None) -> None:
    mode = row.mode if row.mode is not None else _guessed(row, now)
    fd = anchored.create_in(folder, temporary, (0o777 if row.git_kind == PROGRAM else 0o666))
    try:
        if mode is not None:
            os.fchmod(fd, mode & ~0o7000 | 0o600)  # closed to others before there is anything in it
        write_all(fd, data)
        if mode is not None:
            os.fchmod(fd, mode)
        os.fsync(fd)
    finally:
        os.close(fd)


def _guessed(row: Row, now: os.stat_result | None) -> int | None:
    """The mode of a file of which no state says it. None: as the umask says."""
    if now is None or not stat.S_ISREG(now.st_mode):
        return None
    mode = stat.S_IMODE(now.st_mode)
    runs = 0o111 & (mode >> 2) if row.git_kind == PROGRAM else 0
    return (mode & ~0o111) | runs


def _set_mode(folder: int, name: str, mode: int | None) -> None:
    fd = open_regular(name, follow=False, folder=folder)
    try:
        if mode is not None:
            os.fchmod(fd, mode)
    finally:
        os.close(fd)


class _Blobs:
    """Contents out of the store, one after the other, from one process of git."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        self._asked, self._answer = child.stdin, child.stdout

    def read(self, name: str) -> bytes:
        """Raises ToolFailedError: the content is not in the store, or cannot be read."""
        try:
            self._asked.write(name.encode("ascii") + b"\n")
            self._asked.flush()
            fields = self._answer.readline().split()
            if len(fields) == 3 and fields[1] == b"blob":
                data = self._answer.read(int(fields[2]))
                if len(data) == int(fields[2]) and self._answer.read(1) == b"\n":
                    return data
        except BrokenPipeError:
            pass  # git gave up: it is said below
        raise ToolFailedError("what it was is no longer in the store of states")


@contextmanager
def _blobs(shadow: Shadow) -> Iterator[_Blobs]:
    argv, environ, cwd = shadow.command("cat-file", "--batch", aside=True)
    try:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=cwd,
            env=environ,
            start_new_session=True,
        )
    except OSError as e:
        raise ToolFailedError(f"git could not be run: {e}") from e
    try:
        yield _Blobs(child)
    finally:
        child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        child.wait()
