"""Signals from outside at an application that has the terminal: it ends well, or stops and returns.

What would end the process (TERM, HUP, QUIT, and those that nobody sends to a chat on purpose) ends
the application first, so that the terminal is as it was. TSTP gives the terminal back before it
stops, as Ctrl-Z does; after a stop that could not be seen coming (STOP), CONT takes the terminal
again. A signal that comes while an application is ending counts as soon as it has; one that comes
while none runs finds the terminal cooked, and its usual end.
Read next: fullscreen.py, agentsh/ui/chat/repl.py.
"""

from __future__ import annotations

import asyncio
import os
import signal
import termios
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from prompt_toolkit.application import Application, run_in_terminal

_NAMES = "SIGTERM SIGHUP SIGQUIT SIGUSR1 SIGUSR2 SIGALRM SIGVTALRM SIGPROF SIGXCPU SIGPWR SIGPOLL"
ENDING = tuple(
    signal.Signals[name] for name in _NAMES.split() if name in signal.Signals.__members__
)


class Signals:
    """Of one application; `attach` where its loop runs, `detach` where it has ended."""

    def __init__(self, app: Application[Any], ended: Callable[[signal.Signals], None]) -> None:
        self._app = app
        self._ended = ended
        self._told: signal.Signals | None = None
        self._before: dict[signal.Signals, Any] = {}

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        def heard(number: int, _frame: FrameType | None) -> None:
            self._told = signal.Signals(number)
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._ended, self._told)

        loop.add_signal_handler(signal.SIGTSTP, self.stop)
        loop.add_signal_handler(signal.SIGCONT, self._continued)
        # not the loop's own: it forgets one that comes in its last round
        for sign in ENDING:
            self._before.setdefault(sign, signal.signal(sign, heard) or signal.SIG_DFL)

    def detach(self) -> signal.Signals | None:
        """Signals do what they did before. The one that came meanwhile, whoever acted on it."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()
        sign, self._told = self._told, None
        return sign

    def stop(self, *, group: bool = False) -> None:
        """Give the terminal back and stop, the whole group where a person wants it."""
        loop = asyncio.get_running_loop()

        def stopped() -> None:
            loop.remove_signal_handler(signal.SIGTSTP)
            os.kill(0 if group else os.getpid(), signal.SIGTSTP)
            loop.add_signal_handler(signal.SIGTSTP, self.stop)

        run_in_terminal(stopped)

    def _continued(self) -> None:
        """After a stop of ours the terminal is raw again; after another it may be lost."""
        app = self._app
        if not app.is_running or app._running_in_terminal:
            return
        if _is_cooked(app.input.fileno()):
            app.input.raw_mode().__enter__()
            app.renderer.reset()
        app._redraw()


def leave_with(app: Application[Any]) -> Callable[[signal.Signals], None]:
    """The application ends, and then whoever ran it: as a program ends that a signal ended."""

    def ended(sign: signal.Signals) -> None:
        if app.is_running and not app.is_done:
            app.exit(exception=SystemExit(128 + sign))

    return ended


def _is_cooked(descriptor: int) -> bool:
    with suppress(termios.error):
        return bool(termios.tcgetattr(descriptor)[3] & termios.ICANON)
    return False
