"""Going on with a session as it was: model, thinking level and tools of its leaf's path.

Order: option of this command, the path, AGENTSH_MODEL, the settings, the endpoint's list. A model
of the path counts where its endpoint is the one in force, or one of the person's own
`[endpoints.NAME]`, which is then used; else it is left, and one line says why. Nothing is asked to
find out, and no address is ever taken from a file. Read next: agent/restoring.py, wiring.py.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from agentsh.agent.restoring import InForce, in_force, tool_words
from agentsh.cli.parsing.modeloptions import ModelOptions, TurnOptions
from agentsh.cli.setup.configuration import Configuration
from agentsh.errors import UsageError
from agentsh.messages import ModelRef
from agentsh.providers.endpoint import read_endpoint
from agentsh.session.file.session import Session
from agentsh.session.format.facts import RequestSent
from agentsh.settings import EndpointSettings, Settings

_LOCAL = "embedded"


class BroughtBack(Struct, frozen=True):
    """What is in force for a session that goes on.

    `follows`: what moves along with the leaf. `returned`: what came back and is not as in a new
    chat: `model`, `thinking`, `tools …`; the chat says so, of what is in force.
    """

    configuration: Configuration
    tools: tuple[str, ...] | None = None
    follows: frozenset[str] = frozenset()
    notices: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()


def restored(
    configuration: Configuration,
    options: ModelOptions,
    session: Session,
    *,
    resumed: bool,
    asked: RequestSent | None = None,
) -> BroughtBack:
    """The settings of a turn in that session. `asked`: a request that was made from its leaf."""
    settings = configuration.settings
    if not settings.resume.restore:
        return BroughtBack(configuration, _chosen(options))
    follows = _follows(options)
    if not resumed:
        return BroughtBack(configuration, _chosen(options), follows)
    path = in_force(session, asked)
    parts: list[str] = []
    notices: tuple[str, ...] = ()
    if "model" in follows and path.model is not None:
        endpoint = endpoint_there(settings, options, path)
        if endpoint is None:
            notices = _left(settings, path, path.model)
        else:
            if endpoint.model != settings.endpoint.model and endpoint.model:
                parts.append("model")
            settings = replace(settings, endpoint=endpoint)
    if "thinking" in follows and path.thinking is not None:
        if path.thinking != (settings.thinking.level or "off"):
            parts.append("thinking")
        thinking = replace(settings.thinking, level=path.thinking)
        settings = replace(settings, thinking=thinking)
    tools = path.tools if "tools" in follows else _chosen(options)
    if "tools" in follows and tools is not None:
        parts.append(f"tools {tool_words(tools)}")
    configuration = replace(configuration, settings=settings)
    return BroughtBack(configuration, tools, follows, notices, tuple(parts))


def _chosen(options: ModelOptions) -> tuple[str, ...] | None:
    """The tools that the options name; names that are none are refused later."""
    if not isinstance(options, TurnOptions) or options.tools is None or options.tools == "all":
        return () if isinstance(options, TurnOptions) and options.no_tools else None
    return tuple(name.strip() for name in options.tools.split(",") if name.strip())


def _follows(options: ModelOptions) -> frozenset[str]:
    """What no option of this command says."""
    names = {"model", "thinking", "tools"}
    if options.model is not None:
        names.discard("model")
    if options.thinking is not None:
        names.discard("thinking")
    if isinstance(options, TurnOptions) and (options.tools is not None or options.no_tools):
        names.discard("tools")
    return frozenset(names)


def endpoint_there(
    settings: Settings, options: ModelOptions, path: InForce
) -> EndpointSettings | None:
    """The endpoint of the path's model, with that model; None: it cannot be had."""
    if path.model is None:
        return None
    provider, model = path.model.provider, path.model.model
    now = settings.endpoint
    if options.local is not None or (now.base_url is None and provider == _LOCAL):
        # the embedded model is a file of this machine; there is but one
        return now if provider == _LOCAL else None
    if options.base_url is None and provider in settings.endpoints:
        own = now if provider == now.name else settings.endpoints[provider]
        return replace(own, model=model, **(_overrides(options) if own is not now else {}))
    if now.base_url is not None and path.endpoint is not None:
        return replace(now, model=model) if _shown(now.base_url) == path.endpoint else None
    return None


def _overrides(options: ModelOptions) -> dict[str, object]:
    """What this command says of whatever endpoint there is."""
    return {
        name.removeprefix("endpoint."): value
        for name, value in options.settings().items()
        if name.startswith("endpoint.") and value is not None
    }


def _shown(base_url: str) -> str | None:
    try:
        return read_endpoint(base_url).shown
    except UsageError:
        return None


def _left(settings: Settings, path: InForce, model: ModelRef) -> tuple[str, ...]:
    """Why the path's model is not used, unless the same one is asked for anyway."""
    if settings.endpoint.model == model.model:
        return ()
    if path.endpoint:
        why = f"it is of the endpoint {path.endpoint}, and that is not the one in force"
    else:
        why = f"no endpoint of the name {model.provider or '?'} is known here"
    return (f"the session's model {model.model} is left: {why} (-m names one)",)
