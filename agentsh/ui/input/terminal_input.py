"""The keyboard: what the terminal sends → keys, with nothing of the rest among them.

prompt_toolkit's own parser takes what its table lacks for Esc and text, so that a report of the
focus would answer a question and stop a turn. Here a token is read whole first (sequences.py), and
only what is a key becomes one (keycodes.py). The answer about the colour of the background is told
to whoever asked; one that is still on its way when the terminal is given back is waited for, a
moment at most: it would be typed into the shell (U26). Every application of ours reads through
this. Read next: sequences.py, bursts.py.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Final, TextIO

from prompt_toolkit.filters import vi_mode
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings, KeyPress
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys

from agentsh.ui.input.background_colour import heard
from agentsh.ui.input.bursts import TYPED_AHEAD, Bursts
from agentsh.ui.input.keycodes import key_presses
from agentsh.ui.input.sequences import Piece, Splitter, TerminalString, Typed
from agentsh.ui.terminal import Background

_MOST_READ = 1 << 16
"""Bytes of one read: after each the screen is drawn anew."""


_ANSWERED: Final = 1.0
"""Seconds in which a terminal answers, also over a slow line."""
_LONGEST_WAIT: Final = 0.4


class KeyReader:
    """Reads → keys. `bursts`: lines that come at once are one paste."""

    def __init__(
        self,
        answered: Callable[[Background], None] | None = None,
        *,
        bursts: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._answered = answered
        self._splitter = Splitter(clock)
        self._clock = clock
        self._due = 0.0
        self._bursts = Bursts(clock) if bursts else None

    def asked(self) -> None:
        """The terminal was asked for its background."""
        self._due = self._clock() + _ANSWERED

    @property
    def waits(self) -> float:
        """Seconds that an answer may still take; 0 when none is to come."""
        return max(0.0, self._due - self._clock())

    def feed(self, read: str) -> list[KeyPress]:
        tokens = self._heard(self._splitter.feed(read))
        return _keys(tokens if self._bursts is None else self._bursts.feed(tokens))

    def flush(self) -> list[KeyPress]:
        """After a pause."""
        before = [] if self._bursts is None else self._bursts.flush()
        return _keys(before + self._splitter.flush())

    def _heard(self, tokens: list[Piece]) -> list[Piece]:
        pieces: list[Piece] = []
        for token in tokens:
            if not isinstance(token, TerminalString):
                pieces.append(token)
            elif self._answered is not None and token.kind == "]":
                background = heard(token.text)
                if background is not None:
                    self._due = 0.0
                    self._answered(background)
        return pieces


class TerminalInput(Vt100Input):
    """The terminal's keys, for prompt_toolkit."""

    def __init__(self, stdin: TextIO, reader: KeyReader) -> None:
        super().__init__(stdin)
        self._reader = reader
        self._typed_ahead = False

    def raw_mode(self) -> AbstractContextManager[None]:
        """Single keys from here on. What ends lines that wait already is an Enter, or Ctrl-D."""
        self._typed_ahead = bool(select.select([self.fileno()], [], [], 0)[0])
        return _GivenBack(super().raw_mode(), self._hear_out)

    def cooked_mode(self) -> AbstractContextManager[None]:
        """For somebody else, a while."""
        self._hear_out()
        return super().cooked_mode()

    def _hear_out(self) -> None:
        """An answer that is on its way is no line of the next program."""
        end = time.monotonic() + min(self._reader.waits, _LONGEST_WAIT)
        while self._reader.waits and not self.closed:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fileno()], [], [], left)[0]:
                return
            self.read_keys()

    def read_keys(self) -> list[KeyPress]:
        read = self.stdin_reader.read(_MOST_READ)
        if self._typed_ahead:  # a terminal that gave lines made Enter a newline, Ctrl-D a NUL
            self._typed_ahead = False
            read = read.replace("\0", "\x04").replace("\n", "\r")
        return self._reader.feed(read)

    def flush_keys(self) -> list[KeyPress]:
        return self._reader.flush()


class _GivenBack(AbstractContextManager[None]):
    """A mode of the terminal, and what is done before it ends."""

    def __init__(self, mode: AbstractContextManager[None], before: Callable[[], None]) -> None:
        self._mode = mode
        self._before = before

    def __enter__(self) -> None:
        self._mode.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        self._before()
        return self._mode.__exit__(kind, error, trace)


def forget_unknown_alt(keys: KeyBindings) -> None:
    """A key with Alt that nothing is bound to does nothing: it is not Esc, nor the letter."""

    @keys.add("escape", Keys.Any, filter=~vi_mode)
    def _(event: KeyPressEvent) -> None:
        pass


def _keys(tokens: list[Piece]) -> list[KeyPress]:
    """A long run of plain characters is its first key and one insertion of the rest.

    No hand types so much between two reads, and each key by itself costs more the longer the draft
    is: a text that no marks enclose took minutes (U04). The first one may be more than its letter.
    """
    keys: list[KeyPress] = []
    run: list[KeyPress] = []
    for token in tokens:
        presses = key_presses(token)
        if isinstance(token, Typed) and token.text >= " " and token.text != "\x7f":
            run += presses
            continue
        keys += [*_joined(run), *presses]
        run = []
    return keys + _joined(run)


def _joined(run: list[KeyPress]) -> list[KeyPress]:
    if len(run) <= TYPED_AHEAD:
        return run
    return [run[0], KeyPress(Keys.Any, "".join(key.data for key in run[1:]))]
