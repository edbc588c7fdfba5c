"""Signals heard in a thread of their own, through a pipe, whatever the other threads wait for.

It says which one came; what is to be done then is whose protocol it is. Read next: streams.py.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

from agentsh.remote.stdio.streams import Alarm

_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def hear_signals(stop: Callable[[int], None]) -> None:
    """From now on `stop` is called with the number of each; to be called in the main thread."""
    heard = Alarm()

    def handled(_number: int, _frame: FrameType | None) -> None:
        """What is to be done, the thread does that reads the pipe."""

    for number in _SIGNALS:
        signal.signal(number, handled)
    signal.set_wakeup_fd(heard.writer, warn_on_full_buffer=False)
    os.set_blocking(heard.reader, True)

    def listen() -> None:
        while True:
            for number in os.read(heard.reader, 64):
                if number in _SIGNALS:
                    stop(number)

    threading.Thread(target=listen, name="signals", daemon=True).start()


def end_after(seconds: float, code: int) -> None:
    """End the process then, whatever waits for what never comes: the last resort."""

    def end() -> None:
        time.sleep(seconds)
        os._exit(code)

    threading.Thread(target=end, name="the last resort", daemon=True).start()
