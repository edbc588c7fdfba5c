"""The tree of a pattern → its spelling for ripgrep and for Python's `re`. Pure.

Everything the engines see differently is spelled out: case variants as sets, `$` with the CR
before it, word boundaries and classes as ranges of code points where Python's own idea of them is
another (combining marks, circled letters). Python gets two forms: one for lines of ASCII only, with
its fast built-in classes, one for all others. In the second, bytes that are no UTF-8 (lone
surrogates, by "surrogateescape") belong to no set, negated or not, as in ripgrep.
Read first: pattern.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, TypeAlias, assert_never

from agentsh.tools.pattern import (
    Any,
    Backreference,
    Char,
    Choice,
    Edge,
    Group,
    Node,
    PerlClass,
    Repeat,
    Sequence,
    Set,
)

Ranges: TypeAlias = tuple[tuple[int, int], ...]

_LAST: Final = 0x10FFFF
_SURROGATES: Final = (0xD800, 0xDFFF)
_NEWLINE: Final = (10, 10)
# Code points up to here are folded inside of ranges; above, a range has no other case.
_FOLDED: Final = 0x2000
_SPACE: Final[Ranges] = (
    (9, 13), (32, 32), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
    (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip
# Alphabetic by a property of their own (Other_Alphabetic), though their category is So
_CIRCLED: Final[Ranges] = (
    (0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189),
)  # fmt: skip
_JOINERS: Final[Ranges] = ((0x200C, 0x200D),)
# Letters whose third form no lower() or upper() of ASCII finds: long s, the Kelvin sign
_THIRD: Final = {"s": "\u017f", "k": "\u212a"}


def ripgrep_form(node: Node) -> str:
    """For `rg -f -`: ASCII, one line."""
    return _Ripgrep().text(node)


def python_forms(node: Node) -> tuple[re.Pattern[str], Wide]:
    """For lines of ASCII (compiled), and for all others (compiled when first used).

    Raises re.error where Python cannot have it (a lookbehind of no fixed width).
    """
    return re.compile(_AsciiPython().text(node), re.ASCII), Wide(node)


class Wide:
    """The form for lines that are not ASCII; its tables cost some hundred milliseconds."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._compiled: re.Pattern[str] | None = None

    def search(self, line: str) -> re.Match[str] | None:
        if self._compiled is None:
            self._compiled = re.compile(_WidePython().text(self._node))
        return self._compiled.search(line)


class _Speller:
    """What both have in common. Subclasses spell single characters, sets and edges."""

    any = "."

    def __init__(self, edges: Mapping[str, str]) -> None:
        self._edges = edges

    def text(self, node: Node) -> str:
        match node:
            case Char(code, fold):
                codes = case_variants(code) if fold else (code,)
                members = "".join(self.code(c) for c in codes)
                spelled = members if len(codes) == 1 else f"[{members}]"
            case Any():
                spelled = self.any
            case Set():
                spelled = self.set(node)
            case Edge(kind):
                spelled = self._edges[kind]
            case Group(opening, inner):
                spelled = f"{self.opening(opening)}{self.text(inner)})"
            case Backreference(reference, fold):
                spelled = f"(?i:{reference})" if fold else f"(?:{reference})"
            case Repeat(inner, least, most, lazy):
                count = f"{{{least},{'' if most is None else most}}}"
                spelled = f"(?:{self.text(inner)}){count}{'?' if lazy else ''}"
            case Sequence(parts):
                spelled = "".join(self.text(part) for part in parts)
            case Choice(options):
                spelled = "(?:" + "|".join(self.text(option) for option in options) + ")"
            case _:
                assert_never(node)
        return spelled

    def opening(self, python: str) -> str:
        return python

    def code(self, code: int) -> str:
        raise NotImplementedError

    def set(self, node: Set) -> str:
        raise NotImplementedError

    def inside(self, ranges: Iterable[tuple[int, int]]) -> str:
        """Ranges as they stand inside of brackets."""
        return "".join(
            self.code(low) if low == high else f"{self.code(low)}-{self.code(high)}"
            for low, high in ranges
        )


class _Ripgrep(_Speller):
    def __init__(self) -> None:
        super().__init__(
            {"^": "^", "$": r"(?:\r?$)", "b": r"\b", "B": r"\B", "<": r"\<", ">": r"\>"}
        )

    def opening(self, python: str) -> str:
        return "(?:"  # nothing refers to a group where this engine is used

    def code(self, code: int) -> str:
        char = chr(code)
        return char if char.isascii() and char.isalnum() else f"\\x{{{code:X}}}"

    def set(self, node: Set) -> str:
        ranges = list(_plain_ranges(node))
        inner = self.inside(_without(_merged(ranges), (_NEWLINE, _SURROGATES)))
        inner += "".join(f"\\{n.upper() if inverse else n}" for n, inverse in node.classes)
        if not inner:
            return r"[^\x{0}-\x{10FFFF}]" if not node.negated else r"[^\x{A}]"
        return f"[{'^' if node.negated else ''}{inner}]"


