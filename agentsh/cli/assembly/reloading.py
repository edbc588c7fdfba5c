"""Settings and context files read anew while a chat runs (`/reload`, `/settings`, `/endpoint`).

What a setting says now that it did not say before is in force; what was chosen in the chat and is
not touched by that stays. The session stays open, and gets a new agent. Nothing is changed where
the settings cannot be read. Read next: host.py, wiring.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from agentsh.agent.agent import Agent
from agentsh.cli.assembly.models import configured
from agentsh.cli.assembly.restoring import BroughtBack
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.setup.configuration import Configuration, configure
from agentsh.cli.setup.showing import setting_rows
from agentsh.context.prompt import ContextFile
from agentsh.settings import EndpointSettings, Settings

_NEXT_CHAT = ("ui.keys", "ui.vi", "ui.plain")
"""What the editor was made of."""


class Reread(Struct, frozen=True):
    """`configuration` as it is written; `back`: what is in force, for this session."""

    configuration: Configuration
    back: BroughtBack
    words: tuple[str, ...]
    """What changed, a line each."""


def reread(
    before: Configuration, in_use: Configuration, front: Agent, options: ModelOptions, cwd: Path
) -> Reread:
    """Raises SettingsError, UsageError: they cannot be read, and all stays as it was."""
    fresh = configure(options, os.environ, cwd)
    settings = fresh.settings
    old = before.settings
    endpoint = _endpoint(old, settings, in_use.settings.endpoint, front.model.model)
    if settings.thinking.level == old.thinking.level:
        thinking = replace(settings.thinking, level=front.config.thinking)
        settings = replace(settings, thinking=thinking)
    if (settings.approve.policy, settings.sandbox) == (old.approve.policy, old.sandbox):
        approve = replace(settings.approve, policy=front.workbench.policy)
        settings = replace(settings, approve=approve)
    back = BroughtBack(
        configured(replace(fresh, settings=settings), endpoint),
        front.config.tools,
        front.config.restored,
    )
    return Reread(fresh, back, (*changed_words(old, fresh.settings), *_new(before, fresh)))


def changed_words(old: Settings, new: Settings) -> Iterator[str]:
    """`ui.theme: "auto" → "dark"  (config.toml:3)`; no value that may hold a secret."""
    were = {name: shown for name, shown, _ in setting_rows(old)}
    rows = {name: (shown, source) for name, shown, source in setting_rows(new)}
    for name in dict.fromkeys((*were, *rows)):
        shown, source = rows.get(name, ("-", "not set any more"))
        if shown != were.get(name, "-"):
            later = ", from the next chat on" if name in _NEXT_CHAT else ""
            yield f"{name}: {were.get(name, '-')} → {shown}  ({source}){later}"
    if set(were) == set(rows) and _hidden(old) != _hidden(new):
        yield "headers, or the command for a key: changed"


def changed_files(old: Sequence[ContextFile], new: Sequence[ContextFile]) -> Iterator[str]:
    """Which context files came, went or say something else."""
    before, after = ({file.path: file.text for file in files} for files in (old, new))
    for path in dict.fromkeys((*before, *after)):
        if path not in after:
            yield f"{path}: no longer sent"
        elif path not in before:
            yield f"{path}: sent from now on"
        elif before[path] != after[path]:
            yield f"{path}: changed"


def _endpoint(old: Settings, new: Settings, now: EndpointSettings, model: str) -> EndpointSettings:
    """The one that the settings changed to, else the one in use as it is written now."""
    if _place(old.endpoint) != _place(new.endpoint):
        return new.endpoint
    endpoint = new.endpoint if now.name == new.endpoint.name else new.endpoints.get(now.name, now)
    return replace(endpoint, model=model or None)


def _place(endpoint: EndpointSettings) -> tuple[str | None, ...]:
    return endpoint.name, endpoint.base_url, endpoint.model


def _hidden(settings: Settings) -> list[object]:
    endpoints = (settings.endpoint, *settings.endpoints.values())
    return [(each.headers, each.api_key_command) for each in endpoints]


def _new(before: Configuration, fresh: Configuration) -> list[str]:
    """What is odd, and was not before."""
    return [text for text in fresh.notices if text not in before.notices]
