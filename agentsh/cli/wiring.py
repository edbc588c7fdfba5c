"""The composition root: configuration and session in, a ready Agent out.

Only here are providers, tools, stores and agents made and put together; nothing in here decides
anything about a turn. Read next: agent/agent.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from agentsh.agent.agent import Agent
from agentsh.agent.config import Config, CostLimits
from agentsh.agent.workbench import Workbench
from agentsh.cli.choosing import Chosen
from agentsh.cli.configuration import Configuration
from agentsh.cli.contextfiles import find_context_files
from agentsh.cli.credentials import hidden_variables
from agentsh.cli.endpoint import make_provider
from agentsh.cli.extending import extend
from agentsh.cli.modeloptions import ModelOptions, TurnOptions
from agentsh.cli.notices import warn
from agentsh.cli.places import Places, make_folder
from agentsh.cli.safety import confine, keeping, own_folders, still_running
from agentsh.cli.tooling import end_commands, history_tool, own_tools, run_command
from agentsh.context.prompt import ContextFile, PromptFacts, sections
from agentsh.context.scrub import scrub
from agentsh.errors import ProviderError, RefusedError, UsageError
from agentsh.jsontext import JsonValue
from agentsh.messages import THINKING_LEVELS, ModelRef, ToolResultMessage
from agentsh.providers.base import Provider
from agentsh.session.entries import Entry, EntryId, MessageBody
from agentsh.session.evidence import spool_folder
from agentsh.session.session import Session
from agentsh.settings import Settings
from agentsh.tools.ledger import FileLedger
from agentsh.tools.policy import POLICIES, Policy, default_policy
from agentsh.tools.rules import parse_rule
from agentsh.tools.toolset import Toolset


class Wired(Struct, frozen=True):
    """A ready agent and what to tell the person before it starts."""

    agent: Agent
    notices: tuple[str, ...]
    context_files: tuple[str, ...]


@contextmanager
def wire(
    configuration: Configuration,
    options: ModelOptions,
    chosen: Chosen,
    *,
    max_steps: int | None = None,
) -> Iterator[Wired]:
    """Build an agent for that session, and close everything afterwards. Raises AgentshError."""
    try:
        with providing(configuration, options) as provider:
            yield assemble(configuration, options, chosen, provider, max_steps=max_steps)
    finally:
        end_commands()
        chosen.session.close()


@contextmanager
def providing(configuration: Configuration, options: ModelOptions) -> Iterator[Provider]:
    """The endpoint in force, until the block ends. Raises UsageError: there is none."""
    provider = make_provider(configuration, options, lambda text: warn([text]))
    try:
        yield provider
    finally:
        provider.close()


def assemble(
    configuration: Configuration,
    options: ModelOptions,
    chosen: Chosen,
    provider: Provider,
    *,
    max_steps: int | None = None,
) -> Wired:
    """Put an agent together around a provider that there is already."""
    settings = configuration.settings
    _make_folders(configuration.places)
    turn = options if isinstance(options, TurnOptions) else TurnOptions()
    model = _model(settings, provider)
    calls_tools = provider.model_info(model).calls_tools is not False
    workbench, told = _workbench(configuration, turn, chosen, calls_tools=calls_tools)
    files, warnings = _context_files(configuration, chosen.cwd)
    facts = PromptFacts(
        cwd=str(chosen.cwd),
        tools=tuple(schema.name for schema in workbench.toolset.schemas()),
        context_files=files,
    )
    config = _config(settings, chosen.session, ModelRef(provider.name, model), facts, max_steps)
    agent = Agent(
        chosen.session,
        provider,
        workbench,
        config,
        clock=time.time,
        verify=_verifier(configuration, chosen.session),
        open_keeper=keeping(configuration.places, configuration.environ, workbench.cwd),
    )
    names = tuple(file.path for file in files)
    notices = [*chosen.notices, *warnings, *told]
    if names:
        notices.append("context files: " + ", ".join(names))
    if not calls_tools and not turn.no_tools:
        notices.append(f"{model} cannot call tools: it only talks")
    if chosen.resumed:
        notices += _changed(agent, strict=turn.strict)
    return Wired(agent, tuple(notices), names)


def _make_folders(places: Places) -> None:
    """Ours, private from the first; whoever cannot write there says so when it matters."""
    for folder in (places.state, places.data):
        with suppress(UsageError):
            make_folder(folder)


def _config(
    settings: Settings,
    session: Session,
    model: ModelRef,
    facts: PromptFacts,
    max_steps: int | None,
) -> Config:
    return Config(
        cost=CostLimits(settings.cost_warn, settings.cost_stop),
        model=model,
        thinking=_thinking(settings, session),
        sections=sections(facts),
        max_retries=settings.endpoint.max_retries,
        max_steps=max_steps,
        max_tokens=settings.endpoint.max_tokens,
        context_window=settings.endpoint.context_window,
        reserve=settings.compaction_reserve,
        keep=settings.compaction_keep,
        auto_compact=settings.auto_compact,
        title=settings.title,
        record_files=settings.undo,
    )


def _context_files(
    configuration: Configuration, cwd: Path
) -> tuple[tuple[ContextFile, ...], list[str]]:
    """AGENTS.md and its like without invisible characters, and what to tell of those."""
    if not configuration.settings.context_files:
        return (), []
    files: list[ContextFile] = []
    warnings: list[str] = []
    for file in find_context_files(cwd, configuration.places, warnings.append):
        text, count = scrub(file.text)
        files.append(ContextFile(file.path, text))
        if count:
            warnings.append(f"{file.path}: {count} invisible characters were taken out")
    return tuple(files), warnings


def _changed(agent: Agent, *, strict: bool) -> list[str]:
    """What differs from the path of a resumed session. Raises RefusedError where that is fatal."""
    changes = agent.changes()
    if not changes:
        return []
    changed = "changed since: " + "; ".join(changes)
    if strict:
        raise RefusedError(changed, hint="without --strict the session goes on with it")
    return [changed]


def _verifier(configuration: Configuration, session: Session) -> Callable[[EntryId], None] | None:
    """The debug switch: each request is rebuilt from the disk before it is sent (R47)."""
    if configuration.environ.get("AGENTSH_DEBUG_REPLAY") != "1" or session.path is None:
        return None
    from agentsh.agent.replay import verifier

    return verifier(session.path)


def _model(settings: Settings, provider: Provider) -> str:
    """The model asked for, else the first that the endpoint lists (contract: Where things are)."""
    if settings.endpoint.model:
        return settings.endpoint.model
    try:
        listed = provider.models()
    except ProviderError as e:
        e.hint = e.hint or (
            "no model is chosen, so the list of them was asked for; name one with -m, or"
            " AGENTSH_MODEL. `agentsh doctor` says what is configured."
        )
        raise
    if not listed:
        raise UsageError(
            f"{provider.endpoint} lists no model", hint="name one with -m, or AGENTSH_MODEL"
        )
    return listed[0].id


def _thinking(settings: Settings, session: Session) -> str:
    """The level asked for; a resumed session keeps its own."""
    level = settings.thinking
    if level is None:
        return "off"
    if level not in THINKING_LEVELS:
        raise UsageError(
            f"there is no thinking level {level!r}", hint="one of: " + ", ".join(THINKING_LEVELS)
        )
    return level


def _policy(settings: Settings) -> Policy:
    if settings.policy is None:
        return default_policy(sandboxed=settings.sandbox)
    for policy in POLICIES:
        if policy == settings.policy:
            return policy
    raise UsageError(
        f"there is no approval policy {settings.policy!r}", hint="one of: " + ", ".join(POLICIES)
    )


def _workbench(
    configuration: Configuration, options: TurnOptions, chosen: Chosen, *, calls_tools: bool
) -> tuple[Workbench, tuple[str, ...]]:
    """The tools, and what to tell the person of them. Raises UsageError, SettingsError."""
    settings, places = configuration.settings, configuration.places
    session = chosen.session
    cwd = chosen.cwd.resolve()
    environ = children_environ(configuration.environ, settings)
    named = options.tools is not None or settings.history  # off until somebody names it
    own = own_tools() + ((history_tool(session, places, str(chosen.cwd)),) if named else ())
    extended = extend(own, configuration, cwd, environ)
    details = _details(session.live().entries)
    bench = Workbench(
        session_id=session.header.id,
        cwd=cwd,
        home=Path.home(),
        toolset=Toolset.offering(
            extended.own,
            options.tools,
            none=options.no_tools or not calls_tools,
            extra=extended.extra,
        ),
        policy=_policy(settings),
        ledger=_ledger(details),
        environ=environ,
        output_dir=places.outputs,
        run_command=run_command,
        rules=tuple(parse_rule(text) for text in (*settings.allow, *options.allow)),
        timeout=settings.tool_timeout,
        sandbox=confine(configuration, cwd),
        spool_dir=spool_folder(session.path) if session.path else None,
        own=own_folders(places),
    )
    return bench, (*extended.notices, *still_running(details))


def _details(entries: Iterable[Entry]) -> list[JsonValue]:
    """What the stored results of tools say beside their text, where they say anything."""
    return [
        body.message.details
        for entry in entries
        if isinstance(body := entry.body, MessageBody)
        and isinstance(body.message, ToolResultMessage)
        and body.message.details is not None
    ]


def _ledger(details: Iterable[JsonValue]) -> FileLedger:
    """Which files the session read and wrote so far, and as what."""
    ledger = FileLedger()
    for each in details:
        ledger.learn(each)
    return ledger


def children_environ(environ: Mapping[str, str], settings: Settings) -> Mapping[str, str]:
    """What commands get: everything but the endpoint's credentials (T19)."""
    hidden = set(hidden_variables(settings.endpoint)) - set(settings.pass_env)
    return {name: value for name, value in environ.items() if name not in hidden}
