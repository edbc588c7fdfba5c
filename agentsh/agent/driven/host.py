"""What whoever drives an agent needs of the program around it: protocols, no code.

`SessionAgent` is one session with a model behind it (agent.py, and the scripted ones that drivers
are tested with). `SessionHost` knows which agent is in front, and is the only one who can make or
open another session, list them, or change the model: cli/assembly/driving.py is the real one. A
driver (a protocol for programs, an editor's, the Python API) is handed a host and builds nothing.
What only a screen needs is in ui/protocols.py. tests/agent/hostcontract.py
says what holds of every host. Read next: remotehost.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agentsh.abort import Abort
from agentsh.agent.config import ModelChoice, StatusFigures
from agentsh.agent.events import AgentEvent, AgentEvents
from agentsh.agent.prompts.expansion import Expander
from agentsh.agent.turn.approvals import Approver
from agentsh.agent.turn.budget import Spending
from agentsh.agent.turn.inbox import Queued
from agentsh.context.hiding import Edited
from agentsh.messages import BashExecutionMessage, Image
from agentsh.session.file.tree import Tree
from agentsh.session.format.entries import Branch, Entry, EntryId, Header, ReadNotice
from agentsh.session.store.store import SessionRow

if TYPE_CHECKING:  # what an agent makes at its first use is loaded with it
    from agentsh.agent.files.rewinding import FilePlan
    from agentsh.agent.moving import Moved


class SpendingMeter(Protocol):
    """agent/turn/budget.py."""

    def spending(self) -> Spending: ...


class ReadableSession(Protocol):
    """The open session of an agent (session/file/session.py)."""

    @property
    def header(self) -> Header: ...

    @property
    def path(self) -> Path | None: ...

    @property
    def leaf(self) -> EntryId | None: ...

    @property
    def notices(self) -> Sequence[ReadNotice]: ...

    @property
    def tree(self) -> Tree: ...

    def live(self) -> Branch:
        """The branch of the leaf; may be cut at the last compaction."""

    def branch(self) -> Branch:
        """The branch of the leaf, complete."""

    def entry(self, entry: EntryId) -> Entry:
        """Raises EntryNotFoundError."""

    def raw(self, entry: EntryId) -> bytes:
        """The entry's line, without its end."""

    def entries(self) -> Iterator[Entry]:
        """Every entry of the file, in file order."""

    def resolve(self, word: str) -> EntryId | None:
        """The entry that an ENTRY word names. None is the place before the first entry."""


class FileRestorer(Protocol):
    """Brings the working files back to a place of the tree (agent/files/rewinding.py)."""

    def plan(self, target: EntryId | None) -> FilePlan: ...

    def restore(self, target: EntryId | None, *, overwrite: bool = False) -> Sequence[str]: ...


class SessionAgent(Protocol):
    """One session and whoever answers in it. `abort`, `steer`, `follow_up` are thread-safe."""

    @property
    def session(self) -> ReadableSession: ...

    @property
    def files(self) -> FileRestorer: ...

    @property
    def budget(self) -> SpendingMeter: ...

    @property
    def expander(self) -> Expander:
        """Knows the skills and templates that can be called."""

    approver: Approver | None

    def prompt(self, text: str, attachments: tuple[Image, ...] = ()) -> AgentEvents:
        """A turn, and one for each message that waits at its end; closing it stops the turn.

        Raises SkillNotFoundError at once; `steer` and `follow_up` do, too.
        """

    def steer(self, text: str, images: tuple[Image, ...] = ()) -> str: ...

    def follow_up(self, text: str, images: tuple[Image, ...] = ()) -> str: ...

    def queued(self) -> Sequence[Queued]: ...

    def take_back(self) -> Sequence[Queued]: ...

    def pending(self) -> Sequence[Queued]:
        """What a crash left queued: for the editor."""

    def abort(self) -> None:
        """Stop what runs."""

    def rest(self) -> None:
        """Nothing runs any more: a wish to stop that came too late is not for what comes next."""

    def compact(
        self, focus: str | None = None, keep: int | None = None, until: EntryId | None = None
    ) -> Iterator[AgentEvent]: ...

    def checkout(
        self,
        target: EntryId | None,
        *,
        summarize: bool = False,
        focus: str | None = None,
        files: bool = False,
        overwrite: bool = False,
    ) -> Moved: ...

    def set_thinking(self, level: str) -> None: ...

    def label(self, target: EntryId, name: str | None) -> None: ...

    def rename(self, name: str) -> None: ...

    def shell(
        self, command: str, *, excluded: bool, progress: Callable[[str], None]
    ) -> BashExecutionMessage: ...

    def report(self) -> StatusFigures: ...


class SessionKeeper(Protocol):
    """Lists and keeps sessions: a host, and whoever picks one before there is a host."""

    def sessions(self, *, everywhere: bool = False) -> Sequence[SessionRow]:
        """Those of this folder, or all; newest conversation first."""

    def find_text(self, words: str, *, everywhere: bool = False) -> Mapping[str, str]:
        """The sessions in which these words were said → where, in a few words."""

    def rename_session(self, path: Path, name: str) -> None: ...

    def archive_session(self, path: Path) -> None:
        """Take it out of the list; nothing of it is lost. Raises AgentshError."""


class SessionHost(SessionKeeper, Protocol):
    """The program around a driver; it knows which agent is in front.

    Everything here may be slow, and may raise AgentshError: then all is as it was. A session that
    is left for another one is closed, so that its lock is free. The approver goes along.
    """

    @property
    def front(self) -> SessionAgent:
        """The agent in front: that of the session which is open now."""

    def new_session(self, parent: Path | None = None) -> SessionAgent:
        """A fresh session in the same folder with the same model; the old one stays on disk.

        `parent`: the file that it says it comes from.
        """

    def open_session(self, path: Path) -> SessionAgent: ...

    def fork(self, at: EntryId | None) -> Path:
        """A new session file with the path up to that entry; the parent keeps its bytes."""

    def toggle_hidden(self, target: EntryId) -> Mapping[EntryId, Edited]:
        """Hide an entry from the model, or show it again; what is hidden then."""

    def toggle_folded(self, target: EntryId) -> frozenset[EntryId]:
        """Put a dead branch away, or show it again; where folded branches begin then."""

    def pick(
        self, target: EntryId, *, summary: bool = False, files: bool = False
    ) -> tuple[EntryId, Sequence[str]]:
        """Bring the text of another branch's entry to the leaf, or a summary of that branch.

        `files`: with what the branch changed in the files. The entry that it made, and what was
        done to the files, in words.
        """

    def choices(self, abort: Abort | None = None) -> Sequence[ModelChoice]:
        """The models of every endpoint that is configured, that in use among them; with an abort
        those of the endpoints that had answered by then."""

    def choose(self, word: str, abort: Abort | None = None) -> Sequence[str]:
        """Ask the model of that word (ID or NAME/ID) from now on, and say in lines what changed.
        An abort ends the look into the endpoint's list; the model is chosen all the same."""

    def named_models(self) -> tuple[str, ...]:
        """What the settings name, without asking anybody."""

    def tools(self) -> Sequence[tuple[str, str]]:
        """(name, first line of what it does) of each tool that the model is offered."""

    def set_policy(self, policy: str) -> None:
        """Change the approval policy; UsageError names the possible ones."""
