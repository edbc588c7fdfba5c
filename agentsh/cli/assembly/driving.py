"""What whoever drives an agent asks of the program around it: other sessions, lists, the model.

It satisfies agent/driven/host.SessionHost without anything of the ui; the chat's host stands on it.
A session that it leaves is closed here, so that its lock is free.
Read next: agent/driven/host.py, wiring.py, host.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.agent import Agent
from agentsh.agent.config import Config, EndpointLimits, ModelChoice
from agentsh.agent.restoring import InForce, is_elsewhere
from agentsh.cli.assembly.restoring import BroughtBack, endpoint_there, restored
from agentsh.cli.assembly.tools import end_commands
from agentsh.cli.assembly.wiring import Wired, assemble, children_environ, servers_of
from agentsh.cli.lookup.choosing import Chosen, opened
from agentsh.cli.lookup.finding import store_of
from agentsh.cli.notices import warn
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.setup.configuration import Configuration
from agentsh.cli.setup.endpoint import make_provider
from agentsh.context.hiding import Edited
from agentsh.errors import AgentshError, RefusedError
from agentsh.providers.base import Provider
from agentsh.session.file.session import new_session
from agentsh.session.format.entries import EntryId, Header
from agentsh.session.format.times import iso_time
from agentsh.session.store.store import SessionRow, Store
from agentsh.settings import EndpointSettings, ServerSettings
from agentsh.tools.approval.policy import policy_named
from agentsh.tools.base import Tool

if TYPE_CHECKING:  # for commands that few chats use
    from agentsh.cli.lookup.sessionkeeper import StoreKeeper
    from agentsh.tools.mcp.host import McpHost


class ProgramHost:
    """The surroundings of one driver. `agent` is the one in front.

    `say` is told what happens on the way to an endpoint; without one it goes to stderr. `tools`:
    the driver's own, offered besides. `save` False: sessions are kept in memory, and what needs
    the store is refused. `servers`: MCP servers besides those of the settings.
    """

    def __init__(
        self,
        configuration: Configuration,
        options: TurnOptions,
        provider: Provider,
        cwd: Path,
        say: Callable[[str], None] | None = None,
        tools: Sequence[Tool] = (),
        *,
        save: bool = True,
        servers: Mapping[str, ServerSettings] | None = None,
    ) -> None:
        self._configuration = self._in_use = configuration
        """As it was at the start; and with the endpoint of the session in front."""
        self._options = options
        self._provider = provider
        self._cwd = cwd
        self._say = say or _warn
        self._tools = tools
        self._save = save
        self._store = store_of(configuration.places)
        self._servers = servers_of(configuration, options, cwd, servers)
        self.agent: Agent | None = None

    def start(self, chosen: Chosen, back: BroughtBack) -> Wired:
        """The agent of the first session."""
        wired = self._assembled(back, chosen, self._provider, self._servers)
        self.agent, self._in_use = wired.agent, back.configuration
        return wired

    def _assembled(
        self,
        back: BroughtBack,
        chosen: Chosen,
        provider: Provider,
        servers: McpHost | None,
    ) -> Wired:
        wired = assemble(back, self._options, chosen, provider, servers=servers, tools=self._tools)
        wired.agent.reach = self._reach
        return wired

    def close(self) -> None:
        """Leave the session that is open now; what commands left running ends."""
        if self.agent is not None:
            try:
                end_commands(self.agent.session)
            finally:
                self.agent.session.close()
                self.agent = None
        if self._servers is not None:
            from agentsh.cli.assembly.servers import end_servers

            end_servers(self._servers)
        self._provider.close()

    # ---- the session in front --------------------------------------------------------------------

    def fork(self, at: EntryId | None) -> Path:
        """A new file with the path up to there; the parent keeps its bytes."""
        from agentsh.cli.lookup.forking import fork_here

        self.must_save()
        return fork_here(self._configuration.places, self._store, self.front.session, at)

    def toggle_hidden(self, target: EntryId) -> Mapping[EntryId, Edited]:
        from agentsh.agent.hiding import toggle_hidden

        return self.front.by_hand(lambda session: toggle_hidden(session, target))

    def toggle_folded(self, target: EntryId) -> frozenset[EntryId]:
        from agentsh.agent.hiding import toggle_folded

        return self.front.by_hand(lambda session: toggle_folded(session, target))

    def pick(
        self, target: EntryId, *, summary: bool = False, files: bool = False
    ) -> tuple[EntryId, Sequence[str]]:
        from agentsh.cli.assembly.bringing import bring

        front = self.front
        return bring(front, front.session, target, summary=summary, files=files)

    def tools(self) -> Sequence[tuple[str, str]]:
        return [
            (schema.name, schema.description.split("\n")[0])
            for schema in self.front.workbench.toolset.schemas()
        ]

    def set_policy(self, policy: str) -> None:
        self.front.workbench.policy = policy_named(policy)

    # ---- others ----------------------------------------------------------------------------------

    def new_session(self, parent: Path | None = None) -> Agent:
        """A fresh session in the same folder, with the same model."""
        old = self.front
        wired = self._change(lambda: self._fresh(parent), keep=True)
        wired.agent.config = _kept(old, wired.agent)
        return wired.agent

    def _fresh(self, parent: Path | None) -> Chosen:
        if not self._save:
            return unsaved(self._store, self._cwd)
        return Chosen(self._store.create(str(self._cwd), parent=parent), self._cwd)

    def open_session(self, path: Path) -> Agent:
        """As it was at its leaf."""
        self.must_save()
        return self._change(lambda: opened(self._configuration.places, path, self._cwd)).agent

    def sessions(self, *, everywhere: bool = False) -> Sequence[SessionRow]:
        return self._keeper.sessions(everywhere=everywhere)

    def find_text(self, words: str, *, everywhere: bool = False) -> Mapping[str, str]:
        return self._keeper.find_text(words, everywhere=everywhere)

    def rename_session(self, path: Path, name: str) -> None:
        if path == self.front.session.path:
            self.front.rename(name)
        else:
            self._keeper.rename_session(path, name)

    def archive_session(self, path: Path) -> None:
        if path == self.front.session.path:
            raise RefusedError("this session is open here; go to another one first")
        self._keeper.archive_session(path)

    def named_models(self) -> tuple[str, ...]:
        """What the settings name, without asking anybody."""
        from agentsh.cli.assembly.models import configured_words

        return configured_words(self._configuration.settings, self._options)

    def choices(self, abort: Abort | None = None) -> Sequence[ModelChoice]:
        """What may be asked, at every endpoint that is configured."""
        from agentsh.cli.assembly.models import choices_in, lists

        front = self.front
        parts = self._configuration, self._options, lambda _text: None, front.provider
        listed = lists(*parts, abort=abort)
        return choices_in(listed, front.provider.name, front.model.model)

    def choose(self, word: str, abort: Abort | None = None) -> Sequence[str]:
        """Ask that model from now on; at another endpoint, if the word names one.

        Raises UsageError, RefusedError, and all stays as it was.
        """
        from agentsh.cli.assembly.models import endpoints_of, meant, unlisted

        front, notices = self.front, list[str]()
        names = endpoints_of(self._configuration.settings, self._options)
        name, model = meant(word, names, front.provider.name)
        if name == front.provider.name:
            front.use(front.provider, model)
            return unlisted(front.provider, model, abort)
        self._ask_at(replace(names[name], model=model), notices.append)
        return (*notices, *unlisted(self._provider, model, abort))

    def _ask_at(self, endpoint: EndpointSettings, say: Callable[[str], None]) -> None:
        """From now on at that endpoint. Raises UsageError, RefusedError, and all is as it was."""
        from agentsh.cli.assembly.models import configured, provider_of

        front, model = self.front, endpoint.model
        assert model is not None
        provider = provider_of(self._configuration, self._options, endpoint, say)
        limits = EndpointLimits(endpoint.max_retries, endpoint.max_tokens, endpoint.context_window)
        try:
            front.use(provider, model, limits)
        except BaseException:
            provider.close()
            raise
        self._provider.close()
        self._provider, self._in_use = provider, configured(self._configuration, endpoint)
        settings = self._in_use.settings  # the key may be known only now
        front.workbench.environ = children_environ(front.workbench.environ, settings)

    def _reach(self, before: InForce, there: InForce) -> Sequence[str]:
        """After a move: at the endpoint of there, where it is one of the person's own."""
        notices: list[str] = []
        endpoint = endpoint_there(self._configuration.settings, self._options, there)
        front = self.front
        if endpoint is None or not is_elsewhere(front.config, before, there, front.provider):
            return ()
        try:
            self._ask_at(endpoint, notices.append)
        except AgentshError as e:
            return (*notices, str(e))
        return (*notices, f"as it was here: model {endpoint.name}/{endpoint.model}")

    def must_save(self) -> None:
        """Raises RefusedError: nothing is stored here, so nothing stored is looked for."""
        if not self._save:
            raise RefusedError("this session is not stored, and stands alone (--no-session)")

    @property
    def _keeper(self) -> StoreKeeper:
        from agentsh.cli.lookup.sessionkeeper import StoreKeeper

        self.must_save()
        return StoreKeeper(self._configuration.places, self._cwd)

    @property
    def front(self) -> Agent:
        assert self.agent is not None
        return self.agent

    def _change(self, choose: Callable[[], Chosen], *, keep: bool = False) -> Wired:
        """Open the other session first: if that fails, the chat stays in this one.

        `keep`: with the endpoint that is in use, wherever that came from.
        """
        old = self.front
        chosen = choose()
        try:
            base = self._in_use if keep else self._configuration
            back = restored(base, self._options, chosen.session, resumed=chosen.resumed)
            provider = self._provider if keep else self._provider_of(back)
            wired = self._assembled(back, chosen, provider, self._servers)
        except BaseException:
            chosen.session.close()
            raise
        wired.agent.approver = old.approver
        old.session.close()
        if provider is not self._provider:
            self._provider.close()
            self._provider = provider
        self.agent, self._in_use = wired.agent, back.configuration
        return wired

    def _servers_after(self, configuration: Configuration) -> McpHost | None:
        """The servers that the settings name now: those that there are, where nothing differs."""
        was, now = self._configuration.settings, configuration.settings
        if (was.servers, was.mcp) == (now.servers, now.mcp):
            return self._servers
        return servers_of(configuration, self._options, self._cwd)

    def _provider_of(self, back: BroughtBack) -> Provider:
        """The one that there is, unless the session goes on at another endpoint."""
        endpoint, now = back.configuration.settings.endpoint, self._in_use.settings.endpoint
        if (endpoint.name, endpoint.base_url) == (now.name, now.base_url):
            return self._provider
        return make_provider(back.configuration, self._options, self._say)


def _warn(text: str) -> None:
    warn([text])


def unsaved(store: Store, cwd: Path) -> Chosen:
    """A session that is kept in memory."""
    header = Header(store.new_id(), iso_time(time.time()), str(cwd))
    return Chosen(new_session(None, header), cwd)


def _kept(old: Agent, new: Agent) -> Config:
    """The person's choice of model goes along."""
    return replace(new.config, model=old.config.model, thinking=old.config.thinking)
