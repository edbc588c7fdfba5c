"""What a chat asks of the program around it: what any driver asks, and what only a screen shows.

It satisfies ui/protocols.Host; the chat itself knows neither stores nor settings.
Read next: driving.py, ui/protocols.py, wiring.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.agent import Agent
from agentsh.agent.config import named
from agentsh.cli.assembly.driving import ProgramHost
from agentsh.cli.lookup.choosing import Chosen
from agentsh.cli.setup.endpoint import make_provider
from agentsh.cli.setup.keys import keys_in_use
from agentsh.context.prompt import ContextFile
from agentsh.errors import AgentshError, UsageError
from agentsh.files import from_home, is_regular
from agentsh.sanitize import safe_line, safe_text
from agentsh.session.format.entries import EntryId
from agentsh.shellwords import shell_word
from agentsh.ui.paper.pages import PageLine
from agentsh.views.explored import ExploredBranch

if TYPE_CHECKING:  # for commands that few chats use
    from agentsh.cli.lookup.explorations import Explorations
    from agentsh.cli.setup.changing import SettingsChange
    from agentsh.settings import UiSettings
    from agentsh.ui.terminal import Terminal
    from agentsh.ui.theme import Theme


class ChatHost(ProgramHost):
    """One chat's surroundings. `agent` is the one in front of the person."""

    _has_told_of_choice = False

    # ---- the session in front --------------------------------------------------------------------

    def diff(self, a: str | None, b: str | None) -> Sequence[PageLine]:
        """What differs between two places of the session in front."""
        from agentsh.cli.assembly.comparing import before_last_prompt, compared_here
        from agentsh.ui.text.differences import difference_lines

        session = self.front.session
        start = before_last_prompt(session) if a is None else session.resolve(a)
        end = session.leaf if b is None else session.resolve(b)
        return compared_here(self.front, self._configuration, start, end, difference_lines)

    def jobs(self, action: str, number: int | None) -> Sequence[str]:
        """The commands that run beside the chat: a list, one's output, its end."""
        from agentsh.tools.shell import jobs

        words = jobs.words_on_jobs(action, number, self.front.session.header.id)
        return safe_text(words).split("\n")

    def servers(self, restart: str | None) -> Sequence[str]:
        """The MCP servers and what they offer; or the end of one, which the next call starts."""
        from agentsh.cli.assembly.servers import all_statuses
        from agentsh.tools.mcp.status import status_lines

        if restart is not None:
            if self._servers is None:
                raise UsageError("no MCP server is in use")
            self._servers.restart(restart)
            return [f"{safe_line(restart)} is ended; the next call starts it"]
        statuses = all_statuses(self._configuration, self._servers, ask=False)
        lines = [safe_text(line) for each in statuses for line in status_lines(each)]
        return lines or ["no MCP server is configured ([mcp.servers.NAME])"]

    def context(self, width: int) -> Sequence[str]:
        """What fills the window of the session in front."""
        from agentsh.context.weights import weigh
        from agentsh.ui.text.weights import context_lines

        session = self.front.session
        branch = session.branch()
        weights = weigh(branch, self.front.room())
        return tuple(context_lines(weights, branch.entries, width, session.header.cwd))

    def why(self, place: str, most: int) -> Sequence[str]:
        """Who wrote the lines that FILE[:LINE[-LINE]] names, over all sessions of the folder."""
        from agentsh.cli.lookup.origins import find_origins
        from agentsh.ui.text.authors import screenful

        origins = find_origins(place, self._cwd, self._store, self._configuration.places)
        return screenful(origins, most)

    def explored(self) -> Sequence[ExploredBranch]:
        """Branches of this folder's explorations, the newest first."""
        from agentsh.cli.lookup.finding import has_explorations

        session = self.front.session
        if not self._save or not has_explorations(session.path):
            return ()
        from agentsh.cli.lookup.explorations import branches_shown

        return branches_shown(self._explorations().all_of(everywhere=False), session.header.id)

    def explore(self, words: str) -> Sequence[str]:
        """Begin one from here, as a process of its own; what it said first."""
        from agentsh.cli.assembly.exploring.beside import model_word, split_words, start_beside

        front, endpoint = self.front, self._in_use.settings.endpoint
        session, typed = front.session, split_words(words)
        environ = dict(self._configuration.environ)
        if endpoint.base_url is not None and self._options.base_url is not None:
            environ["OPENAI_BASE_URL"] = endpoint.base_url
        named = self._configuration.settings.endpoints
        environ["AGENTSH_MODEL"] = model_word(endpoint.name, named, front.model.model)
        own: list[str] = []
        if self._options.session_dir is not None:
            own += ["--session-dir", self._options.session_dir]
        if self._save and session.path is not None and is_regular(session.path):
            session.barrier()
            own += ["--session", str(session.path)]
        return start_beside([*own, *typed], self._cwd, environ)

    def bring_explored(
        self, branch: str, *, overwrite: bool = False
    ) -> tuple[Agent, Sequence[str]]:
        """Pick a branch into the session that it began in, which is then in front.

        The session in front is let go of meanwhile: a pick writes it.
        """
        from agentsh.cli.assembly.exploring.picking import PickWish, pick_branch

        self.must_save()
        explorations = self._explorations()
        looked, number = explorations.branch(branch)
        here = self.front.session.path
        self.front.session.close()
        lines: tuple[str, ...]
        try:
            wish = PickWish(files=True, overwrite=overwrite, dry_run=False)
            picked = pick_branch(explorations, looked, number, wish)
        except AgentshError as e:
            lines = (f"error: {e}", *([] if e.hint is None else [e.hint]))
        else:
            here = None if picked.path is None else Path(picked.path)
            lines = tuple(f"{kind}: {path}" for path, kind in picked.files)
        if here is not None and is_regular(here):
            return self.open_session(here), lines
        return self.new_session(), lines

    def _explorations(self) -> Explorations:
        from agentsh.cli.lookup.explorations import Explorations

        return Explorations(self._configuration.places, self._store, self._cwd)

    def file_difference(self, there: EntryId) -> Sequence[PageLine]:
        """What differs in the files from here to there."""
        from agentsh.cli.assembly.comparing import compared_here
        from agentsh.ui.text.differences import file_lines

        front = self.front
        return compared_here(front, self._configuration, front.session.leaf, there, file_lines)

    def export(self, to: str, *, private: bool = False) -> Sequence[str]:
        """Write the session in front to a new file, redacted; what was done, in words."""
        from agentsh.ui.export.writing import write_export

        target = Path(self._cwd, from_home(to))
        configuration = self._configuration
        settings, environ = configuration.settings, configuration.environ
        notices: list[str] = []
        keys = keys_in_use(settings, environ, notices.append)
        lines = write_export(
            self.front.session, target, raw=False, at=None, keys=keys, private=private
        )
        return (f"exported to {shell_word(str(target))}", *notices, *lines)

    def choose(self, word: str, abort: Abort | None = None) -> Sequence[str]:
        """As any host does; once, with how a new chat would begin with that model."""
        before = self._answers()
        notices = super().choose(word, abort)
        endpoint, now = self._configuration.settings.endpoint, self._answers()
        if self._has_told_of_choice or now in (before, (endpoint.name, endpoint.model)):
            return notices
        self._has_told_of_choice = True
        ways = [f"`agentsh -m {shell_word(named(*now))}`"]
        if now[0] == endpoint.name:
            ways.append("endpoint.model in /settings")
        return (*notices, f"a new chat begins with another; with this one: {', or '.join(ways)}")

    def _answers(self) -> tuple[str, str]:
        """The endpoint and the model of now."""
        return self.front.provider.name, self.front.model.model

    # ---- the settings ----------------------------------------------------------------------------

    def settings(self) -> Sequence[tuple[str, str, str]]:
        from agentsh.cli.setup.showing import setting_rows

        return setting_rows(self._configuration.settings)

    def explain(self, name: str) -> Sequence[str]:
        from agentsh.cli.setup.explaining import explain, explained_lines

        return explained_lines(explain(name), self._configuration.settings)

    def hides(self, name: str, typed: str) -> bool:
        from agentsh.cli.setup.changing import hides

        return hides(name, typed)

    def change_setting(self, name: str, typed: str) -> SettingsChange:
        """What the user's file would say; nothing is written yet. Raises SettingsError."""
        from agentsh.cli.setup.changing import present, with_setting

        file = self._configuration.places.settings
        return with_setting(file, present(file), name, typed)

    def add_endpoint(
        self,
        ask: Callable[[str, Callable[[str], bool]], str | None],
        say: Callable[[str], None],
        abort: Abort | None = None,
    ) -> tuple[str, SettingsChange]:
        """By questions: the word for `choose`, once that is written and read."""
        from agentsh.cli.setup.changing import present, with_table
        from agentsh.cli.setup.interview import Talk, interview, named_table

        configuration = self._configuration
        endpoint = interview(Talk(ask, say), configuration, abort)
        file = configuration.places.settings
        before = present(file)
        name, text = named_table(endpoint, before, sorted(configuration.settings.endpoints))
        return f"{name}/{endpoint.model}", with_table(file, before, text)

    def reload(self) -> tuple[Agent, Sequence[str]]:
        """Read settings and context files anew; what changed. Raises AgentshError: nothing did."""
        from agentsh.cli.assembly.reloading import changed_files, reread

        old = self.front
        reloaded = reread(self._configuration, self._in_use, old, self._options, self._cwd)
        back, provider = reloaded.back, self._provider
        now = self._in_use.settings.endpoint
        if replace(back.configuration.settings.endpoint, model=now.model) != now:
            notices: list[str] = []
            provider = make_provider(back.configuration, self._options, notices.append)
        try:
            servers = self._servers_after(reloaded.configuration)
            chosen = Chosen(old.session, self._cwd)
            wired = self._assembled(back, chosen, provider, servers)
        except BaseException:
            if provider is not self._provider:
                provider.close()
            raise
        wired.agent.approver = old.approver
        if provider is not self._provider:
            self._provider.close()
            self._provider = provider
        self.agent, self._in_use = wired.agent, back.configuration
        self._configuration = reloaded.configuration
        if servers is not self._servers:
            old_servers, self._servers = self._servers, servers
            if old_servers is not None:
                old_servers.close()
        files = changed_files(_sent(old), _sent(wired.agent))
        return wired.agent, (*reloaded.words, *files)

    def looks(self, terminal: Terminal) -> tuple[UiSettings, Theme, Sequence[str]]:
        """How the settings want the chat to look, and what is odd about that."""
        from agentsh.cli.assembly.themes import theme_in_force

        theme, notices = theme_in_force(self._configuration, terminal)
        return self._configuration.settings.ui, theme, notices


def _sent(agent: Agent) -> Sequence[ContextFile]:
    facts = agent.config.facts
    return () if facts is None else facts.context_files
