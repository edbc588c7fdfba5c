"""Code → its lines in colour, line by line as it is written: each line is looked at once.

A lexer of pygments that is made of states goes on with those that the line before left; what else
is carried over is a comment of several lines. Other lexers see each line by itself. So the work is
linear, and a line looks the same whether it came alone or with the whole file. The only home of
pygments. Read next: rows.py, render.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from pygments.lexer import ExtendedRegexLexer, Lexer, RegexLexer
from pygments.lexers import find_lexer_class_for_filename, get_lexer_by_name
from pygments.token import Token
from pygments.util import ClassNotFound

from agentsh.ui.paper.rows import Styled
from agentsh.ui.theme import Role

TAB_CELLS = 4
COLOURED_LENGTH = 2000
"""A longer line (a minified file) is not looked into."""
_COMMENTS = (("/*", "*/"), ("<!--", "-->"))
_ROLES: Mapping[Any, Role] = {
    Token.Comment: "comment",
    Token.Comment.Preproc: "keyword",
    Token.Comment.PreprocFile: "string",
    Token.Literal.String.Doc: "comment",
    Token.Keyword: "keyword",
    Token.Operator.Word: "keyword",
    Token.Name.Tag: "keyword",
    Token.Literal.String: "string",
    Token.Literal.Number: "number",
    Token.Name.Function: "name",
    Token.Name.Class: "name",
    Token.Name.Decorator: "name",
    Token.Name.Builtin: "name",
    Token.Name.Attribute: "name",
    Token.Generic.Heading: "heading",
    Token.Generic.Inserted: "added",
    Token.Generic.Deleted: "removed",
}
_States: TypeAlias = tuple[str, ...]
_Piece: TypeAlias = tuple[Any, str]
_START: _States = ("root",)


class Code:
    """The lines of one piece of code, in order. An unknown language has no colours."""

    def __init__(self, language: str) -> None:
        self._lexer = _lexer(language)
        self._states = _START
        self._until = ""
        """The end of the comment that the lines so far left open."""

    @classmethod
    def of_file(cls, name: str) -> Code:
        """The lines of a file, whose name says the language."""
        code = cls("")
        code._lexer = _lexer_of_file(name)
        return code

    def copy(self) -> Code:
        """Another that goes on from here."""
        twin = Code("")
        twin._lexer, twin._states, twin._until = self._lexer, self._states, self._until
        return twin

    def line(self, text: str) -> list[Styled]:
        """The next line."""
        text = text.expandtabs(TAB_CELLS)
        if self._lexer is None or len(text) > COLOURED_LENGTH:
            return [(text, "")] if text else []
        inside = ""
        if self._until:
            before, end, text = text.partition(self._until)
            inside = before + end
            if not end:
                return [(inside, "comment")] if inside else []
            self._until = ""
        states, pieces = _lexed(self._lexer, text, self._states)
        for begin, end in _COMMENTS:
            if begin in text and end not in text[text.rfind(begin) + len(begin) :]:
                closed = _lexed(self._lexer, text + end, self._states)
                if _ends_in_comment(closed[1], begin):
                    states, pieces, self._until = *closed, end
        self._states = states
        spans: list[Styled] = [(inside, "comment")] if inside else []
        return spans + list(_spans(pieces, len(text)))


@lru_cache(maxsize=32)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False) if language else None
    except ClassNotFound:
        return None


@lru_cache(maxsize=64)
def _lexer_of_file(name: str) -> Lexer | None:
    lexer = find_lexer_class_for_filename(name.rpartition("/")[2]) if name else None
    return None if lexer is None else lexer(stripnl=False)


def _lexed(lexer: Lexer, line: str, states: _States) -> tuple[_States, list[_Piece]]:
    """The pieces of a line with its end, and the states that it leaves."""
    line += "\n"
    if not isinstance(lexer, RegexLexer) or isinstance(lexer, ExtendedRegexLexer):
        return states, [(kind, text) for _, kind, text in lexer.get_tokens_unprocessed(line)]
    pieces: list[_Piece] = []
    stack, offset = list(states), 0
    rules: Mapping[str, Any] = getattr(lexer, "_tokens")  # noqa: B009  # no name for it in public
    while offset < len(line):
        for match_here, action, after in rules[stack[-1]]:
            match = match_here(line, offset)
            if match is None:
                continue
            if callable(action) and not isinstance(action, type(Token)):
                pieces += [(kind, text) for _, kind, text in action(lexer, match)]
            elif action is not None:
                pieces.append((action, match.group()))
            offset = match.end()
            if after is not None:
                _move(stack, after)
            break
        else:
            if line[offset] == "\n":
                stack = list(_START)
            pieces.append((Token.Text, line[offset]))
            offset += 1
    return tuple(stack), pieces


def _move(stack: list[str], after: Any) -> None:
    """What a rule says of the states: how many to leave, which to enter. The first one stays."""
    if isinstance(after, int):
        del stack[max(1, len(stack) - abs(after)) :]
        return
    for state in after if isinstance(after, tuple) else (after,):
        if state == "#pop":
            del stack[max(1, len(stack) - 1) :]
        else:
            stack.append(stack[-1] if state == "#push" else state)


def _ends_in_comment(pieces: list[_Piece], begin: str) -> bool:
    """The comment that was closed by hand is one, from its beginning on."""
    comment = ""
    for kind, text in reversed(pieces):
        if kind in Token.Comment:
            comment = text + comment
        elif comment or text.strip():
            break
    return begin in comment


def _spans(pieces: list[_Piece], size: int) -> Iterator[Styled]:
    """As many characters of them, neighbours of one look joined."""
    joined, look = "", ""
    for kind, text in pieces:
        text, size = text[:size], size - min(size, len(text))
        if not text:
            continue
        role = _role(kind)
        if role != look and joined:
            yield joined, look
            joined = ""
        joined, look = joined + text, role
    if joined:
        yield joined, look


@lru_cache(maxsize=512)
def _role(kind: Any) -> str:
    """The look of a token: its own, or that of the nearest kind above it."""
    while kind is not None:
        if kind in _ROLES:
            return _ROLES[kind]
        kind = kind.parent
    return ""
