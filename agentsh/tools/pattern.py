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

from typing import Literal, TypeAlias

from msgspec import Struct


class Char(Struct, frozen=True):
    """One character; `fold`: in either case."""

    code: int
    fold: bool


class Any(Struct, frozen=True):
    """Any character."""


PerlClass: TypeAlias = Literal["d", "w", "s"]


class Set(Struct, frozen=True):
    """One character of these ranges or classes, or (negated) of none of them."""

    ranges: tuple[tuple[int, int], ...]
    classes: tuple[tuple[PerlClass, bool], ...]
    """(class, negated)"""
    categories: tuple[tuple[str, bool], ...]
    """(Unicode general category such as "Lu" or "L", negated)"""
    negated: bool
    fold: bool


class Edge(Struct, frozen=True):
    """An empty place: start or end of the line, (no) word boundary, word start or end."""

    kind: Literal["^", "$", "b", "B", "<", ">"]


class Group(Struct, frozen=True):
    """`opening` is Python's, such as `(`, `(?:`, `(?P<n>`, `(?=`."""

    opening: str
    inner: Node


class Backreference(Struct, frozen=True):
    """`spelling` is Python's."""

    spelling: str
    fold: bool


class Repeat(Struct, frozen=True):
    inner: Node
    least: int
    most: int | None
    lazy: bool


class Sequence(Struct, frozen=True):
    parts: tuple[Node, ...]


class Choice(Struct, frozen=True):
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
