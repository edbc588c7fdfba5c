"""A regular expression's text → the tree of pattern.py. Pure; raises PatternError, nothing else.

Written for what models send: both spellings of named groups, `\\<` and `\\>`, POSIX classes, inline
flags. What would need several lines, and what the two engines cannot mean alike, is refused with
the reason and the place. Read first: pattern.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NoReturn

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

MAX_PATTERN: Final = 10_000
_MAX_DEPTH: Final = 50
_MAX_CODE: Final = 0x10FFFF


class PatternError(ValueError):
    """Not a pattern; the message says where and why."""


_CONTROL: Final = {"t": 9, "r": 13, "f": 12, "v": 11, "a": 7, "e": 27}
_POSIX: Final[dict[str, tuple[tuple[int, int], ...]]] = {
    "alpha": ((65, 90), (97, 122)),
    "digit": ((48, 57),),
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "upper": ((65, 90),),
    "lower": ((97, 122),),
    "space": ((9, 13), (32, 32)),
    "blank": ((9, 9), (32, 32)),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "cntrl": ((0, 31), (127, 127)),
    "print": ((32, 126),),
    "graph": ((33, 126),),
    "xdigit": ((48, 57), (65, 70), (97, 102)),
    "word": ((48, 57), (65, 90), (95, 95), (97, 122)),
}
CATEGORIES: Final = (
    "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc",
    "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs", "Zl", "Zp",
)  # fmt: skip
_ANCHORS: Final[dict[str, Literal["^", "$", "b", "B", "<", ">"]]] = {
    "b": "b",
    "B": "B",
    "<": "<",
    ">": ">",
    "A": "^",
    "z": "$",
    "Z": "$",
}


def literal_pattern(text: str, *, ignore_case: bool) -> Node:
    """The text itself. Raises PatternError if it is empty or has several lines."""
    _check_text(text)
    if "\n" in text:
        raise PatternError("a search looks at one line at a time; search for a part of one line")
    return Sequence(tuple(Char(ord(char), ignore_case) for char in text))


def parse_pattern(text: str, *, ignore_case: bool) -> Node:
    """The tree of a regular expression. Raises PatternError."""
    _check_text(text)
    return _Parser(text, ignore_case).whole()


def _check_text(text: str) -> None:
    if not text:
        raise PatternError("it is empty")
    if len(text) > MAX_PATTERN:
        raise PatternError(f"it is longer than {MAX_PATTERN} characters")
    if any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        raise PatternError("it holds half a character (a lone surrogate)")


class _Parser:
    """A cursor over the text. `_fold` is the flag i where the cursor stands."""

    def __init__(self, text: str, ignore_case: bool) -> None:
        self._text = text
        self._at = 0
        self._fold = ignore_case
        self._depth = 0
        self._groups = 0
        self._names: set[str] = set()

    def whole(self) -> Node:
        node = self._choice()
        if self._at < len(self._text):
            self._fail("a ) without its (")
        return node

    def _fail(self, problem: str) -> NoReturn:
        raise PatternError(f"{problem} (at character {max(1, min(self._at, len(self._text)))})")

    def _peek(self, size: int = 1) -> str:
        return self._text[self._at : self._at + size]

    def _take(self, word: str) -> bool:
        if self._text.startswith(word, self._at):
            self._at += len(word)
            return True
        return False

    def _next(self, problem: str) -> str:
        if self._at >= len(self._text):
            self._fail(problem)
        self._at += 1
        return self._text[self._at - 1]

    def _choice(self) -> Node:
        outer = self._fold
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            self._fail("groups are nested too deep")
        options = [Sequence(tuple(self._sequence()))]
        while self._take("|"):
            options.append(Sequence(tuple(self._sequence())))
        self._depth -= 1
        self._fold = outer
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self) -> Iterator[Node]:
        while self._peek() not in ("", "|", ")"):
            node = self._atom()
            if node is None:
                continue
            while (repeat := self._repetition(node)) is not None:
                node = repeat
            yield node

    def _repetition(self, node: Node) -> Repeat | None:
        counts = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(self._peek())
        if counts is not None:
            self._at += 1
        else:
            counts = self._counts()
            if counts is None:
                return None
        least, most = counts
        if most is not None and most < least:
            self._fail("a repetition {n,m} where m is less than n")
        if least > 1000 or (most or 0) > 1000:
            self._fail("a repetition of more than 1000")
        return Repeat(node, least, most, lazy=self._take("?"))

    def _counts(self) -> tuple[int, int | None] | None:
        """`{n}`, `{n,}`, `{n,m}`, `{,m}`; None where the brace is itself."""
        end = self._text.find("}", self._at)
        if self._peek() != "{" or end < 0:
            return None
        low, comma, high = self._text[self._at + 1 : end].partition(",")
        good = all(part.isascii() and (part.isdigit() or not part) for part in (low, high))
        if not good or len(low) > 9 or len(high) > 9 or not (low or high):
            return None
        self._at = end + 1
        return int(low or 0), (int(high) if high else None) if comma else int(low)

    def _atom(self) -> Node | None:
        char = self._next("")
        match char:
            case ".":
                return Any()
            case "^" | "$":
                return Edge("^" if char == "^" else "$")
            case "(":
                return self._group()
            case "[":
                return self._set()
            case "\\":
                return self._escape()
            case "*" | "+" | "?":
                self._fail(f"nothing stands before {char} to repeat")
            case "\n":
                self._fail("a search looks at one line at a time; a line break cannot be searched")
            case _:
                pass
        return Char(ord(char), self._fold)

    def _group(self) -> Node | None:
        outer = self._fold
        opening = self._opening()
        if opening is None or isinstance(opening, Backreference):
            return opening
        inner = self._choice()
        if not self._take(")"):
            self._fail("a ( is not closed")
        self._fold = outer
        return Group(opening, inner)

    def _opening(self) -> str | Backreference | None:
        """After `(`: Python's spelling of the group's beginning; None for what is no group."""
        if not self._take("?"):
            self._groups += 1
            return "("
        for word in (":", "=", "!", "<=", "<!", ">"):
            if self._take(word):
                return f"(?{word}"
        if self._take("#"):
            self._at = self._text.find(")", self._at) + 1 or len(self._text)
            return None
        if self._take("P="):
            name = self._name(")")
            if name not in self._names:
                self._fail(f"there is no group {name}")
            return Backreference(f"(?P={name})", self._fold)
        if self._take("P<") or self._take("<"):
            self._groups += 1
            name = self._name(">")
            self._names.add(name)
            return f"(?P<{name}>"
        return self._flags()

    def _name(self, end: str) -> str:
        stop = self._text.find(end, self._at)
        name = self._text[self._at : stop] if stop > 0 else ""
        if not (name.isascii() and name.isidentifier()):
            self._fail("a group has no good name")
        self._at = stop + 1
        return name

    def _flags(self) -> str | None:
        """`(?i)` holds up to the end of the group, `(?i:…)` inside; s, m and u change nothing."""
        on = True
        fold = self._fold
        while True:
            flag = self._next("a ( is not closed")
            match flag:
                case "i":
                    fold = on
                case "s" | "m" | "u":
                    pass
                case "-" if on:
                    on = False
                case ")":
                    self._fold = fold
                    return None
                case ":":
                    self._fold = fold
                    return "(?:"
                case _:
                    self._fail(f"(?{flag} is not supported")

    def _escape(self) -> Node:
        char = self._next("a \\ stands at the end")
        if char in _ANCHORS:
            return Edge(_ANCHORS[char])
        if char in "123456789":
            if int(char) > self._groups:
                self._fail(f"there is no group {char}")
            return Backreference(f"\\{char}", self._fold)
        if char in "dDwWsS":
            return Set((), (_perl(char),), (), negated=False, fold=False)
        if char in "pP":
            return Set((), (), (self._category(char == "P"),), negated=False, fold=False)
        return Char(self._code(char), self._fold)

    def _code(self, char: str) -> int:
        """The character that an escape stands for."""
        if char == "n":
            self._fail("a search looks at one line at a time; \\n cannot be searched")
        if char in _CONTROL:
            return _CONTROL[char]
        if char in "xuU":
            return self._hex({"x": 2, "u": 4, "U": 8}[char])
        if char == "0":
            return 0
        if char.isascii() and char.isalnum():
            self._fail(f"\\{char} is not known")
        return ord(char)

    def _hex(self, size: int) -> int:
        if self._take("{"):
            end = self._text.find("}", self._at)
            digits = self._text[self._at : end] if end > 0 else ""
            self._at = end + 1
        else:
            digits = self._peek(size)
            self._at += size
            if len(digits) < size:
                self._fail("a character's number is too short")
        try:
            code = int(digits, 16)
        except ValueError:
            self._fail("a character's number is not hexadecimal")
        if code > _MAX_CODE or 0xD800 <= code <= 0xDFFF or code == 10:
            self._fail(f"no line holds the character {code:x}")
        return code

    def _category(self, negated: bool) -> tuple[str, bool]:
        if self._take("{"):
            end = self._text.find("}", self._at)
            name = self._text[self._at : end] if end > 0 else ""
            self._at = end + 1
        else:
            name = self._next("\\p needs a category")
        if name.startswith("^"):
            negated, name = not negated, name[1:]
        if name not in CATEGORIES:
            self._fail(f"\\p{{{name}}} is not supported; general categories such as \\p{{Lu}} are")
        return name, negated

    def _set(self) -> Set:
        negated = self._take("^")
        ranges: list[tuple[int, int]] = []
        classes: list[tuple[PerlClass, bool]] = []
        categories: list[tuple[str, bool]] = []
        first = True
        while first or self._peek() != "]":
            first = False
            if self._peek(2) in ("&&", "--", "~~") and self._peek(3)[2:] != "]":
                self._fail(f"{self._peek(2)} in a class is not supported")
            item = self._item()
            match item:
                case int():
                    ranges.append((item, self._upper(item)))
                case ("d" | "w" | "s") as name, bool() as inverse:
                    classes.append((name, inverse))
                case str() as name, bool() as inverse:
                    categories.append((name, inverse))
                case _:
                    ranges += item
        self._at += 1
        return Set(tuple(ranges), tuple(classes), tuple(categories), negated, self._fold)

    def _item(self) -> int | tuple[str, bool] | tuple[tuple[int, int], ...]:
        """One member of a class: a character, a class, or the ranges of a POSIX class."""
        char = self._next("a [ is not closed")
        if char == "[" and self._peek() == ":":
            end = self._text.find(":]", self._at)
            name = self._text[self._at + 1 : end] if end > 0 else ""
            if name not in _POSIX:
                self._fail(f"[:{name}:] is no class of characters")
            self._at = end + 2
            return _POSIX[name]
        if char != "\\":
            return ord(char)
        escaped = self._next("a [ is not closed")
        if escaped in "dDwWsS":
            return _perl(escaped)
        if escaped in "pP":
            return self._category(escaped == "P")
        if escaped in "nb":
            return 10 if escaped == "n" else 8
        return self._code(escaped)

    def _upper(self, low: int) -> int:
        """The end of a range that begins with `low`; `low` itself where there is none."""
        if self._peek() != "-" or self._peek(2)[1:] in ("]", ""):
            return low
        self._at += 1
        high = self._item()
        if not isinstance(high, int):
            self._fail("a class is no end of a range")
        if high < low:
            self._fail("a range whose end comes before its beginning")
        return high


def _perl(char: str) -> tuple[PerlClass, bool]:
    lower: PerlClass = "d" if char in "dD" else "w" if char in "wW" else "s"
    return lower, char.isupper()
