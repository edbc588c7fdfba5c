"""Commands that run, or whose children may: the one registry, the drain, and their end.

A group is registered from its start until nothing of it is left, so that `end_all` can end it when
agentsh ends (also from a signal handler: the lock is re-entrant). Pipes whose call has returned are
read on by one shared thread, so that a server left in background neither blocks nor dies of its
closed output; the thread ends with the last pipe. Only that thread closes a pipe that was left.
"""

from __future__ import annotations

import atexit
import itertools
import os
import secrets
import select
import signal
import subprocess
import threading
import time
import zlib
from pathlib import Path

from msgspec import Struct

from agentsh.tools.base import JobEnd, StartedProcess
from agentsh.tools.shell import groups
from agentsh.tools.shell.capture import Capture

GRACE = 2.0
"""Seconds between TERM and KILL; also the longest wait for a pipe whose shell has ended."""
_TICK = 0.05
_PIECE = 1 << 16
_ENDED_JOBS = 50


class Live(Struct, eq=False):
    """A command that runs, or whose children may."""

    popen: subprocess.Popen[bytes]
    process: StartedProcess
    mark: str
    command: str
    capture: Capture
    began: float
    pipe: int | None
    is_job: bool = False
    session_id: str = ""
    call_id: str = ""
    is_told: bool = False
    """Its end was given by `ended_jobs`."""
    is_left: bool = False
    """Its call has returned: the pipe is the drain's."""
    is_given_up: bool = False
    """The drain shall close the pipe without waiting for its end."""
    ended: float | None = None
    code: int | None = None

    def poll(self) -> int | None:
        """The exit status once the shell has ended; reaps it."""
        if self.code is None:
            self.code = self.popen.poll()
            if self.code is not None:
                self.ended = time.time()
        return self.code

    def is_gone(self) -> bool:
        """Whether the shell and all that it started have ended."""
        return self.poll() is not None and groups.is_gone((self.process.pgid,), self.mark)

    def may_run(self) -> bool:
        """As `not is_gone`, cheaply: what left the group with its output elsewhere is not seen."""
        if self.poll() is None or self.pipe is not None:
            return True
        pgid = self.process.pgid
        return groups.has_group(pgid) and bool(groups.with_members((pgid,)))

    @property
    def output(self) -> Path | None:
        return self.capture.path


_lock = threading.RLock()
_live: dict[int, Live] = {}
_jobs: list[Live] = []
_drain: threading.Thread | None = None
# every command of this process bears a mark that begins with this: all are found at once
_token = secrets.token_hex(8)
_numbers = itertools.count(1)


def new_mark(session: str = "") -> str:
    """A mark for one command; ends in a dot, so that none is the beginning of another."""
    return f"{_mark_of(session)}{next(_numbers)}."


def _mark_of(session: str) -> str:
    """What the marks of a session's commands begin with; a session's id may be any text."""
    return f"{_token}.{zlib.crc32(session.encode('utf-8', 'surrogatepass')):08x}."


def register(live: Live) -> None:
    with _lock:
        if not _live and not _jobs:
            atexit.unregister(end_all)
            atexit.register(end_all)
        _forget_gone()
        _live[live.process.pgid] = live
        if live.is_job:
            _jobs.append(live)
            del _jobs[:-_ENDED_JOBS]


def settle(live: Live) -> bool:
    """A call's wait is over: forget the command, or leave what still runs. True: something does."""
    if live.may_run():
        leave(live)
        return True
    with _lock:
        _live.pop(live.process.pgid, None)
        live.capture.close()
    return False


def leave(live: Live) -> None:
    """Let it run on; its pipe is drained into its file from now on."""
    global _drain
    with _lock:
        live.is_left = True
        if live.pipe is None:
            live.capture.close()
        if _drain is None and (live.pipe is not None or live.poll() is None):
            _drain = threading.Thread(target=_drain_all, name="drain", daemon=True)
            _drain.start()


def jobs() -> tuple[Live, ...]:
    """The background jobs of this process, the ended ones too, oldest first."""
    with _lock:
        for job in _jobs:
            job.poll()
        return tuple(_jobs)


