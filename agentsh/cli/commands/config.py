"""`agentsh config`: every setting, its value, and where that comes from. Shows no secret."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.notices import warn
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.parsing.options import Json
from agentsh.cli.parsing.words import Option

if TYPE_CHECKING:
    from agentsh.cli.setup.configuration import Configuration
    from agentsh.jsontext import JsonObject


def config(
    options: ModelOptions,
    json: Json = False,
    explain: Annotated[
        str | None,
        Option("--explain", metavar="NAME", help="one setting: what it is for, type, default"),
    ] = None,
) -> int:
    """Show every setting, and where its value comes from."""
    from agentsh import jsontext
    from agentsh.cli.setup.configuration import configure

    if explain is not None:
        return _explain(explain, options, json)
    configuration = configure(options, os.environ, Path.cwd())
    warn(configuration.notices)
    if json:
        sys.stdout.write(jsontext.dumps_text(_as_json(configuration)) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _lines(configuration)))
    return 0


def _explain(name: str, options: ModelOptions, json: bool) -> int:
    from agentsh.cli.output import print_json, print_lines
    from agentsh.cli.setup.configuration import configure
    from agentsh.cli.setup.explaining import explain, explained_lines
    from agentsh.cli.setup.showing import shown_value, source_of
    from agentsh.settings import SETTING_NAMES

    explained = explain(name)
    settings = configure(options, os.environ, Path.cwd()).settings
    if json:
        members: JsonObject = {
            "name": explained.name,
            "what": explained.what,
            "type": explained.type,
            "default": explained.default,
            "example": explained.example,
        }
        if name in SETTING_NAMES:
            value, source = shown_value(name, settings.value(name)), source_of(settings, name)
            members = {**members, "value": value, "source": source}
        print_json(members)
        return 0
    print_lines(explained_lines(explained, settings))
    return 0


def _as_json(configuration: Configuration) -> JsonObject:
    from agentsh.cli.setup.keys import key_source
    from agentsh.cli.setup.showing import shown_value, source_of
    from agentsh.settings import SETTING_NAMES

    settings = configuration.settings
    values: JsonObject = {
        name: {
            "value": shown_value(name, settings.value(name)),
            "source": source_of(settings, name),
        }
        for name in SETTING_NAMES
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
    from agentsh.cli.setup.keys import key_source
    from agentsh.cli.setup.showing import setting_rows
    from agentsh.settings import SETTING_NAMES

    settings = configuration.settings
    rows = setting_rows(settings)[: len(SETTING_NAMES)]
    lines = [f"{name:<26} {shown:<34} {source}".rstrip() for name, shown, source in rows]
    key = key_source(settings.endpoint, configuration.environ)
    lines.append(f"{'key':<26} {key or '-'}")
    lines += [f"{name:<26} {path}" for name, path in _places(configuration).items()]
    return lines


def _places(configuration: Configuration) -> dict[str, str]:
    places = configuration.places
    return {
        "config file": str(places.settings),
        "sessions": str(places.sessions),
        "data": str(places.data),
        "state": str(places.state),
    }
