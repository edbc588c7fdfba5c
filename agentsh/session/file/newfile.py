"""A session file that is made whole before it has its name: a fork, a salvage, an import.

Copied lines go in as they are; lines of our own get numbers, ids and a first chain of seals. The
file is written under a name that no reader looks at, synced, and then given its own name, which
must not exist: it is there whole or not at all, and nothing is ever overwritten (S06).
Read next: fork.py, salvage.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from agentsh.errors import RefusedError, SessionNotSavedError
from agentsh.files import give_name, is_taken
from agentsh.session.file.disk import CREATE, Disk
from agentsh.session.file.log import make_durable_folder
from agentsh.session.format.codec import encode_entry, encode_header
from agentsh.session.format.entries import Body, Entry, EntryId, Header, Stamp
from agentsh.session.format.factcodec import encode_fact
from agentsh.session.format.facts import Fact
from agentsh.session.format.ids import entry_id, salt, short_id
from agentsh.session.format.seal import SealChain
from agentsh.session.health.repair import Closing

_BATCH = 1 << 20


class NewFile:
    """Use as a context manager; without `publish` nothing is left of it."""

    def __init__(self, path: Path, header: Header, *, disk: Disk, copied_ids: set[str]) -> None:
        """`copied_ids`: the ids of all lines that will be copied."""
        self.path = path
        self.header = header
        self.lines = 0
        self._disk = disk
        self._known = copied_ids
        self._salt = salt(header.id)
        self._chain = SealChain()
        self._pending: list[bytes] = []
        self._size = 0
        # not `.jsonl`: neither we nor Pi may take a half of it for a session (P2)
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}-{id(self):x}.new")
        if is_taken(path):
            raise RefusedError(f"{path} exists already", path=str(path))
        try:
            make_durable_folder(disk, path.parent)
            self._fd: int | None = disk.open(str(self._temporary), CREATE)
        except OSError as e:
            raise self._not_saved(e) from e
        self._write(encode_header(header))

    def next_id(self) -> EntryId:
        """The id that the next line of ours will have."""
        return entry_id(self.lines, self._salt, self._known)

    def copy(self, line: bytes) -> None:
        """A line of another file, without its LF."""
        self._write(line + b"\n")

    def add(
        self, what: Body | Fact, *, parent: EntryId | None, time: str, seal: bool = False
    ) -> EntryId:
        """A line of ours; with `seal` it seals everything before it."""
        return self.add_stamped(Closing(what, time), parent, seal=seal)

    def add_stamped(self, what: Closing, parent: EntryId | None, *, seal: bool = False) -> EntryId:
        """The same of an entry whose stamp says where it comes from."""
        id_ = self.next_id()
        self._known.add(id_)
        stamp = Stamp(
            short_id(self.header.id), self.lines, None, what.sources, what.request, what.code
        )
        body = encode_fact(what.body) if isinstance(what.body, Fact) else what.body
        line = encode_entry(Entry(id_, parent, what.time, body, stamp))
        if seal:
            line = self._chain.seal_line(line)
            self._put(line)
        else:
            self._write(line)
        return id_

    def close(self, closings: Iterable[Closing], leaf: EntryId) -> EntryId:
        """What ends a turn that the copied path is inside of; the leaf then."""
        for each in closings:
            leaf = self.add_stamped(each, leaf)
        return leaf

    def publish(self) -> Path:
        """Give the file its name. Raises RefusedError if that has been taken meanwhile."""
        assert self._fd is not None
        try:
            self._flush()
            self._disk.fsync(self._fd)
            give_name(self._temporary, self.path)
            self._disk.sync_folder(str(self.path.parent))
        except FileExistsError:
            raise RefusedError(f"{self.path} exists already", path=str(self.path)) from None
        except OSError as e:
            raise self._not_saved(e) from e
        finally:
            self.discard()
        return self.path

    def discard(self) -> None:
        if self._fd is None:
            return
        fd, self._fd = self._fd, None
        self._disk.close(fd)
        with suppress(FileNotFoundError):
            self._disk.unlink(str(self._temporary))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _k: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None
    ) -> None:
        self.discard()

    def _write(self, line: bytes) -> None:
        self._chain.feed(line)
        self._put(line)

    def _put(self, line: bytes) -> None:
        self.lines += 1
        self._pending.append(line)
        self._size += len(line)
        if self._size >= _BATCH:
            try:
                self._flush()
            except OSError as e:
                raise self._not_saved(e) from e

    def _flush(self) -> None:
        assert self._fd is not None
        view = memoryview(b"".join(self._pending))
        self._pending, self._size = [], 0
        while view:
            view = view[self._disk.write(self._fd, view) :]

    def _not_saved(self, error: OSError) -> SessionNotSavedError:
        reason = error.strerror or str(error)
        return SessionNotSavedError(f"{self.path} was not written: {reason}", path=str(self.path))
