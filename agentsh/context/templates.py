"""Prompt templates: the words behind `/NAME`, and the places of a text that they fill. Pure.

The rules are Pi's, as its page on prompt templates says them: places are `$1 $@ $ARGUMENTS ${1:-x}
${@:-x} ${@:N} ${@:N:L}`; a quotation mark opens only at the beginning of an argument, so an
apostrophe within a word is a letter, and one that is never closed is one, too. What fills a place
is never filled itself. Read next: agent/prompts/expansion.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_BLANK: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript calls white space."""
_CALL = re.compile(rf"/([^{_BLANK}]+)(?:[{_BLANK}]+(.*))?", re.DOTALL)
_ARGUMENT = re.compile(
    rf"""[{_BLANK}]*(?:
        "(?P<double>(?:[^"\\]|\\"|\\(?!"))*)"(?P<after_double>[^{_BLANK}]*)
      | '(?P<single>(?:[^'\\]|\\'|\\(?!'))*)'(?P<after_single>[^{_BLANK}]*)
      | (?P<plain>[^{_BLANK}]+)
    )""",
    re.VERBOSE | re.DOTALL,
)
_PLACE = re.compile(
    r"\$\{([0-9]+|ARGUMENTS|@):-([^}]*)\}|\$\{@:([0-9]+)(?::([0-9]+))?\}|\$(ARGUMENTS|@|[0-9]+)"
)
_ALL: Final = ("@", "ARGUMENTS")
_MOST_DIGITS: Final = 9


def split_call(text: str) -> tuple[str, str] | None:
    """`/NAME words` → (NAME, words); None: it does not begin so."""
    match = _CALL.fullmatch(text)
    return None if match is None else (match[1], match[2] or "")


def split_arguments(words: str) -> list[str]:
    """The arguments in what stands behind a template's name."""
    arguments: list[str] = []
    # a long tail of blanks would be tried at each of them
    for match in _ARGUMENT.finditer(words.rstrip(_BLANK)):
        if match["double"] is not None:
            arguments.append(match["double"].replace('\\"', '"') + match["after_double"])
        elif match["single"] is not None:
            arguments.append(match["single"].replace("\\'", "'") + match["after_single"])
        else:
            arguments.append(match["plain"])
    return arguments


def fill_template(text: str, arguments: Sequence[str]) -> str:
    """The text with its places filled; where it has none, what was typed stands behind it."""
    every = " ".join(arguments)

    def one(number: str) -> str:
        index = _number(number) - 1
        return arguments[index] if 0 <= index < len(arguments) else ""

    def filled(match: re.Match[str]) -> str:
        target, default, start, length, simple = match.groups()
        if target is not None:
            return (every if target in _ALL else one(target)) or default
        if start is not None:
            first = max(_number(start) - 1, 0)
            end = None if length is None else first + _number(length)
            return " ".join(arguments[first:end])
        return every if simple in _ALL else one(simple)

    if arguments and _PLACE.search(text) is None:
        return f"{text}\n\n{every}"
    return _PLACE.sub(filled, text)


def _number(digits: str) -> int:
    """As many as anybody has arguments; Python reads no thousands of digits."""
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS
