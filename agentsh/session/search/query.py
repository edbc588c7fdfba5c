"""What was asked for → where it stands in a text. The one matcher; an index only narrows down.

All words must occur in one entry: a word (whole, whatever its case), `begin*`, a "phrase". A word
of several parts (`snake_case`, `src/main.py`) is a phrase. An identifier is found by itself and by
its parts (`userName`: username, user, name). Scripts that are written without spaces are found by
any piece of them. Accents and width do not count. There are no operators, so no query is an error:
what holds no letter and no digit is looked for literally. `tokens` gives every token of a text
under which a hit could be filed, so that an index of them misses nothing. Pure.
Read next: searchable.py, search.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from msgspec import Struct

TOKEN_CHARS: Final = 64
"""A token is filed under its beginning of that length."""
_MAX_TERMS = 32

# scripts without spaces: Thai to Lao, Burmese, Khmer, kana, Han, Hangul (which glues particles on)
_RUN = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_WORD = f"[^\\W_{_RUN}]"
_CAMEL = r"(?-i:(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]))"

_JOINT = re.compile(_CAMEL)
_JOINT_OF_BYTES = re.compile(_CAMEL.encode())
_ASCII_WORDS = re.compile("[A-Za-z0-9]+")
_BEYOND_ASCII = re.compile("[^\x00-\x7f]+")
_ONLY_WORDS = bytes(code if chr(code).isalnum() and code < 0x80 else 0x20 for code in range(256))
_CHUNK = re.compile(r'"([^"]*"\*?)|(\S+)')


class Span(NamedTuple):
    start: int
    end: int


class Element(Struct, frozen=True):
    """One token that is asked for, folded and in lower case."""

    text: str
    is_run: bool = False
    is_prefix: bool = False


class Term(Struct, frozen=True):
    """Tokens that must stand side by side."""

    elements: tuple[Element, ...]
    pattern: re.Pattern[str]

    def find(self, folded: str, low: str) -> Span | None:
        first = self.elements[0].text
        start = low.find(first)
        while start >= 0:
            match = self.pattern.match(folded, start)
            if match is not None and self._is_filed(folded, match):
                return Span(*match.span())
            start = low.find(first, start + 1)
        return None

    def _is_filed(self, folded: str, match: re.Match[str]) -> bool:
        """Whether each element is a token: a whole word, or a part of one and not of two."""
        for number, element in enumerate(self.elements, start=1):
            if element.is_run:
                continue
            start, end = match.span(number)
            starts = _is_edge(folded, start - 1)
            ends = _is_edge(folded, end)
            if not starts and _JOINT.match(folded, start) is None:
                return False
            if not element.is_prefix and not ends and _JOINT.match(folded, end) is None:
                return False
            joint = _JOINT.search(folded, start + 1, min(end + 1, len(folded)))
            if joint is None or joint.start() >= end:
                continue
            if not starts or not (ends or element.is_prefix):
                return False
        return True


class Query(Struct, frozen=True):
    """`literal`: there is no token in it, so its characters are looked for."""

    terms: tuple[Term, ...]
    literal: str = ""

    def find(self, text: str) -> Span | None:
        """Where the first term stands in `clean(text)`; None where not all are in it."""
        folded = _folded(text)
        low = folded.lower()
        if self.literal:
            start = low.find(self.literal)
            return None if start < 0 else Span(start, start + len(self.literal))
        first: Span | None = None
        for term in self.terms:
            span = term.find(folded, low)
            if span is None:
                return None
            first = first or span
        return first

    def may_be_in(self, line: bytes) -> bool:
        """False where a line of JSON cannot hold it; a quick look before it is parsed."""
        if not line.isascii() or b"\\u" in line:
            return True
        if self.literal:
            return True  # JSON may spell it otherwise
        low = line.lower()
        return all(element.text.encode() in low for term in self.terms for element in term.elements)


def parse_query(text: str, *, typing: bool = False) -> Query:
    """Never an error. `typing`: the last word is still being typed, so it may go on."""
    terms = []
    chunks = list(_CHUNK.finditer(text))[:_MAX_TERMS]
    for number, chunk in enumerate(chunks, start=1):
        quoted = chunk[0]
        goes_on = typing and number == len(chunks) and not quoted.endswith('"')
        term = _term(quoted, goes_on or quoted.endswith("*"))
        if term is not None:
            terms.append(term)
    if terms:
        return Query(tuple(terms))
    return Query((), _folded(normalized(text.strip())).lower())


def _term(text: str, is_prefix: bool) -> Term | None:
    elements = list(_elements(_folded(normalized(text))))
    if not elements:
        return None
    if is_prefix and not elements[-1].is_run:
        elements[-1] = Element(elements[-1].text, is_prefix=True)
    return Term(tuple(elements), re.compile("".join(_spelled(elements)), re.IGNORECASE))


def _elements(text: str) -> Iterator[Element]:
    if text.isascii():
        yield from (Element(word.lower()) for word in _ASCII_WORDS.findall(text))
    else:
        for part in _beyond().parts.finditer(text):
            yield Element(part[0].lower(), part["run"] is not None)


def _spelled(elements: list[Element]) -> Iterator[str]:
    before: Element | None = None
    for element in elements:
        if before is not None:
            joined = before.is_run or element.is_run
            yield r"[\W_]*" if joined else f"(?:[\\W_]+|{_CAMEL})"
        yield f"({re.escape(element.text)})"
        before = element


def _is_edge(text: str, position: int) -> bool:
    """Whether no word goes on at that place."""
    if position < 0 or position >= len(text) or not text[position].isalnum():
        return True
    return not text[position].isascii() and _beyond().runs.match(text[position]) is not None


class _Beyond(NamedTuple):
    """Patterns for what is not ASCII."""

    words: re.Pattern[str]
    runs: re.Pattern[str]
    parts: re.Pattern[str]


@cache
def _beyond() -> _Beyond:
    """Made when first needed: each takes as long as a small search."""
    return _Beyond(
        re.compile(f"{_WORD}+"),
        re.compile(f"[{_RUN}]+"),
        re.compile(f"(?P<run>[{_RUN}]+)|{_WORD}+"),
    )


# ---- texts --------------------------------------------------------------------------------------


def normalized(text: str) -> str:
    """The text as it is looked at: letters and their accents are one character."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _folded(text: str) -> str:
    """The same length, without what does not count; only ASCII letters keep their case."""
    return text if text.isascii() else text.translate(_FOLDS)


