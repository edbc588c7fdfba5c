"""What a person is told while something takes long: a clock, or a line now and then.

`Ticker` is for commands without a screen of their own (`run` before the first word, `compact` until
its end): it writes one line that can be taken back. `beating` is for whoever cannot see a clock: it
says whole lines. Both are told the time by one thread. Read next: plain.py, plainchat.py.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agentsh.sanitize import safe_line
from agentsh.ui.terminal import Terminal

SILENCE = 2.0
HEARTBEAT = 15.0


class _Clock:
    """Calls `tell` with the seconds so far: after `silence`, then each `every`, until stopped."""

    def __init__(self, tell: Callable[[float], None], silence: float, every: float) -> None:
        self._over = threading.Event()
        args = (tell, silence, every, time.monotonic())
        self._thread = threading.Thread(
            target=self._run, args=args, name="agentsh-waiting", daemon=True
        )
        self._thread.start()

    def stop(self, seconds: float | None = None) -> None:
        """Nothing is told once this returns; `seconds`: how long a teller may hang."""
        self._over.set()
        self._thread.join(seconds)

    def _run(
        self, tell: Callable[[float], None], silence: float, every: float, began: float
    ) -> None:
        wait = silence
        while not self._over.wait(wait):
            tell(time.monotonic() - began)
            wait = every


class Ticker:
    """Writes to stderr where all is one terminal that is not dumb; else it does nothing.

    Beside a pipe it would write into the screen of whatever reads that (a pager). Whoever prints
    calls `stop` first.
    """

    def __init__(self, terminal: Terminal, silence: float = SILENCE) -> None:
        self._err = terminal.stderr
        self._width = terminal.size[0] - 1
        self._works = terminal.stdout_tty and terminal.stderr_tty and not terminal.dumb
        self._silence = silence
        self._is_shown = False
        self._clock: _Clock | None = None

    def start(self, what: Callable[[], str]) -> None:
        """From now on this is waited for; it says since when."""
        self.stop()
        if self._works:
            self._clock = _Clock(lambda _: self._show(what()), self._silence, 1.0)

    def stop(self) -> None:
        """When this returns, the line is gone and stays away."""
        clock, self._clock = self._clock, None
        if clock is not None:
            clock.stop()
        if self._is_shown:
            self._is_shown = False
            self._write("\r\x1b[K")

    def _show(self, what: str) -> None:
        self._is_shown = True
        self._write(f"\r{safe_line(f'{what} (Ctrl-C stops)', self._width)}\x1b[K")

    def _write(self, text: str) -> None:
        try:
            self._err.write(text)
            self._err.flush()
        except OSError:
            pass  # the terminal is gone; what matters is told by whoever writes there next


@contextmanager
def beating(
    say: Callable[[str], None], what: Callable[[], str], seconds: float = HEARTBEAT
) -> Iterator[None]:
    """Say every so many seconds what goes on, until the block ends."""
    clock = _Clock(lambda _: say(f"{what()}; Ctrl-C stops"), seconds, seconds)
    try:
        yield
    finally:
        clock.stop(1.0)
