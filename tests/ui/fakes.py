"""Fakes that the chat is tested with: an agent that plays a script, a session made of entries."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from agentsh.agent.approvals import Answer, ApprovalRequest
from agentsh.agent.budget import Spending
from agentsh.agent.events import (
    AgentEvent,
    MessageDone,
    Steered,
    StepEnd,
    StepStart,
    TextPart,
    TurnEnd,
    TurnStart,
)
from agentsh.errors import EntryNotFoundError, UsageError
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    Image,
    ModelRef,
    StopReason,
    Text,
    ToolCall,
    ToolCallId,
    Usage,
    UserMessage,
)
from agentsh.session.entries import Branch, Entry, EntryId, Header, MessageBody, Notice, SessionId
from agentsh.session.tree import Tree

HEADER = Header(SessionId("0000-fake"), "2026-01-01T00:00:00.000Z", "/nowhere")
NO_USAGE = Usage(input=10, output=5, total_tokens=15)


def entry_id(text: str) -> EntryId:
    return EntryId(text)


def user_entry(name: str, parent: str | None, text: str) -> Entry:
    message = UserMessage((Text(text),))
    return Entry(EntryId(name), _parent(parent), "2026-01-01T00:00:00.000Z", MessageBody(message))


def answer_entry(name: str, parent: str | None, text: str, *calls: ToolCall) -> Entry:
    message = answer(text, *calls)
    return Entry(EntryId(name), _parent(parent), "2026-01-01T00:00:01.000Z", MessageBody(message))


def answer(text: str, *calls: ToolCall, stop: StopReason = "stop") -> AssistantMessage:
    content = (*((Text(text),) if text else ()), *calls)
    return AssistantMessage(content, "openai-completions", "fake", "m", NO_USAGE, stop)


def call(name: str, call_id: str = "c1", **arguments: str) -> ToolCall:
    return ToolCall(ToolCallId(call_id), name, dict(arguments))


def _parent(parent: str | None) -> EntryId | None:
    return None if parent is None else EntryId(parent)


class FakeSession(Struct):
    """Entries in memory behind the face of a session."""

    all: list[Entry] = field(default_factory=list)
    leaf: EntryId | None = None
    notices: tuple[Notice, ...] = ()
    path: Path | None = None
    header: Header = HEADER
    given: dict[EntryId, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.all and self.leaf is None:
            self.leaf = self.all[-1].id

    @property
    def tree(self) -> Tree:
        tree = Tree()
        for entry in self.all:
            tree.add(entry.id, entry.parent, "message")
        tree.settle()
        for target, name in self.given.items():
            tree.set_label(target, name)
        return tree

    def live(self) -> Branch:
        by_id = {entry.id: entry for entry in self.all}
        return Branch(tuple(by_id[e] for e in self.tree.path(self.leaf)))

    def entries(self) -> Iterator[Entry]:
        return iter(self.all)

    def resolve(self, word: str) -> EntryId | None:
        if word == "root":
            return None
        if word == "leaf":
            return self.leaf
        found = [entry.id for entry in self.all if entry.id.startswith(word)]
        if len(found) != 1:
            raise EntryNotFoundError(f"no entry {word!r}")
        return found[0]


class FakeBudget(Struct, frozen=True):
    """Spent so much, whoever asks."""

    def spending(self) -> Spending:
        return Spending(NO_USAGE, 0.25, 1.0, None)


class FakeReport(Struct, frozen=True):
    model: str = "m"
    thinking: str = "off"
    context_tokens: int = 1200
    context_window: int | None = 8000
    usage: Usage = NO_USAGE
    cost: float = 0.0
    saved: bool = True
    policy: str = "edits"
    sandbox: bool = False
    cwd: str = "/nowhere"
    allowed: tuple[str, ...] = ("= npm test\x1b", "git status", "@edit /far/a.txt")


class FakeQueued(Struct, frozen=True):
    id: str
    kind: str
    text: str


class FakeMoved(Struct, frozen=True):
    leaf: EntryId | None
    editor_text: str | None = None
    notices: tuple[str, ...] = ()


Script = Callable[["FakeAgent", str], Iterator[AgentEvent]]


class FakePlan(Struct, frozen=True):
    conflicts: tuple[str, ...] = ("mine.txt",)

    def lines(self) -> Sequence[str]:
        return ("delete: made\x1b.txt", "left alone: mine.txt: changed by somebody else since")


class FakeFiles:
    """Has a plan, and keeps what was asked: (what, overwrite)."""

    def __init__(self) -> None:
        self.done: list[tuple[str, bool]] = []

    def plan(self, target: EntryId | None) -> FakePlan:
        return FakePlan()

    def restore(self, target: EntryId | None, *, overwrite: bool = False) -> Sequence[str]:
        self.done.append(("files", overwrite))
        return ("deleted: made.txt",)


class FakeAgent:
    """Plays `script` for each prompt; keeps what it was asked."""

    def __init__(self, script: Script, session: FakeSession | None = None) -> None:
        self._script = script
        self.session = session or FakeSession()
        self.approver: Callable[[ApprovalRequest], Answer] | None = None
        self.prompts: list[str] = []
        self.images: list[Image] = []
        self.moves: list[EntryId | None] = []
        self.labels: list[tuple[EntryId, str | None]] = []
        self.shelled: list[tuple[str, bool]] = []
        self.name: str | None = None
        self.figures = FakeReport()
        self.budget = FakeBudget()
        self.aborted = threading.Event()
        self.files = FakeFiles()
        self.left: tuple[str, ...] = ()
        self._queue: list[FakeQueued] = []
        self._lock = threading.Lock()

    def prompt(self, text: str, attachments: tuple[Image, ...] = ()) -> Iterator[AgentEvent]:
        self.aborted.clear()
        self.prompts.append(text)
        self.images += attachments
        yield TurnStart(UserMessage((Text(text),)), EntryId("u"))
        yield StepStart(1, "m")
        yield from self._script(self, text)
        reason = "aborted" if self.aborted.is_set() else "completed"
        yield StepEnd(1, NO_USAGE, 100, 8000)
        yield TurnEnd("aborted" if reason == "aborted" else "completed", None, None, NO_USAGE)

    def steered(self) -> Iterator[AgentEvent]:
        """What was steered so far, taken into the turn."""
        for text in self.take_back():
            self.prompts.append(text)
            yield Steered(UserMessage((Text(text),)), EntryId("s"))

    def steer(self, text: str) -> str:
        return self._add("steer", text)

    def follow_up(self, text: str) -> str:
        return self._add("follow-up", text)

    def queued(self) -> Sequence[FakeQueued]:
        with self._lock:
            return tuple(self._queue)

    def take_back(self) -> Sequence[str]:
        with self._lock:
            taken, self._queue = self._queue, []
        return [item.text for item in taken]

    def pending(self) -> Sequence[str]:
        return self.left

    def abort(self) -> None:
        self.aborted.set()

    def compact(self, focus: str | None = None, keep: int | None = None) -> Iterator[AgentEvent]:
        yield from ()

    def checkout(
        self,
        target: EntryId | None,
        *,
        summarize: bool = False,
        focus: str | None = None,
        files: bool = False,
        overwrite: bool = False,
    ) -> FakeMoved:
        self.moves.append(target)
        if files:
            self.files.done.append(("both", overwrite))
        found = next((e for e in self.session.all if e.id == target), None)
        body = None if found is None else found.body
        if found is not None and isinstance(body, MessageBody):
            message = body.message
            if isinstance(message, UserMessage):
                self.session.leaf = found.parent
                text = "".join(b.text for b in message.content if isinstance(b, Text))
                return FakeMoved(found.parent, text)
        self.session.leaf = target
        return FakeMoved(target)

    def set_model(self, name: str) -> None:
        self.figures = FakeReport(model=name)

    def set_thinking(self, level: str) -> None:
        self.figures = FakeReport(thinking=level)

    def label(self, target: EntryId, name: str | None) -> None:
        self.labels.append((target, name))

    def rename(self, name: str) -> None:
        self.name = name

    def shell(
        self, command: str, *, excluded: bool, progress: Callable[[str], None]
    ) -> BashExecutionMessage:
        self.shelled.append((command, excluded))
        return BashExecutionMessage(command, f"ran {command}\n", 0, excluded=excluded)

    def report(self) -> FakeReport:
        return self.figures

    @property
    def model(self) -> ModelRef:
        return ModelRef("fake", self.figures.model)

    def _add(self, kind: str, text: str) -> str:
        with self._lock:
            self._queue.append(FakeQueued(f"q{len(self._queue)}", kind, text))
            return self._queue[-1].id


class FakeHost:
    """Lists and other sessions, from memory."""

    def __init__(self, agent: FakeAgent) -> None:
        self.agent = agent
        self.policy = "edits"
        self.names: dict[Path, str] = {}
        self.archived: list[Path] = []

    def new_session(self) -> FakeAgent:
        self.agent = FakeAgent(says("a new session's answer"))
        return self.agent

    def open_session(self, path: Path) -> FakeAgent:
        return self.agent

    def fork(self, at: EntryId | None) -> Path:
        return Path("/nowhere/fork.jsonl")

    def sessions(self, *, everywhere: bool = False) -> Sequence[FakeRow]:
        elsewhere = [FakeRow("2222-far", prompt="far away", cwd="/far")] if everywhere else []
        rows = [FakeRow("0000-fake"), FakeRow("1111-other", prompt="another [/x] prompt")]
        given = self.names
        kept = [row for row in (*rows, *elsewhere) if row.path not in self.archived]
        return [FakeRow(r.id, r.path, given.get(r.path, r.name), r.prompt, cwd=r.cwd) for r in kept]

    def find_text(self, words: str, *, everywhere: bool = False) -> Mapping[str, str]:
        rows = self.sessions(everywhere=everywhere)
        return {row.id: f"… {words} …" for row in rows if words in row.id}

    def rename_session(self, path: Path, name: str) -> None:
        self.names[path] = name

    def archive_session(self, path: Path) -> None:
        self.archived.append(path)

    def file_difference(self, there: EntryId) -> Sequence[str]:
        return ["files, from A to B:", "  M heron.txt"]

    def models(self) -> Sequence[str]:
        return ["m", "n"]

    def tools(self) -> Sequence[tuple[str, str]]:
        return [("read", "Read a file"), ("bash", "Run a command")]

    def diff(self, a: str | None, b: str | None) -> Sequence[str]:
        return [f"from {a} to {b}"]

    def set_policy(self, policy: str) -> None:
        if policy not in ("never", "ask", "edits", "all"):
            raise UsageError(f"no policy {policy}", hint="one of: never, ask, edits, all")
        self.policy = policy


class FakeRow(Struct, frozen=True):
    id: str
    path: Path = Path("/nowhere/x.jsonl")
    name: str | None = None
    prompt: str | None = "a prompt"
    updated: str = "2026-01-01T00:00:00.000Z"
    messages: int = 2
    created: str = "2026-01-01T00:00:00.000Z"
    cwd: str = "/nowhere"


def says(text: str, *, pieces: int = 1, pause: float = 0.0) -> Script:
    """A script that streams one answer, in so many pieces, until it is aborted."""

    def play(agent: FakeAgent, _: str) -> Iterator[AgentEvent]:
        size = max(1, len(text) // pieces)
        for at in range(0, len(text), size):
            if agent.aborted.is_set():
                break
            yield TextPart(text[at : at + size])
            if pause:
                time.sleep(pause)
        stop: StopReason = "aborted" if agent.aborted.is_set() else "stop"
        yield MessageDone(answer(text, stop=stop), EntryId("a"))

    return play
