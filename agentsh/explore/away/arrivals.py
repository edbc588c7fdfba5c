"""What comes back from machines, put where it would be if the branch had run here.

Sessions are copies that are a prefix of the other machine's at all times, durable before the line
that follows from them is heard. Names come from elsewhere: only one of a plain session file counts.
Read next: shipping.py, crew.py.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec

from agentsh.errors import ToolFailedError
from agentsh.explore.away.shipping import (
    LineShipment,
    LogShipment,
    ResultShipment,
    SessionShipment,
    Shipment,
)
from agentsh.explore.workspace.gitcalls import GitCalls
from agentsh.files import append_private, private_folder, sync_folder, write_all
from agentsh.session.store.folders import EXPLORATION_LOG

_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]*\.jsonl")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_decoder = msgspec.msgpack.Decoder(Shipment)


class Arrivals:
    """Of one exploration. Called from a thread for each machine."""

    def __init__(
        self,
        git: GitCalls,
        sessions: Path,
        data: Path,
        hear: Callable[[int, bytes | None], None],
    ) -> None:
        """`sessions`, `data`: the exploration's folders here."""
        self._git, self._sessions, self._data, self._hear = git, sessions, data, hear
        self._lock = threading.Lock()

    def take(self, data: bytes) -> None:
        """Raises OSError, ToolFailedError, ValueError: it is no shipment."""
        shipment: Shipment = _decoder.decode(data)
        match shipment:
            case LineShipment(n, line):
                self._hear(n, line)
            case SessionShipment(name, offset, piece):
                self._session(name, offset, piece)
            case LogShipment(n, printed):
                folder = private_folder(self._data / str(n))
                append_private(folder / "runner.log", printed)
            case ResultShipment(n, commit, pack):
                self._result(n, commit, pack)

    def _session(self, name: str, offset: int, piece: bytes) -> None:
        if not _NAME.fullmatch(name) or name == EXPLORATION_LOG:
            raise ValueError(f"a machine names no session: {name!r}")
        path = self._sessions / name
        is_new = not os.path.lexists(path)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(path, flags, 0o600)
        try:
            if offset > os.fstat(descriptor).st_size:
                raise ValueError(f"a machine left out the beginning of {name}")
            os.ftruncate(descriptor, offset)
            os.lseek(descriptor, offset, os.SEEK_SET)
            write_all(descriptor, piece)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if is_new:
            sync_folder(self._sessions)

    def _result(self, n: int, commit: str, pack: bytes) -> None:
        if not _COMMIT.fullmatch(commit):
            raise ToolFailedError("a machine names no commit")
        store = self._data / "store.git"
        run = self._git.store
        with self._lock:
            run(store, store, store / "index", "unpack-objects", "-q", "--strict", data=pack)
            ref = f"refs/heads/branch-{n}"
            run(store, store, store / "index", "update-ref", ref, commit)
