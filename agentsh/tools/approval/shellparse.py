"""Read a shell command just far enough to know whether it is one plain command of literal words.

Theory. An approval rule names words; bash runs what its grammar makes of a text. The two agree only
where no grammar is at work, so this reader walks the text as bash's tokenizer does (blanks, the
three quotes, backslashes) and stops at the first thing that is grammar: an operator, a redirection,
a substitution or expansion, a glob or brace, a tilde, a comment, an assignment, a reserved word, a
second line. It then answers `Unclear` with the name of that thing. There is no need to understand
what follows, because nothing unclear is ever covered by a rule. Everything that is not listed here
as literal is unclear: a new operator of bash asks, it does not pass.

Invariant (tested against bash itself): if the answer is `Plain`, `bash -c` runs exactly one simple
command with exactly these words. It does not judge commands; rules.py does.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from msgspec import Struct


class Plain(Struct, frozen=True):
    """One simple command: its words as the program gets them, quotes removed."""

    words: tuple[str, ...]


class Unclear(Struct, frozen=True):
    """Anything else; `reason` names what was met, for the question and the notes."""

    reason: str


ShellParse: TypeAlias = Plain | Unclear

_BLANKS: Final = " \t"
# Unquoted, these are themselves wherever they stand in a word; letters and digits are too.
_LITERAL: Final = frozenset("_-./:,+@%=^]")
_GRAMMAR: Final = {
    "\n": "several lines",
    ";": "a chain (;)",
    "&": "a chain or a background job (&)",
    "|": "a pipe or a chain (|)",
    "<": "a redirection, here-document or process substitution (<)",
    ">": "a redirection or process substitution (>)",
    "(": "a subshell, a function or a pattern",
    ")": "a subshell, a function or a pattern",
    "{": "a group or a brace expansion",
    "}": "a group or a brace expansion",
    "$": "an expansion or a substitution ($)",
    "`": "a command substitution (`)",
    "*": "a file name pattern (*)",
    "?": "a file name pattern (?)",
    "[": "a file name pattern or a test ([)",
    "!": "a negation (!)",
}
_RESERVED: Final = (
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in",
    "function", "select", "time", "coproc",
)  # fmt: skip
_DOUBLE_QUOTE_ESCAPES: Final = '$`"\\'


class _Met(Exception):  # noqa: N818  a jump out of the reader, never seen outside of it
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def parse_command(command: str) -> ShellParse:
    """What bash would make of this text, if that is one plain command; else why it is not clear."""
    for char in command:
        if char not in " \t\n" and not char.isprintable():
            # NUL ends a C string, CR and escapes hide text, U+00A0 and others look like blanks
            return Unclear(f"an invisible or control character ({char!a})")
    text = command.strip(" \t\n")
    try:
        words = _Reader(text).words()
    except _Met as met:
        return Unclear(met.reason)
    if not words:
        return Unclear("no command")
    first = words[0]
    if not first:
        return Unclear("an empty program name")
    if "=" in first:
        return Unclear("a variable assignment before the command")
    if first in _RESERVED:
        return Unclear(f"the reserved word {first}")
    return Plain(words)


class _Reader:
    """A cursor over the text. Raises _Met at the first grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def words(self) -> tuple[str, ...]:
        read: list[str] = []
        while True:
            while self._peek() and self._peek() in _BLANKS:
                self._at += 1
            if not self._peek():
                return tuple(read)
            read.append(self._word())

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _word(self) -> str:
        """One word, up to a blank or the end."""
        parts: list[str] = []
        start = self._at
        while (char := self._peek()) and char not in _BLANKS:
            match char:
                case "'":
                    parts.append(self._single())
                case '"':
                    parts.append(self._double())
                case "\\":
                    parts.append(self._escaped())
                case _:
                    parts.append(self._bare(char, start))
        return "".join(parts)

    def _bare(self, char: str, start: int) -> str:
        """One unquoted character that stands for itself."""
        if char in _GRAMMAR:
            raise _Met(_GRAMMAR[char])
        if char == "#" and self._at == start:
            raise _Met("a comment (#)")
        if char == "~" and (self._at == start or self._text[self._at - 1] in "=:"):
            # bash also expands it after = and : in words that look like assignments
            raise _Met("a home folder (~)")
        if char not in _LITERAL and char not in "#~" and not char.isalnum():
            raise _Met(f"the character {char!a} outside of quotes")
        self._at += 1
        return char

    def _single(self) -> str:
        end = self._text.find("'", self._at + 1)
        if end < 0:
            raise _Met("a quote that is not closed (')")
        inner = self._text[self._at + 1 : end]
        self._at = end + 1
        if "\n" in inner:
            raise _Met("several lines")
        return inner

    def _double(self) -> str:
        parts: list[str] = []
        self._at += 1
        while (char := self._peek()) != '"':
            following = self._text[self._at + 1 : self._at + 2]
            if not char:
                raise _Met('a quote that is not closed (")')
            if char in "$`\n":
                raise _Met(_GRAMMAR[char])
            if char == "\\" and following == "\n":
                raise _Met("several lines")
            if char == "\\" and following and following in _DOUBLE_QUOTE_ESCAPES:
                char = following
                self._at += 1
            parts.append(char)
            self._at += 1
        self._at += 1
        return "".join(parts)

    def _escaped(self) -> str:
        following = self._text[self._at + 1 : self._at + 2]
        if not following:
            raise _Met("a backslash at the end")
        if following == "\n":
            raise _Met("several lines")
        self._at += 2
        return following
