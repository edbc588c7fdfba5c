r"""What a terminal sends, cut into whole tokens: the complete grammar, not a list of known keys.

    c                       a character, or a control character      Typed
    ESC c                   a key with Alt                           Alt
    ESC                     and nothing within the pause             Escape
    ESC [ … final           CSI: keys, reports, mouse, focus         Sequence
    ESC O … final           SS3: keys                                Sequence
    ESC ] P X ^ _ … ST      OSC, DCS, SOS, PM, APC: answers          TerminalString
    ESC [200~ … ESC [201~   a bracketed paste, verbatim              Pasted

A token is given only when it is whole, wherever the reads cut it, so an unknown one can be dropped
whole. What cannot be whole any more (a control character in its middle, a pause of PATIENCE) is
dropped up to there; a paste whose end was lost ends with a key that comes by itself after that
pause. Bytes that are no UTF-8 come as surrogates (the reader's doing): the eight-bit
introducers among them are obeyed, since no text can hold them. It knows no key. Read next:
keycodes.py, terminal_input.py.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

ESC = "\x1b"
PATIENCE = 2.0
"""Seconds after which the rest of a half sequence is no longer waited for."""
LONGEST_HELD = 100_000
"""Characters of an unfinished sequence that are remembered; of a longer one the middle is not."""
_PASTE_END = "\x1b[201~"
_KEY = re.compile(r"(?P<key>[^\r\n\x03]|\x1b[^\[]|\x1b\[(?!201~)[0-9;]*[A-DFHu~])|[\r\n\x03]")
"""One key, and nothing else. Enter may be of the paste; Ctrl-C only ends it, and clears nothing."""
_CSI = re.compile(
    r"\x1b\[(?:\[[ -~]|M[\s\S]{3}|[0-9]+\$|[0-?]*[ -/]*[@-LN-Z\\-~]|[0-?]+[ -/]*[M\[])"
)
_CSI_PART = re.compile(r"\x1b\[(?:\[|M[\s\S]{0,2}|[0-?]*[ -/]*)\Z")
_CSI_BROKEN = re.compile(r"\x1b\[[0-?]*[ -/]*")
_SS3 = re.compile(r"\x1bO[0-9;]*[@-~ ]")
_SS3_PART = re.compile(r"\x1bO[0-9;]*\Z")
_SS3_BROKEN = re.compile(r"\x1bO[0-9;]*")
_STRING = re.compile("\x1b[\\]PX^_]([^\x00-\x1f\udc9c]*)(\x07|\x1b\\\\|\udc9c)")
_STRING_PART = re.compile("\x1b[\\]PX^_][^\x00-\x1f\udc9c]*\x1b?\\Z")
_STRING_BROKEN = re.compile("\x1b[\\]PX^_][^\x00-\x1f\udc9c]*")
_INTRODUCERS = "[O]PX^_"
_EIGHT_BIT = {chr(0xDC00 + ord(c) + 0x40): ESC + c for c in _INTRODUCERS}


class Typed(Struct, frozen=True):
    """One character."""

    text: str


class WithAlt(Struct, frozen=True):
    """One character with Alt."""

    text: str


class LoneEscape(Struct, frozen=True):
    """The key Esc, by itself."""


class ControlSequence(Struct, frozen=True):
    """A whole CSI or SS3 sequence. `alt`: another ESC stood before it."""

    text: str
    alt: bool = False


class TerminalString(Struct, frozen=True):
    """A whole string sequence of the kind that its introducer names: `]` for OSC."""

    kind: str
    text: str


class Pasted(Struct, frozen=True):
    """What stood between the marks of a paste."""

    text: str


Piece: TypeAlias = Typed | WithAlt | LoneEscape | ControlSequence | TerminalString | Pasted


class Splitter:
    """Reads → tokens. Holds back what is not whole yet."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._fed = clock()
        self._held = ""
        self._paste: str | None = None

    def feed(self, read: str) -> list[Piece]:
        """The tokens that are whole now."""
        now = self._clock()
        is_late, self._fed = now - self._fed > PATIENCE, now
        tokens: list[Piece] = []
        if self._paste is not None and is_late and (key := _KEY.fullmatch(read)):
            # the end of the paste never came: a key by itself, after a pause, is the way out
            typed = "" if key["key"] else read.replace("\x03", "")
            tokens.append(Pasted(self._paste + typed))
            self._paste = None
            if not key["key"]:
                return tokens
        text, self._held = ("" if is_late else self._held) + read, ""
        position = 0
        while position < len(text):
            if self._paste is not None:
                position = self._take_paste(text, position, tokens)
                continue
            if text[position] in _EIGHT_BIT:
                text = text[:position] + _EIGHT_BIT[text[position]] + text[position + 1 :]
            end = self._take(text, position, tokens)
            if end is None:
                self._held = (
                    text[position:]
                    if len(text) - position <= LONGEST_HELD
                    else text[position : position + 2]
                )
                break
            position = end
        return tokens

    def flush(self) -> list[Piece]:
        """A pause: what a person can have typed is a key; a half sequence waits on."""
        letter = self._held.lstrip(ESC)
        if len(letter) > 1 or letter not in _INTRODUCERS:
            return []
        escapes = self._held.count(ESC) - len(letter)
        self._held = ""
        tokens: list[Piece] = [LoneEscape() for _ in range(escapes)]
        return [*tokens, WithAlt(letter)] if letter else tokens

    # ---- inside ---------------------------------------------------------------------------------

    def _take_paste(self, text: str, position: int, tokens: list[Piece]) -> int:
        """Up to the end of the paste; where it goes on after."""
        had = "" if self._paste is None else self._paste
        whole = had + text[position:]
        end = whole.find(_PASTE_END, max(0, len(had) - len(_PASTE_END)))
        if end < 0:
            self._paste = whole
            return len(text)
        tokens.append(Pasted(whole[:end]))
        self._paste = None
        return position + end + len(_PASTE_END) - len(had)

    def _take(self, text: str, position: int, tokens: list[Piece]) -> int | None:
        """One token at `position`: where the next one begins. None: it is not whole yet."""
        if text[position] != ESC:
            tokens.append(Typed(text[position]))
            return position + 1
        following = text[position + 1 : position + 2]
        if following == ESC:
            return self._take_twice(text, position, tokens)
        if not following:
            return None
        if following in "[O":
            return self._take_sequence(text, position, tokens, alt=False)
        if following in _INTRODUCERS:
            return _take_string(text, position, tokens)
        tokens.append(WithAlt(following))
        return position + 2

    def _take_twice(self, text: str, position: int, tokens: list[Piece]) -> int | None:
        """Two ESC: Esc twice, or one key with Alt as some terminals spell it."""
        third = text[position + 2 : position + 3]
        if not third:
            return None
        if third in "[O":
            return self._take_sequence(text, position + 1, tokens, alt=True)
        tokens.append(LoneEscape())
        return position + 1

    def _take_sequence(
        self, text: str, position: int, tokens: list[Piece], *, alt: bool
    ) -> int | None:
        is_csi = text[position + 1] == "["
        whole = (_CSI if is_csi else _SS3).match(text, position)
        if whole is not None:
            if whole[0] == "\x1b[200~":
                self._paste = ""
            else:
                tokens.append(ControlSequence(whole[0], alt))
            return whole.end()
        if (_CSI_PART if is_csi else _SS3_PART).match(text, position):
            return None
        broken = (_CSI_BROKEN if is_csi else _SS3_BROKEN).match(text, position)
        return position + 2 if broken is None else broken.end()


def _take_string(text: str, position: int, tokens: list[Piece]) -> int | None:
    whole = _STRING.match(text, position)
    if whole is not None:
        tokens.append(TerminalString(text[position + 1], whole[1]))
        return whole.end()
    if _STRING_PART.match(text, position):
        return None
    broken = _STRING_BROKEN.match(text, position)
    return position + 2 if broken is None else broken.end()
