"""Thoughts that a server leaves inside the text, in `<think>` tags → thoughts and text, sans-IO.

Thoughts are thoughts only where it is certain: at the very beginning of an answer, blanks aside,
up to the closing tag. A closing tag alone (the opening one stood in the prompt) is taken out where
it ends or begins a line outside of code; what stands before it was shown as text and stays text.
Every other tag is text: quoted, fenced, in the middle of a sentence. Nothing that was said is lost,
and no cutting of the same text gives another result. Blanks before the first word wait for it.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final, Literal, TypeAlias

Part: TypeAlias = Literal["text", "thought"]

_NAMES: Final = ("think", "thinking", "thought")
_OPENING: Final = tuple(f"<{name}>" for name in _NAMES)
_CLOSING: Final = tuple(f"</{name}>" for name in _NAMES)
_LONGEST: Final = max(map(len, _CLOSING))
_ALONE: Final = r"</(?:think|thinking|thought)>"
_FENCE: Final = r"^[ ]{0,3}(?:```|~~~)"


class _Where(Enum):
    BEFORE = auto()
    """Nothing was said yet."""
    INSIDE = auto()
    TEXT = auto()
    PLAIN = auto()
    """No tag means anything any more."""


class ThinkTags:
    """The text of one answer, piece by piece."""

    def __init__(self) -> None:
        self._where = _Where.BEFORE
        self._held = ""
        self._closing = ""
        self._is_fresh = False  # no thought of this tag was told yet
        self._told: list[str] = []

    def feed(self, piece: str) -> list[tuple[Part, str]]:
        """Take a piece; give what is certain by now."""
        self._held += piece
        return self._take(is_end=False)

    def end(self) -> list[tuple[Part, str]]:
        """Something else begins, or the answer is over: what was held back is text."""
        return self._take(is_end=True)

    def _take(self, *, is_end: bool) -> list[tuple[Part, str]]:
        parts: list[tuple[Part, str]] = []
        while True:
            before = (self._where, len(self._held))
            match self._where:
                case _Where.BEFORE:
                    self._open(is_end=is_end)
                case _Where.INSIDE:
                    parts += self._inside(is_end=is_end)
                case _Where.TEXT:
                    parts += self._text(is_end=is_end)
                case _Where.PLAIN:
                    parts += self._say("text", len(self._held))
            if before == (self._where, len(self._held)):
                return parts

    def _say(self, kind: Part, size: int, skipped: int = 0) -> list[tuple[Part, str]]:
        """The next so many characters; those behind them are left out."""
        text, self._held = self._held[:size], self._held[size + skipped :]
        if kind == "text" and text:
            self._told.append(text)
        return [(kind, text)] if text else []

    def _open(self, *, is_end: bool) -> None:
        said = self._held.lstrip()
        if not said:
            self._held = "" if is_end else self._held
            return
        for opening in _OPENING:
            tag = said[: len(opening)]
            if tag.lower() == opening:
                self._held = said[len(opening) :]
                self._where, self._closing = _Where.INSIDE, f"</{tag[1:]}"
                self._is_fresh = True
                return
        if is_end or not any(opening.startswith(said[:_LONGEST].lower()) for opening in _OPENING):
            self._where = _Where.PLAIN if self._closing else _Where.TEXT
            self._held = said if self._closing else self._held

    def _inside(self, *, is_end: bool) -> list[tuple[Part, str]]:
        if self._is_fresh:
            self._held = self._held.lstrip()
            self._is_fresh = not self._held
        tag_start = self._held.find(self._closing)
        if tag_start >= 0:
            self._where = _Where.BEFORE
            return self._say("thought", tag_start, len(self._closing))
        held_back = 0 if is_end else _begun(self._held, (self._closing,))
        return self._say("thought", len(self._held) - held_back)

    def _text(self, *, is_end: bool) -> list[tuple[Part, str]]:
        match = re.search(_ALONE, self._held) if "</th" in self._held else None
        if match is None:
            held_back = 0 if is_end else _begun(self._held, _CLOSING)
            return self._say("text", len(self._held) - held_back)
        start, end = match.span()
        if end == len(self._held) and not is_end:
            return self._say("text", start)  # what follows decides
        before = "".join(self._told) + self._held[:start]
        if _is_stray(before, self._held[end : end + 1]):
            self._where = _Where.PLAIN
            return self._say("text", start, end - start)
        return self._say("text", end)


def _begun(text: str, tags: tuple[str, ...]) -> int:
    """How much of the end may be the beginning of one of these."""
    tag_start = text.rfind("<", max(0, len(text) - _LONGEST))
    is_begun = tag_start >= 0 and any(tag.startswith(text[tag_start:]) for tag in tags)
    return len(text) - tag_start if is_begun else 0


def _is_stray(before: str, following: str) -> bool:
    """Whether a closing tag stands alone at the end or the beginning of a line, outside of code."""
    line = before.rpartition("\n")[2]
    if line.strip() and following not in ("", "\n", "\r"):
        return False
    if line.count("`") % 2 or any(opening in before for opening in _OPENING):
        return False
    return len(re.findall(_FENCE, before, re.MULTILINE)) % 2 == 0
