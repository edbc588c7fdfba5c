"""Run one child process: start it in a session of its own, capture, time-out, abort.

A call waits for its shell, not for the end of the pipe (T01, H09): once the shell has ended there
is a short grace for what is left, and what still writes then is left to leftovers.py. Stopping is
TERM (and CONT), two seconds, KILL, for the whole tree (groups.py). subprocess is imported here at
the top: 3 ms, paid only where tools are loaded (docs/adr/0016). Read next: leftovers.py,
capture.py.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from agentsh.abort import Abort
from agentsh.errors import ToolFailedError
from agentsh.tools.shell import groups, leftovers
from agentsh.tools.shell.capture import Capture
from agentsh.tools.shell.leftovers import GRACE, Live

_IDLE = 0.4
"""With its shell gone, a pipe that is silent for so long is left to the drain."""
_TICK = 0.1
_PIECE = 1 << 16

Stopped: TypeAlias = Literal["timeout", "aborted"]


class ProcessEnd(Struct, frozen=True):
    """How a call's wait ended. `code` None: the shell could not be ended."""

    code: int | None
    stopped: Stopped | None
    is_left: bool
    """Whether something that the command started still runs."""


def start(
    argv: Sequence[str],
    *,
    command: str,
    cwd: Path,
    environ: Mapping[str, str],
    capture: Capture,
    is_job: bool = False,
    session_id: str = "",
) -> Live:
    """Start a command in a session of its own and register it. Raises ToolFailedError."""
    mark = leftovers.new_mark(session_id)
    try:
        popen = subprocess.Popen(
            argv,
            cwd=cwd,
            env={**environ, groups.MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            bufsize=0,
        )
    except (OSError, ValueError) as e:
        capture.close()
        raise ToolFailedError(f"the command could not be started: {e}") from e
    assert popen.stdout is not None
    # a descriptor of our own: the file object would close it whenever Popen is collected
    pipe = os.dup(popen.stdout.fileno())
    popen.stdout.close()
    process = groups.started(popen.pid)
    live = Live(
        popen, process, mark, command, capture, time.time(), pipe, is_job, session_id=session_id
    )
    leftovers.register(live)
    return live


def wait(live: Live, *, abort: Abort, timeout: float, tell: Callable[[bytes], None]) -> ProcessEnd:
    """Wait for the shell, at most `timeout` seconds; `tell` gets the output as it comes.

    The caller owns the command afterwards too, and gives it up with `leftovers.settle`.
    """
    try:
        waiting = _Waiting(live, abort, time.monotonic() + timeout, tell)
        try:
            waiting.run()
        finally:
            waiting.close()
    except BaseException:
        leftovers.end(live)
        raise
    return ProcessEnd(live.code, waiting.stopped, live.may_run())


class _Waiting:
    """The wait for one shell: its pipe, its end, the clock, the abort."""

    def __init__(
        self, live: Live, abort: Abort, deadline: float, tell: Callable[[bytes], None]
    ) -> None:
        self._live = live
        self._abort = abort
        self._deadline = deadline
        self._told = tell
        self._poll = select.poll()
        assert live.pipe is not None
        self._poll.register(live.pipe, select.POLLIN)
        self._pidfd = _pidfd(live.popen.pid)
        if self._pidfd is not None:
            self._poll.register(self._pidfd, select.POLLIN)
        self._at_end = False
        self.stopped: Stopped | None = None

    def close(self) -> None:
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None

    def run(self) -> None:
        while self._live.poll() is None:
            self._turn(_TICK if self._pidfd is not None else _TICK / 5)
            if self._abort.is_set:
                self.stopped = "aborted"
            elif time.monotonic() >= self._deadline:
                self.stopped = "timeout"
            if self.stopped is not None:
                self._end()
                return
        self._finish()

    def _finish(self) -> None:
        """The shell has ended: take what is left in the pipe, for a while."""
        until = time.monotonic() + GRACE
        heard = time.monotonic()
        while not self._at_end and (now := time.monotonic()) < min(until, heard + _IDLE):
            if self._abort.is_set:
                self.stopped = "aborted"
                self._end()
                return
            if self._turn(min(until - now, _TICK)):
                heard = time.monotonic()

    def _end(self) -> None:
        """TERM to all, then KILL to what is left, reading on so that nobody blocks on the pipe."""
        live = self._live
        for number, patience in ((signal.SIGTERM, GRACE), (signal.SIGKILL, GRACE)):
            groups.send((live.process.pgid,), live.mark, number)
            if number is signal.SIGTERM:
                groups.send((live.process.pgid,), live.mark, signal.SIGCONT)  # wake the stopped
            until = time.monotonic() + patience
            while time.monotonic() < until:
                if live.is_gone():
                    self._rest()
                    return
                self._turn(_TICK / 2)
        self._rest()

    def _rest(self) -> None:
        """What the pipe still holds, without waiting for more."""
        for _ in range(64):
            if self._at_end or not self._turn(0):
                return

    def _turn(self, seconds: float) -> bool:
        """Wait so long for something to happen; True if output came."""
        for fd, _ in self._poll.poll(max(0, int(seconds * 1000))):
            if fd == self._live.pipe:
                data = os.read(fd, _PIECE)
                if data:
                    self._live.capture.feed(data)
                    self._told(data)
                    return True
                self._at_end = True
                self._poll.unregister(fd)
                os.close(fd)
                self._live.pipe = None
            elif fd == self._pidfd:
                self._poll.unregister(fd)
                self.close()
        return False


def _pidfd(pid: int) -> int | None:
    """A descriptor that is readable once the process has ended; None if the system has none."""
    with suppress(AttributeError, OSError):
        return os.pidfd_open(pid)
    return None
