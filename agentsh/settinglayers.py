"""Layers → Settings: which value wins, and where it came from.

Pure. Later layers win over earlier ones, key by key; the environment wins over layers, options over
all. Three things are not mixed key by key: hooks and tools of a project are added to the user's;
credentials go only to the URL that they stand beside; a project's MCP server replaces the user's of
that name whole, or its command would get the user's tokens. Read next: settings.py (what there is),
settingstext.py (text → a layer).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from agentsh.errors import SettingsError
from agentsh.settings import (
    DEFAULT_PROVIDER,
    DEFAULTS,
    HOOK_TIMES,
    SERVERS,
    EndpointSettings,
    ModelSettings,
    ServerSettings,
    Settings,
    TablePath,
    Value,
    attribute_of,
    settable,
)

_ENVIRONMENT: Final[Mapping[str, str]] = {"OPENAI_BASE_URL": "base_url", "AGENTSH_MODEL": "model"}
_JOINED: Final = frozenset(
    (
        *("tools.plugins", "tools.command", "skills.paths"),
        *(f"hooks.{when}" for when in HOOK_TIMES),
    )
)
_CREDENTIALS: Final = ("api_key_env", "api_key_command", "headers")


class Layer(Struct, frozen=True):
    """What one settings file says, checked."""

    tables: Mapping[TablePath, Mapping[str, Value]] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    """Dotted name → file and line, for each value of `tables`."""
    warnings: tuple[str, ...] = ()


def load(
    layers: Sequence[Layer],
    environ: Mapping[str, str],
    options: Mapping[str, Value] | None = None,
) -> Settings:
    """Settings from layers (the last one wins), the environment, and the command's options.

    `options` maps dotted names ("endpoint.model") to values; None stands for "not given".
    """
    tables = _merged(layers)
    given = {name: value for name, value in (options or {}).items() if value is not None}
    sources = _sources(layers)
    warnings = [text for layer in layers for text in layer.warnings]
    endpoints = _named(tables, ("endpoints",))
    endpoint = _choose(
        tables.get(("endpoint",), {}), endpoints, _overrides(environ, given), sources, warnings
    )
    for name, value in given.items():
        section, _, key = name.partition(".")
        if section != "endpoint":
            tables.setdefault((section,), {})[key] = value
            sources[name] = "option"
    changed = {
        section: _changed(getattr(DEFAULTS, section), values)
        for (section, *subsections), values in tables.items()
        if not subsections and section != "endpoint"
    }
    return replace(
        DEFAULTS,
        **changed,
        endpoint=endpoint,
        endpoints={name: _endpoint(name, values) for name, values in endpoints.items()},
        models={n: replace(ModelSettings(), **v) for n, v in _named(tables, ("models",)).items()},
        servers={n: _server(n, v, sources) for n, v in _named(tables, SERVERS).items()},
        sources=sources,
        warnings=tuple(warnings),
    )


def _changed(table: Struct, values: Mapping[str, Value]) -> Struct:
    """With those values, which settingstext has checked."""
    return replace(table, **{attribute_of(type(table), key): v for key, v in values.items()})


def _named(
    tables: Mapping[TablePath, Mapping[str, Value]], above: TablePath
) -> dict[str, Mapping[str, Value]]:
    """Of the tables those that have a NAME each, by it."""
    size = len(above)
    return {path[size]: values for path, values in tables.items() if path[:size] == above != path}


def _sources(layers: Sequence[Layer]) -> dict[str, str]:
    """Where each value came from; a server's are those of the layer whose table counts."""
    sources: dict[str, str] = {}
    for layer in layers:
        for path in layer.tables:
            if path[:2] == SERVERS:
                table = ".".join(path)
                for name in [n for n in sources if n == table or n.startswith(f"{table}.")]:
                    del sources[name]
        sources.update(layer.sources)
    return sources


def _merged(layers: Sequence[Layer]) -> dict[TablePath, dict[str, Value]]:
    """The tables of all layers; a later one wins, key by key."""
    tables: dict[TablePath, dict[str, Value]] = {}
    for layer in layers:
        for path, values in layer.tables.items():
            if path[:2] == SERVERS:
                tables[path] = dict(values)
                continue
            below = tables.setdefault(path, {})
            for key, value in values.items():
                join = ".".join((*path, key)) in _JOINED
                below[key] = _joined(below.get(key), value) if join else value
    return tables


