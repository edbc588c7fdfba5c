"""At every place of every tree the context is the format's: the last compaction above it, what that
kept, what came after it; whoever wrote the compactions, and whatever was asked for before.

Held against a plain program that knows nothing but parents and the rule (docs/session-format.md,
compaction), on trees with both forms of compaction: ours, which say all that was in force, and
Pi's, which do not. The same with the real Pi: tests/interop/pi/test_folds.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct, field

from agentsh.context.projection import Context, SummaryMessage, project
from agentsh.context.system import SystemState, checkpoint, patched
from agentsh.jsontext import JsonObject
from agentsh.messages import (
    AssistantMessage,
    ModelRef,
    SystemMessage,
    Text,
    Usage,
    UserMessage,
)
from agentsh.session.file.environment import Surroundings
from agentsh.session.file.memory_log import MemoryLog
from agentsh.session.file.scan import read_opening
from agentsh.session.file.session import Session
from agentsh.session.format.codec import encode_entry, encode_header
from agentsh.session.format.entries import (
    Body,
    BranchSummary,
    Compaction,
    Entry,
    EntryId,
    Header,
    MessageBody,
    ModelChange,
    SessionId,
    ThinkingLevelChange,
)
from tests.session.disks import QuickDisk, around

HEADER = Header(SessionId("01a2-5e551011"), "2026-01-01T00:00:00.000Z", "/p")
AROUND: Surroundings = around(QuickDisk())

Step: TypeAlias = tuple[str, int]
SAID = ("ask", "reply", "reply", "summary", "prompt", "model", "thinking", "fold", "pis fold")
steps = st.lists(
    st.tuples(st.sampled_from([*SAID, "ask", "reply", "fold", "go"]), st.integers(0, 20)),
    min_size=4,
    max_size=26,
)


class Plain(Struct):
    """A tree and the rule, as one would write them down; it reads no file."""

    entries: list[Entry] = field(default_factory=list)
    leaf: EntryId | None = None

    def grow(self, steps: list[Step]) -> None:
        for kind, number in steps:
            if kind == "go":
                self.leaf = self._far(number, self.entries)
            else:
                self.add(self._body(kind, number))

    @property
    def next_id(self) -> EntryId:
        return EntryId(f"{len(self.entries):08x}")

    def add(self, body: Body) -> EntryId:
        entry = Entry(self.next_id, self.leaf, "2026-01-01T00:00:00.000Z", body)
        self.entries.append(entry)
        self.leaf = entry.id
        return entry.id

    def take(self, entry: Entry) -> None:
        """What another program appended."""
        self.entries.append(entry)
        self.leaf = entry.id

    def path(self, at: EntryId | None) -> list[Entry]:
        by_id = {entry.id: entry for entry in self.entries}
        found: list[Entry] = []
        while at is not None:
            found.insert(0, by_id[at])
            at = by_id[at].parent
        return found

    def says(self, at: EntryId | None) -> list[EntryId]:
        """The rule: which entries the context of a place consists of."""
        path = self.path(at)
        folds = [i for i, entry in enumerate(path) if isinstance(entry.body, Compaction)]
        if not folds:
            return [entry.id for entry in path if _says_something(entry.body)]
        last = folds[-1]
        body = path[last].body
        assert isinstance(body, Compaction)
        kept = next((i for i in range(last) if path[i].id == body.first_kept), last)
        live = [
            entry for entry in path[kept:last] + path[last + 1 :] if _says_something(entry.body)
        ]
        return [path[last].id, *(entry.id for entry in live)]

    def model(self, at: EntryId | None) -> ModelRef | None:
        model = None
        for entry in self.path(at):
            match entry.body:
                case ModelChange(provider, name):
                    model = ModelRef(provider, name)
                case MessageBody(AssistantMessage() as answer):
                    model = ModelRef(answer.provider, answer.model)
                case _:
                    pass
        return model

    def thinking(self, at: EntryId | None) -> str:
        levels = (e.body.level for e in self.path(at) if isinstance(e.body, ThinkingLevelChange))
        return ([*levels] or ["off"])[-1]

    def system(self, at: EntryId | None) -> SystemState:
        state = SystemState()
        for entry in self.path(at):
            match entry.body:
                case MessageBody(SystemMessage() as patch):
                    state = patched(state, patch, entry.id)
                case Compaction(system=SystemMessage() as whole):
                    state = patched(SystemState(), whole, entry.id)
                case _:
                    pass
        return state

    def _body(self, kind: str, number: int) -> Body:
        words = f"{kind} {len(self.entries)}"
        match kind:
            case "ask":
                return MessageBody(UserMessage((Text(words),)))
            case "reply":
                return MessageBody(
                    AssistantMessage((Text(words),), "a", "p", f"m{number % 3}", Usage(), "stop")
                )
            case "summary":
                return BranchSummary(words, self.leaf or "root")
            case "prompt":
                return MessageBody(SystemMessage("", {f"section {number % 3}": words}))
            case "model":
                return ModelChange("p", f"m{number % 4}")
            case "thinking":
                return ThinkingLevelChange(("off", "low", "high")[number % 3])
            case _:
                return self._fold(number, words, is_ours=kind == "fold")

    def _fold(self, number: int, words: str, *, is_ours: bool) -> Compaction:
        """Ours says what was in force before it, so that nothing older need be read."""
        kept = self._far(number, self.path(self.leaf), self.next_id)
        if not is_ours:
            return Compaction(words, kept, 1)
        model = self.model(self.leaf)
        named: JsonObject = (
            {} if model is None else {"provider": model.provider, "model": model.model}
        )
        ours: JsonObject = {**named, "thinking": self.thinking(self.leaf), "state": {}}
        return Compaction(words, kept, 1, {"ash": ours}, checkpoint(self.system(self.leaf)))

    def _far(
        self, number: int, among: list[Entry], otherwise: EntryId | None = None
    ) -> EntryId | None:
        """The entry so many places above the last one; the small numbers of a shrunk example stay
        near."""
        return among[-1 - number].id if number < len(among) else otherwise


def _says_something(body: Body) -> bool:
    match body:
        case MessageBody(message):
            return not isinstance(message, SystemMessage)
        case BranchSummary(summary=summary):
            return bool(summary)
        case _:
            return False


def _opened(plain: Plain) -> Session:
    data = encode_header(HEADER) + b"".join(encode_entry(entry) for entry in plain.entries)
    log = MemoryLog(data)
    return _session(log)


def _session(log: MemoryLog) -> Session:
    opening = read_opening(log.read, log.size, "x")
    return Session(log, opening, path=None, lock=None, writable=True, origin=None, around=AROUND)


def _is_said_by(context: Context, plain: Plain, at: EntryId | None) -> None:
    assert [item.entry for item in context.items] == plain.says(at)
    folds = [e.id for e in plain.path(at) if isinstance(e.body, Compaction)]
    assert context.compaction == (folds[-1] if folds else None)
    summaries = [i for i in context.items if isinstance(i.message, SummaryMessage)]
    assert sum(i.message.kind == "compaction" for i in summaries) == bool(folds)  # type: ignore[union-attr]
    assert (context.model, context.thinking) == (plain.model(at), plain.thinking(at))
    assert context.system.sections == plain.system(at).sections


def _places(plain: Plain, order: int) -> Iterator[EntryId]:
    """Every entry, beginning anywhere: what was asked for before must not matter."""
    ids = [entry.id for entry in plain.entries]
    first = order % len(ids) if ids else 0
    yield from [*ids[first:], *ids[:first]]


@given(steps, st.integers(0, 30))
@settings(max_examples=300)
def test_every_place_says_what_the_format_says(steps: list[Step], order: int) -> None:
    plain = Plain()
    plain.grow(steps)
    session = _opened(plain)

    for at in _places(plain, order):
        _is_said_by(project(session.live(at)), plain, at)
        _is_said_by(project(session.branch(at)), plain, at)


@given(steps, steps, st.lists(st.integers(0, 30), min_size=1, max_size=4))
@settings(max_examples=300)
def test_places_that_were_gone_to_say_so_before_and_after_what_is_done_there(
    old: list[Step], new: list[Step], goals: list[int]
) -> None:
    plain = Plain()
    plain.grow([("ask", 0), *old])
    log = MemoryLog(_bytes(plain))
    session = _session(log)
    for number, goal in enumerate(goals):
        at = next(_places(plain, goal))
        _followed(plain, session, session.move(at, "tree"))
        _is_said_by(project(session.live()), plain, plain.leaf)
        for kind, far in new[number :: len(goals)]:
            if kind != "go":
                _followed(plain, session, session.append(plain._body(kind, far)))
                _is_said_by(project(session.live()), plain, plain.leaf)
        for at in _places(plain, goal):
            _is_said_by(project(session.live(at)), plain, at)
    session.barrier()
    again = _session(MemoryLog(log.read(0, log.size)))
    for at in _places(plain, goals[0]):
        _is_said_by(project(again.live(at)), plain, at)


def _bytes(plain: Plain) -> bytes:
    return encode_header(HEADER) + b"".join(encode_entry(entry) for entry in plain.entries)


def _followed(plain: Plain, session: Session, entry: Entry) -> None:
    """Take over what was appended, and what stands before it on its own account."""
    known = {each.id for each in plain.entries}
    for each in session.tree:
        if each not in known and each != entry.id:
            plain.take(session.entry(each))
    plain.take(entry)
