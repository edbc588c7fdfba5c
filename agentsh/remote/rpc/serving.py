"""The io shell of rpc: descriptors, signals, and the end.

Descriptor 1 is taken at the start and given to nobody else: whatever prints later, a library, a
plugin, a child, lands on stderr. Descriptor 0 likewise, so that no child eats commands. The main
thread reads and answers; a turn writes from its own thread, and a reader that is slow makes it
wait. A thread of its own hears signals through a pipe, whatever the others wait for: the first
stops what runs, the second ends the process at once. Read next: dispatcher.py, running.py.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Final, Self

from agentsh.agent.driven.remotehost import RemoteHost
from agentsh.agent.events import TurnEnd
from agentsh.remote.rpc.dialogs import Dialogs
from agentsh.remote.rpc.dispatcher import Dispatcher
from agentsh.remote.rpc.records import RecordSplitter, encode_record
from agentsh.remote.rpc.running import Runner
from agentsh.remote.values.rpcrecords import RpcRecord

_PIECE: Final = 1 << 16
_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_AT_REST: Final = 1.0
_IN_A_TURN: Final = 5.0
"""Seconds after which a signal ends the process, whatever waits."""


class Streams:
    """The two ends of the protocol. Writing is whole records, from any thread."""

    def __init__(self, input_fd: int, output_fd: int) -> None:
        self.input = input_fd
        self._output = output_fd
        self._lock = threading.Lock()

    @classmethod
    def take(cls) -> Self:
        """Those of the process; from now on 0 is empty and 1 is stderr."""
        streams = cls(os.dup(0), os.dup(1))
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return streams

    def write(self, record: bytes) -> None:
        """Raises BrokenPipeError: nobody reads any more."""
        unwritten = memoryview(record)
        with self._lock:
            while unwritten:
                try:
                    unwritten = unwritten[os.write(self._output, unwritten) :]
                except BlockingIOError:
                    select.select([], [self._output], [])

    def say(self, record: RpcRecord) -> None:
        self.write(encode_record(record))


class Alarm:
    """A pipe that wakes whoever polls it."""

    def __init__(self) -> None:
        self.reader, self._writer = os.pipe()
        os.set_blocking(self.reader, False)
        os.set_blocking(self._writer, False)

    @property
    def writer(self) -> int:
        return self._writer

    def ring(self) -> None:
        with suppress(BlockingIOError):  # it rings already
            os.write(self._writer, b"!")


class RpcServer:
    """One client, until its input or the process ends."""

    def __init__(
        self, host: RemoteHost, streams: Streams, report: Callable[[Exception], str]
    ) -> None:
        self._streams = streams
        self._alarm = Alarm()
        self._signalled: int | None = None
        self._dialogs = Dialogs(streams.say)
        self._runner = Runner(host, streams.say, self._dialogs, self._alarm.ring)
        host.front.approver = self._runner.ask
        self._dispatcher = Dispatcher(
            host, self._runner, self._dialogs, streams.write, streams.say, report
        )

    def serve(self, code_of: Callable[[TurnEnd], int]) -> int:
        """Answer until the end; the exit code. Raises what cannot be gone on from."""
        self._hear_signals()
        self._read()
        ending = self._dispatcher.ending
        if ending is not None and ending.abort:
            self._runner.stop()
            return 0
        self._dialogs.close()
        self._runner.wait()
        self._raise_failure()
        if self._signalled is not None:
            return 128 + self._signalled
        end = self._runner.last_end
        return 0 if end is None else code_of(end)

    def _raise_failure(self) -> None:
        if self._runner.failure is not None:
            raise self._runner.failure

    # ---- reading -------------------------------------------------------------------------------

    def _read(self) -> None:
        splitter = RecordSplitter()
        while not self._is_over():
            data = self._piece()
            if self._is_over():
                return
            lines = splitter.end() if not data else splitter.feed(data)
            for line in lines:
                self._dispatcher.take(line)
                if self._is_over():
                    return
            if not data:
                return

    def _is_over(self) -> bool:
        self._raise_failure()
        return self._signalled is not None or self._dispatcher.ending is not None

    def _piece(self) -> bytes:
        """What came; b"" at the end of the input, or where the process is to end."""
        ready, _, _ = select.select([self._streams.input, self._alarm.reader], [], [])
        if self._alarm.reader in ready:
            self._raise_failure()
            return b""
        return os.read(self._streams.input, _PIECE)

    # ---- signals -------------------------------------------------------------------------------

    def _hear_signals(self) -> None:
        heard = Alarm()

        def handled(_number: int, _frame: FrameType | None) -> None:
            """What is to be done, the thread does that reads the pipe."""

        for number in _SIGNALS:
            signal.signal(number, handled)
        signal.set_wakeup_fd(heard.writer, warn_on_full_buffer=False)
        os.set_blocking(heard.reader, True)
        threading.Thread(
            target=self._stop_by_signals, args=(heard.reader,), name="signals", daemon=True
        ).start()

    def _stop_by_signals(self, pipe: int) -> None:
        while True:
            for number in os.read(pipe, 64):
                if number in _SIGNALS:
                    self._stop(number)

    def _stop(self, number: int) -> None:
        if self._signalled is not None:
            os._exit(128 + number)
        self._signalled = number
        seconds = _AT_REST if self._runner.activity is None else _IN_A_TURN
        threading.Thread(target=_end_after, args=(seconds, 128 + number), daemon=True).start()
        self._alarm.ring()
        self._runner.stop()


def _end_after(seconds: float, code: int) -> None:
    """The last resort: somebody waits for what never comes."""
    time.sleep(seconds)
    os._exit(code)
