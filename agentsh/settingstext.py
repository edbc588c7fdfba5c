"""TOML text → one Layer of settings. The only tomllib, loaded only where there is a settings file.

A wrong type is a SettingsError with file and line; an unknown name is a warning and no more.
Pure: it is given the text. Which name may stand where is told by the tables below; what a value
means is settings.py's.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Final, TypeAlias

from msgspec import Struct, field

from agentsh.errors import SettingsError
from agentsh.settings import ATTRIBUTES, ENDPOINT_KEYS, POLICIES, Layer, Value

Kind: TypeAlias = Callable[[object], Value]


class WrongTypeError(ValueError):
    """Says what was expected."""


def _text(value: object) -> Value:
    if isinstance(value, str) and "\x00" not in value:
        return value
    raise WrongTypeError("a text")


def _texts(value: object) -> Value:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(str(item) for item in value)
    raise WrongTypeError("a list of texts")


def _flag(value: object) -> Value:
    if isinstance(value, bool):
        return value
    raise WrongTypeError("true or false")


def _count(value: object) -> Value:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise WrongTypeError("a whole number, 0 or more")


def _tokens(value: object) -> Value:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise WrongTypeError("a whole number above 0")


def _seconds(value: object) -> Value:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9:
        return float(value)
    raise WrongTypeError("a number of seconds, 0 or more")


def _amount(value: object) -> Value:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12:
        return float(value)
    raise WrongTypeError("an amount, 0 or more")


def _texts_by_name(value: object) -> Value:
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return value
    raise WrongTypeError("a table of texts")


def _headers(value: object) -> Value:
    """A table of HTTP headers: what the protocol can carry, found here and not by a server."""
    if isinstance(value, dict) and all(
        isinstance(item, str)
        and re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name)
        # RFC 9110 5.5; no blank at either end
        and re.fullmatch(r"(?:[!-~\x80-\xff](?:[ \t!-~\x80-\xff]*[!-~\x80-\xff])?)?", item)
        for name, item in value.items()
    ):
        return value
    raise WrongTypeError("a table of texts that HTTP can carry as headers")


def _prices(value: object) -> Value:
    known = {"input", "output", "cache_read", "cache_write"}
    if isinstance(value, dict) and all(
        key in known and isinstance(price, int | float) and not isinstance(price, bool)
        for key, price in value.items()
    ):
        return {key: float(price) for key, price in value.items()}
    raise WrongTypeError("a table of prices: input, output, cache_read, cache_write")


def _json_table(value: object) -> Value:
    """A table that becomes JSON: TOML also knows dates, NaN and infinity."""
    if isinstance(value, dict) and _is_json(value):
        return value
    raise WrongTypeError("a table of texts, finite numbers, true, false, lists and tables")


def _is_json(value: object) -> bool:
    match value:
        case dict():
            return all(_is_json(item) for item in value.values())
        case list():
            return all(_is_json(item) for item in value)
        case float():
            return isfinite(value)
        case _:
            return isinstance(value, str | int)


def _tables(value: object) -> Value:
    if isinstance(value, dict) and all(isinstance(item, dict) for item in value.values()):
        return value
    raise WrongTypeError("a table of tables, one a tool: [tools.command.NAME]")


def _commands(value: object) -> Value:
    return _texts([value] if isinstance(value, str) else value)


def _one_of(*words: str) -> Kind:
    def kind(value: object) -> Value:
        if isinstance(value, str) and value in words:
            return value
        raise WrongTypeError("one of " + ", ".join(words))

    return kind


def _pattern(value: object) -> Value:
    """A regular expression that compiles."""
    if isinstance(value, str):
        try:
            re.compile(value)
        except re.error as e:
            raise WrongTypeError(f"a regular expression ({e})") from e
        return value
    raise WrongTypeError("a regular expression")


APIS: Final = ("openai-completions", "openai-responses", "chat", "responses")
"""The last two are other words for the first two."""

_ENDPOINT: Final[Mapping[str, Kind]] = {
    "base_url": _text,
    "model": _text,
    "api": _one_of(*APIS),
    "api_key_env": _text,
    "api_key_command": _text,
    "idle_timeout": _seconds,
    "event_timeout": _seconds,
    "max_retries": _count,
    "context_window": _tokens,
    "max_tokens": _tokens,
    "overflow_pattern": _pattern,
    "ca_file": _text,
    "proxy": _text,
    "headers": _headers,
    "extra_body": _json_table,
}

_MODEL: Final[Mapping[str, Kind]] = {
    "context_window": _tokens,
    "max_tokens": _tokens,
    "images": _flag,
    "reasoning": _flag,
    "reasoning_echo": _one_of("never", "calls", "always", "auto"),
    "tools": _flag,
    "prices": _prices,
}

_PLAIN: Final[Mapping[str, Kind]] = {
    "approve.policy": _one_of(*POLICIES),
    "approve.allow": _texts,
    "tools.pass_env": _texts,
    "tools.timeout": _seconds,
    "tools.history": _flag,
    "tools.plugins": _texts,
    "tools.command": _tables,
    "hooks.before_tool": _commands,
    "hooks.after_tool": _commands,
    "undo.enabled": _flag,
    "sandbox.enabled": _flag,
    "sandbox.network": _flag,
    "thinking.level": _one_of("off", "minimal", "low", "medium", "high", "xhigh", "max"),
    "compaction.auto": _flag,
    "compaction.reserve": _tokens,
    "compaction.keep": _tokens,
    "context.files": _flag,
    "cost.warn": _amount,
    "cost.stop": _amount,
    "session.title": _flag,
    "ui.theme": _one_of("auto", "dark", "light", "contrast", "none"),
    "ui.vi": _flag,
    "ui.keys": _texts_by_name,
    "ui.bell": _flag,
    "ui.notify": _flag,
    "ui.plain": _flag,
}
_SECTIONS: Final = frozenset(name.partition(".")[0] for name in _PLAIN)

# a name that one table knows and the other does not would be read and then lost
assert set(_ENDPOINT) == set(ENDPOINT_KEYS)
assert set(_PLAIN) == set(ATTRIBUTES)


def read(text: str, file: str) -> Layer:
    """Read one settings file's text; `file` is its name for messages. Raises SettingsError."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise _not_toml(str(e), text, file) from e
    reading = _Reading(text, file)
    for section, content in table.items():
        reading.section(section, content)
    return reading.layer()


