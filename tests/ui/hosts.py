"""A host that the chat is tested with: lists and other sessions, from memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from agentsh.abort import Abort
from agentsh.agent.config import ModelChoice
from agentsh.cli.setup.changing import SettingsChange
from agentsh.context.hiding import Edited
from agentsh.errors import UsageError
from agentsh.session.format.entries import EntryId, SessionId
from agentsh.session.store.store import SessionRow
from agentsh.settings import UiSettings
from agentsh.ui.paper.pages import PageLine
from agentsh.ui.terminal import Terminal
from agentsh.ui.theme import Theme, choose_theme
from agentsh.views.explored import ExploredBranch
from tests.ui.fakes import FakeAgent, fake_report, says


class FakeMarks:
    """Keeps what was hidden, put away and brought."""

    def __init__(self) -> None:
        self.hidden: dict[EntryId, Edited] = {}
        self.folded: set[EntryId] = set()
        self.picked: list[tuple[EntryId, bool, bool]] = []

    def toggle_hidden(self, target: EntryId) -> Mapping[EntryId, Edited]:
        if self.hidden.pop(target, None) is None:
            self.hidden[target] = "hidden"
        return dict(self.hidden)

    def toggle_folded(self, target: EntryId) -> frozenset[EntryId]:
        self.folded ^= {target}
        return frozenset(self.folded)

    def pick(
        self, target: EntryId, *, summary: bool = False, files: bool = False
    ) -> tuple[EntryId, Sequence[str]]:
        self.picked.append((target, summary, files))
        return EntryId("picked"), ["changed: a.py"] if files else []


class FakeHost(FakeMarks):
    """Lists and other sessions, from memory."""

    def __init__(self, agent: FakeAgent) -> None:
        super().__init__()
        self.agent = agent
        self.policy = "edits"
        self.names: dict[Path, str] = {}
        self.archived: list[Path] = []
        self.branches: list[ExploredBranch] = []

    def toggle_hidden(self, target: EntryId) -> Mapping[EntryId, Edited]:
        hidden = super().toggle_hidden(target)
        self.agent.figures = fake_report(context_window=12_000 if hidden else 8000)
        return hidden

    @property
    def front(self) -> FakeAgent:
        return self.agent

    def new_session(self, parent: Path | None = None) -> FakeAgent:
        self.agent = FakeAgent(says("a new session's answer"))
        return self.agent

    def open_session(self, path: Path) -> FakeAgent:
        return self.agent

    def fork(self, at: EntryId | None) -> Path:
        return Path("/nowhere/fork.jsonl")

    def sessions(self, *, everywhere: bool = False) -> Sequence[SessionRow]:
        elsewhere = [fake_row("2222-far", prompt="far away", cwd="/far")] if everywhere else []
        rows = [fake_row("0000-fake"), fake_row("1111-other", prompt="another [/x] prompt")]
        given = self.names
        kept = [row for row in (*rows, *elsewhere) if row.path not in self.archived]
        return [
            fake_row(r.id, r.path, given.get(r.path, r.name), r.prompt, cwd=r.cwd) for r in kept
        ]

    def find_text(self, words: str, *, everywhere: bool = False) -> Mapping[str, str]:
        rows = self.sessions(everywhere=everywhere)
        return {row.id: f"… {words} …" for row in rows if words in row.id}

    def rename_session(self, path: Path, name: str) -> None:
        self.names[path] = name

    def archive_session(self, path: Path) -> None:
        self.archived.append(path)

    def jobs(self, action: str, number: int | None) -> Sequence[str]:
        return [f"{action} {number}"]

    def servers(self, restart: str | None) -> Sequence[str]:
        return [f"servers {restart}"]

    def explored(self) -> Sequence[ExploredBranch]:
        return self.branches

    def explore(self, words: str) -> Sequence[str]:
        return [f"exploration 4f2a91c0: {words}"]

    def bring_explored(
        self, branch: str, *, overwrite: bool = False
    ) -> tuple[FakeAgent, Sequence[str]]:
        self.agent = FakeAgent(says("picked"))
        return self.agent, [f"change: of {branch}{' over' if overwrite else ''}"]

    def context(self, width: int) -> Sequence[str]:
        return ["1,000 of 8,000 tokens (12%)", "#" * (width - 1)]

    def file_difference(self, there: EntryId) -> Sequence[PageLine]:
        return [PageLine("files, from A to B:"), PageLine("  M heron.txt")]

    def choices(self, abort: Abort | None = None) -> Sequence[ModelChoice]:
        return [ModelChoice("", "m"), ModelChoice("far", "n"), ModelChoice("gone", "", "no answer")]

    def choose(self, word: str, abort: Abort | None = None) -> Sequence[str]:
        if word == "nobody/m":
            raise UsageError("no endpoint nobody")
        name, _, model = word.rpartition("/")
        self.agent.figures = fake_report(model=model, endpoint=name)
        return () if model == "n" else ("it is in no list",)

    def named_models(self) -> tuple[str, ...]:
        return ("m", "far/n")

    def settings(self) -> Sequence[tuple[str, str, str]]:
        return [("ui.bell", "true", "default"), ("ui.theme", '"auto"', "config.toml:2")]

    def explain(self, name: str) -> Sequence[str]:
        return [f"{name}: what it is for"]

    def hides(self, name: str, typed: str) -> bool:
        return False

    def change_setting(self, name: str, typed: str) -> SettingsChange:
        return SettingsChange(Path("/nowhere/config.toml"), "", f"{name} = {typed}")

    def add_endpoint(
        self,
        ask: Callable[[str, Callable[[str], bool]], str | None],
        say: Callable[[str], None],
        abort: Abort | None = None,
    ) -> tuple[str, SettingsChange]:
        raise UsageError("nothing was set up")

    def reload(self) -> tuple[FakeAgent, Sequence[str]]:
        return self.agent, ("ui.bell: true → false",)

    def looks(self, terminal: Terminal) -> tuple[UiSettings, Theme, Sequence[str]]:
        return UiSettings(), choose_theme("none", "dark", terminal.colours), ()

    def tools(self) -> Sequence[tuple[str, str]]:
        return [("read", "Read a file"), ("bash", "Run a command")]

    def diff(self, a: str | None, b: str | None) -> Sequence[PageLine]:
        return [PageLine(f"from {a} to {b}"), PageLine("+heron", "added")]

    def why(self, place: str, most: int) -> Sequence[str]:
        return [f"{place} in {most} lines"]

    def export(self, to: str, *, private: bool = False) -> Sequence[str]:
        to += " with private" if private else ""
        return (f"exported to {to}", "redacted 2 (key: 2)")

    def set_policy(self, policy: str) -> None:
        if policy not in ("never", "ask", "edits", "all"):
            raise UsageError(f"no policy {policy}", hint="one of: never, ask, edits, all")
        self.policy = policy


def fake_row(
    id_: str,
    path: Path = Path("/nowhere/x.jsonl"),
    name: str | None = None,
    prompt: str | None = "a prompt",
    updated: str = "2026-01-01T00:00:00.000Z",
    messages: int = 2,
    created: str = "2026-01-01T00:00:00.000Z",
    cwd: str = "/nowhere",
) -> SessionRow:
    return SessionRow(SessionId(id_), path, cwd, name, prompt, created, updated, messages)
