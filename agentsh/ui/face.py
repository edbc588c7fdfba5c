"""What the ui needs of the agent and of the program around it: protocols, no code.

`ChatAgent` is one session with a model behind it (agent/agent.py satisfies it); `Host` is what only
the composition root can do: make or open sessions, list things. The ui never builds either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from agentsh.agent.approvals import Answer, ApprovalRequest
from agentsh.agent.events import AgentEvent
from agentsh.messages import BashExecutionMessage, Image, ModelRef, Usage
from agentsh.session.entries import Branch, Entry, EntryId, Header, Notice
from agentsh.ui.pages import Page
from agentsh.ui.theme import Role, Theme


class QueuedMessage(Protocol):
    """A message that waits for its turn; `kind` is "steer" or "follow-up"."""

    @property
    def id(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def text(self) -> str: ...


class MovedTo(Protocol):
    """Where a move ended. `editor_text`: the prompt that one stands before now."""

    @property
    def leaf(self) -> EntryId | None: ...

    @property
    def editor_text(self) -> str | None: ...

    @property
    def notices(self) -> Sequence[str]: ...


class AgentReport(Protocol):
    """The figures of the status line."""

    @property
    def context_tokens(self) -> int: ...

    @property
    def context_window(self) -> int | None: ...

    @property
    def usage(self) -> Usage: ...

    @property
    def cost(self) -> float: ...

    @property
    def saved(self) -> bool: ...

    @property
    def policy(self) -> str: ...

    @property
    def sandbox(self) -> bool: ...

    @property
    def model(self) -> ModelRef | str: ...

    @property
    def thinking(self) -> str: ...

    @property
    def cwd(self) -> Path | str: ...

    @property
    def allowed(self) -> Sequence[str]:
        """Rules that the person added at questions, as far as they hold here."""


class SpendingFace(Protocol):
    """What all of a session has cost, other branches and copies included, and its limits."""

    @property
    def usage(self) -> Usage: ...

    @property
    def inherited(self) -> float:
        """What of it came along with a fork."""

    @property
    def warn(self) -> float | None: ...

    @property
    def stop(self) -> float | None: ...


class BudgetFace(Protocol):
    """agent/budget.py."""

    def spending(self) -> SpendingFace: ...


class TreeFace(Protocol):
    """What is drawn of a session's tree (session/tree.py)."""

    @property
    def labels(self) -> Mapping[EntryId, str]: ...

    @property
    def name(self) -> str | None: ...

    def __iter__(self) -> Iterator[EntryId]:
        """In file order."""

    def path(self, entry: EntryId | None) -> Sequence[EntryId]:
        """Root → entry."""


class SessionFace(Protocol):
    """The open session of an agent (session/session.py)."""

    @property
    def header(self) -> Header: ...

    @property
    def path(self) -> Path | None: ...

    @property
    def leaf(self) -> EntryId | None: ...

    @property
    def notices(self) -> Sequence[Notice]: ...

    @property
    def tree(self) -> TreeFace: ...

    def live(self) -> Branch:
        """The branch of the leaf; may be cut at the last compaction."""

    def entries(self) -> Iterator[Entry]:
        """Every entry of the file, in file order."""

    def resolve(self, word: str) -> EntryId | None:
        """An ENTRY word (id, prefix, label, `leaf`, `root`, `X~N`); None is before the first."""


class FilesPlan(Protocol):
    """What bringing the working files back would do (agent/rewinding.py)."""

    @property
    def conflicts(self) -> Sequence[object]:
        """What would be left alone: somebody else changed it since."""

    def lines(self) -> Sequence[str]: ...


class FilesFace(Protocol):
    """Brings the working files back to a place of the tree (agent/rewinding.py)."""

    def plan(self, target: EntryId | None) -> FilesPlan: ...

    def restore(self, target: EntryId | None, *, overwrite: bool = False) -> Sequence[str]: ...