def line_of(text: str, path: Sequence[str]) -> int | None:
    """The line (from 1) on which a key of a TOML text is set; None where it cannot be found."""
    table: tuple[str, ...] = ()
    header: int | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        if found := re.match(r"\s*\[\[?([^\[\]]+)\]\]?\s*(?:#.*)?$", line):
            table = _parts(found[1])
            if table == tuple(path[: len(table)]):
                header = number
            elif header is None and table[: len(path)] == tuple(path):
                header = number  # a table below it
        elif found := re.match(r"""\s*((?:[\w.\- ]|"[^"]*"|'[^']*')+?)\s*=""", line):
            key = (*table, *_parts(found[1]))
            if key == tuple(path[: len(key)]):
                return number
    return header


def _parts(dotted: str) -> tuple[str, ...]:
    found = re.findall(r""""([^"]*)"|'([^']*)'|([\w-]+)""", dotted)
    return tuple(a or b or c for a, b, c in found)


def _not_toml(words: str, text: str, file: str) -> SettingsError:
    if found := re.search(r" \(at line (\d+), column \d+\)$", words):
        return SettingsError(words[: found.start()], file=file, line=int(found[1]))
    last = len(text.rstrip("\n").split("\n"))
    return SettingsError(words.removesuffix(" (at end of document)"), file=file, line=last)


class _Reading(Struct):
    """One file, while it is read."""

    text: str
    file: str
    values: dict[str, Value] = field(default_factory=dict)
    own: dict[str, Value] = field(default_factory=dict)
    endpoints: dict[str, dict[str, Value]] = field(default_factory=dict)
    models: dict[str, dict[str, Value]] = field(default_factory=dict)
    use: str | None = None
    sources: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def layer(self) -> Layer:
        return Layer(
            values=self.values,
            endpoint=self.own,
            endpoints=self.endpoints,
            models=self.models,
            use=self.use,
            sources=self.sources,
            warnings=tuple(self.warnings),
        )

    def section(self, name: str, content: object) -> None:
        """Read one table of the top level."""
        match name:
            case "endpoint":
                table = dict(self._subtable((name,), content))
                if "use" in table:
                    self.use = str(self._value((name, "use"), _text, table.pop("use")))
                self.own = self._known((name,), table, _ENDPOINT)
            case "endpoints" | "models":
                known, to = (
                    (_ENDPOINT, self.endpoints) if name == "endpoints" else (_MODEL, self.models)
                )
                for key, inner in self._subtable((name,), content).items():
                    to[key] = self._known((name, key), self._subtable((name, key), inner), known)
            case _ if name in _SECTIONS:
                kinds = {
                    key.partition(".")[2]: kind
                    for key, kind in _PLAIN.items()
                    if key.startswith(f"{name}.")
                }
                found = self._known((name,), self._subtable((name,), content), kinds)
                self.values.update({f"{name}.{key}": value for key, value in found.items()})
            case _:
                self._unknown((name,))

    def _known(
        self, path: tuple[str, ...], table: Mapping[str, object], kinds: Mapping[str, Kind]
    ) -> dict[str, Value]:
        """The table's known keys, checked; a warning for each other one."""
        found: dict[str, Value] = {}
        for key, raw in table.items():
            where = (*path, key)
            if key in kinds:
                found[key] = self._value(where, kinds[key], raw)
                self.sources[".".join(where)] = self._place(where)
            else:
                self._unknown(where)
        return found

    def _subtable(self, path: tuple[str, ...], content: object) -> Mapping[str, object]:
        if isinstance(content, dict):
            return content
        raise self._wrong(path, "a table")

    def _value(self, path: tuple[str, ...], kind: Kind, raw: object) -> Value:
        try:
            return kind(raw)
        except WrongTypeError as e:
            raise self._wrong(path, str(e)) from e

    def _unknown(self, path: tuple[str, ...]) -> None:
        self.warnings.append(f"{self._place(path)}: unknown setting {'.'.join(path)}, ignored")

    def _place(self, path: tuple[str, ...]) -> str:
        line = line_of(self.text, path)
        return self.file if line is None else f"{self.file}:{line}"

    def _wrong(self, path: tuple[str, ...], expected: str) -> SettingsError:
        line = line_of(self.text, path)
        return SettingsError(f"{'.'.join(path)} must be {expected}", file=self.file, line=line)
