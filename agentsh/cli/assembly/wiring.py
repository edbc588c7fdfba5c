"""The composition root: configuration and session in, a ready Agent out.

Only here are providers, tools, stores and agents made and put together; nothing in here decides
anything about a turn. Read next: agent/agent.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from agentsh.agent.agent import Agent
from agentsh.agent.config import NO_LIMITS, Config, CostLimits, RunLimits
from agentsh.agent.grants import Grants, grants_file
from agentsh.agent.restoring import told_servers
from agentsh.agent.workbench import Workbench
from agentsh.cli.assembly.extending import offered_tools
from agentsh.cli.assembly.restoring import BroughtBack, restored
from agentsh.cli.assembly.safety import (
    confine,
    is_wide,
    keeping,
    named_orders,
    order_files,
    own_folders,
    own_installation,
    shown_folders,
    told_of_hands,
)
from agentsh.cli.assembly.tools import end_commands, job_ends, run_command
from agentsh.cli.lookup.choosing import Chosen
from agentsh.cli.lookup.finding import store_of
from agentsh.cli.notices import waiting_for, warn
from agentsh.cli.parsing.modeloptions import ModelOptions, TurnOptions
from agentsh.cli.setup.configuration import Configuration
from agentsh.cli.setup.contextfiles import find_context_files
from agentsh.cli.setup.endpoint import make_provider
from agentsh.cli.setup.keys import (
    SHORTEST_HIDDEN,
    hidden_variables,
    known_keys,
    learn_key,
    without_keys,
)
from agentsh.cli.setup.paths import Paths, make_folder
from agentsh.cli.setup.skills.expanding import skills_here
from agentsh.context.prompt import ContextFile, PromptFacts, sections
from agentsh.context.scrub import scrub
from agentsh.errors import ProviderError, RefusedError, UsageError
from agentsh.files import real
from agentsh.jsontext import JsonValue, clean
from agentsh.messages import THINKING_LEVELS, ModelRef, ToolResultMessage
from agentsh.providers.base import Provider
from agentsh.session.file.session import Session
from agentsh.session.format.entries import Entry, EntryId, MessageBody
from agentsh.session.health.evidence import spool_folder
from agentsh.settings import Policy, ServerSettings, Settings
from agentsh.tools.approval.policy import default_policy, policy_named
from agentsh.tools.approval.rules import parse_rule
from agentsh.tools.base import Tool
from agentsh.tools.ledger import FileLedger

if TYPE_CHECKING:  # for settings that name servers, or hooks
    from agentsh.agent.prompts.around import HookedTurns
    from agentsh.tools.mcp.host import McpHost


class Wired(Struct, frozen=True):
    """A ready agent and what to tell the person before it starts.

    `returned`: what came back from the session, as in BroughtBack.
    """

    agent: Agent
    notices: tuple[str, ...]
    context_files: tuple[str, ...]
    returned: tuple[str, ...] = ()


@contextmanager
def wire(
    configuration: Configuration,
    options: ModelOptions,
    chosen: Chosen,
    *,
    limits: RunLimits = NO_LIMITS,
) -> Iterator[Wired]:
    """Build an agent for that session, and close everything afterwards. Raises AgentshError.

    A move that waited for a turn is dropped where there was none.
    """
    try:
        session, resumed = chosen.session, chosen.resumed
        back = restored(configuration, options, session, resumed=resumed, asked=chosen.asked)
        with (
            providing(back.configuration, options) as provider,
            serving(back.configuration, options, chosen.cwd) as servers,
        ):
            yield assemble(back, options, chosen, provider, limits=limits, servers=servers)
    finally:
        chosen.drop_move()
        try:
            end_commands(chosen.session)
        finally:
            chosen.session.close()


@contextmanager
def serving(
    configuration: Configuration, options: ModelOptions, cwd: Path
) -> Iterator[McpHost | None]:
    """The MCP servers that are configured, until the block ends. Raises UsageError."""
    servers = servers_of(configuration, options, cwd)
    try:
        yield servers
    finally:
        if servers is not None:
            from agentsh.cli.assembly.servers import end_servers

            end_servers(servers)


def servers_of(
    configuration: Configuration,
    options: ModelOptions,
    cwd: Path,
    more: Mapping[str, ServerSettings] | None = None,
) -> McpHost | None:
    """Those servers and `more`, to be closed by whoever asked. Raises UsageError: no package."""
    if not (configuration.settings.servers or more):
        return None
    from agentsh.cli.assembly.servers import open_servers

    environ = children_environ(configuration.environ, configuration.settings)
    return open_servers(configuration, _turn_options(options), cwd, environ, more)


def _turn_options(options: ModelOptions) -> TurnOptions:
    return options if isinstance(options, TurnOptions) else TurnOptions()


@contextmanager
def providing(configuration: Configuration, options: ModelOptions) -> Iterator[Provider]:
    """The endpoint in force, until the block ends. Raises UsageError: there is none."""
    provider = make_provider(configuration, options, lambda text: warn([text]))
    try:
        yield provider
    finally:
        provider.close()


def assemble(
    back: BroughtBack,
    options: ModelOptions,
    chosen: Chosen,
    provider: Provider,
    *,
    limits: RunLimits = NO_LIMITS,
    servers: McpHost | None = None,
    tools: Sequence[Tool] = (),
) -> Wired:
    """Put an agent together around a provider that there is already. `tools`: the caller's own."""
    configuration = back.configuration
    _make_folders(configuration.places)
    turn = _turn_options(options)
    model = _model(configuration.settings, provider)
    calls_tools = provider.model_info(model).calls_tools is not False
    bench, odd, around = _workbench(back, turn, chosen, servers, tools, calls_tools=calls_tools)
    files, warnings = _context_files(configuration, chosen.cwd)
    window = _window(configuration.settings, provider, model)
    skills, expander, unread = skills_here(configuration, chosen.cwd, window)
    cwd, names = str(chosen.cwd), bench.toolset.names()
    server_words = told_servers(bench.toolset)
    facts = PromptFacts(cwd, names, None, None, files, skills, server_words, window)
    config = _config(back, chosen.session, ModelRef(provider.name, model), facts, limits)
    agent = Agent(
        chosen.session,
        provider,
        bench,
        config,
        clock=time.time,
        verify=_verifier(configuration, chosen.session),
        open_checkpointer=keeping(configuration.places, bench.environ, bench.cwd),
        expander=expander,
        around=around,
    )
    notices = [*chosen.notices, *back.notices, *warnings, *unread, *odd]
    if not calls_tools and back.tools != ():
        notices.append(f"{model} cannot call tools: it only talks")
    notices += _changed(agent, strict=turn.strict) if chosen.resumed else []
    return Wired(agent, tuple(notices), tuple(file.path for file in files), back.returned)


