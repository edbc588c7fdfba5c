"""Messages typed in the middle of a turn: a queue that is visible and loses nothing.

A steer goes with the next request, a follow-up starts the next turn (pi-format.md B). Each is a
durable fact before `add` returns; taking or dropping one is a fact too. Thread-safe.
It does not know what a turn is doing. Read next: loop.py.
"""

from __future__ import annotations

import threading
from typing import Literal

from msgspec import Struct

from agentsh.agent.recorder import Recorder
from agentsh.session.facts import InboxChanged

Kind = Literal["steer", "follow-up"]


class Queued(Struct, frozen=True):
    """One waiting message. `id` counts within the process."""

    id: str
    kind: Kind
    text: str


class Inbox:
    """The queue of one session."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._lock = threading.Lock()
        self._waiting: list[Queued] = []
        self._count = 0

    def add(self, kind: Kind, text: str) -> str:
        """Queue a message; durable when this returns. Gives its id."""
        with self._lock:
            self._count += 1
            item = Queued(f"q{self._count}", kind, text)
        self._recorder.inbox(InboxChanged("queued", item.id, kind, text))
        with self._lock:
            self._waiting.append(item)
        return item.id

    def waiting(self) -> tuple[Queued, ...]:
        with self._lock:
            return tuple(self._waiting)

    def take(self, kind: Kind) -> Queued | None:
        """The oldest waiting message of this kind, now the caller's to say."""
        with self._lock:
            found = next((item for item in self._waiting if item.kind == kind), None)
            if found is not None:
                self._waiting.remove(found)
        if found is not None:
            self._recorder.fact(InboxChanged("taken", found.id, kind))
        return found

    def take_back(self) -> tuple[str, ...]:
        """Empty the queue into the caller's hands (the editor's), oldest first."""
        with self._lock:
            items, self._waiting = self._waiting, []
        for item in items:
            self._recorder.fact(InboxChanged("dropped", item.id, item.kind))
        return tuple(item.text for item in items)
