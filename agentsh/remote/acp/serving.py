"""The io shell of acp: what is read goes to messages.py, and how the process ends.

The main thread reads. At the end of the input, or at a signal, turns are stopped, their logs end
well, and servers and commands end; whoever is gone is told nothing more. A second signal ends the
process at once. Read next: messages.py, remote/stdio/streams.py.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final

from agentsh.jsontext import JsonObject, dumps
from agentsh.remote.acp.messages import Messages
from agentsh.remote.acp.program import EditorProgram
from agentsh.remote.stdio.framing import RecordSplitter
from agentsh.remote.stdio.signals import end_after, hear_signals
from agentsh.remote.stdio.streams import Alarm, Streams

_LONGEST: Final = 5.0
"""Seconds after which the process ends, whatever waits."""


class AcpServer:
    """One editor, until its input or the process ends."""

    def __init__(self, program: EditorProgram, streams: Streams) -> None:
        self._streams = streams
        self._alarm = Alarm()
        self._signalled: int | None = None
        self._failure: BaseException | None = None
        self._messages = Messages(program, self._say, self._fall)

    def _say(self, message: JsonObject) -> None:
        self._streams.write(dumps(message) + b"\n")

    def serve(self) -> int:
        """Responder until the end; the exit code. Raises what cannot be gone on from."""
        hear_signals(self._stop)
        with suppress(BrokenPipeError):  # the editor is gone, as at the end of its input
            self._read()
        code = 0 if self._signalled is None else 128 + self._signalled
        end_after(_LONGEST, code)
        self._streams.give_up()
        self._messages.editor.leave()
        self._messages.sessions.end()
        if self._failure is not None and not isinstance(self._failure, BrokenPipeError):
            raise self._failure
        return code

    def _read(self) -> None:
        splitter = RecordSplitter()
        while not self._is_over():
            data = self._streams.read(self._alarm)
            if data is None or self._is_over():
                return
            for line in splitter.end() if not data else splitter.feed(data):
                self._messages.take(line)
            if not data:
                return

    def _is_over(self) -> bool:
        return self._signalled is not None or self._failure is not None

    def _fall(self, error: BaseException) -> None:
        self._failure = self._failure or error
        self._alarm.ring()

    def _stop(self, number: int) -> None:
        if self._signalled is not None:
            os._exit(128 + number)
        self._signalled = number
        self._alarm.ring()
