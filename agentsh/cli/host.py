"""What a chat asks of the program around it: other sessions, lists, the policy.

It satisfies ui/face.Host; the chat itself knows neither stores nor settings. A session that it
leaves is closed here, so that its lock is free. Read next: ui/face.py, wiring.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agentsh.agent.agent import Agent
from agentsh.agent.config import Config
from agentsh.cli.choosing import Chosen, find_store, opened
from agentsh.cli.configuration import Configuration
from agentsh.cli.modeloptions import TurnOptions
from agentsh.cli.wiring import Wired, assemble
from agentsh.errors import RefusedError, UsageError
from agentsh.messages import UserMessage
from agentsh.providers.base import Provider
from agentsh.session.entries import EntryId, MessageBody
from agentsh.session.fork import fork_session
from agentsh.session.session import Session
from agentsh.session.store import SessionRow
from agentsh.tools.policy import POLICIES
from agentsh.ui.sanitize import safe_text

if TYPE_CHECKING:  # for commands that few chats use
    from agentsh.cli.diff import Differences
    from agentsh.cli.sessionkeeper import StoreKeeper


class ChatHost:
    """One chat's surroundings. `agent` is the one in front of the person."""

    def __init__(
        self,
        configuration: Configuration,
        options: TurnOptions,
        provider: Provider,
        cwd: Path,
    ) -> None:
        self._configuration = configuration
        self._options = options
        self._provider = provider
        self._cwd = cwd
        self._store = find_store(configuration.places)
        self.agent: Agent | None = None

    def start(self, chosen: Chosen) -> Wired:
        """The agent of the first session."""
        wired = assemble(self._configuration, self._options, chosen, self._provider)
        self.agent = wired.agent
        return wired

    def close(self) -> None:
        """Leave the session that is open now."""
        if self.agent is not None:
            self.agent.session.close()
            self.agent = None

    # ---- the session in front --------------------------------------------------------------------

    def fork(self, at: EntryId | None) -> Path:
        """A new file with the path up to there; the parent keeps its bytes."""
        return fork_session(self._front.session, at, self._store)

    def tools(self) -> Sequence[tuple[str, str]]:
        return [
            (schema.name, schema.description.split("\n")[0])
            for schema in self._front.workbench.toolset.schemas()
        ]

    def diff(self, a: str | None, b: str | None) -> Sequence[str]:
        """What differs between two places of the session in front."""
        from agentsh.cli.diff import diff_lines

        session = self._front.session
        start = before_last_prompt(session) if a is None else session.resolve(a)
        found = self._compare(start, session.leaf if b is None else session.resolve(b))
        return (*(safe_text(notice) for notice in found.notices), *diff_lines(found))

    def file_difference(self, there: EntryId) -> Sequence[str]:
        """What differs in the files from here to there."""
        from agentsh.cli.diff import file_lines

        found = self._compare(self._front.session.leaf, there)
        return (*(safe_text(notice) for notice in found.notices), *file_lines(found))

    def _compare(self, a: EntryId | None, b: EntryId | None) -> Differences:
        from agentsh.cli.diff import compare
        from agentsh.tools.keeper import Keeper

        places, environ = self._configuration.places, self._configuration.environ
        keeper = Keeper(self._front.workbench.cwd, places.checkpoints, environ)
        return compare(self._front.session, keeper, a, b)

    def set_policy(self, policy: str) -> None:
        for known in POLICIES:
            if known == policy:
                self._front.workbench.policy = known
                return
        raise UsageError(
            f"there is no approval policy {policy!r}", hint="one of: " + ", ".join(POLICIES)
        )

    # ---- others ----------------------------------------------------------------------------------

    def new_session(self) -> Agent:
        """A fresh session in the same folder, with the same model."""
        return self._change(lambda: Chosen(self._store.create(str(self._cwd)), self._cwd))

    def open_session(self, path: Path) -> Agent:
        return self._change(lambda: opened(self._store, path, self._cwd))

    def sessions(self, *, everywhere: bool = False) -> Sequence[SessionRow]:
        return self._keeper.sessions(everywhere=everywhere)

    def find_text(self, words: str, *, everywhere: bool = False) -> Mapping[str, str]:
        return self._keeper.find_text(words, everywhere=everywhere)

    def rename_session(self, path: Path, name: str) -> None:
        if path == self._front.session.path:
            self._front.rename(name)
        else:
            self._keeper.rename_session(path, name)

    def archive_session(self, path: Path) -> None:
        if path == self._front.session.path:
            raise RefusedError("this session is open here; go to another one first")
        self._keeper.archive_session(path)

    def models(self) -> Sequence[str]:
        return [model.id for model in self._front.provider.models()]

    @property
    def _keeper(self) -> StoreKeeper:
        from agentsh.cli.sessionkeeper import StoreKeeper

        return StoreKeeper(self._configuration.places, self._cwd)

    @property
    def _front(self) -> Agent:
        assert self.agent is not None
        return self.agent

    def _change(self, choose: Callable[[], Chosen]) -> Agent:
        """Open the other one first: where that fails, the chat stays where it is."""
        old = self._front
        chosen = choose()
        wired = assemble(self._configuration, self._options, chosen, self._provider)
        wired.agent.config = _kept(old, wired.agent)
        wired.agent.approver = old.approver
        old.session.close()
        self.agent = wired.agent
        return wired.agent


def before_last_prompt(session: Session) -> EntryId | None:
    """Where the newest prompt of the path would be taken back to."""
    for entry in reversed(session.live().entries):
        if isinstance(entry.body, MessageBody) and isinstance(entry.body.message, UserMessage):
            return entry.parent
    return session.leaf


def _kept(old: Agent, new: Agent) -> Config:
    """The person's choice of model goes along."""
    return replace(new.config, model=old.config.model, thinking=old.config.thinking)
