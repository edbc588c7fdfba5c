"""After a crash: what became of a call that was started and has no result? Evidence only.

For write and edit the file itself tells: its bytes are those from before, those that were expected,
or others. For a command its process group tells, and the end of its spool. Everything comes in as
plain values (session/facts.py knows how they are stored, agent how to word the result), and nothing
is changed or ended here (R61, R22).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from agentsh.jsontext import JsonValue
from agentsh.tools import groups
from agentsh.tools.base import StartedProcess
from agentsh.tools.controls import harmless
from agentsh.tools.ledger import digest_of
from agentsh.tools.truncate import tail

FileState: TypeAlias = Literal["applied", "not applied", "other", "missing"]
ProcessState: TypeAlias = Literal["still running", "gone", "unknown"]

SPOOL_LINES = 50
SPOOL_BYTES = 4096


class Evidence(Struct, frozen=True):
    """What can still be seen of one call. Empty members: nothing was on record to look for."""

    files: Mapping[str, FileState]
    process: ProcessState | None = None
    pgid: int | None = None
    output: str = ""
    """The last lines that the command had printed."""

    @property
    def word(self) -> str:
        """All of it in one word: the files' common state, else the process's, else "unknown"."""
        states = set(self.files.values())
        if states:
            return states.pop() if len(states) == 1 else "other"
        return self.process or "unknown"

    def as_json(self) -> dict[str, JsonValue]:
        """For the record of the repair."""
        found: dict[str, JsonValue] = {"state": self.word}
        if self.files:
            found["files"] = dict(self.files)
        if self.process is not None:
            found["process"] = self.process
        if self.pgid is not None:
            found["pgid"] = self.pgid
        if self.output:
            found["output"] = self.output
        return found


def gather(
    *,
    pre_images: Sequence[Mapping[str, JsonValue]] = (),
    expected: Sequence[Mapping[str, JsonValue]] = (),
    process: Mapping[str, JsonValue] | None = None,
) -> Evidence:
    """Look at what a started call left behind.

    `pre_images` are {path, sha256, size}, `expected` {path, sha256}, `process` {pgid, start, boot,
    spool}, any of which may be absent.
    """
    will = {str(item.get("path")): item.get("sha256") for item in expected}
    files = {
        str(item.get("path")): _file_state(
            str(item.get("path")), item.get("sha256"), will.get(str(item.get("path")))
        )
        for item in pre_images
    }
    if process is None:
        return Evidence(files)
    recorded = _recorded(process)
    return Evidence(
        files,
        _process_state(recorded),
        None if recorded is None else recorded.pgid,
        spool_end(process.get("spool")),
    )


def spool_end(spool: JsonValue) -> str:
    """The last lines of a spool file; "" where there is none."""
    if not isinstance(spool, str):
        return ""
    try:
        place = Path(spool)
        if not stat.S_ISREG(place.stat().st_mode):
            return ""
        with place.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 4 * SPOOL_BYTES))
            data = file.read(4 * SPOOL_BYTES)
    except OSError:
        return ""
    text = harmless(data.lstrip(bytes(range(0x80, 0xC0))).decode("utf-8", "replace"))
    return tail(text, max_lines=SPOOL_LINES, max_bytes=SPOOL_BYTES).text


def _file_state(path: str, before: JsonValue, after: JsonValue) -> FileState:
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            return "other"
        now: str | None = digest_of(path)
    except FileNotFoundError:
        now = None
    except OSError:
        return "other"
    if after is not None and now == after:
        return "applied"
    if now == before:
        return "not applied"
    return "missing" if now is None else "other"


def _recorded(process: Mapping[str, JsonValue]) -> StartedProcess | None:
    pgid, start, boot = process.get("pgid"), process.get("start"), process.get("boot")
    if not isinstance(pgid, int) or pgid < 2:
        return None
    return StartedProcess(
        pgid, start if isinstance(start, int) else 0, boot if isinstance(boot, str) else ""
    )


def _process_state(recorded: StartedProcess | None) -> ProcessState:
    if recorded is None:
        return "unknown"
    return "still running" if groups.is_running(recorded) else "gone"