class ChatAgent(Protocol):
    """One session and whoever answers in it. `abort`, `steer`, `follow_up` are thread-safe."""

    @property
    def session(self) -> SessionFace: ...

    @property
    def files(self) -> FilesFace: ...

    @property
    def budget(self) -> BudgetFace: ...

    approver: Callable[[ApprovalRequest], Answer] | None

    def prompt(self, text: str, attachments: tuple[Image, ...] = ()) -> Iterator[AgentEvent]: ...

    def steer(self, text: str) -> str: ...

    def follow_up(self, text: str) -> str: ...

    def queued(self) -> Sequence[QueuedMessage]: ...

    def take_back(self) -> Sequence[str]: ...

    def pending(self) -> Sequence[str]:
        """What a crash left queued: for the editor."""

    def abort(self) -> None: ...

    def compact(
        self, focus: str | None = None, keep: int | None = None
    ) -> Iterator[AgentEvent]: ...

    def checkout(
        self,
        target: EntryId | None,
        *,
        summarize: bool = False,
        focus: str | None = None,
        files: bool = False,
        overwrite: bool = False,
    ) -> MovedTo: ...

    def set_model(self, name: str) -> None: ...

    def set_thinking(self, level: str) -> None: ...

    def label(self, target: EntryId, name: str | None) -> None: ...

    def rename(self, name: str) -> None: ...

    def shell(
        self, command: str, *, excluded: bool, progress: Callable[[str], None]
    ) -> BashExecutionMessage: ...

    def report(self) -> AgentReport: ...


class SessionRow(Protocol):
    """One session in a list (session/store.py)."""

    @property
    def id(self) -> str: ...

    @property
    def path(self) -> Path: ...

    @property
    def cwd(self) -> str: ...

    @property
    def created(self) -> str: ...

    @property
    def name(self) -> str | None: ...

    @property
    def prompt(self) -> str | None: ...

    @property
    def updated(self) -> str: ...

    @property
    def messages(self) -> int: ...


class View(Protocol):
    """The transcript (view.py), as the chat uses it before rich is loaded."""

    def feed(self, event: AgentEvent) -> None: ...

    def take(self) -> str: ...

    def tail(self, rows: int) -> list[str]: ...

    def say(self, text: str, role: Role = "quiet") -> None: ...

    def text(self, text: str) -> None: ...

    def ask(self, title: str, body: str, diff: str | None) -> None: ...

    def replay(self, branch: Branch, messages: int = 60) -> None: ...

    def pages(self, kind: str) -> Sequence[Page]:
        """What is folded, whole: "calls" or "thoughts", oldest first."""

    def at_rest(self) -> None:
        """Nothing runs any more, whatever was heard of its end."""

    def use_theme(self, theme: Theme) -> None:
        """From what comes next on."""

    def shell_started(self, command: str) -> None: ...

    def shell_printed(self, text: str) -> None: ...

    def shell_ended(self, message: BashExecutionMessage | None) -> None: ...


class Host(Protocol):
    """The program around the chat; it knows which agent is in front.

    Everything here may be slow, and may raise AgentshError.
    """

    def new_session(self) -> ChatAgent:
        """A fresh session in the same folder with the same model; the old one stays on disk."""

    def open_session(self, path: Path) -> ChatAgent: ...

    def fork(self, at: EntryId | None) -> Path:
        """A new session file with the path up to that entry; the parent keeps its bytes."""

    def sessions(self, *, everywhere: bool = False) -> Sequence[SessionRow]:
        """Those of this folder, or all; newest conversation first."""

    def find_text(self, words: str, *, everywhere: bool = False) -> Mapping[str, str]:
        """The sessions in which these words were said → where, in a few words."""

    def rename_session(self, path: Path, name: str) -> None: ...

    def archive_session(self, path: Path) -> None:
        """Take it out of the list; nothing of it is lost. Raises AgentshError."""

    def models(self) -> Sequence[str]: ...

    def tools(self) -> Sequence[tuple[str, str]]:
        """(name, first line of what it does) of each tool that the model is offered."""

    def diff(self, a: str | None, b: str | None) -> Sequence[str]:
        """What differs from A (before the last prompt) to B (here), in lines that are safe."""

    def file_difference(self, there: EntryId) -> Sequence[str]:
        """What differs in the files from here to there, in lines that are safe."""

    def set_policy(self, policy: str) -> None:
        """Change the approval policy; UsageError names the possible ones."""