class _Python(_Speller):
    def code(self, code: int) -> str:
        char = chr(code)
        if char.isascii():
            return char if char.isalnum() else f"\\x{code:02x}"
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _python_edges(word: str) -> dict[str, str]:
    before, after = f"(?<={word})", f"(?={word})"
    not_before, not_after = f"(?<!{word})", f"(?!{word})"
    return {
        "^": "^",
        "$": r"(?:\r?\Z)",
        "b": f"(?:{before}{not_after}|{not_before}{after})",
        "B": f"(?:{before}{after}|{not_before}{not_after})",
        "<": f"(?:{not_before}{after})",
        ">": f"(?:{before}{not_after})",
    }


class _AsciiPython(_Python):
    def __init__(self) -> None:
        super().__init__({**_python_edges(r"\w"), "b": r"\b"})

    def set(self, node: Set) -> str:
        ranges = [(low, min(high, 127)) for low, high in _plain_ranges(node) if low < 128]
        inner = self.inside(_without(_merged(ranges), (_NEWLINE,)))
        inner += "".join(f"\\{n.upper() if inverse else n}" for n, inverse in node.classes)
        if not inner:
            return "(?!)" if not node.negated else "."
        return f"[{'^' if node.negated else ''}{inner}]"


class _WidePython(_Python):
    any = r"[^\udc80-\udcff]"

    def __init__(self) -> None:
        super().__init__(_python_edges(f"[{self.inside(_word())}]"))

    def set(self, node: Set) -> str:
        ranges = list(_plain_ranges(node))
        for name, inverse in node.classes:
            ranges += _negated(_perl(name)) if inverse else _perl(name)
        merged = _merged(ranges)
        merged = _negated(merged) if node.negated else _without(merged, (_SURROGATES, _NEWLINE))
        return f"[{self.inside(merged)}]" if merged else "(?!)"


def case_variants(code: int) -> tuple[int, ...]:
    """The character in each of its cases, as far as one character each; sorted."""
    seen = {chr(code)}
    for _ in range(2):
        for char in tuple(seen):
            forms = (char.lower(), char.upper(), _THIRD.get(char, char))
            seen.update(form for form in forms if len(form) == 1)
    return tuple(sorted(ord(char) for char in seen))


def _plain_ranges(node: Set) -> Iterable[tuple[int, int]]:
    """The ranges and categories of a set, in all cases where it folds."""
    for low, high in node.ranges:
        yield low, high
        if node.fold:
            for code in range(low, min(high, _FOLDED) + 1):
                for variant in case_variants(code):
                    yield variant, variant
    for name, inverse in node.categories:
        yield from _negated(category(name)) if inverse else category(name)


def category(name: str) -> Ranges:
    """The code points of a general category, or of all that begin with its letter."""
    table = _categories()
    return _merged(r for key in table if key.startswith(name) for r in table[key])


@lru_cache(maxsize=1)
def _categories() -> Mapping[str, Ranges]:
    """Category → its ranges, in one pass over the planes where anything is assigned."""
    table: dict[str, list[tuple[int, int]]] = {}
    before = ""
    for code in (*range(0x40000), *range(0xE0000, 0xE0200)):
        name = unicodedata.category(chr(code))
        if name != before or code == 0xE0000:
            table.setdefault(name, []).append((code, code))
            before = name
        else:
            table[name][-1] = (table[name][-1][0], code)
    return {name: tuple(ranges) for name, ranges in table.items()}


@lru_cache(maxsize=1)
def _word() -> Ranges:
    """What ripgrep takes for a word character: letters, marks, digits, connectors, joiners."""
    parts = (category("L"), category("M"), category("Nd"), category("Nl"), category("Pc"))
    return _merged([r for part in (*parts, _CIRCLED, _JOINERS) for r in part])


def _perl(name: PerlClass) -> Ranges:
    match name:
        case "d":
            return category("Nd")
        case "s":
            return _SPACE
        case "w":
            return _word()
        case _:
            assert_never(name)


def _merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    out: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return tuple(out)


def _negated(ranges: Ranges) -> Ranges:
    """All characters that a line can hold but these."""
    return _without(((0, _LAST),), (*ranges, _SURROGATES, _NEWLINE))


def _without(ranges: Ranges, taken: Iterable[tuple[int, int]]) -> Ranges:
    out: list[tuple[int, int]] = []
    removed = _merged(taken)
    for low, high in ranges:
        at = low
        for first, last in removed:
            if last < at or first > high:
                continue
            if first > at:
                out.append((at, first - 1))
            at = last + 1
        if at <= high:
            out.append((at, high))
    return tuple(out)
