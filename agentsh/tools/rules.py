"""Approval rules: which commands need no question. Pure text; nothing is looked up or run.

A rule is one of three, told apart by how it begins:
  git status             the first words of a plain command, compared word by word
  = make all && ls       exactly this text, whatever it is ("always" for this very command)
  @edit /proj/a.txt      writes and edits of this file, or below this folder where it ends in /

A rule of the first kind covers a command only if shellparse.py understands all of it, and if the
words beyond the rule cannot make another program run or a file be written that the rule does not
name. What those words are depends on the program: dangers.py holds the table. Read next: policy.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, assert_never

from msgspec import Struct

from agentsh.errors import UsageError
from agentsh.tools.dangers import danger_beyond, offered_length
from agentsh.tools.shellparse import Plain, Unclear, parse_command

_EXACT = "="
_PATHS = "@edit "


class Rule(Struct, frozen=True):
    """One rule. `words` for the first kind, else `text`: the command, or the path."""

    kind: Literal["prefix", "exact", "paths"]
    text: str
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        match self.kind:
            case "prefix":
                return self.text
            case "exact":
                return f"{_EXACT} {self.text}"
            case "paths":
                return f"{_PATHS}{self.text}"
            case _:
                assert_never(self.kind)


def parse_rule(text: str) -> Rule:
    """A rule as `--allow`, the settings and stored decisions spell it. Raises UsageError."""
    stripped = text.strip()
    if stripped.startswith(_PATHS):
        path = stripped.removeprefix(_PATHS).strip()
        if not path.startswith("/"):
            raise UsageError(f"the rule {text!r} must name an absolute path")
        return Rule("paths", path)
    if stripped.startswith(_EXACT):
        command = stripped.removeprefix(_EXACT).strip()
        if not command:
            raise UsageError(f"the rule {text!r} names no command")
        return Rule("exact", command)
    match parse_command(stripped):
        case Plain(words):
            return Rule("prefix", stripped, words)
        case Unclear(reason):
            raise UsageError(
                f"the rule {text!r} holds {reason}; a rule is the first words of a plain command, "
                "such as: git status",
                hint="quote words that hold special characters, or write '= COMMAND' for exactly "
                "one command",
            )
        case never:
            assert_never(never)


def covers(rule: Rule, command: str) -> bool:
    """Whether a shell command needs no question under this rule."""
    match rule.kind:
        case "exact":
            return command.strip() == rule.text
        case "prefix":
            reading = parse_command(command)
            if not isinstance(reading, Plain):
                return False
            size = len(rule.words)
            if reading.words[:size] != rule.words:
                return False
            return danger_beyond(reading.words, size) is None
        case "paths":
            return False
        case _:
            assert_never(rule.kind)


def covers_path(rule: Rule, path: Path) -> bool:
    """Whether writing this file (links resolved) needs no question under this rule."""
    if rule.kind != "paths":
        return False
    if rule.text.endswith("/"):
        return path.is_relative_to(rule.text)
    return path == Path(rule.text)


def covered(rules: Iterable[Rule], command: str) -> bool:
    return any(covers(rule, command) for rule in rules)


def why_asked(rules: Iterable[Rule], command: str) -> str | None:
    """Why no rule covers it, where a rule begins like it or the command is unclear; for a note."""
    reading = parse_command(command)
    if isinstance(reading, Unclear):
        return f"it holds {reading.reason}"
    for rule in rules:
        size = len(rule.words)
        if rule.kind == "prefix" and reading.words[:size] == rule.words:
            return danger_beyond(reading.words, size)
    return None


def rule_hint(command: str) -> str:
    """The narrowest sensible rule to offer for a command: it covers this command, and little else.

    Readers of files are offered by name, programs with subcommands by name and subcommand, and all
    else exactly as it stands: `rm -rf build` as a prefix would cover `rm -rf build /` too.
    """
    reading = parse_command(command)
    if isinstance(reading, Plain):
        size = offered_length(reading.words)
        words = reading.words[:size]
        if size and danger_beyond(reading.words, size) is None:
            return " ".join(_quoted(word) for word in words)
    return f"{_EXACT} {command.strip()}"


def path_hint(path: Path) -> str:
    """The rule to offer for a write or edit: this file."""
    return f"{_PATHS}{path}"


def _quoted(word: str) -> str:
    """The word as a shell would have to be given it."""
    reading = parse_command(f"x {word}")
    if isinstance(reading, Plain) and reading.words[1:] == (word,):
        return word
    return "'" + word.replace("'", "'\\''") + "'"
