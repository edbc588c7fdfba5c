"""How much the model of a session holds, as far as this machine knows it: nobody is asked.

The same sources in the same order as in a turn (agent/turn/pressure.py), without a provider. It
stands alone because settings, session and what endpoints taught are put together in this room only.
"""

from __future__ import annotations

from agentsh.agent.restoring import in_force
from agentsh.cli.assembly.restoring import restored
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.setup.configuration import Configuration
from agentsh.cli.setup.endpoint import model_info
from agentsh.context.tokens import Room, room_of
from agentsh.errors import UsageError
from agentsh.providers.catalog import known_model
from agentsh.providers.endpoint import read_endpoint
from agentsh.providers.learned import Memory
from agentsh.session.file.session import Session
from agentsh.settings import Settings


def find_room(configuration: Configuration, options: ModelOptions, session: Session) -> Room:
    """The room of the next request in that session."""
    back = restored(configuration, options, session, resumed=True).configuration
    settings = back.settings
    window = settings.endpoint.context_window
    if window is None:
        path = in_force(session).model
        model = settings.endpoint.model or (path.model if path is not None else None)
        window = _window(settings, model, Memory(back.places.learned)) if model else None
    folding = settings.compaction
    return room_of(window, settings.endpoint.max_tokens, folding.reserve, folding.keep)


def _window(settings: Settings, model: str, memory: Memory) -> int | None:
    said = settings.models.get(model)
    stated = None if said is None else model_info(model, said)
    return known_model(model, stated, None, _learned(settings, model, memory)).context_window


def _learned(settings: Settings, model: str, memory: Memory) -> int | None:
    if settings.endpoint.base_url is None:
        return None
    try:
        return memory.window(read_endpoint(settings.endpoint.base_url).shown, model)
    except UsageError:
        return None
