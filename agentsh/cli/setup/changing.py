"""One setting of the user's config.toml changed: the text after it, what differs, the writing.

Everything else in the file stays, byte for byte. That the change is the one meant is seen by
reading the text again. Nothing is written before `SettingsChange.write`. Read next: explaining.py,
interview.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from msgspec import Struct

from agentsh.cli.setup.keys import is_variable
from agentsh.cli.setup.trust import read_text
from agentsh.errors import RefusedError, SettingsError
from agentsh.files import is_link, write_private
from agentsh.jsontext import dumps_text
from agentsh.settings import settable
from agentsh.settingstext import EVERY_TABLE, read_settings, read_table

_NAMED = ("endpoints", "models", "mcp.servers")
_MISSING = object()


class SettingsChange(Struct, frozen=True):
    """What a settings file would say, and says now."""

    file: Path
    before: str
    after: str

    def lines(self) -> Iterator[tuple[str, str]]:
        """(`-` or `+`, line) of what goes and what comes, with the number where it stands."""
        old, new = self.before.split("\n"), self.after.split("\n")
        for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind != "equal":
                yield from (("-", f"{n + 1:>4} - {old[n]}") for n in range(a, b))
                yield from (("+", f"{n + 1:>4} + {new[n]}") for n in range(c, d))

    def write(self) -> None:
        """Raises RefusedError: the file is a link, or not what it was when this was shown."""
        if is_link(self.file):
            hint = "make the change there yourself"
            raise RefusedError(f"{self.file} is a link", path=str(self.file), hint=hint)
        if present(self.file) != self.before:
            hint = "look at it, and try again"
            raise RefusedError(f"{self.file} was changed", path=str(self.file), hint=hint)
        write_private(self.file, self.after.encode())


def present(file: Path) -> str:
    """What the file says; nothing where there is none. Raises SettingsError."""
    return read_text(file) if os.path.lexists(file) else ""


def with_table(file: Path, before: str, table: str) -> SettingsChange:
    """A table more, at the end. Raises SettingsError: the whole could not be read."""
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    after = f"{before}{gap}{table}"
    read_settings(after, str(file))
    return SettingsChange(file, before, after)


def with_setting(file: Path, before: str, name: str, typed: str) -> SettingsChange:
    """`name` as in `ui.theme`, `endpoints.NAME.model`. `typed`: TOML, a bare text; empty: unset.

    Raises SettingsError: no such setting, another type, or a form that has to be changed by hand.
    """
    path = _path_of(name, str(file))
    if hides(name, typed):
        raise SettingsError(
            f"{name} takes the name of a variable; this is none, and may be the key itself",
            file=str(file),
            hint="export the key as a variable of your shell, and give its name",
        )
    table_wanted = read_table(before, str(file))
    value = _toml(typed)
    table: dict[str, object] | None = table_wanted
    for part in path[:-1]:
        table = _below(table, part, make=value is not None)
    if table is not None and value is None:
        table.pop(path[-1], None)
    elif table is not None and value is not None:
        table[path[-1]] = _value(value)
    for after in _ways(before, path, value):
        try:
            table_after = read_table(after, str(file))
        except SettingsError:
            continue
        if _bare(table_after) == _bare(table_wanted):
            read_settings(after, str(file))  # its type
            return SettingsChange(file, before, after)
    hint = f"change {name} in {file} yourself"
    raise SettingsError(
        f"{name} is written in a way that is not changed here", file=str(file), hint=hint
    )


def hides(name: str, typed: str) -> bool:
    """What was typed for a setting must not be seen: where a name is wanted, it may be a key."""
    bare = typed.strip().strip("\"'")
    return name.endswith(".api_key_env") and bool(bare) and not is_variable(bare)


def _path_of(name: str, file: str) -> tuple[str, ...]:
    middle: tuple[str, ...] = ()
    table = next((each for each in _NAMED if name.startswith(f"{each}.")), None)
    if table is not None:
        own, _, key = name.removeprefix(f"{table}.").rpartition(".")
        middle = (own,)
    else:
        table, _, key = name.partition(".")
    kind = EVERY_TABLE.get(table)
    if kind is None or key not in settable(kind) or middle == ("",):
        raise SettingsError(f"there is no setting {name[:80]}", file=file)
    return (*table.split("."), *middle, key)


def _below(table: dict[str, object] | None, part: str, *, make: bool) -> dict[str, object] | None:
    inner = None if table is None else table.get(part)
    if inner is None and table is not None and make:
        inner = table[part] = {}
    return inner if isinstance(inner, dict) else None


def _bare(table: object) -> object:
    """Without tables that say nothing: one that was emptied may stay."""
    if not isinstance(table, dict):
        return table
    return {key: _bare(value) for key, value in table.items() if value != {}}


def _toml(typed: str) -> str | None:
    """A value's text; what is no TOML is a text without its quotes."""
    typed = typed.strip()
    if not typed or "\n" in typed:
        return dumps_text(typed) if typed else None
    return typed if _value(typed) is not _MISSING else dumps_text(typed)


def _value(text: str) -> object:
    """What a text is as a value of TOML, if it is one."""
    try:
        read = read_table(f"x = {text}", "")
    except SettingsError:
        return _MISSING
    return read["x"] if set(read) == {"x"} else _MISSING


def _ways(before: str, path: Sequence[str], value: str | None) -> Iterator[str]:
    """Texts that may say it, the one that changes least first."""
    lines = before.split("\n")
    # what only looks like the key, or the table, is found out by reading the result
    for number, line in enumerate(lines, start=1):
        head, mark, value_and_comment = line.partition("=")
        if not mark or path[-1] not in head:
            continue
        tail = _comment(value_and_comment)
        for end in range(number, len(lines) + 1):  # a value may go on below
            new = [] if value is None else [f"{head}= {value}{tail if end == number else ''}"]
            yield "\n".join([*lines[: number - 1], *new, *lines[end:]])
    if value is None:
        yield before
        return
    setting = f"{_key(path[-1])} = {value}"
    for number, line in enumerate(lines, start=1):
        if line.lstrip().startswith("[") and path[-2] in line:
            yield "\n".join([*lines[:number], setting, *lines[number:]])
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    yield f"{before}{gap}[{'.'.join(map(_key, path[:-1]))}]\n{setting}\n"


def _comment(value_and_comment: str) -> str:
    """What stands behind a value on its line."""
    marks = [n for n, letter in enumerate(value_and_comment) if letter == "#"]
    for mark in marks:
        if _value(value_and_comment[:mark].strip()) is not _MISSING:
            return value_and_comment[len(value_and_comment[:mark].rstrip()) :]
    return ""


def _key(part: str) -> str:
    is_bare = part.replace("-", "a").replace("_", "a").isalnum() and part.isascii()
    return part if is_bare else dumps_text(part)
