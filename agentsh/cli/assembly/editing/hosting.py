"""The sessions of an editor put together: each with the settings of its folder and its own host.

It satisfies remote/acp/program.EditorProgram. A session that exists goes on in its own folder, and
by that folder's settings. Read next: cli/assembly/remotehosting.py, remote/acp/sessions.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from agentsh import __version__
from agentsh.cli.assembly.remotehosting import ProgramRemoteHost
from agentsh.cli.assembly.restoring import BroughtBack, restored
from agentsh.cli.assembly.safety import confine
from agentsh.cli.lookup.choosing import Chosen, StartAt, open_chosen, opened
from agentsh.cli.lookup.finding import find_named, store_of
from agentsh.cli.lookup.interrupted import may_go_on
from agentsh.cli.lookup.sessionkeeper import StoreKeeper
from agentsh.cli.notices import warn
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.setup.configuration import Configuration, configure
from agentsh.cli.setup.endpoint import make_provider
from agentsh.cli.setup.paths import find_places
from agentsh.errors import RefusedError, SessionNotFoundError
from agentsh.session.store.naming import is_id_word
from agentsh.session.store.store import SessionRow
from agentsh.settings import ServerSettings
from agentsh.tools.base import EditorTexts


class EditorProgramHost(ProgramRemoteHost):
    """The surroundings of one session of an editor."""

    @property
    def cwd(self) -> Path:
        return self._cwd

    def use_texts(self, editor_texts: EditorTexts) -> None:
        self.front.workbench.editor_texts = editor_texts


class ProgramForEditors:
    """`environ`: of the process."""

    version = __version__

    def __init__(self, options: TurnOptions, environ: Mapping[str, str]) -> None:
        self._options = options
        self._environ = environ
        self._said: set[str] = set()

    def begin(self, cwd: Path, servers: Mapping[str, ServerSettings]) -> EditorProgramHost:
        configuration = self._configured(cwd)
        return self._hosted(
            configuration, open_chosen(configuration.places, cwd, StartAt()), servers
        )

    def reopen(
        self, session: str, cwd: Path, servers: Mapping[str, ServerSettings]
    ) -> EditorProgramHost:
        configuration = self._configured(cwd)
        store = store_of(configuration.places)
        if not is_id_word(session):
            raise SessionNotFoundError(f"{session[:80]!r} is no session's id")
        chosen = opened(configuration.places, find_named(store, session, str(cwd)), cwd)
        try:
            _must_be(session, chosen)
            if chosen.cwd != cwd:
                configuration = self._configured(chosen.cwd)
        except BaseException:
            chosen.session.close()
            raise
        return self._hosted(configuration, chosen, servers)

    def _configured(self, cwd: Path) -> Configuration:
        configuration = configure(self._options, self._environ, cwd)
        for notice in configuration.notices:
            if notice not in self._said:  # once a process, not with every session
                self._said.add(notice)
                self.tell(notice)
        return configuration

    def _hosted(
        self, configuration: Configuration, chosen: Chosen, servers: Mapping[str, ServerSettings]
    ) -> EditorProgramHost:
        """The host of that session; where it fails, the session is closed as it was."""
        try:
            confine(configuration, chosen.cwd)
            back = restored(configuration, self._options, chosen.session, resumed=chosen.resumed)
            provider = make_provider(back.configuration, self._options, self.tell)
        except BaseException:
            chosen.session.close()
            raise
        try:
            host = EditorProgramHost(
                configuration, self._options, provider, chosen.cwd, self.tell, servers=servers
            )
        except BaseException:
            provider.close()
            chosen.session.close()
            raise
        return self._started(host, chosen, back)

    def _started(
        self, host: EditorProgramHost, chosen: Chosen, back: BroughtBack
    ) -> EditorProgramHost:
        try:
            wired = host.start(chosen, back)
            warn(wired.notices)
            way = self._options.on_interrupted or "continue"
            if not may_go_on(wired.agent, way, lambda _question: True):
                self._refuse_interrupted()
        except BaseException:
            if host.agent is None:
                chosen.session.close()
            host.close()
            raise
        return host

    def _refuse_interrupted(self) -> NoReturn:
        raise RefusedError("the last turn of this session was cut off (--on-interrupted stop)")

    def sessions(self, cwd: Path | None) -> Sequence[SessionRow]:
        places = find_places(self._environ, self._options.session_dir)
        keeper = StoreKeeper(places, cwd or Path.cwd())
        return keeper.sessions(everywhere=cwd is None)

    def tell(self, text: str) -> None:
        warn([text])

    def report(self, error: BaseException) -> str:
        from agentsh.cli.crash import report

        report(error, self._environ)
        return f"this is a bug in agentsh ({type(error).__name__}); its log says where"


def _must_be(session: str, chosen: Chosen) -> None:
    """A word that is only the beginning of an id would name it nowhere else."""
    if chosen.session.header.id != session:
        raise SessionNotFoundError(f"there is no session {session[:80]!r}")
