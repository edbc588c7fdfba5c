"""What of the user's settings goes to other machines, and which keys. Keys only by wish.

What may hold a secret (headers, a proxy with a password, environments of MCP servers) stays here
and is named. A key goes over the runner's standard input alone: what is written there names the
variable. Read next: engines.py, cli/setup/keys.py.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct

from agentsh.cli.setup.configuration import Configuration
from agentsh.cli.setup.keys import USUAL, find_key
from agentsh.cli.setup.trust import read_text
from agentsh.files import is_regular
from agentsh.settings import EndpointSettings

_SENT = ("OPENAI_BASE_URL", "AGENTSH_MODEL")
_VARIABLE = "AGENTSH_SENT_KEY_"
_DRAWN = ("ui",)
"""Tables that nobody needs who has no screen."""


class SentSettings(Struct, frozen=True):
    """`text`: TOML. `left_out`: names of what stays. `keys`: variable → key."""

    text: str
    left_out: tuple[str, ...]
    keys: Mapping[str, str]
    environ: Mapping[str, str]


def sent_settings(
    configuration: Configuration, models: Collection[str], *, with_keys: bool
) -> SentSettings:
    """Raises UsageError: a key's command failed."""
    file = configuration.places.settings
    tables: dict[str, Any] = {}
    if is_regular(file):
        import tomllib

        tables = tomllib.loads(read_text(file))
    left_out: list[str] = []
    for name in _DRAWN:
        tables.pop(name, None)
    endpoints = {"endpoint": tables.get("endpoint", {})}
    endpoints |= {f"endpoints.{name}": each for name, each in tables.get("endpoints", {}).items()}
    for name, table in endpoints.items():
        _leave_out(table, ("headers",), name, left_out)
        if "@" in str(table.get("proxy", "")):
            _leave_out(table, ("proxy",), name, left_out)
    for name, table in tables.get("mcp", {}).get("servers", {}).items():
        _leave_out(table, ("env", "headers"), f"mcp.servers.{name}", left_out)
    keys = _keys(configuration, endpoints, models) if with_keys else {}
    environ = configuration.environ
    said = {name: environ[name] for name in _SENT if environ.get(name)}
    return SentSettings(toml_text(tables), tuple(left_out), keys, said)


def _leave_out(table: dict[str, Any], names: Collection[str], of: str, left_out: list[str]) -> None:
    left_out += [f"[{of}] {name}" for name in names if table.pop(name, None)]


def _keys(
    configuration: Configuration, tables: Mapping[str, dict[str, Any]], models: Collection[str]
) -> dict[str, str]:
    """Of the endpoints that are asked; a command that gives one runs here, and not there."""
    environ, settings = configuration.environ, configuration.settings
    used = {model.partition("/")[0] for model in models} | {settings.endpoint.name}
    keys: dict[str, str] = {}
    for number, (name, table) in enumerate(tables.items()):
        if "." in name and name.partition(".")[2] not in used:
            continue
        own = EndpointSettings(
            api_key_env=table.get("api_key_env"), api_key_command=table.get("api_key_command")
        )
        if own.api_key_env or own.api_key_command:
            key = find_key(own, environ)
            if key is not None:
                keys[f"{_VARIABLE}{number}"] = key
                table.pop("api_key_command", None)
                table["api_key_env"] = f"{_VARIABLE}{number}"
    usual = find_key(EndpointSettings(), environ)
    if usual is not None:
        keys[USUAL] = usual
    named = settings.endpoint.api_key_env  # the project's own settings may name it
    if named and environ.get(named):
        keys[named] = environ[named]
    return keys


def toml_text(tables: Mapping[str, Any]) -> str:
    """What `tomllib.loads` reads as the same value."""
    return "".join(f"{_text(name)} = {_value(each)}\n" for name, each in tables.items())


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case Mapping():
            inside = (f"{_text(name)} = {_value(each)}" for name, each in value.items())
            return "{" + ", ".join(inside) + "}"
        case list():
            return "[" + ", ".join(map(_value, value)) + "]"
        case _:
            return str(value)  # numbers, dates: as they are read


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
