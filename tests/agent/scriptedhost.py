"""A host for drivers' tests: sessions in memory, answered by a script (agent/driven/host.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from agentsh.abort import Abort
from agentsh.agent.config import ModelChoice
from agentsh.errors import RefusedError, SessionNotFoundError, UsageError
from agentsh.session.format.entries import Entry, EntryId, Header, SessionId
from agentsh.session.store.store import SessionRow
from tests.ui.fakes import (
    FakeAgent,
    FakeSession,
    Script,
    answer_entry,
    fake_report,
    says,
    user_entry,
)
from tests.ui.hosts import FakeMarks, fake_row

POLICIES = ("never", "ask", "edits", "all")
TALK = (user_entry("u1", None, "hello"), answer_entry("a1", "u1", "a heron"))


class ScriptedHost(FakeMarks):
    """Each session is a FakeAgent; the first one holds `TALK`."""

    def __init__(self, script: Script | None = None) -> None:
        super().__init__()
        self._script = script or says("a heron")
        self._agents: dict[Path, FakeAgent] = {}
        self.front = self._made(*TALK)

    def _made(self, *entries: Entry) -> FakeAgent:
        number = len(self._agents)
        path = Path(f"/nowhere/{number}.jsonl")
        session = FakeSession(
            list(entries),
            path=path,
            header=Header(SessionId(f"{number:04}-scripted"), "2026-01-01T00:00:00.000Z", "/"),
        )
        self._agents[path] = agent = FakeAgent(self._script, session)
        return agent

    def _comes_to_front(self, agent: FakeAgent) -> FakeAgent:
        agent.approver = self.front.approver
        self.front = agent
        return agent

    def new_session(self, parent: Path | None = None) -> FakeAgent:
        return self._comes_to_front(self._made())

    def open_session(self, path: Path) -> FakeAgent:
        if path not in self._agents:
            raise SessionNotFoundError(f"no session {path}", path=str(path))
        return self._comes_to_front(self._agents[path])

    def fork(self, at: EntryId | None) -> Path:
        path = self._made(*(TALK if at is not None else ())).session.path
        assert path is not None
        return path

    def sessions(self, *, everywhere: bool = False) -> Sequence[SessionRow]:
        return [
            fake_row(agent.session.header.id, path, agent.name)
            for path, agent in self._agents.items()
        ]

    def find_text(self, words: str, *, everywhere: bool = False) -> Mapping[str, str]:
        return {}

    def rename_session(self, path: Path, name: str) -> None:
        self._agents[path].rename(name)

    def archive_session(self, path: Path) -> None:
        if self._agents[path] is self.front:
            raise RefusedError("this session is open here")
        del self._agents[path]

    def choices(self, abort: Abort | None = None) -> Sequence[ModelChoice]:
        return [ModelChoice("", "m"), ModelChoice("", "n")]

    def choose(self, word: str, abort: Abort | None = None) -> Sequence[str]:
        self.front.figures = fake_report(model=word)
        return ()

    def named_models(self) -> tuple[str, ...]:
        return ("m",)

    def tools(self) -> Sequence[tuple[str, str]]:
        return [("read", "Read a file"), ("bash", "Run a command")]

    def set_policy(self, policy: str) -> None:
        if policy not in POLICIES:
            raise UsageError(f"no policy {policy}")
        self.front.figures = fake_report(policy=policy)