def _joined(below: Value, above: Value) -> Value:
    """A project adds hooks and tools to the user's; a guard of the user's stays one."""
    if isinstance(below, tuple) and isinstance(above, tuple):
        return (*below, *above)
    if isinstance(below, Mapping) and isinstance(above, Mapping):
        return {**below, **above}
    return above


def _choose(
    own: Mapping[str, Value],
    endpoints: Mapping[str, Mapping[str, Value]],
    overrides: Sequence[tuple[str, Value, str]],
    sources: dict[str, str],
    warnings: list[str],
) -> EndpointSettings:
    """The endpoint in force: NAME of a model word `NAME/model`, else `use`, else [endpoint]."""
    word = next(
        (_bare(value) for key, value, _ in reversed(overrides) if key == "model" and value), ""
    )
    name, _, model = word.partition("/")
    by_word = bool(model) and name in endpoints
    if not by_word:
        name = str(own.get("use") or "")
        if name and name not in endpoints:
            warnings.append(f"[endpoint] use: there is no [endpoints.{name}]")
            name = ""
    values = {key: value for key, value in own.items() if key != "use"}
    if name:
        values = dict(endpoints[name])
        for key in settable(EndpointSettings):
            sources.pop(f"endpoint.{key}", None)
        sources.update({f"endpoint.{key}": sources[f"endpoints.{name}.{key}"] for key in values})
    own_url = values.get("base_url")
    for key, value, source in overrides:
        if by_word and key == "base_url" and source in _ENVIRONMENT:
            continue  # the word means the URL of the endpoint that it names
        values[key] = (model if by_word else word or value) if key == "model" else value
        sources[f"endpoint.{key}"] = source
    if own_url is not None and own_url != values["base_url"]:
        # credentials of the settings go only to the URL that they stand beside
        for key in _CREDENTIALS:
            values.pop(key, None)
            sources.pop(f"endpoint.{key}", None)
        name = ""
    return _endpoint(name or DEFAULT_PROVIDER, values)


def _bare(word: Value) -> str:
    """[endpoint] has no name; in a word it may have the one that its answers are stored with."""
    return str(word).removeprefix(f"{DEFAULT_PROVIDER}/")


def _overrides(
    environ: Mapping[str, str], given: Mapping[str, Value]
) -> tuple[tuple[str, Value, str], ...]:
    """(key of the endpoint, value, source), the strongest last."""
    return (
        *((key, environ[var], var) for var, key in _ENVIRONMENT.items() if environ.get(var)),
        *(
            (name.removeprefix("endpoint."), value, "option")
            for name, value in given.items()
            if name.startswith("endpoint.")
        ),
    )


def _endpoint(name: str, values: Mapping[str, Value]) -> EndpointSettings:
    return replace(EndpointSettings(), name=name, **values)  # checked


_NAME: Final = re.compile(r"[^\s/\x00-\x1f\x7f]{1,100}")
_URL: Final = re.compile(r"https?://|\$\{")


def _server(name: str, values: Mapping[str, Value], sources: Mapping[str, str]) -> ServerSettings:
    """Raises SettingsError: it is neither a program nor an address, or both."""
    table = ".".join((*SERVERS, name))

    def place(key: str) -> str:
        first = next((sources[n] for n in sources if n.startswith(f"{table}.")), "settings")
        return sources.get(f"{table}.{key}") or sources.get(table, first)

    if not _NAME.fullmatch(name):
        problem = f"{table}: a server's name has no blank and no /, and at most 100 characters"
        raise SettingsError(problem, file=place(""))
    command, url = values.get("command"), values.get("url")
    if not command and not url:
        problem = f"{table} must have a command (a program), or a url (an address)"
        raise SettingsError(problem, file=place("command"))
    if command and url:
        problem = f"{table}.url must not stand beside command: a server is the one or the other"
        raise SettingsError(problem, file=place("url"))
    if url and not _URL.match(str(url)):
        problem = f"{table}.url must begin with http:// or https://"
        raise SettingsError(problem, file=place("url"))
    return replace(ServerSettings(), name=name, **values)
