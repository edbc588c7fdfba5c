"""What .gitignore files say of a path, as git reads them. Pure: texts come in, answers go out.

Only `.gitignore` files count: not .ignore, not .git/info/exclude, not a global excludes file. So a
search depends on the tree alone and not on the machine (docs/adr/0019). The last rule that matches
decides; a deeper file's rules come after an outer one's. A rule that is no valid glob never
matches, as in git. The referee of the tests is `git check-ignore`. Read next: walking.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec import Struct

from agentsh.tools.search.globs import GlobError, glob_regex

MAX_IGNORE_BYTES = 1_000_000
_ANY_NAME: Final = "\ue000"
"""Stands for a name of which a rule knows nothing: what names it names all."""

_Match: TypeAlias = Callable[[str], re.Match[str] | None]


class _Rule(Struct, frozen=True):
    """`on_name`: held against the last part only, else against the path below the file's folder."""

    regex: str
    negated: bool
    only_folders: bool
    on_name: bool


class IgnoreFile:
    """The rules of one .gitignore."""

    def __init__(self, data: bytes) -> None:
        self._hold([rule for line in _lines(data) if (rule := _parse(line)) is not None])

    def _hold(self, rules: list[_Rule]) -> None:
        self._rules = [
            (re.compile(rule.regex, re.DOTALL).fullmatch, rule) for rule in reversed(rules)
        ]
        # most paths meet no rule at all: one look each tells
        self._names = _any([r.regex for r in rules if r.on_name])
        self._paths = _any([r.regex for r in rules if not r.on_name])

    def verdict(self, path: str, name: str, *, is_folder: bool) -> bool | None:
        """Ignored, taken back, or None where no rule speaks. `path` is below the file's folder."""
        by_name = self._names is not None and self._names(name) is not None
        by_path = self._paths is not None and self._paths(path) is not None
        if not by_name and not by_path:
            return None
        for match, rule in self._rules:
            if rule.only_folders and not is_folder:
                continue
            if match(name if rule.on_name else path) is not None:
                return not rule.negated
        return None

    def without(self, path: str, name: str) -> IgnoreFile:
        """The same file but for the rules by which a path is ignored, as a file or a folder."""
        fewer = IgnoreFile(b"")
        rules = [
            rule
            for match, rule in reversed(self._rules)
            if rule.negated or match(name if rule.on_name else path) is None
        ]
        fewer._hold(rules)
        return fewer


class IgnoreLevel(Struct, frozen=True):
    """One file, and how much of a path (from the walk's top) leads to its folder."""

    rules: IgnoreFile
    skip: int


IgnoreStack: TypeAlias = tuple[IgnoreLevel, ...]
"""The files in force for a folder, the innermost last."""


def is_ignored(stack: IgnoreStack, path: str, name: str, *, is_folder: bool) -> bool:
    """Whether a path (from the walk's top, slashes) is named by the .gitignore files in force."""
    for level in reversed(stack):
        verdict = level.rules.verdict(path[level.skip :], name, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def for_named(stack: IgnoreStack, below: str) -> IgnoreStack:
    """The stack for a folder that was named: rules that would leave nothing of it do not count.

    `below` is what stands before names in it, from the walk's top. A rule such as `build/*` or
    `build/**` names all in it; where others take a part back, all of them hold.
    """
    path = below + _ANY_NAME
    if not all(is_ignored(stack, path, _ANY_NAME, is_folder=kind) for kind in (False, True)):
        return stack
    return tuple(
        IgnoreLevel(level.rules.without(path[level.skip :], _ANY_NAME), level.skip)
        for level in stack
    )


def _any(regexes: list[str]) -> _Match | None:
    if not regexes:
        return None
    return re.compile("|".join(f"(?:{regex})" for regex in regexes), re.DOTALL).fullmatch


def _lines(data: bytes) -> list[str]:
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return [line.removesuffix("\r") for line in text.split("\n")]


def _parse(line: str) -> _Rule | None:
    """One line as a rule; None for blanks, comments and what can never match."""
    text = _without_trailing_blanks(line)
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[1:] if negated else text
    only_folders = text.endswith("/")
    text = text.removesuffix("/")
    on_name = "/" not in text
    text = text.removeprefix("/")
    if not text:
        return None
    try:
        return _Rule(glob_regex(text), negated, only_folders, on_name)
    except GlobError:
        return None


def _without_trailing_blanks(line: str) -> str:
    """Spaces at the end do not count, unless a backslash stands before them."""
    stripped = line.rstrip(" ")
    if len(stripped) < len(line) and _ends_in_escape(stripped):
        return stripped + " "
    return stripped


def _ends_in_escape(text: str) -> bool:
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1
