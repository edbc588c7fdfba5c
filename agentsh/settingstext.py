"""TOML text → one Layer of settings. The only tomllib, loaded only where there is a TOML file.

A wrong type is a SettingsError with file and line; an unknown name is a warning and no more.
Pure: it is given the text. What may stand in a table is declared in settings.py, and msgspec
checks one table at a time; what no type can say (`_find_misfit`) is checked here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import isfinite
from typing import Final, Literal, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct, ValidationError, convert, field

from agentsh.errors import SettingsError
from agentsh.settinglayers import Layer
from agentsh.settings import (
    SERVERS,
    TABLES,
    AnyText,
    EndpointSettings,
    ModelSettings,
    ServerSettings,
    TablePath,
    Value,
    attribute_of,
    settable,
    value_of,
)


class OwnEndpoint(EndpointSettings, frozen=True):
    """[endpoint], which may name another one."""

    use: AnyText | None = None
    """The NAME of the [endpoints.NAME] that is in force."""


_TABLES: Final[Mapping[str, type[Struct]]] = {**TABLES, "endpoint": OwnEndpoint}
_NAMED_TABLES: Final[Mapping[str, type[Struct]]] = {
    "endpoints": EndpointSettings,
    "models": ModelSettings,
}
EVERY_TABLE: Final[Mapping[str, type[Struct]]] = {
    **_TABLES,
    **_NAMED_TABLES,
    ".".join(SERVERS): ServerSettings,
}
"""What may stand in a settings file: the tables by their names, and those that have a NAME each."""
_DEEPEST: Final = 100
_LONGEST_PATH: Final = 4
"""Parts of the longest name of a setting: mcp.servers.NAME.KEY."""
_MOST_UNKNOWN: Final = 20
"""Settings that are warned of one by one."""
_HEADER_NAME: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# RFC 9110 5.5; no blank at either end
_HEADER_VALUE: Final = r"(?:[!-~\x80-\xff](?:[ \t!-~\x80-\xff]*[!-~\x80-\xff])?)?"


def read_settings(text: str, file: str) -> Layer:
    """Read one settings file's text; `file` is its name for messages. Raises SettingsError."""
    reading = _Reading(text, file)
    for section, content in read_table(text, file).items():
        reading.section(section, content)
    more = len(reading.warnings) - _MOST_UNKNOWN
    warnings = reading.warnings[:_MOST_UNKNOWN]
    warnings += [f"{file}: {more} more unknown settings, ignored"] if more > 0 else []
    return Layer(reading.tables, reading.sources, tuple(warnings))


def read_table(text: str, file: str) -> dict[str, object]:
    """A TOML text as it is. Raises SettingsError with the line where it is none."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise _not_toml(str(e), text, file) from e
    except (ValueError, RecursionError) as e:  # a number of any length, a list in a list in …
        raise SettingsError(f"cannot be read: {str(e)[:100]}", file=file) from e
    if _is_deep(table):
        raise SettingsError(f"nested in more than {_DEEPEST} levels", file=file)
    return table


def _is_deep(table: Mapping[str, object]) -> bool:
    level: list[object] = [table]
    for _ in range(_DEEPEST):
        level = [
            part
            for each in level
            if isinstance(each, dict | list)
            for part in (each.values() if isinstance(each, dict) else each)
        ]
    return bool(level)


def line_of(text: str, path: Sequence[str]) -> int | None:
    """The line (from 1) on which a key of a TOML text is set; None where it cannot be found."""
    lines, name = _lines_of(text), tuple(path)
    parts = [name[:length] for length in range(1, len(name) + 1)]
    if keys := [lines.keys[each] for each in parts if each in lines.keys]:
        return min(keys)
    return max((lines.tables.get(each, 0) for each in parts), default=0) or lines.below.get(name)


class _Lines(Struct, frozen=True):
    """Where a text sets what: keys and tables by their whole names, and tables below one."""

    keys: dict[TablePath, int]
    tables: dict[TablePath, int]
    below: dict[TablePath, int]


@lru_cache(maxsize=4)
def _lines_of(text: str) -> _Lines:
    """Read once, line by line, and each line once: a text may be a stranger's."""
    lines = _Lines({}, {}, {})
    table: TablePath = ()
    for number, line in enumerate(text.split("\n"), start=1):
        if match := re.match(r"\s*\[\[?([^\[\]]+)\]\]?\s*(?:#.*)?$", line):
            table = _parts(match[1])
            lines.tables[table] = number
            for length in range(1, min(len(table), _LONGEST_PATH + 1)):
                lines.below.setdefault(table[:length], number)
        elif match := re.match(r"""((?:[\w.\- \t]|"[^"]*"|'[^']*')++)=""", line):
            lines.keys.setdefault((*table, *_parts(match[1])), number)
    return lines


def _parts(dotted: str) -> tuple[str, ...]:
    parts = re.findall(r""""([^"]*)"|'([^']*)'|([\w-]+)""", dotted)
    return tuple(a or b or c for a, b, c in parts)


