"""Which processes belong to a command, and how to end them: the table of /proc, signals. Linux
first.

A command runs in a session of its own, so that group and session number are its shell's process
id. What left both is found by descent and by a mark in its environment; what cleared its
environment, left its session and lost its parent is beyond this (docs/adr/0016). Where there is
no /proc, the group alone is known. A process id is never trusted alone: start time and boot id
say whose it is.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from agentsh.files import boot_id, is_there
from agentsh.tools.base import StartedProcess

MARK = "AGENTSH_MARK"
_PROC = Path("/proc")


class Seen(Struct, frozen=True):
    """One row of the process table."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    start: int
    ticks: int
    """Processor time so far, of all its threads."""


def seen(pid: int) -> Seen | None:
    """The row of one process; None: there is none, or the system does not say."""
    try:
        data = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    # the name is in parentheses and may hold anything, so what follows is found from the right
    fields = data[data.rfind(b")") + 2 :].split()
    state = fields[0].decode("ascii")
    parent, group, session, start = (int(fields[field]) for field in (1, 2, 3, 19))
    return Seen(pid, state, parent, group, session, start, int(fields[11]) + int(fields[12]))


def table() -> list[Seen]:
    """Every process that can be seen, zombies left out."""
    try:
        names = os.listdir(_PROC)  # noqa: PTH208
    except OSError:
        return []
    rows = (seen(int(name)) for name in names if name.isdigit())
    return [row for row in rows if row is not None and row.state not in "ZX"]


def started(pid: int) -> StartedProcess:
    """The record of a process group whose leader was just started."""
    row = seen(pid)
    return StartedProcess(pid, 0 if row is None else row.start, boot_id())


def is_running(process: StartedProcess) -> bool:
    """Whether anything of a recorded group still runs, in whatever process of ours it began."""
    if process.boot and process.boot != boot_id():
        return False
    leader = seen(process.pgid)
    if leader is not None and process.start and leader.start != process.start:
        return False  # the number has been given to another process, so the group is gone
    rows = table()
    if rows:
        return any(_is_of(row, (process.pgid,)) for row in rows)
    return _signal_group(process.pgid, 0)


def members(pgids: Collection[int], mark: str | None) -> list[int]:
    """All processes of some commands: groups, sessions, bearers of the mark, their descendants."""
    rows = table()
    pids = {row.pid for row in rows if _is_of(row, pgids)}
    if mark is not None:
        pids |= {row.pid for row in rows if row.pid not in pids and _bears(row.pid, mark)}
    children: dict[int, list[int]] = {}
    for row in rows:
        children.setdefault(row.parent, []).append(row.pid)
    waiting = list(pids)
    while waiting:
        for pid in children.get(waiting.pop(), ()):
            if pid not in pids:
                pids.add(pid)
                waiting.append(pid)
    return sorted(pids - {os.getpid(), 1})


def with_members(pgids: Collection[int]) -> set[int]:
    """Those of the groups in which something still runs, by one look at all processes.

    A group's session counts.

    The sandbox's own last process, which only waits to end, is none of the command's.
    """
    rows = table()
    if not rows:
        return {pgid for pgid in pgids if _signal_group(pgid, 0)}
    parents = {row.parent for row in rows}
    alive: set[int] = set()
    for row in rows:
        ours = {row.group, row.session}.intersection(pgids)
        if ours - alive and not (row.pid not in parents and _is_reaper(row.pid)):
            alive |= ours
    return alive


def _is_reaper(pid: int) -> bool:
    """Whether it is bubblewrap as the first process of a sandbox; what it waits for are its
    children. One that is ending is none that runs either."""
    try:
        name = (_PROC / str(pid) / "comm").read_bytes()
        status = (_PROC / str(pid) / "status").read_bytes()
    except OSError:
        return True  # gone since
    numbers = next((line for line in status.split(b"\n") if line.startswith(b"NSpid:")), b"")
    return name == b"bwrap\n" and len(numbers.split()) > 2 and numbers.split()[-1] == b"1"


def _is_of(row: Seen, pgids: Collection[int]) -> bool:
    return row.group in pgids or row.session in pgids


def _bears(pid: int, mark: str) -> bool:
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False  # another user's, or gone
    return (b"\0" + environment).find(f"\0{MARK}={mark}".encode()) >= 0


def is_marked(pid: int) -> bool:
    """Whether it was started as a command of some agentsh; also where the system does not say."""
    return not is_there(_PROC / "self" / "environ") or _bears(pid, "")


def bearers(mark: str) -> list[int]:
    """All processes whose environment bears a mark that begins so."""
    return [row.pid for row in table() if row.pid != os.getpid() and _bears(row.pid, mark)]


def send(pgids: Collection[int], mark: str | None, number: signal.Signals) -> bool:
    """Send a signal to all of some commands; False: nothing was left to get it."""
    others = members(pgids, mark)  # before the first signal, while parents still tie them together
    reached = [_signal_group(pgid, number) for pgid in pgids]
    return send_to(others, number) or any(reached)


def send_to(pids: list[int], number: signal.Signals) -> bool:
    """Send a signal to each; False: none got it."""
    reached = False
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
            reached = True
    return reached


def has_group(pgid: int) -> bool:
    """Whether the group has any member; a zombie counts."""
    return _signal_group(pgid, 0)


def is_gone(pgids: Collection[int], mark: str | None) -> bool:
    """Whether nothing of these commands runs any more (their leaders must have been waited for)."""
    if is_there(_PROC / "self"):
        return not members(pgids, mark)
    return not any(_signal_group(pgid, 0) for pgid in pgids)


def _signal_group(pgid: int, number: int) -> bool:
    try:
        os.killpg(pgid, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
