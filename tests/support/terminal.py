"""A pseudo-terminal with a pyte screen behind it, to drive a program as a person does.

`everything` is scrollback and screen; `raw` the bytes that came. Waiting is for a claim, never for
a time. POSIX only.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pyte
from pyte.screens import Char

ENTER, ESC, UP, DOWN, LEFT, RIGHT = "\r", "\x1b", "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C"
CTRL_C, CTRL_D, CTRL_J, CTRL_Z, ALT_ENTER = "\x03", "\x04", "\n", "\x1a", "\x1b\r"


class PtyTerminal:
    """One program in one terminal, the leader of a session of its own."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        rows: int = 24,
        columns: int = 80,
    ) -> None:
        self._master, slave = pty.openpty()
        self._set_size(rows, columns)
        self._screen = pyte.HistoryScreen(columns, rows, history=20_000, ratio=0.5)
        self._stream = pyte.ByteStream(self._screen)
        self._lock = threading.Lock()
        self._closed = False
        self._last = time.monotonic()
        self.raw = bytearray()
        self.process = subprocess.Popen(
            list(argv),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**_measuring(), **env},
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(slave)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, keys: str) -> None:
        """A byte that is no UTF-8 is a lone surrogate, as `os.fsdecode` makes it."""
        left = keys.encode("utf-8", "surrogateescape")
        while left:
            if select.select([], [self._master], [], 5)[1]:
                left = left[os.write(self._master, left[:512]) :]
        self._last = time.monotonic()

    def type(self, text: str) -> None:
        """Keys, and wait for their echo."""
        self.send(text)
        self.wait(lambda: text.split("\n")[-1] in self.screen)

    def wait(self, claim: str | Callable[[], object], seconds: float = 15) -> None:
        """Until the text is somewhere, or the claim is true. AssertionError otherwise."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if (claim in self.everything) if isinstance(claim, str) else claim():
                return
            time.sleep(0.02)
        raise AssertionError(f"{claim!r} did not come; the screen:\n{self.everything[-3000:]}")

    def quiet(self, seconds: float = 0.3) -> None:
        """Until nothing has come for so long; ten seconds at most."""
        end = time.monotonic() + 10
        while time.monotonic() < min(end, self._last + seconds):
            time.sleep(0.02)

    def ready(self) -> None:
        """Until the program reads single keys."""
        self.wait(self.reads_keys)
        self.quiet()

    def reads_keys(self) -> bool:
        with suppress(termios.error, OSError):
            return not termios.tcgetattr(self._master)[3] & termios.ICANON
        return False

    def resize(self, rows: int, columns: int) -> None:
        with self._lock:
            screen = self._screen
            gone = max(0, screen.lines - rows)
            # pyte forgets what a lower window pushes out at the top; a terminal does not
            screen.history.top.extend(screen.buffer[y] for y in range(gone))
            row = screen.cursor.y - gone
            screen.resize(rows, columns)
            screen.cursor.y = max(0, row)
        self._set_size(rows, columns)
        os.kill(self.process.pid, signal.SIGWINCH)

    def ends(self, seconds: float = 10) -> int:
        """The exit code."""
        code = self.process.wait(seconds)
        self._reader.join(2)
        return code

    @property
    def screen(self) -> str:
        with self._lock:
            return "\n".join(line.rstrip() for line in self._screen.display)

    @property
    def everything(self) -> str:
        with self._lock:
            width = self._screen.columns
            above = [
                "".join(line[x].data for x in range(max(width, 200))).rstrip()
                for line in self._screen.history.top
            ]
            return "\n".join([*above, *(line.rstrip() for line in self._screen.display)])

    def cells(self) -> list[list[Char]]:
        """The screen's cells, with their looks."""
        with self._lock:
            screen = self._screen
            return [
                [screen.buffer[y][x] for x in range(screen.columns)] for y in range(screen.lines)
            ]

    @property
    def cursor(self) -> tuple[int, int]:
        """(column, row)."""
        with self._lock:
            return self._screen.cursor.x, self._screen.cursor.y

    def hang_up(self) -> None:
        """Close the terminal under the program."""
        self._closed = True
        self._reader.join(2)
        os.close(self._master)

    def close(self) -> None:
        """A program that hears of it ends in order, and what coverage saw of it is kept."""
        for sign, seconds in ((signal.SIGHUP, 10), (signal.SIGKILL, 2)):
            if self.process.poll() is None:
                with suppress(OSError):
                    os.killpg(self.process.pid, sign)
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(seconds)
        self._closed = True
        self._reader.join(2)
        with suppress(OSError):
            os.close(self._master)

    def _read(self) -> None:
        while not self._closed:
            try:
                if not select.select([self._master], [], [], 0.1)[0]:
                    continue
                data = os.read(self._master, 65536)
            except OSError:
                return
            if not data:
                return
            with self._lock:
                self.raw += data
                self._stream.feed(data)
            self._last = time.monotonic()

    def _set_size(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _measuring() -> dict[str, str]:
    """What has a program measured by coverage (pyproject.toml), whatever else it is told."""
    names = ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START")
    return {name: os.environ[name] for name in names if name in os.environ}


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def pty_terminal(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    rows: int = 24,
    columns: int = 80,
) -> Iterator[PtyTerminal]:
    """A program in a terminal for the length of the block."""
    terminal = PtyTerminal(argv, env=env, cwd=cwd, rows=rows, columns=columns)
    try:
        yield terminal
    finally:
        terminal.close()