def ended_jobs(session: str, *, final: bool = False) -> tuple[JobEnd, ...]:
    """How the jobs of a session ended. Each is given once, when all that it printed is in.

    `final`: all that were not given yet, whatever their state.
    """
    ends: list[JobEnd] = []
    with _lock:
        for job in _jobs:
            is_over = job.poll() is not None and job.pipe is None
            if job.is_told or job.session_id != session or not (is_over or final):
                continue
            job.is_told = True
            code = None if job.code is None else 128 - job.code if job.code < 0 else job.code
            seconds = round((job.ended or time.time()) - job.began, 3)
            end_of = JobEnd(job.call_id, job.process.pgid, code, seconds, job.capture.size)
            ends.append(end_of)
    return tuple(ends)


def end(live: Live, grace: float = GRACE) -> bool:
    """End one command with all that it started; False: something could not be ended."""
    leave(live)
    if _end([live], live.mark, grace):
        return True
    live.is_given_up = True
    return False


def end_all(grace: float = GRACE) -> None:
    """End everything that still runs, jobs and leavings alike. Safe to call twice."""
    with _lock:
        lives = list(_live.values())
    _end_marked(lives, _token, grace)


def end_session(session: str, grace: float = GRACE) -> None:
    """The same of one session; other sessions of this process keep theirs."""
    with _lock:
        lives = [live for live in _live.values() if live.session_id == session]
    _end_marked(lives, _mark_of(session), grace)


def _end_marked(lives: list[Live], mark: str, grace: float) -> None:
    if not lives and not groups.bearers(mark):
        return
    _end(lives, mark, grace)
    with _lock:
        for live in lives:
            live.is_given_up = True
        # with commands of others it has more to do than to end
        drain = _drain if len(lives) == len(_live) else None
    if drain is not None and drain is not threading.current_thread():
        drain.join(1.0)
    with _lock:
        _forget_gone()


def _end(lives: list[Live], mark: str, grace: float) -> bool:
    """TERM, time to obey, KILL, for all of them at once."""
    pgids = {live.process.pgid for live in lives}
    groups.send(pgids, mark, signal.SIGTERM)
    groups.send(pgids, mark, signal.SIGCONT)  # a stopped process takes TERM only when it goes on
    if _wait_gone(lives, pgids, mark, grace):
        return True
    groups.send(pgids, mark, signal.SIGKILL)
    return _wait_gone(lives, pgids, mark, grace)


def _wait_gone(lives: list[Live], pgids: set[int], mark: str, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while True:
        ended = [live.poll() is not None for live in lives]
        if all(ended) and groups.is_gone(pgids, mark):
            return True
        if time.monotonic() >= until:
            return False
        time.sleep(_TICK)


def _forget_gone() -> None:
    """Drop what has ended; needs the lock. One look at the process table for all of them."""
    quiet = [
        live
        for live in _live.values()
        if live.is_left and live.pipe is None and live.poll() is not None
    ]
    if not quiet:
        return
    running = groups.with_members([live.process.pgid for live in quiet])
    for live in quiet:
        if live.process.pgid not in running:
            live.capture.close()
            del _live[live.process.pgid]


def _drain_all() -> None:
    """Read every pipe that was left, reap every shell; ends when there is neither."""
    global _drain
    while True:
        with _lock:
            left = [live for live in _live.values() if live.is_left]
            running = [live for live in left if live.poll() is None]
            for live in left:
                if live.is_given_up:
                    _close(live)
            pipes = {live.pipe: live for live in left if live.pipe is not None}
            if not pipes and not running:
                _drain = None
                return
        poll = select.poll()
        for fd in pipes:
            poll.register(fd, select.POLLIN)
        for fd, _ in poll.poll(200):
            live = pipes[fd]
            data = os.read(fd, _PIECE)
            if data:
                live.capture.feed(data)
            else:
                _close(live)


def _close(live: Live) -> None:
    with _lock:
        if live.pipe is not None:
            os.close(live.pipe)
            live.pipe = None
        live.capture.close()
