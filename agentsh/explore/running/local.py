"""Runners as processes of this machine. A thread for each reads its lines.

A runner is this very program, told by a hidden command; its standard input is its life: it ends
itself when that does. What it prints besides goes to the branch's log. Read next: worker.py,
runner.py.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from agentsh.errors import AgentshError
from agentsh.explore.running.lines import BranchJob, KeysLine, OverLine, encode_runner_line
from agentsh.explore.running.worker import CommandView, HearLine, RunnerEnding, RunnerHandle
from agentsh.files import append_private
from agentsh.programs import OWN_PROGRAM

RUNNER: tuple[str, ...] = (*OWN_PROGRAM, "--explore-runner")


class RunnerPlace(Struct, frozen=True):
    """What runners are started with, where this machine is not the one that asks for them.

    `here`: where a path of the job lies on this machine's disk. `environ` None: our own. `keys`:
    variable → key, said on standard input alone.
    """

    here: Callable[[str], Path] = Path
    environ: Mapping[str, str] | None = None
    keys: Mapping[str, str] = field(default_factory=dict)


class LocalHandle:
    """One process, from before it is there until it has ended."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.is_unwanted = False
        self.lock = threading.Lock()


class LocalWorker:
    """Satisfies worker.Worker."""

    name = "local"

    def __init__(
        self, slots: int, command: Sequence[str] = RUNNER, start_with: RunnerPlace | None = None
    ) -> None:
        self.slots = slots
        self._command = list(command)
        self._place = start_with or RunnerPlace()

    def start(
        self,
        job: BranchJob,
        view: CommandView | None,
        prepare: Callable[[], None],
        hear: HearLine,
    ) -> LocalHandle:
        handle = LocalHandle()
        thread = threading.Thread(
            target=self._live, args=(handle, job, view, prepare, hear), daemon=True
        )
        thread.start()
        return handle

    def say(self, handle: RunnerHandle, line: bytes) -> None:
        assert isinstance(handle, LocalHandle)
        process = handle.process
        if process is None or process.stdin is None:
            return
        try:
            with handle.lock:
                process.stdin.write(line)
                process.stdin.flush()
        except (OSError, ValueError):
            return  # it has ended, which its thread tells

    def end(self, handle: RunnerHandle, how: RunnerEnding) -> None:
        assert isinstance(handle, LocalHandle)
        handle.is_unwanted = True
        if handle.process is not None and handle.process.poll() is None:
            number = signal.SIGTERM if how == "terminate" else signal.SIGKILL
            try:
                os.killpg(handle.process.pid, number)
            except ProcessLookupError:
                return

    def close(self) -> None:
        """Whoever waits for its branches has seen them all end."""

    def _live(
        self,
        handle: LocalHandle,
        job: BranchJob,
        view: CommandView | None,
        prepare: Callable[[], None],
        hear: HearLine,
    ) -> None:
        try:
            prepare()
            if not handle.is_unwanted:
                self._run(handle, job, view, hear)
        except (OSError, AgentshError) as e:
            hear(encode_runner_line(OverLine("failed", str(e))))
        finally:
            hear(None)

    def _run(
        self, handle: LocalHandle, job: BranchJob, view: CommandView | None, hear: HearLine
    ) -> None:
        argv = self._command if view is None else view(self._command, Path(job.cwd))
        log_path = self._place.here(job.branch) / "runner.log"
        append_private(log_path, b"")  # nobody else's to read, whatever the umask
        with log_path.open("ab") as log:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=job.cwd if view is None else "/",  # in the view it is the view's
                env=self._place.environ,
                start_new_session=True,
            )
        handle.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        if self._place.keys:
            self.say(handle, encode_runner_line(KeysLine(self._place.keys)))
        self.say(handle, encode_runner_line(job))
        for line in process.stdout:
            hear(line)
        with handle.lock, suppress(OSError):  # what it did not read is of no use any more
            process.stdin.close()
        process.stdout.close()
        process.wait()