class _Folds(dict[int, str]):
    """One character for each, made when it is first met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        made = char
        if (code > 0x7F and _beyond().runs.match(char) is None) or 0xFF66 <= code <= 0xFF9F:
            bare = [c for c in unicodedata.normalize("NFKD", char) if not unicodedata.combining(c)]
            made = bare[0] if len(bare) == 1 else char
        if not made.isascii():
            # by way of upper case, so that letters that a pattern takes for one are one
            for other in (made.upper().lower(), made.lower()):
                if len(other) == 1:
                    made = other
                    break
        self[code] = made
        return made


_FOLDS = _Folds()


def tokens(text: str) -> str:
    """Every token of a text (clean or not), in lower case, a blank between; some come twice."""
    pieces: list[str] = []
    if not text.isascii():
        text = _folded(normalized(text))
        beyond = set("".join(set(_BEYOND_ASCII.findall(text))))
        if any(unicodedata.category(char)[0] in "LMN" for char in beyond):
            pieces = list(_pieces(text))
        text = _BEYOND_ASCII.sub(" ", text)
    distinct = set(text.encode().translate(_ONLY_WORDS).split())
    parts: list[bytes] = []
    for word in [
        w for w in distinct if not w.islower() and not w[1:].islower() and not w.isdigit()
    ]:
        subwords = _JOINT_OF_BYTES.split(word)
        parts += subwords if len(subwords) > 1 else ()
    filed = b" ".join((*distinct, *parts)).lower().decode()
    if max(map(len, distinct), default=0) > TOKEN_CHARS:
        filed = " ".join(word[:TOKEN_CHARS] for word in filed.split())
    return " ".join((filed, *pieces)) if pieces else filed


def _pieces(text: str) -> Iterator[str]:
    """The tokens of words that are not all ASCII, and of runs."""
    for word in set(_beyond().words.findall(text)):
        if not word.isascii():
            yield word[:TOKEN_CHARS].lower()
            yield from (part[:TOKEN_CHARS].lower() for part in _JOINT.split(word))
    for run in set(_beyond().runs.findall(text)):
        low = run.lower()
        yield from map("".join, pairwise(low))
        yield low[-1]


def wanted_tokens(query: Query) -> tuple[tuple[str, bool], ...]:
    """(token, whether it may go on) that any text with a hit holds; none where no index helps."""
    tokens: dict[tuple[str, bool], None] = {}
    for term in query.terms:
        for element in term.elements:
            text = element.text
            if not element.is_run:
                tokens[text[:TOKEN_CHARS], element.is_prefix and len(text) < TOKEN_CHARS] = None
            elif len(text) == 1:
                tokens[text, True] = None
            else:
                tokens.update(dict.fromkeys((a + b, False) for a, b in pairwise(text)))
    return tuple(tokens)


def excerpt(text: str, span: Span, before: int = 80, after: int = 160) -> str:
    """Some of the clean text around a hit, cut between words, with … where it goes on."""
    start, end = max(0, span.start - before), min(len(text), span.end + after)
    if start > 0 and (blank := _blank(text, start, span.start)) >= 0:
        start = blank + 1
    if end < len(text) and (blank := text.rfind(" ", span.end, end)) >= 0:
        end = blank
    return ("…" if start else "") + text[start:end].strip() + ("…" if end < len(text) else "")


def _blank(text: str, start: int, end: int) -> int:
    return min((position for c in " \n" if (position := text.find(c, start, end)) >= 0), default=-1)
