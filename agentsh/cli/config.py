"""`agentsh config`: every setting, its value, and where that comes from. Shows no secret."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from agentsh import jsontext
from agentsh.cli.configuration import Configuration, configure
from agentsh.cli.credentials import key_source
from agentsh.cli.modeloptions import ModelOptions
from agentsh.cli.notices import warn
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.settings import NAMES, Value


def config(options: ModelOptions, *, json: bool) -> int:
    """Print them all."""
    configuration = configure(options, os.environ, Path.cwd())
    warn(configuration.notices)
    if json:
        sys.stdout.write(jsontext.dumps_text(_as_json(configuration)) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _lines(configuration)))
    return 0


def _as_json(configuration: Configuration) -> JsonObject:
    settings = configuration.settings
    values: JsonObject = {
        name: {
            "value": _plain(name, settings.value(name)),
            "source": settings.sources.get(name, "default"),
        }
        for name in NAMES
    }
    return {
        "settings": values,
        "provider": settings.endpoint.name,
        "endpoints": sorted(settings.endpoints),
        "models": sorted(settings.models),
        "key": key_source(settings.endpoint, configuration.environ),
        "places": _places(configuration),
    }


def _lines(configuration: Configuration) -> list[str]:
    settings = configuration.settings
    lines = []
    for name in NAMES:
        shown = jsontext.dumps_text(_plain(name, settings.value(name)))
        shown = "-" if shown in ("null", "{}", "[]") else shown
        lines.append(f"{name:<26} {shown:<34} {settings.sources.get(name, 'default')}".rstrip())
    key = key_source(settings.endpoint, configuration.environ)
    lines.append(f"{'key':<26} {key or '-'}")
    lines += [f"{name:<26} {path}" for name, path in _places(configuration).items()]
    return lines


def _plain(name: str, value: Value) -> JsonValue:
    """As JSON, without what may hold a secret: headers, a command's text, a URL's user part."""
    match name, value:
        case "endpoint.api_key_command", str():
            return "(set)"
        case "endpoint.base_url" | "endpoint.proxy", str():
            scheme, mark, rest = value.partition("://")
            host, slash, path = rest.partition("/")
            return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path.partition('?')[0]}"
        case _, tuple():
            return list(value)
        case _, Mapping():
            return dict.fromkeys(value, "(set)") if name != "ui.keys" else _texts(value)
        case _, None | bool() | int() | float() | str():
            return value


def _texts(value: Mapping[str, object]) -> JsonObject:
    return {name: str(text) for name, text in value.items()}


def _places(configuration: Configuration) -> dict[str, str]:
    places = configuration.places
    return {
        "config file": str(places.settings),
        "sessions": str(places.sessions),
        "data": str(places.data),
        "state": str(places.state),
    }
