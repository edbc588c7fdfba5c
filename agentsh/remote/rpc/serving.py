"""The end of rpc, and what leads to it: the input's, a signal's, a command's.

The main thread reads and answers; a turn writes from its own thread, and a reader that is slow
makes it wait. The first signal stops what runs, whatever the others wait for, the second ends the
process at once. Read next: dispatcher.py, running.py, remote/stdio/streams.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from agentsh.agent.driven.remotehost import RemoteHost
from agentsh.agent.events import TurnEnd
from agentsh.remote.rpc.dialogs import Dialogs
from agentsh.remote.rpc.dispatcher import Dispatcher
from agentsh.remote.rpc.records import encode_record
from agentsh.remote.rpc.running import Runner
from agentsh.remote.stdio.framing import RecordSplitter
from agentsh.remote.stdio.signals import end_after, hear_signals
from agentsh.remote.stdio.streams import Alarm, Streams
from agentsh.remote.values.rpcrecords import RpcRecord

_AT_REST: Final = 1.0
_IN_A_TURN: Final = 5.0
"""Seconds after which a signal ends the process, whatever waits."""


class RpcServer:
    """One client, until its input or the process ends."""

    def __init__(
        self, host: RemoteHost, streams: Streams, report: Callable[[Exception], str]
    ) -> None:
        self._streams = streams
        self._alarm = Alarm()
        self._signalled: int | None = None
        self._dialogs = Dialogs(self._say)
        self._runner = Runner(host, self._say, self._dialogs, self._alarm.ring)
        host.front.approver = self._runner.ask
        self._dispatcher = Dispatcher(
            host, self._runner, self._dialogs, streams.write, self._say, report
        )

    def _say(self, record: RpcRecord) -> None:
        self._streams.write(encode_record(record))

    def serve(self, code_of: Callable[[TurnEnd], int]) -> int:
        """Answer until the end; the exit code. Raises what cannot be gone on from."""
        hear_signals(self._stop)
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
        data = self._streams.read(self._alarm)
        if data is None:
            self._raise_failure()
            return b""
        return data

    # ---- signals -------------------------------------------------------------------------------

    def _stop(self, number: int) -> None:
        if self._signalled is not None:
            os._exit(128 + number)
        self._signalled = number
        end_after(_AT_REST if self._runner.activity is None else _IN_A_TURN, 128 + number)
        self._alarm.ring()
        self._runner.stop()
