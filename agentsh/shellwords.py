"""Words → one line that a shell reads as exactly these words: whatever is printed to be pasted.

The only place that quotes for a shell. The line is printable and has no line end, whatever is in a
word: what a terminal would obey, or a person would not see, is spelled as `$'…'` (bash, zsh, ksh),
byte by byte. So a line from here needs no further cleaning, and must get none: blanks inside of
quotes count. Pure.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable


def shell_line(words: Iterable[str]) -> str:
    """The command that these words are."""
    return " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    """One word, quoted where it must be."""
    return shlex.quote(word) if word.isprintable() else f"$'{''.join(map(_spelled, word))}'"


def _spelled(char: str) -> str:
    if char == "\n":
        return "\\n"
    if char in "'\\":
        return f"\\{char}"
    if char.isprintable():
        return char
    try:
        coded = char.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a pair: no file, no argument can hold it
        coded = "\ufffd".encode()
    return "".join(f"\\{byte:03o}" for byte in coded)
