"""Settings as a person is shown them: value and source; what may hold a secret is not. Pure.

`agentsh config` and `/settings` of the chat show these rows. Read next: explaining.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from agentsh.jsontext import JsonObject, JsonValue, dumps_text
from agentsh.settings import SERVERS, SETTING_NAMES, Settings, Value

_SERVERS: Final = ".".join((*SERVERS, ""))


def setting_rows(settings: Settings) -> list[tuple[str, str, str]]:
    """(name, value, where it comes from) of each: SETTING_NAMES, then what else is set."""
    rows: list[tuple[str, str, str]] = []
    value: Value
    for name in SETTING_NAMES:
        shown = dumps_text(shown_value(name, settings.value(name)))
        shown = "-" if shown in ("null", "{}", "[]") else shown
        rows.append((name, shown, source_of(settings, name)))
    for name, source in settings.sources.items():
        if name.startswith(_SERVERS):
            own, _, key = name.removeprefix(_SERVERS).rpartition(".")
            if own:
                value = getattr(settings.servers[own], key)
                rows.append((name, dumps_text(shown_value(f"server.{key}", value)), source))
            continue
        table, _, key_path = name.partition(".")
        own, _, key = key_path.rpartition(".")
        if table in ("endpoints", "models") and own:
            named: Mapping[str, Struct] = (
                settings.endpoints if table == "endpoints" else settings.models
            )
            value = getattr(named[own], key)
            rows.append((name, dumps_text(shown_value(f"endpoint.{key}", value)), source))
    return rows


def source_of(settings: Settings, name: str) -> str:
    return settings.sources.get(name, "default")


def shown_value(name: str, value: Value) -> JsonValue:
    """The value as JSON, without what may hold a secret.

    That is a header, a command's text and the user part of a URL.
    """
    match name, value:
        case "endpoint.api_key_command", str():
            return "(set)"
        case "server.args", tuple():
            return ["(set)"] * len(value)
        case "endpoint.base_url" | "endpoint.proxy" | "server.url", str():
            scheme, mark, address = value.partition("://")
            host, slash, path = address.partition("/")
            return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path.partition('?')[0]}"
        case _, tuple():
            return list(value)
        case _, Mapping():
            return dict.fromkeys(value, "(set)") if name != "ui.keys" else _texts(value)
        case _, None | bool() | int() | float() | str():
            return value


def _texts(value: Mapping[str, object]) -> JsonObject:
    return {name: str(text) for name, text in value.items()}
