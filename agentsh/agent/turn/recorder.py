"""Events → entries and barriers: the only writer in a turn.

Whatever happens becomes an entry here, in the order in which it happens; a method whose name ends
in `_durably` returns only when its entry is on the disk (R36: before dispatch, before a tool body,
before the next request, at the turn's end), and raises where the disk refuses. All others keep
their entry in the queue then: the next barrier decides. Thread-safe: steering is written from
another thread. It decides nothing: no order of steps, no retry, no policy.
Read next: session/format/facts.py, loop.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from agentsh.agent.events import Notice
from agentsh.errors import SessionError, SessionNotSavedError
from agentsh.messages import AssistantMessage, Message, ToolCall, ToolResultMessage, UserMessage
from agentsh.session.file.session import Session
from agentsh.session.format.entries import ASIDE, Body, Entry, EntryId, MessageBody
from agentsh.session.format.facts import (
    AsideLeft,
    AttemptEnded,
    Fact,
    HeadMoved,
    InboxChanged,
    PromptTyped,
    RequestSent,
    ToolProcess,
    ToolStarted,
    TurnEndCause,
    TurnEnded,
    TurnEndReason,
    TurnStarted,
)
from agentsh.tools.githead import commits_logged, head_log_size, read_git_head

Changed = TypeVar("Changed")


class _Standing(Struct, frozen=True):
    """Commit and branch of git's HEAD, and the size of HEAD's log."""

    at: tuple[str | None, str | None] = (None, None)
    logged: int = 0


class Recorder:
    """Writes one session. `tell` hears when the disk refuses, once per trouble, and of its end."""

    def __init__(
        self,
        session: Session,
        clock: Callable[[], float],
        tell: Callable[[Notice], None],
        folder: Path | None = None,
    ) -> None:
        """`folder`: the one that is worked in; turns say where git's HEAD stands there."""
        self.session = session
        self._folder = folder
        self._clock = clock
        self._tell = tell
        self._lock = threading.RLock()
        self._turn: EntryId | None = None
        self._stood = _Standing()
        self._first: EntryId | None = None
        """What was appended first for the turn."""
        self.saves = True
        """False from the barrier that the disk refused until one holds; nothing else says that."""

    def now_ms(self) -> int:
        return int(self._clock() * 1000)

    # ---- turns ---------------------------------------------------------------------------------

    @property
    def in_turn(self) -> bool:
        """A turn has begun and not ended, nor been withdrawn."""
        return self._turn is not None

    def begin(self) -> None:
        """Queue the closings of an interrupted turn: plans then name entries of the file."""
        with self._lock:
            self.session.begin()

    def start_turn(
        self,
        opening: Iterable[Body],
        number: int,
        message: UserMessage | None,
        sources: tuple[EntryId, ...] = (),
        typed: PromptTyped | None = None,
    ) -> tuple[Entry, Entry | None]:
        """The turn's start and its prompt; they become durable with the request (B1).

        A turn that asks again for an answer has no prompt of its own. `typed`: the fact that the
        prompt is made from.
        """
        with self._lock:
            ahead = [self.session.append(body) for body in opening]
            self._stood = self._standing()
            start = self.session.append(TurnStarted(number, *self._stood.at))
            self._turn = start.id
            self._first = (*ahead, start)[0].id
            if typed is not None:
                sources = (self.session.append(typed).id, *sources)
            said = None if message is None else self.message(message, sources=sources)
            return start, said

    def withdraw_turn(self) -> bool:
        """Undo a turn of which nothing is in the file: nothing was sent and nothing ran (B1).

        Whoever typed the prompt still has it, and types it again: it must not stand twice.
        """
        with self._lock:
            if self._first is None or not self.session.withdraw(self._first):
                return False
            self._turn = self._first = None
            return True

    def end_turn_durably(
        self,
        reason: TurnEndReason,
        error: str | None = None,
        checkpoint: EntryId | None = None,
        cause: TurnEndCause | None = None,
    ) -> Entry | None:
        """The turn is at rest (B4). `checkpoint`: the files' state that it leaves."""
        with self._lock:
            if self._turn is None:
                return None
            self.note_head()
            ended = TurnEnded(self._turn, reason, error, *self._stood.at, checkpoint, cause)
            end = self.session.append(ended)
            self._turn = None
            self.settle()
            return end

    def note_head(self) -> None:
        """Put on record that git's HEAD moved since the turn began, or since this was asked last.

        Of what it went through since, git's own log knows more than HEAD itself.
        """
        with self._lock:
            before, now = self._stood, self._standing()
            if self._turn is None or now == before or self._folder is None:
                return
            self._stood = now
            commits = commits_logged(self._folder, before.logged)
            passed = tuple(dict.fromkeys(c for c in commits if c != now.at[0]))
            if passed or now.at != before.at:
                self.session.append(HeadMoved(*now.at, passed))

    def _standing(self) -> _Standing:
        if self._folder is None:
            return _Standing()
        head = read_git_head(self._folder)
        return _Standing((head.commit, head.branch), head_log_size(self._folder))

    # ---- what was said -------------------------------------------------------------------------

    def message(
        self,
        message: Message,
        *,
        sources: tuple[EntryId, ...] = (),
        request: EntryId | None = None,
        code: str | None = None,
    ) -> Entry:
        with self._lock:
            if getattr(message, "timestamp", 1) == 0:
                message = replace(message, timestamp=self.now_ms())
            return self.session.append(
                MessageBody(message), sources=sources, request=request, code=code
            )

    def answer(self, message: AssistantMessage, request: EntryId) -> Entry:
        """The reply to a request; written before its calls are looked at (R16)."""
        with self._lock:
            entry = self.message(message, request=request)
            self.write()
            return entry

    def result(
        self, message: ToolResultMessage, sources: tuple[EntryId, ...], code: str | None = None
    ) -> Entry:
        """One tool result; in the file at once, durable with the next barrier (B3)."""
        with self._lock:
            entry = self.message(message, sources=sources, code=code)
            self.write()
            return entry

    def aside_durably(self, question: Message, answer: Message, request: Entry) -> Entry:
        """A side question and its answer, below its request; the leaf is where it was.

        Nobody sees or writes anything between them. Gives the answer's entry.
        """
        with self.alone() as session:
            leaf = session.leaf
            asked = session.append(MessageBody(question), code=ASIDE, parent=request.id)
            said = session.append(MessageBody(answer), code=ASIDE, request=request.id)
            session.append(AsideLeft(asked.id), parent=leaf)
            self.settle()
            assert said.parent == asked.id
            return said

    @contextmanager
    def alone(self) -> Iterator[Session]:
        """The session, in which nobody else sees or appends anything meanwhile."""
        with self._lock, self.session.guard:
            yield self.session

    # ---- facts ---------------------------------------------------------------------------------

    def fact(self, fact: Fact | Body) -> Entry:
        with self._lock:
            return self.session.append(fact)

    def derived(self, body: Fact | Body, request: Entry) -> Entry:
        """A summary or a title, with the request that it answers."""
        with self._lock:
            return self.session.append(body, request=request.id)

    def request_durably(self, fact: RequestSent) -> Entry:
        """B1: the prompt and what is about to be sent are on the disk."""
        with self._lock:
            entry = self.session.append(fact)
            try:
                self.settle()
            except SessionError as e:
                self.session.append(AttemptEnded(entry.id, f"not sent: {e}"))
                raise
            return entry

    def attempt_failed(self, fact: AttemptEnded) -> Entry:
        return self.fact(fact)

    def tools_started_durably(self, facts: Iterable[ToolStarted]) -> list[Entry]:
        """B2: that these calls are about to take effect is on the disk."""
        with self._lock:
            entries = [self.session.append(fact) for fact in facts]
            self.settle()
            return entries

    def tool_process(self, call: ToolCall, fact: ToolProcess) -> None:
        """The process group of a started call; in the file at once."""
        with self._lock:
            self.session.append(fact)
            self.write()

    def inbox_durably(self, fact: InboxChanged) -> Entry:
        """A message typed in mid-turn is on the disk before the prompt shows it as accepted."""
        with self._lock:
            entry = self.session.append(fact)
            try:
                self.settle()
            except SessionError:
                # it stays with whoever typed it; a later barrier must not bring it back
                self.session.append(InboxChanged("dropped", fact.message_id, fact.kind))
                raise
            return entry

    # ---- durability ----------------------------------------------------------------------------

    def settle(self, first: Callable[[], object] = lambda: None) -> None:
        """Do that, then make everything so far durable.

        Raises SessionNotSavedError: nothing may go on (R36).
        """
        with self._lock:
            with self.watching():
                first()
                self.session.barrier()
            if not self.saves:
                self.saves = True
                self._tell(Notice("this session is saved again", saved=True))

    def by_hand(self, change: Callable[[Session], Changed]) -> Changed:
        """Change entries as a person wants it, durably."""
        with self.watching():
            changed = change(self.session)
        self.settle()
        return changed

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Something inside writes to the session by itself: that the disk refuses is noticed."""
        try:
            yield
        except SessionNotSavedError as e:
            self._warn(e)
            raise

    def write(self) -> None:
        """Everything so far into the file, durable or not, so that a crash of ours loses less."""
        with self._lock:
            try:
                self.session.flush()
            except SessionNotSavedError as e:
                self._warn(e)
            except SessionError:
                pass  # a foreign writer: the barrier before anything takes effect refuses

    def _warn(self, error: SessionNotSavedError) -> None:
        if self.saves:
            self.saves = False
            self._tell(Notice(f"this session is no longer saved: {error}", "error", saved=False))