def _window(settings: Settings, provider: Provider, model: str) -> int | None:
    """What the model holds, without asking anybody."""
    return settings.endpoint.context_window or provider.model_info(model).context_window


def _make_folders(places: Paths) -> None:
    """Ours, private from the first; whoever cannot write there says so when it matters."""
    for folder in (places.state, places.data):
        with suppress(UsageError):
            make_folder(folder)


def _config(
    back: BroughtBack,
    session: Session,
    model: ModelRef,
    facts: PromptFacts,
    limits: RunLimits,
) -> Config:
    settings = back.configuration.settings
    return Config(
        cost=CostLimits(settings.cost.warn, settings.cost.stop, limits.cost),
        model=model,
        thinking=_thinking(settings),
        tools=back.tools,
        restored=back.follows,
        named=store_of(back.configuration.places).words(session.header.id, session.path),
        sections=sections(facts),
        facts=facts,
        max_retries=settings.endpoint.max_retries,
        max_steps=limits.steps,
        max_tokens=settings.endpoint.max_tokens,
        context_window=settings.endpoint.context_window,
        reserve=settings.compaction.reserve,
        keep=settings.compaction.keep,
        auto_compact=settings.compaction.auto,
        title=settings.session.title,
        record_files=settings.undo.enabled,
    )


