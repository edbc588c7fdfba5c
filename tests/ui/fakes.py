"""Fakes that the chat is tested with: an agent that plays a script, a session made of entries."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct, field

from agentsh.abort import Abort
from agentsh.agent.config import StatusFigures
from agentsh.agent.events import (
    AgentEvent,
    AgentEvents,
    MessageDone,
    Steered,
    StepEnd,
    StepStart,
    TextPart,
    TurnEnd,
    TurnStart,
)
from agentsh.agent.files.filestates import FileState
from agentsh.agent.files.rewinding import FilePlan
from agentsh.agent.moving import Moved
from agentsh.agent.prompts.expansion import PromptCommand
from agentsh.agent.turn.approvals import Approver
from agentsh.agent.turn.budget import Spending
from agentsh.agent.turn.inbox import Queued, QueueKind
from agentsh.errors import EntryNotFoundError, RefusedError, SkillNotFoundError
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
from agentsh.session.file.tree import Tree
from agentsh.session.format.codec import encode_entry
from agentsh.session.format.entries import (
    Branch,
    Entry,
    EntryId,
    Header,
    MessageBody,
    ReadNotice,
    SessionId,
)
from agentsh.session.format.facts import Checkpoint
from agentsh.tools.undo.undo import Change

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
    notices: tuple[ReadNotice, ...] = ()
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

    def branch(self) -> Branch:
        return self.live()

    def entry(self, entry: EntryId) -> Entry:
        found = next((each for each in self.all if each.id == entry), None)
        if found is None:
            raise EntryNotFoundError(f"no entry {entry}")
        return found

    def raw(self, entry: EntryId) -> bytes:
        return encode_entry(self.entry(entry))

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


def fake_report(
    *,
    model: str = "m",
    thinking: str = "off",
    context_window: int | None = 8000,
    cost: float = 0.0,
    saved: bool = True,
    cwd: str = "/nowhere",
    policy: str = "edits",
    endpoint: str = "",
    estimated: bool = False,
) -> StatusFigures:
    allowed = ("= npm test\x1b", "git status", "@edit /far/a.txt")
    return StatusFigures(
        1200,
        context_window,
        NO_USAGE,
        cost,
        saved,
        policy,
        False,
        model,
        thinking,
        cwd,
        endpoint,
        estimated,
        allowed,
    )


def fake_queued(name: str, kind: QueueKind, text: str, images: tuple[Image, ...] = ()) -> Queued:
    return Queued(name, kind, text, EntryId(f"entry of {name}"), images=images)


Script = Callable[["FakeAgent", str], Iterator[AgentEvent]]


def fake_plan(conflicts: tuple[str, ...] = ("mine.txt",)) -> FilePlan:
    """One file to delete, with a control code in its name, and those that are left alone."""
    alone = tuple(Change(path, "change", "changed by somebody else since") for path in conflicts)
    state = FileState(EntryId("f"), Checkpoint("commit", "store"), exact=True)
    return FilePlan(state, changes=(Change("made\x1b.txt", "delete"), *alone))


class FakeFiles:
    """Has a plan, and keeps what was asked: (what, overwrite)."""

    def __init__(self) -> None:
        self.done: list[tuple[str, bool]] = []

    def plan(self, target: EntryId | None) -> FilePlan:
        return fake_plan()

    def restore(self, target: EntryId | None, *, overwrite: bool = False) -> Sequence[str]:
        self.done.append(("files", overwrite))
        return ("deleted: made.txt",)


class FakeExpander:
    """Satisfies Expander: one template that says its name, and no skill but `heron`."""

    def __init__(self) -> None:
        self.offered = (
            PromptCommand("ship", "[WHAT]", "ship it", "user", "/h/prompts/ship.md"),
            PromptCommand("skill:heron", "[WORDS]", "care for herons", "user", "/h/heron"),
            PromptCommand("compact", "", "not this one", "user", "/h/prompts/compact.md"),
        )

    def expand(self, text: str) -> str:
        if text.startswith("/skill:") and not text.startswith("/skill:heron"):
            raise SkillNotFoundError("there is no such skill; there are: heron")
        return f"shipped:{text[5:]}" if text.startswith("/ship") else text

    def commands(self) -> Sequence[PromptCommand]:
        return self.offered


class FakeAgent:
    """Plays `script` for each prompt; keeps what it was asked."""

    def __init__(self, script: Script, session: FakeSession | None = None) -> None:
        self._script = script
        self.session = session or FakeSession()
        self.approver: Approver | None = None
        self.prompts: list[str] = []
        self.images: list[Image] = []
        self.moves: list[EntryId | None] = []
        self.compactions: list[tuple[str | None, EntryId | None]] = []
        self.asides: list[str] = []
        self.retried: list[str | None] = []
        self.labels: list[tuple[EntryId, str | None]] = []
        self.shelled: list[tuple[str, bool]] = []
        self.name: str | None = None
        self.figures = fake_report()
        self.budget = FakeBudget()
        self.expander = FakeExpander()
        self.aborted = threading.Event()
        self.files = FakeFiles()
        self.left: tuple[str, ...] = ()
        self._queue: list[Queued] = []
        self._lock = threading.Lock()

    def prompt(self, text: str, attachments: tuple[Image, ...] = ()) -> AgentEvents:
        return self._turn(self.expander.expand(text), attachments)

    def _turn(self, text: str, attachments: tuple[Image, ...]) -> AgentEvents:
        self.aborted.clear()
        self.prompts.append(text)
        self.images += attachments
        yield TurnStart(UserMessage((Text(text),)), EntryId("u"))
        yield StepStart(1, "m")
        yield from self._script(self, text)
        reason = "aborted" if self.aborted.is_set() else "completed"
        yield StepEnd(1, NO_USAGE, 100, 8000)
        yield TurnEnd("aborted" if reason == "aborted" else "completed", None, None, NO_USAGE)

    def aside(self, question: str, abort: Abort) -> Iterator[AgentEvent]:
        self.asides.append(question)
        if question == "fail":
            raise RefusedError("no herons here")
        if question == "wait":
            abort.wait(60)
            raise RefusedError("the side question was stopped")
        answer = AssistantMessage(
            (Text(f"**aside** on {question}"),), "openai", "fake", "m", NO_USAGE, "stop"
        )
        yield TextPart(f"**aside** on {question}")
        yield MessageDone(answer, EntryId("aside"))

    def retry(self, word: str | None = None) -> Iterator[AgentEvent]:
        self.retried.append(word)
        yield from self.prompt("")

    def steered(self) -> Iterator[AgentEvent]:
        """What was steered so far, taken into the turn."""
        for item in self.take_back():
            self.prompts.append(item.text)
            yield Steered(UserMessage((Text(item.text),)), EntryId("s"))

    def steer(self, text: str, images: tuple[Image, ...] = ()) -> str:
        return self._add("steer", text, images)

    def follow_up(self, text: str, images: tuple[Image, ...] = ()) -> str:
        return self._add("follow-up", text, images)

    def queued(self) -> Sequence[Queued]:
        with self._lock:
            return tuple(self._queue)

    def take_back(self) -> Sequence[Queued]:
        with self._lock:
            taken, self._queue = self._queue, []
        return taken

    def pending(self) -> Sequence[Queued]:
        return tuple(fake_queued(f"q{n}", "steer", text) for n, text in enumerate(self.left))

    def abort(self) -> None:
        self.aborted.set()

    def rest(self) -> None:
        self.aborted.clear()

    def compact(
        self, focus: str | None = None, keep: int | None = None, until: EntryId | None = None
    ) -> Iterator[AgentEvent]:
        self.compactions.append((focus, until))
        yield from ()

    def checkout(
        self,
        target: EntryId | None,
        *,
        summarize: bool = False,
        focus: str | None = None,
        files: bool = False,
        overwrite: bool = False,
    ) -> Moved:
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
                return Moved(found.parent, text)
        self.session.leaf = target
        return Moved(target)

    def set_thinking(self, level: str) -> None:
        self.figures = fake_report(thinking=level)

    def label(self, target: EntryId, name: str | None) -> None:
        self.labels.append((target, name))

    def rename(self, name: str) -> None:
        self.name = name

    def shell(
        self, command: str, *, excluded: bool, progress: Callable[[str], None]
    ) -> BashExecutionMessage:
        self.shelled.append((command, excluded))
        return BashExecutionMessage(command, f"ran {command}\n", 0, excluded=excluded)

    def report(self) -> StatusFigures:
        return self.figures

    @property
    def model(self) -> ModelRef:
        return ModelRef("fake", self.figures.model)

    def _add(self, kind: QueueKind, text: str, images: tuple[Image, ...]) -> str:
        self.images += images
        with self._lock:
            self._queue.append(fake_queued(f"q{len(self._queue)}", kind, text, images))
            return self._queue[-1].id


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
