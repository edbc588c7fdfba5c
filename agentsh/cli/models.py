"""`agentsh models`: what the endpoint lists, and what is known of each model."""

from __future__ import annotations

import os
from pathlib import Path

from agentsh.cli.configuration import configure
from agentsh.cli.endpoint import make_provider
from agentsh.cli.modeloptions import ModelOptions
from agentsh.cli.notices import warn
from agentsh.cli.output import print_json, print_lines
from agentsh.jsontext import JsonObject
from agentsh.providers.base import ModelInfo
from agentsh.ui.sanitize import safe_line


def models(options: ModelOptions, *, json: bool) -> int:
    """List them. Raises ProviderError, UsageError."""
    configuration = configure(options, os.environ, Path.cwd())
    warn(configuration.notices)
    provider = make_provider(configuration, options, lambda text: warn([text]))
    try:
        listed = [provider.model_info(info.id) for info in provider.models()]
        wanted = configuration.settings.endpoint.model
        if wanted is not None and all(info.id != wanted for info in listed):
            listed.append(provider.model_info(wanted))
        if not listed:
            warn([f"{provider.endpoint} lists no model"])
        if json:
            print_json([_as_json(info, provider.name, wanted) for info in listed])
        else:
            print_lines(_line(info, wanted) for info in listed)
    finally:
        provider.close()
    return 0


def _as_json(info: ModelInfo, provider: str, wanted: str | None) -> JsonObject:
    return {
        "id": info.id,
        "provider": provider,
        "selected": info.id == wanted,
        "context_window": info.context_window,
        "max_output": info.max_output,
        "images": info.accepts_images,
        "reasoning": info.reasons,
        "tools": info.calls_tools,
        "prices": info.prices,
        "source": info.source,
    }


def _line(info: ModelInfo, wanted: str | None) -> str:
    mark = "*" if info.id == wanted else " "
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
    return f"{mark} {safe_line(info.id):<40}  {window}{more}  ({safe_line(info.source)})"
