"""Globs → regular expressions: those of grep and find, and those of .gitignore. Pure.

Common to both: `*` and `?` stop at a slash, `**` between slashes crosses folders, `[a-z]`, `[!a-z]`
and `[[:alpha:]]` are sets that never hold a slash, a backslash takes the next character as it is.
The tools' globs have `{a,b}` too (rg and fd do), git's have not. Names are compared as they are,
case included; the tools' globs take composed and decomposed letters for the same (T20). A set of
the tools' globs fits its own spelling, too: names with brackets are common (`app/[id]/page.tsx`),
and a path must find itself; so does a text that lists several (T21). Read next: ignore.py,
walking.py.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import Final

POSIX_CLASSES: Final = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r" \t\n\r\f\v",
    "blank": r" \t",
    "punct": r"!-/:-@\[-`{-~",
    "cntrl": r"\x00-\x1f\x7f",
    "print": " -~",
    "graph": "!-~",
    "xdigit": "0-9a-fA-F",
    "word": "a-zA-Z0-9_",
}

MAX_ALTERNATIVES: Final = 256
STAR: Final = "*"
FOLDERS: Final = "**/"
_OPEN_SET: Final = "a [ is not closed"


class GlobError(ValueError):
    """Not a glob: something is not closed, or a backslash stands at the end."""


class PathGlob:
    """A glob of grep or find.

    Without a slash it is held against the name; with one against the path, from any folder on
    (as if it began with `**/`), or from the search's folder where it begins with a slash.
    """

    def __init__(self, pattern: str) -> None:
        """Raises GlobError."""
        if not pattern:
            raise GlobError("the glob is empty")
        self._on_name = "/" not in pattern
        globs = expand_braces(_composed(pattern))
        globs += [part for one in globs for part in _listed(one)]
        globs += [spelled for one in globs if (spelled := _spelled_sets(one)) != one]
        regexes = [glob_regex(self._rooted(one)) for one in globs]
        self._match = re.compile("|".join(regexes), re.DOTALL).fullmatch

    def matches(self, path: str) -> bool:
        """Whether it names this path (relative, slashes, no slash at the end)."""
        name = path.rpartition("/")[2] if self._on_name else path
        return self._match(name if name.isascii() else _composed(name)) is not None

    def _rooted(self, pattern: str) -> str:
        body = pattern.removeprefix("./")
        if body.startswith("/"):
            return body[1:]
        if self._on_name or body.startswith("**/"):
            return body
        return f"**/{body}"


def _listed(glob: str) -> list[str]:
    """Of several globs in one text (`*.ts, *.tsx`), each; of one, none."""
    parts = [part for part in re.split(r"[,\s]+", glob) if part]
    return parts if len(parts) > 1 and all(set("*?") & set(part) for part in parts) else []


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def expand_braces(pattern: str) -> list[str]:
    """The globs that `{a,b}` stands for, without braces. Raises GlobError."""
    todo = [pattern]
    done: list[str] = []
    while todo:
        current = todo.pop(0)
        span = _first_braces(current)
        if span is None:
            done.append(current)
        else:
            start, end, commas = span
            edges = [start, *commas, end]
            todo += [
                current[:start] + current[left + 1 : right] + current[end + 1 :]
                for left, right in pairwise(edges)
            ]
        if len(done) + len(todo) > MAX_ALTERNATIVES:
            raise GlobError(f"its braces stand for more than {MAX_ALTERNATIVES} globs")
    return done


def _first_braces(text: str) -> tuple[int, int, list[int]] | None:
    """Where the first outermost braces open and close, and their commas."""
    depth = start = position = 0
    commas: list[int] = []
    while position < len(text):
        match text[position]:
            case "\\":
                position += 1
            case "[":
                position = max(position, _end_of_set(text, position + 1))
            case "{":
                start = position if depth == 0 else start
                depth += 1
            case "," if depth == 1:
                commas.append(position)
            case "}" if depth:
                depth -= 1
                if depth == 0:
                    return start, position, commas
            case _:
                pass
        position += 1
    if depth:
        raise GlobError("a { is not closed")
    return None


def _spelled_sets(glob: str) -> str:
    """The glob with each set as the characters that spell it."""
    out: list[str] = []
    position = 0
    while position < len(glob):
        end = _end_of_set(glob, position + 1) if glob[position] == "[" else 0
        if end:
            out += [f"\\{char}" for char in glob[position : end + 1]]
            position = end + 1
        else:
            width = 2 if glob[position] == "\\" else 1
            out.append(glob[position : position + width])
            position += width
    return "".join(out)


def _end_of_set(text: str, position: int) -> int:
    """Where the set that begins before `position` ends; 0 if it does not."""
    position += text[position : position + 1] in ("!", "^")
    position += text[position : position + 1] == "]"
    while position < len(text) and text[position] != "]":
        position += 2 if text[position] == "\\" else 1
    return position if position < len(text) else 0


@lru_cache(maxsize=512)
def glob_regex(pattern: str) -> str:
    """The regular expression (for fullmatch, DOTALL) of a glob without braces. Raises GlobError.

    A star takes the least that works and is not reconsidered where another star follows: without
    that, a hostile `*a*a*a*a*b` would take the time of a long life. It is right because what comes
    after the second star can begin anywhere behind; the same holds between two `**/`.
    """
    sections = [_section(tokens) for tokens in _split(_Reader(pattern).tokens(), FOLDERS)]
    out = [sections[0]]
    out += [f"(?>(?:[^/]+/)*?{section})" for section in sections[1:-1]]
    if len(sections) > 1:
        out.append(f"(?:[^/]+/)*{sections[-1]}")
    return "".join(out)


def _section(tokens: list[str]) -> str:
    chunks = ["".join(chunk) for chunk in _split(tokens, STAR)]
    out = [chunks[0]]
    out += [f"(?>[^/]*?{chunk})" for chunk in chunks[1:-1]]
    if len(chunks) > 1:
        out.append(f"[^/]*{chunks[-1]}")
    return "".join(out)


def _split(tokens: list[str], mark: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token == mark:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


class _Reader:
    """A cursor over one glob."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0

    def tokens(self) -> list[str]:
        """Regular expressions of one character each, STAR and FOLDERS, and a rest at the end."""
        out: list[str] = []
        while self._at < len(self._text):
            char = self._next("")
            match char:
                case "*":
                    out.append(self._stars())
                case "?":
                    out.append("[^/]")
                case "[":
                    out.append(self._set())
                case "\\":
                    out.append(re.escape(self._next("a backslash stands at the end")))
                case _:
                    out.append(re.escape(char))
        return out

    def _next(self, problem: str) -> str:
        if self._at >= len(self._text):
            raise GlobError(problem)
        self._at += 1
        return self._text[self._at - 1]

    def _peek(self, offset: int = 0) -> str:
        return self._text[self._at + offset : self._at + offset + 1]

    def _stars(self) -> str:
        """After one star: `**` is special only as a whole component."""
        start = self._at - 1
        while self._peek() == "*":
            self._at += 1
        whole = (start == 0 or self._text[start - 1] == "/") and self._peek() in ("", "/")
        if self._at - start != 2 or not whole:
            return STAR
        if self._peek():
            self._at += 1
            return FOLDERS
        return ".+" if start else ".*"

    def _set(self) -> str:
        """After `[`: the set, as a regular expression that never takes a slash."""
        negated = self._peek() in ("!", "^")
        self._at += negated
        ranges: list[str] = []
        first = True
        while (char := self._next(_OPEN_SET)) != "]" or first:
            first = False
            if char == "[" and self._peek() == ":" and (named := self._named_class()):
                ranges.append(named)
                continue
            low = self._next(_OPEN_SET) if char == "\\" else char
            high = low
            if self._peek() == "-" and self._peek(1) not in ("]", ""):
                self._at += 1
                high = self._next(_OPEN_SET)
                high = self._next(_OPEN_SET) if high == "\\" else high
            if low <= high:
                ranges.append(f"{_in_set(low)}-{_in_set(high)}")
        inner = "".join(ranges)
        if negated:
            return f"[^/{inner}]"
        return f"(?!/)[{inner}]" if inner else "(?!)"

    def _named_class(self) -> str | None:
        """`[:name:]` inside a set; None where it is no such thing."""
        end = self._text.find(":]", self._at + 1)
        name = self._text[self._at + 1 : end] if end > 0 else ""
        if not name.isalpha():
            return None
        if name not in POSIX_CLASSES:
            raise GlobError(f"[:{name}:] is no class of characters")
        self._at = end + 2
        return POSIX_CLASSES[name]


def _in_set(char: str) -> str:
    return "\\" + char if char in r"\]^-[&~|" else char
