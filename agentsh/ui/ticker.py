"""One line at a terminal's end that says what is waited for, with a clock; gone before all else.

For commands without a screen of their own: `run` before the first word, `compact` until its end.
Whoever prints calls `stop` first. Shown only after a moment of silence, and only where the line can
be taken back. Read next: plain.py, heartbeat.py.
"""

from __future__ import annotations

import threading
import time

from agentsh.ui.sanitize import safe_line
from agentsh.ui.terminal import Terminal

SILENCE = 2.0


class Ticker:
    """Writes to stderr where all is one terminal that is not dumb; else it does nothing.

    Beside a pipe it would write into the screen of whatever reads that (a pager).
    """

    def __init__(self, terminal: Terminal, silence: float = SILENCE) -> None:
        self._err = terminal.stderr
        self._width = terminal.size[0] - 1
        self._works = terminal.stdout_tty and terminal.stderr_tty and not terminal.dumb
        self._silence = silence
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, what: str) -> None:
        """From now on this is waited for."""
        self.stop()
        if self._works:
            self._over = threading.Event()
            self._thread = threading.Thread(
                target=self._tick, args=(what, self._over), name="ticker", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """When this returns, the line is gone and stays away."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._over.set()
            thread.join()

    def _tick(self, what: str, over: threading.Event) -> None:
        began = time.monotonic()
        shown = False
        wait = self._silence
        while not over.wait(wait):
            words = f"{what} {time.monotonic() - began:.0f} s (Ctrl-C stops)"
            self._write(f"\r{safe_line(words, self._width)}\x1b[K")
            shown, wait = True, 1.0
        if shown:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        try:
            self._err.write(text)
            self._err.flush()
        except OSError:
            pass  # the terminal is gone; what matters is told by whoever writes there next
