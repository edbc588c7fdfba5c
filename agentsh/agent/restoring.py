"""What was in force at a place of a session: model, endpoint, thinking level, choice of tools.

Going on with a session goes on as it was there. Only what asks for something is read here: nothing
that a file says grants anything (policy, rules, sandbox, trust and hooks are of the command and the
settings, always). Whether it can be had now is decided by who goes on. Read next: opening.py.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.config import Config, EndpointLimits
from agentsh.agent.events import Notice, TurnEnd
from agentsh.agent.opening import chosen_tools
from agentsh.agent.workbench import Workbench
from agentsh.context.projection import project_settings
from agentsh.context.prompt import ToolServer, sections
from agentsh.errors import ServerMissingError
from agentsh.messages import THINKING_LEVELS, ModelRef, Usage
from agentsh.providers.base import Provider
from agentsh.session.file.session import Session
from agentsh.session.file.tail import lacks_facts
from agentsh.session.format.entries import (
    Compaction,
    Custom,
    Entry,
    EntryId,
    ThinkingLevelChange,
    places_of,
)
from agentsh.session.format.factcodec import decode_fact
from agentsh.session.format.facts import RequestSent
from agentsh.tools.toolset import Toolset


class InForce(Struct, frozen=True):
    """None: nothing is said of it. `endpoint`: where that model was asked last."""

    model: ModelRef | None = None
    endpoint: str | None = None
    thinking: str | None = None
    tools: tuple[str, ...] | None = None


def in_force(session: Session, asked: RequestSent | None = None) -> InForce:
    """What is in force at the leaf. `asked`: a request that was made from there."""
    live = session.live()
    context = project_settings(live)
    model = context.model if context.model is not None and context.model.model else None
    endpoint = None
    if model is not None:
        endpoint = _endpoint(live.entries, model)
        if endpoint is None and lacks_facts(live):
            endpoint = _endpoint(session.branch().entries, model)
        if endpoint is None and asked is not None and asked.provider == model.provider:
            endpoint = asked.endpoint
    is_level = _says_level(live.entries) and context.thinking in THINKING_LEVELS
    return InForce(
        model, endpoint, context.thinking if is_level else None, chosen_tools(context.state)
    )


def come_back(
    config: Config, before: InForce, there: InForce, provider: Provider, bench: Workbench
) -> tuple[Config, tuple[str, ...]]:
    """Go on as it was there, but for what the person changed since the place left."""
    now, notices = going_on(config, before, there, provider.endpoint)
    if now.tools != config.tools and bench.toolset.every:
        now = offering(now, now.tools, bench)
        notices += missing_words(bench.toolset.missing(now.tools or ()))
    return now, notices


def is_elsewhere(config: Config, before: InForce, there: InForce, provider: Provider) -> bool:
    """Whether the model of that place is to come back, and is asked at another endpoint."""
    comes_back = "model" in config.restored and config.model == before.model
    return comes_back and there.model is not None and there.endpoint != provider.endpoint


def stays_here(_before: InForce, _there: InForce) -> tuple[str, ...]:
    """After a move: no other endpoint can be had. A host may know better, and says what it did."""
    return ()


def offering(config: Config, tools: tuple[str, ...] | None, bench: Workbench) -> Config:
    """From now on these tools are on offer (None: all), and the system prompt says so."""
    bench.toolset = bench.toolset.only(tools)
    if config.facts is None:
        return config
    facts = replace(config.facts, tools=bench.toolset.names(), servers=told_servers(bench.toolset))
    return replace(config, facts=facts, sections=sections(facts))


def told_servers(toolset: Toolset) -> tuple[ToolServer, ...]:
    """What the model is told of the servers whose tools are on offer."""
    return tuple(ToolServer(each.server, each.words) for each in toolset.servers())


def refreshed(
    config: Config, bench: Workbench, provider: Provider, leaf: EntryId | None, abort: Abort
) -> Generator[Notice | TurnEnd, None, Config | None]:
    """Before a prompt: let changed lists of servers' tools begin to count; tell what is odd.

    None, behind a TurnEnd: a server is missing that no turn begins without.
    """
    talks_only = provider.model_info(config.model.model).calls_tools is False
    if bench.refresh is None or talks_only:
        return config
    refresh = bench.refresh(abort, config.tools)
    try:
        while True:
            yield Notice(next(refresh), "warning")
    except StopIteration as done:
        offers = done.value
    except ServerMissingError as e:
        yield TurnEnd("error", None, leaf, Usage(), str(e), e.hint)
        return None
    if offers is None:
        return config
    bench.toolset = bench.toolset.serving(offers)
    return offering(config, config.tools, bench)


def chosen(
    config: Config, provider: Provider, model: str, limits: EndpointLimits | None, bench: Workbench
) -> Config:
    """The settings of turns with that model of that endpoint; a model that only talks has no tools.

    `limits` None: those that there are.
    """
    config = replace(config, model=ModelRef(provider.name, model))
    if limits is not None:
        config = replace(
            config,
            max_retries=limits.max_retries,
            max_tokens=limits.max_tokens,
            context_window=limits.context_window,
        )
    config = _fitting(config, config.context_window or provider.model_info(model).context_window)
    if not bench.toolset.every:
        return config
    tools = () if provider.model_info(model).calls_tools is False else config.tools
    same = bench.toolset.only(tools).offers == bench.toolset.offers
    return config if same else offering(config, tools, bench)


def _fitting(config: Config, window: int | None) -> Config:
    """With a list of skills that such a window has room for."""
    if config.facts is None or not config.facts.skills or config.facts.window == window:
        return config
    facts = replace(config.facts, window=window)
    return replace(config, facts=facts, sections=sections(facts))


def going_on(
    config: Config, before: InForce, there: InForce, endpoint: str
) -> tuple[Config, tuple[str, ...]]:
    """After a move of the leaf: the settings of there, and what to tell of them. Pure.

    What the person changed since the place that was left stays, as does what an option said.
    """
    now = config
    notices: list[str] = []
    if "model" in config.restored and there.model is not None and config.model == before.model:
        if there.endpoint == endpoint:
            now = replace(now, model=there.model)
        elif there.model != config.model:
            notices.append(f"the model {there.model.model} is left: it is of another endpoint")
    if "thinking" in config.restored and there.thinking and config.thinking == before.thinking:
        now = replace(now, thinking=there.thinking)
    if "tools" in config.restored and config.tools == before.tools:
        now = replace(now, tools=there.tools)
    changed = [
        *([f"model {now.model.model}"] if now.model != config.model else []),
        *([f"thinking {now.thinking}"] if now.thinking != config.thinking else []),
        *([f"tools {tool_words(now.tools)}"] if now.tools != config.tools else []),
    ]
    return now, (*notices, *returned_words(changed))


def returned_words(parts: Sequence[str]) -> tuple[str, ...]:
    """The line that says what came back."""
    return (f"as it was here: {', '.join(parts)}",) if parts else ()


def tool_words(tools: Sequence[str] | None) -> str:
    """A choice of tools."""
    return "all" if tools is None else " ".join(tools) or "none"


def missing_words(names: Sequence[str]) -> tuple[str, ...]:
    """Tools of the choice that are not there any more."""
    return (f"not there any more, of the tools chosen: {', '.join(names)}",) if names else ()


def _endpoint(entries: Sequence[Entry], model: ModelRef) -> str | None:
    """Where a provider of that name was asked last."""
    for index in reversed(places_of(entries, Custom)):
        body = entries[index].body
        fact = decode_fact(body) if isinstance(body, Custom) else None
        if isinstance(fact, RequestSent) and fact.provider == model.provider:
            return fact.endpoint
    return None


def _says_level(entries: Iterable[Entry]) -> bool:
    """Whether a level was ever named; without that it is "off" for want of anything else."""
    return any(
        isinstance(entry.body, ThinkingLevelChange)
        or (isinstance(entry.body, Compaction) and entry.body.details is not None)
        for entry in entries
    )
