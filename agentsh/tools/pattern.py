"""The pattern of grep as a tree: one language, two engines. Values only.

Theory. ripgrep's regular expressions and Python's `re` look alike and differ: Unicode classes,
`$` before CR, case folding, what `{` or `[` mean alone. So a pattern is parsed into this tree
(pattern_parser.py), and the tree is spelled for each engine such that both find the same lines
(pattern_forms.py). Meaning: that of ripgrep (classes and `\\b` are Unicode's), with two leniencies
of Python's, because models write them: a `{` that begins no repetition and a `[` inside of a class
are themselves. Lookaround, backreferences and atomic groups exist too; only Python's engine has
them (`needs_python`). A line is searched by itself: `^` and `$` are its ends, a CR at the end does
not count, `.` is any character.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Char:
    """One character; `fold`: in either case."""

    code: int
    fold: bool


@dataclass(frozen=True, slots=True)
class Any:
    """Any character."""


PerlClass: TypeAlias = Literal["d", "w", "s"]


@dataclass(frozen=True, slots=True)
class Set:
    """One character of these ranges or classes, or (negated) of none of them."""

    ranges: tuple[tuple[int, int], ...]
    classes: tuple[tuple[PerlClass, bool], ...]
    """(class, negated)"""
    categories: tuple[tuple[str, bool], ...]
    """(Unicode general category such as "Lu" or "L", negated)"""
    negated: bool
    fold: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """An empty place: start or end of the line, (no) word boundary, word start or end."""

    kind: Literal["^", "$", "b", "B", "<", ">"]


@dataclass(frozen=True, slots=True)
class Group:
    """`opening` is Python's, such as `(`, `(?:`, `(?P<n>`, `(?=`."""

    opening: str
    inner: Node


@dataclass(frozen=True, slots=True)
class Backreference:
    """`spelling` is Python's."""

    spelling: str
    fold: bool


@dataclass(frozen=True, slots=True)
class Repeat:
    inner: Node
    least: int
    most: int | None
    lazy: bool


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    options: tuple[Node, ...]


Node: TypeAlias = Char | Any | Set | Edge | Group | Backreference | Repeat | Sequence | Choice


def needs_python(node: Node) -> bool:
    """Whether it holds lookaround, a backreference or an atomic group."""
    match node:
        case Backreference():
            return True
        case Group(opening, inner):
            return opening in ("(?=", "(?!", "(?<=", "(?<!", "(?>") or needs_python(inner)
        case Repeat(inner):
            return needs_python(inner)
        case Sequence(parts) | Choice(parts):
            return any(needs_python(part) for part in parts)
        case Char() | Any() | Set() | Edge():
            return False
