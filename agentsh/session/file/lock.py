"""One writer a session (H03): `<file>.lock`, held by flock for as long as the writer lives.

The system drops the lock when its holder dies, however it dies; what is written in the file (who,
where, since when) is for people and for readers that want to know whether a session is running.
The file is removed by its holder, under the lock; a taker checks that what it locked still has the
name.
Where locks do not work (NFS, a read-only folder) the session is usable and says so once (S06b);
likewise where something else has the lock's name: a link, a pipe, a folder is no lock of ours and
is left alone.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from agentsh import jsontext
from agentsh.errors import SessionLockedError, SessionNotSavedError
from agentsh.files import NotRegularError, boot_id, is_alive, is_folder, read_foreign, real
from agentsh.jsontext import JsonObject
from agentsh.session.file.disk import Disk
from agentsh.session.file.log import make_durable_folder
from agentsh.session.format.entries import ReadNotice

_MOST_BYTES = 4096
# the system cannot lock here; anything else is unexpected and reported as it is
_NO_LOCKS = frozenset(
    {
        errno.ENOLCK,
        errno.EOPNOTSUPP,
        errno.ENOTSUP,
        errno.ENOSYS,
        errno.EINVAL,
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EIO,
    }
)
_TRIES = 20


class Holder(Struct, frozen=True):
    """Who wrote a lock file."""

    pid: int
    host: str
    boot: str
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}" if self.host else f"process {self.pid}"


class Lock:
    """A lock that is held. `fd` is None where there are no locks."""

    def __init__(self, disk: Disk, path: str, fd: int | None, notice: ReadNotice | None) -> None:
        self._disk = disk
        self._path = path
        self._fd = fd
        self.notice = notice

    def release(self) -> None:
        if self._fd is None:
            return
        fd, self._fd = self._fd, None
        try:
            self._disk.unlink(self._path)
        except OSError:
            pass  # the name stays; the next holder takes it over
        finally:
            self._disk.close(fd)

    def __del__(self) -> None:
        """A lock that nobody holds any more holds nobody up; its name stays for the next."""
        if self._fd is not None:
            with suppress(OSError):
                self._disk.close(self._fd)


def lock_path(session: str) -> str:
    return session + ".lock"


def acquire(session: str, *, disk: Disk, now: str) -> Lock:
    """Take the lock without waiting. Raises SessionLockedError with the holder in its words."""
    path = lock_path(session)
    for _ in range(_TRIES):
        try:
            fd = disk.open_beside(path)
        except FileNotFoundError:
            if not is_folder(Path(path).parent):
                raise
            continue  # its holder has just removed it
        except NotRegularError:
            return _in_the_way(disk, path)
        except OSError as e:
            return _without(disk, path, e)
        try:
            disk.flock(fd)
            # the holder before may have removed the name between our open and our lock
            if _is_named(disk, fd, path):
                _introduce(disk, fd, now)
                return Lock(disk, path, fd, None)
            disk.close(fd)
        except BlockingIOError:
            holder = _parse(_read(disk, fd))
            disk.close(fd)
            named_holder = str(holder) if holder else "another process"
            raise SessionLockedError(
                f"this session is being written by {named_holder}",
                path=session,
                holder=named_holder,
                hint="`agentsh show SESSION --follow` watches it\n"
                "`agentsh fork SESSION` goes on in a copy",
            ) from None
        except OSError as e:
            disk.close(fd)
            return _without(disk, path, e)
    raise SessionLockedError(
        "this session is being opened by other processes over and over",
        path=session,
        holder="several processes",
    )


def acquire_new(session: Path, *, disk: Disk, now: str) -> Lock:
    """The lock of a session that has no file yet, and maybe no folder.

    Raises SessionNotSavedError where there can be none.
    """
    try:
        make_durable_folder(disk, session.parent)
        return acquire(str(real(session)), disk=disk, now=now)
    except OSError as e:
        raise SessionNotSavedError(
            f"{session} was not written: {e.strerror or e}", path=str(session)
        ) from e


def live_holder(session: str) -> Holder | None:
    """Who writes the session now, as far as a reader can tell without touching the lock."""
    try:
        holder = _parse(read_foreign(lock_path(session), _MOST_BYTES, follow=False))
    except OSError:
        return None
    if holder is None or holder.host != os.uname().nodename:
        return holder
    if holder.boot != boot_id() or not is_alive(holder.pid):
        return None
    return holder


def _without(disk: Disk, path: str, error: OSError) -> Lock:
    if error.errno not in _NO_LOCKS:
        raise error
    reason = f"nothing keeps a second program from writing this session too: {error.strerror}"
    return Lock(disk, path, None, ReadNotice(reason, kind="lock"))


def _in_the_way(disk: Disk, path: str) -> Lock:
    reason = f"nothing keeps a second program from writing this session too: {path} is no lock file"
    return Lock(disk, path, None, ReadNotice(reason, kind="lock"))


def _is_named(disk: Disk, fd: int, path: str) -> bool:
    try:
        named = disk.stat(path)
    except FileNotFoundError:
        return False
    mine = disk.fstat(fd)
    return (named.st_dev, named.st_ino) == (mine.st_dev, mine.st_ino)


def _introduce(disk: Disk, fd: int, now: str) -> None:
    text: JsonObject = {
        "pid": os.getpid(),
        "host": os.uname().nodename,
        "boot": boot_id(),
        "time": now,
    }
    try:
        disk.ftruncate(fd, 0)
        disk.write(fd, jsontext.dumps(text) + b"\n")
    except OSError:
        pass  # the lock holds all the same; a full disk only costs the holder's name


def _read(disk: Disk, fd: int) -> bytes:
    try:
        return disk.pread(fd, _MOST_BYTES, 0)
    except OSError:
        return b""


def _parse(data: bytes) -> Holder | None:
    try:
        value = jsontext.loads_object(data)
    except jsontext.JsonError:
        return None
    pid = value.get("pid")
    if not isinstance(pid, int) or isinstance(pid, bool):
        return None
    values = [value.get(key) for key in ("host", "boot", "time")]
    host, boot, since = (word if isinstance(word, str) else "" for word in values)
    return Holder(pid, host, boot, since)
