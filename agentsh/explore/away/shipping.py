"""What a machine gives back, in an order that whoever hears it can rely on.

A session's new bytes go out before any line that was said after they were written; a result's
objects before the line that names the result. A file that became shorter (a torn end that was
mended) goes out anew from its beginning. Read next: arrivals.py, machine.py.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from agentsh.errors import ToolFailedError
from agentsh.explore.running.lines import OverLine, encode_runner_line
from agentsh.explore.workspace.gitcalls import GitCalls
from agentsh.files import is_regular

_PIECE = 1 << 20
_REFS = "store.git/refs/heads"


class LineShipment(Struct, frozen=True, tag="line"):
    """A line of branch `n`'s runner; None: it has ended."""

    n: int
    line: bytes | None


class SessionShipment(Struct, frozen=True, tag="session"):
    """Bytes of a session file, where they stand in it. What was beyond is gone."""

    name: str
    offset: int
    data: bytes


class LogShipment(Struct, frozen=True, tag="log"):
    """What the runner of branch `n` printed."""

    n: int
    data: bytes


class ResultShipment(Struct, frozen=True, tag="result"):
    """A branch's result as a git pack of what its base does not have."""

    n: int
    commit: str
    pack: bytes


Shipment: TypeAlias = LineShipment | SessionShipment | LogShipment | ResultShipment


class Shipping:
    """Of one machine. Lines come from the threads of its runners."""

    def __init__(
        self, git: GitCalls, sessions: Path, data: Path, out: Callable[[Shipment], None]
    ) -> None:
        """`sessions`, `data`: the exploration's folders on this machine."""
        self._git, self._sessions, self._data, self._out = git, sessions, data, out
        self._shipped: dict[str, int] = {}
        self._printed: dict[int, int] = {}
        self._results: dict[int, str] = {}
        self._lock = threading.Lock()

    def hear(self, n: int, line: bytes | None) -> None:
        """Ship what was there before the line, then the line.

        Where it cannot be shipped nothing that follows from it is said: the branch has failed. Its
        end is heard in any case.
        """
        with self._lock:
            try:
                self._ship_sessions()
                self._ship_result(n)
                if line is None:
                    self._ship_log(n)
            except (OSError, ToolFailedError) as e:
                if line is not None:
                    failed = OverLine("failed", f"what it did cannot be sent here: {e}")
                    line = encode_runner_line(failed)
            self._out(LineShipment(n, line))

    def _ship_sessions(self) -> None:
        with os.scandir(self._sessions) as entries:
            sizes = {e.name: e.stat().st_size for e in entries if e.name.endswith(".jsonl")}
        for name, size in sizes.items():
            begun = self._shipped.get(name, 0)
            begun = 0 if size < begun else begun
            if size == begun:
                continue
            with (self._sessions / name).open("rb") as file:
                file.seek(begun)
                while data := file.read(_PIECE):
                    self._out(SessionShipment(name, begun, data))
                    begun += len(data)
            self._shipped[name] = begun

    def _ship_log(self, n: int) -> None:
        log = self._data / str(n) / "runner.log"
        if not is_regular(log):
            return
        with log.open("rb") as file:
            file.seek(self._printed.get(n, 0))
            data = file.read(_PIECE)
            self._printed[n] = file.tell()
        if data:
            self._out(LogShipment(n, data))

    def _ship_result(self, n: int) -> None:
        ref = self._data / _REFS / f"branch-{n}"
        try:
            commit = ref.read_text("ascii").strip()
        except FileNotFoundError:
            return
        if commit and self._results.get(n) != commit:
            store = self._data / "store.git"
            words = ("pack-objects", "--revs", "--stdout", "-q")
            pack = self._git.store(
                store, store, store / "index", *words, data=f"{commit}\n^{commit}^\n".encode()
            )
            self._out(ResultShipment(n, commit, pack))
            self._results[n] = commit
