"""Events → entries and barriers: the only writer in a turn.

Whatever happens becomes an entry here, in the order in which it happens; a method whose name ends
in `_durably` returns only when its entry is on the disk (R36: before dispatch, before a tool body,
before the next request, at the turn's end), and raises where the disk refuses. All others keep
their entry in the queue then: the next barrier decides. Thread-safe: steering is written from
another thread. It decides nothing: no order of steps, no retry, no policy.
Read next: session/facts.py, loop.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from agentsh.agent.events import Notice
from agentsh.errors import SessionError, SessionNotSavedError
from agentsh.messages import AssistantMessage, Message, ToolCall, ToolResultMessage, UserMessage
from agentsh.session.entries import Body, Entry, EntryId, MessageBody
from agentsh.session.facts import (
    AttemptEnded,
    Fact,
    InboxChanged,
    RequestSent,
    ToolProcess,
    ToolStarted,
    TurnEnded,
    TurnEndReason,
    TurnStarted,
)
from agentsh.session.session import Session


class Recorder:
    """Writes one session. `tell` hears when the disk refuses, once per trouble, and of its end."""

    def __init__(
        self,
        session: Session,
        clock: Callable[[], float],
        tell: Callable[[Notice], None],
    ) -> None:
        self.session = session
        self._clock = clock
        self._tell = tell
        self._lock = threading.RLock()
        self._turn: EntryId | None = None
        self._first: EntryId | None = None
        """What was appended first for the turn."""
        self._warned = False

    def now_ms(self) -> int:
        return int(self._clock() * 1000)

    # ---- turns ---------------------------------------------------------------------------------

    @property
    def in_turn(self) -> bool:
        """A turn has begun and not ended, nor been withdrawn."""
        return self._turn is not None

    def begin(self) -> None:
        """Queue what closes an interrupted turn, so that plans name entries that will be there."""
        with self._lock:
            self.session.begin()

    def start_turn(
        self,
        opening: Iterable[Body],
        number: int,
        message: UserMessage,
        sources: tuple[EntryId, ...] = (),
    ) -> tuple[Entry, Entry]:
        """The turn's start and its prompt; they become durable with the request (B1)."""
        with self._lock:
            ahead = [self.session.append(body) for body in opening]
            start = self.session.append(TurnStarted(number))
            self._turn = start.id
            self._first = (*ahead, start)[0].id
            return start, self.message(message, sources=sources)

    def withdraw_turn(self) -> bool:
        """Undo a turn of which nothing is in the file: nothing was sent and nothing ran (B1).

        Whoever typed the prompt still has it, and types it again: it must not stand twice.
        """
        with self._lock:
            if self._first is None or not self.session.withdraw(self._first):
                return False
            self._turn = self._first = None
            return True

    def end_turn_durably(self, reason: TurnEndReason, error: str | None = None) -> Entry | None:
        """The turn is at rest (B4)."""
        with self._lock:
            if self._turn is None:
                return None
            end = self.session.append(TurnEnded(self._turn, reason, error))
            self._turn = None
            self.settle()
            return end

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

    def settle(self) -> None:
        """Make everything so far durable. Raises SessionNotSavedError: nothing may go on (R36)."""
        with self._lock:
            try:
                self.session.barrier()
            except SessionNotSavedError as e:
                self._warn(e)
                raise
            if self._warned:
                self._warned = False
                self._tell(Notice("this session is saved again"))

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
        if not self._warned:
            self._warned = True
            self._tell(Notice(f"this session is no longer saved: {error}", "error"))
