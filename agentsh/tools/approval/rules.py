"""Approval rules: which commands need no question. Pure text; nothing is looked up or run.

A rule is one of four, told apart by how it begins:
  git status             the first words of a plain command, compared word by word
  = make all && ls       exactly this text, whatever it is ("always" for this very command)
  @edit /proj/a.txt      writes and edits of this file, or below this folder where it ends in /
  @mcp SERVER/TOOL       that tool of an MCP server; * in TOOL for any characters

A rule of the first kind covers a command only if shellparse.py understands all of it, and if the
words beyond the rule cannot make another program run or a file be written that the rule does not
name. What those words are depends on the program: dangers.py holds the table. A rule for a server's
tool that somebody wrote holds whatever the server says of it; one that was agreed to at a question
ends in `#DIGEST`, and holds for the description and schema that were shown. Read next: policy.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Literal, assert_never

from msgspec import Struct

from agentsh.errors import UsageError
from agentsh.tools.approval.shellparse import Plain, Unclear, parse_command
from agentsh.tools.base import ServedTool

_EXACT = "="
_PATHS = "@edit "
_SERVED = "@mcp "
_PINNED: Final = r"(?s)(.*) #([0-9a-f]{16})"
_AROUND: Final = " \t\n"
"""What bash skips around a command. Any other blank is a part of the word next to it."""
_IGNORABLE: Final = (
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
"""Characters that are left out where names are compared without case, beside those of class Cf."""
_ORDERS: Final = frozenset(
    (".git", "git~1", ".hg", ".jj", ".agentsh", ".env", ".lfsconfig", "head")
)


class Rule(Struct, frozen=True):
    """One rule. `words` for the first kind, else `text`: the command, the path, the tool."""

    kind: Literal["prefix", "exact", "paths", "served"]
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
            case "served":
                return f"{_SERVED}{self.text}"
            case _:
                assert_never(self.kind)


def parse_rule(text: str) -> Rule:
    """A rule as `--allow`, the settings and stored decisions spell it. Raises UsageError."""
    stripped = text.strip(_AROUND)
    if stripped.startswith(_PATHS):
        path = stripped.removeprefix(_PATHS).strip(_AROUND)
        if not path.startswith("/"):
            raise UsageError(f"the rule {text!r} must name an absolute path")
        return Rule("paths", path)
    if stripped.startswith(_SERVED):
        named = stripped.removeprefix(_SERVED).strip(_AROUND)
        server, _, tool = named.partition("/")
        if not server or not tool:
            raise UsageError(f"the rule {text!r} must name a server and a tool: @mcp SERVER/TOOL")
        return Rule("served", named)
    if stripped.startswith(_EXACT):
        command = stripped.removeprefix(_EXACT).strip(_AROUND)
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
            return command.strip(_AROUND) == rule.text
        case "prefix":
            reading = parse_command(command)
            if not isinstance(reading, Plain):
                return False
            size = len(rule.words)
            if reading.words[:size] != rule.words:
                return False
            return _danger_beyond(reading.words, size) is None
        case "paths" | "served":
            return False
        case _:
            assert_never(rule.kind)


def covers_path(rule: Rule, path: Path, own: Sequence[Path] = ()) -> bool:
    """Whether writing this file (links resolved) needs no question under this rule.

    A rule for a folder does not cover what gives orders below it, by its name or as one of `own`:
    such a file, or the folder that it gives them in, must be named.
    """
    if rule.kind != "paths":
        return False
    if not rule.text.endswith("/"):
        return path == Path(rule.text)
    if not path.is_relative_to(rule.text) or gives_orders(path.relative_to(rule.text)):
        return False
    folder = Path(rule.text)
    return all(folder.is_relative_to(each) for each in own if path.is_relative_to(each))


def gives_orders(path: Path) -> bool:
    """Whether a program that is trusted obeys what is written there: agentsh, or git.

    Their settings name commands and addresses. `HEAD` is what makes a folder a repository, whose
    `config` git obeys. Names are compared as a file system may: without case, and without
    characters that are not seen.
    """
    return any(_seen(part) in _ORDERS for part in path.parts)


def names_orders(word: str) -> bool:
    """Whether a word of a command names such a file. `HEAD` it may name as a revision."""
    return any(_seen(part) in _ORDERS - {"head"} for part in re.split("[/=:]", word))


def _seen(name: str) -> str:
    """Without case and what is not seen: file systems that fold names leave both out."""
    folded = re.sub(_IGNORABLE, "", name.casefold())
    return "".join(c for c in folded if unicodedata.category(c) != "Cf").rstrip(". ")


def covers_served(rule: Rule, served: ServedTool) -> bool:
    """Whether a call of a server's tool needs no question under this rule."""
    if rule.kind != "served":
        return False
    pinned = re.fullmatch(_PINNED, rule.text)
    if pinned:  # a name may hold a `*` of its own, so it is compared as it stands
        return (pinned[1], pinned[2]) == (_named(served), served.digest)
    server, _, pattern = rule.text.partition("/")
    return server == served.server and _fits(pattern, served.tool)


def is_of_another_form(rule: Rule, served: ServedTool) -> bool:
    """Whether it was agreed to when its server described it in another way."""
    pinned = re.fullmatch(_PINNED, rule.text) if rule.kind == "served" else None
    return pinned is not None and pinned[1] == _named(served) and pinned[2] != served.digest


def served_hint(served: ServedTool) -> str:
    """The rule to offer: this tool, as it is described now."""
    return f"@mcp {_named(served)} #{served.digest}"


def covering(rules: Iterable[Rule], command: str) -> Rule | None:
    """The first rule under which a shell command needs no question."""
    return next((rule for rule in rules if covers(rule, command)), None)


def why_asked(rules: Iterable[Rule], command: str) -> str | None:
    """Why no rule covers it, where a rule begins like it or the command is unclear; for a note."""
    reading = parse_command(command)
    if isinstance(reading, Unclear):
        return f"it holds {reading.reason}"
    for rule in rules:
        size = len(rule.words)
        if rule.kind == "prefix" and reading.words[:size] == rule.words:
            return _danger_beyond(reading.words, size)
    return None


def rule_hint(command: str) -> str:
    """The narrowest sensible rule to offer for a command: it covers this command, and little else.

    Readers of files are offered by name, programs with subcommands by name and subcommand, and all
    else exactly as it stands: `rm -rf build` as a prefix would cover `rm -rf build /` too.
    """
    reading = parse_command(command)
    if isinstance(reading, Plain):
        from agentsh.tools.approval.dangers import offered_length

        size = offered_length(reading.words)
        words = reading.words[:size]
        if size and _danger_beyond(reading.words, size) is None:
            return " ".join(_quoted(word) for word in words)
    return f"{_EXACT} {command.strip(_AROUND)}"


def _danger_beyond(words: tuple[str, ...], size: int) -> str | None:
    """What the words beyond a rule's own may do; its tables are loaded to judge a command."""
    from agentsh.tools.approval.dangers import danger_beyond

    return danger_beyond(words, size)


def path_hint(path: Path) -> str:
    """The rule to offer for a write or edit: this file."""
    return f"{_PATHS}{path}"


def _quoted(word: str) -> str:
    """The word as a shell would have to be given it."""
    reading = parse_command(f"x {word}")
    if isinstance(reading, Plain) and reading.words[1:] == (word,):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


def _named(served: ServedTool) -> str:
    return f"{served.server}/{served.tool}"


def _fits(pattern: str, name: str) -> bool:
    words = ".*".join(re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(words, name, re.DOTALL) is not None