def _context_files(
    configuration: Configuration, cwd: Path
) -> tuple[tuple[ContextFile, ...], list[str]]:
    """AGENTS.md and its like without invisible characters, and what to tell of them."""
    if not configuration.settings.context.files:
        return (), []
    files: list[ContextFile] = []
    warnings: list[str] = []
    for file in find_context_files(cwd, configuration.places, warnings.append):
        text, count = scrub(file.text)
        files.append(ContextFile(file.path, text))
        if count:
            warnings.append(f"{file.path}: {count} invisible characters were taken out")
    if files:
        warnings.append("context files: " + ", ".join(file.path for file in files))
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
        with waiting_for(f"the list of models of {provider.endpoint}"):
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


def _thinking(settings: Settings) -> str:
    """The level asked for."""
    level = settings.thinking.level
    if level is None:
        return "off"
    if level not in THINKING_LEVELS:
        raise UsageError(
            f"there is no thinking level {level!r}", hint="one of: " + ", ".join(THINKING_LEVELS)
        )
    return level


def _policy(settings: Settings, *, wide: bool) -> Policy:
    if settings.approve.policy is None:
        return default_policy(sandboxed=settings.sandbox.enabled, wide=wide)
    return policy_named(settings.approve.policy)


def _workbench(
    back: BroughtBack,
    options: TurnOptions,
    chosen: Chosen,
    servers: McpHost | None,
    tools: Sequence[Tool],
    *,
    calls_tools: bool,
) -> tuple[Workbench, tuple[str, ...], HookedTurns | None]:
    """The tools, what to tell of them, the hooks round a turn. Raises UsageError, SettingsError."""
    configuration = back.configuration
    settings, places = configuration.settings, configuration.places
    session, cwd = chosen.session, real(chosen.cwd)
    environ = children_environ(configuration.environ, settings)
    details = _details(session.live().entries)
    offered = offered_tools(back, options, chosen, servers, environ, tools)
    bench = Workbench(
        session_id=session.header.id,
        cwd=cwd,
        home=Path.home(),
        toolset=offered.toolset.only(back.tools if calls_tools else ()),
        refresh=offered.refresh,
        policy=_policy(settings, wide=is_wide(cwd, Path.home())),
        ledger=_ledger(details),
        environ=environ,
        output_dir=places.outputs,
        run_command=run_command,
        ended_jobs=job_ends,
        rules=tuple(parse_rule(text) for text in (*settings.approve.allow, *options.allow)),
        timeout=settings.tools.timeout,
        sandbox=(sandbox := confine(configuration, cwd)),
        hiding=None if sandbox is None else sandbox.hiding,
        spool_dir=spool_folder(session.path) if session.path else None,
        grants=_grants(places, session, cwd),
        own=(*own_folders(places), *order_files(settings, cwd), *own_installation(cwd)),
        named_orders=named_orders(cwd, environ),
        hidden=own_folders(places) if settings.sandbox.enabled else (),
        shown=shown_folders(places),
    )
    return bench, (*offered.notices, *told_of_hands(bench, details)), offered.turns


def _grants(places: Paths, session: Session, cwd: Path) -> Grants:
    """What was agreed to here; a session without a file leaves none of it behind."""
    file = None if session.path is None else grants_file(places.grants, session.header.id)
    return Grants(file, clean(str(cwd)))


def _details(entries: Iterable[Entry]) -> list[JsonValue]:
    """What the stored results of tools say beside their text, where they say anything."""
    return [
        body.message.details
        for entry in entries
        if type(body := entry.body) is MessageBody
        and type(body.message) is ToolResultMessage
        and body.message.details is not None
    ]


def _ledger(details: Iterable[JsonValue]) -> FileLedger:
    """Which files the session read and wrote so far, and as what."""
    ledger = FileLedger()
    for each in details:
        ledger.learn(each)
    return ledger


def children_environ(environ: Mapping[str, str], settings: Settings) -> Mapping[str, str]:
    """What commands get: everything but the credentials of endpoints (T19).

    Of all that are configured: a chat may go on with another one.
    """
    learn_key(settings.endpoint, environ)
    endpoints = (settings.endpoint, *settings.endpoints.values())
    hidden = frozenset().union(*(hidden_variables(each) for each in endpoints))
    keys = frozenset().union(*(known_keys(each, environ, SHORTEST_HIDDEN) for each in endpoints))
    return without_keys(environ, hidden, keys, passed=settings.tools.pass_env)
