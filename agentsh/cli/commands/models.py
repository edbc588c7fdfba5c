"""`agentsh models`: what the endpoints list, and what is known of each model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from agentsh.cli.notices import waiting_for, warn
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.parsing.options import Json
from agentsh.sanitize import safe_line

if TYPE_CHECKING:
    from agentsh.jsontext import JsonObject
    from agentsh.providers.base import ModelInfo, Provider


def models(options: ModelOptions, json: Json = False) -> int:
    """List the models of the endpoints, and what is known of each."""
    from agentsh.cli.assembly.models import lists
    from agentsh.cli.setup.configuration import configure
    from agentsh.cli.setup.endpoint import make_provider

    configuration = configure(options, os.environ, Path.cwd())
    warn(configuration.notices)
    provider = make_provider(configuration, options, lambda text: warn([text]))
    try:
        rows = _rows(provider, configuration.settings.endpoint.model)
        if configuration.settings.endpoints:
            with waiting_for("the lists of models"):
                others = lists(configuration, options, lambda t: warn([t]), but=provider.name)
            for each in others:
                if each.trouble:
                    warn([f"{each.name}: {each.trouble}"])
                rows += [_Row(info, each.name) for info in each.models]
        if json:
            print_json([_as_json(row) for row in rows])
        else:
            print_lines(_line(row) for row in rows)
    finally:
        provider.close()
    return 0


def _rows(provider: Provider, asked_for: str | None) -> list[_Row]:
    """Of the endpoint in force, with the model that is asked for."""
    with waiting_for(f"the list of models of {provider.endpoint}"):
        listed_models = provider.models()
    own = [provider.model_info(info.id) for info in listed_models]
    listed = {info.id for info in own}
    if asked_for is not None and asked_for not in listed:
        own.append(provider.model_info(asked_for))
    if not own:
        warn([f"{provider.endpoint} lists no model"])
    return [_Row(info, provider.name, info.id == asked_for, info.id in listed) for info in own]


class _Row(Struct, frozen=True):
    info: ModelInfo
    provider: str
    is_wanted: bool = False
    is_listed: bool = True


def _as_json(row: _Row) -> JsonObject:
    info = row.info
    return {
        "id": info.id,
        "provider": row.provider,
        "selected": row.is_wanted,
        "listed": row.is_listed,
        "context_window": info.context_window,
        "max_output": info.max_output,
        "images": info.accepts_images,
        "reasoning": info.reasons,
        "tools": info.calls_tools,
        "prices": info.prices,
        "source": info.source,
    }


def _line(row: _Row) -> str:
    from agentsh.agent.config import named

    info = row.info
    mark = "*" if row.is_wanted else " "
    window = f"{info.context_window:,} tokens" if info.context_window else "window not known"
    able = [
        word
        for word, is_so in (
            ("images", info.accepts_images),
            ("reasoning", info.reasons),
            ("tools", info.calls_tools),
        )
        if is_so
    ]
    more = f"  {', '.join(able)}" if able else ""
    more += "" if row.is_listed else "  in no list: it is asked for all the same"
    name = safe_line(named(row.provider, info.id))
    return f"{mark} {name:<40}  {window}{more}  ({safe_line(info.source)})"