def _not_toml(message: str, text: str, file: str) -> SettingsError:
    if match := re.search(r" \(at line (\d+), column \d+\)$", message):
        return SettingsError(message[: match.start()], file=file, line=int(match[1]))
    last = len(text.rstrip("\n").split("\n"))
    return SettingsError(message.removesuffix(" (at end of document)"), file=file, line=last)


def _find_misfit(key: str, value: Value) -> str | None:
    """None if a value of the right type fits; else what the message says besides the type."""
    match key, value:
        case "headers", Mapping():
            fits = all(
                re.fullmatch(_HEADER_NAME, name) and re.fullmatch(_HEADER_VALUE, str(text))
                for name, text in value.items()
            )
            return None if fits else ""
        case "extra_body", Mapping():
            return None if _is_json(value) else ""
        case "overflow_pattern", str():
            try:
                re.compile(value)
            except re.error as e:
                return f" ({e})"
            return None
        case _:
            return " without a NUL character" if _has_nul(value) else None


def _has_nul(value: object) -> bool:
    """Whether a text in it has a NUL: no program, no environment and no path can be given one."""
    match value:
        case str():
            return "\0" in value
        case Mapping():
            return any(map(_has_nul, value)) or any(map(_has_nul, value.values()))
        case list() | tuple():
            return any(map(_has_nul, value))
        case _:
            return False


def _is_json(value: object) -> bool:
    """Whether a value becomes JSON: TOML also knows dates, NaN and infinity."""
    match value:
        case dict():
            return all(_is_json(item) for item in value.values())
        case list():
            return all(_is_json(item) for item in value)
        case float():
            return isfinite(value)
        case _:
            return isinstance(value, str | int)


def expected_words(kind: type[Struct], key: str) -> str:
    """The words for what a field takes: those of a choice, else those of its Meta."""
    hint = get_type_hints(kind, include_extras=True)[attribute_of(kind, key)]
    for part in (hint, *get_args(hint)):
        if get_origin(part) is Literal:
            return "one of " + ", ".join(get_args(part))
        for meta in getattr(part, "__metadata__", ()):
            if isinstance(meta, Meta) and meta.description:
                return meta.description
    raise AssertionError(f"{kind.__name__}.{key} has no words for its type")


class _Reading(Struct):
    """One file, while it is read."""

    text: str
    file: str
    tables: dict[TablePath, dict[str, Value]] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def section(self, name: str, content: object) -> None:
        """Read one table of the top level."""
        if name in _NAMED_TABLES:
            for key, table in self._subtable((name,), content).items():
                self._read((name, key), table, _NAMED_TABLES[name])
        elif name == SERVERS[0] and isinstance(content, dict) and SERVERS[1] in content:
            for key, table in self._subtable(SERVERS, content[SERVERS[1]]).items():
                self._read((*SERVERS, key), table, ServerSettings)
            if own := {key: value for key, value in content.items() if key != SERVERS[1]}:
                self._read((name,), own, _TABLES[name])
        elif name in _TABLES:
            self._read((name,), content, _TABLES[name])
        else:
            self._unknown((name,))

    def _read(self, path: TablePath, content: object, kind: type[Struct]) -> None:
        """Check the table's known keys; a warning for each other one."""
        table: dict[str, object] = {}
        if not content and path[:2] == SERVERS:  # what it lacks has this place
            self.sources[".".join(path)] = self._place(path)
        for key, raw in self._subtable(path, content).items():
            where = (*path, key)
            if key in settable(kind):
                is_one_hook = path == ("hooks",) and isinstance(raw, str)
                table[key] = [raw] if is_one_hook else raw
                self.sources[".".join(where)] = self._place(where)
            else:
                self._unknown(where)
        try:
            checked = convert(table, kind)
        except ValidationError as e:
            raise self._invalid(path, kind, str(e)) from e
        values: dict[str, Value] = {key: value_of(checked, key) for key in table}
        for key, value in values.items():
            if (misfit := _find_misfit(key, value)) is not None:
                raise self._wrong((*path, key), expected_words(kind, key) + misfit)
        self.tables[path] = values

    def _invalid(self, path: TablePath, kind: type[Struct], message: str) -> SettingsError:
        """The error for msgspec's message, which ends as "… - at `$.headers[...]`"."""
        match = re.search(r"`\$\.(\w+)[^`]*`$", message)
        assert match is not None, message
        return self._wrong((*path, match[1]), expected_words(kind, match[1]))

    def _subtable(self, path: TablePath, content: object) -> Mapping[str, object]:
        if isinstance(content, dict):
            return content
        raise self._wrong(path, "a table")

    def _unknown(self, path: TablePath) -> None:
        self.warnings.append(f"{self._place(path)}: unknown setting {'.'.join(path)}, ignored")

    def _place(self, path: TablePath) -> str:
        line = line_of(self.text, path)
        return self.file if line is None else f"{self.file}:{line}"

    def _wrong(self, path: TablePath, expected: str) -> SettingsError:
        line = line_of(self.text, path)
        return SettingsError(f"{'.'.join(path)} must be {expected}", file=self.file, line=line)
