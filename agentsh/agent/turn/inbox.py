"""Messages typed in the middle of a turn: a queue that is visible and loses nothing.

A steer goes with the next request, a follow-up starts the next turn. Each is a
durable fact before `add` returns. The message that one becomes names that fact as its source, and
stands before the fact that it was taken: wherever a crash cuts the file, it was said or it waits,
never both and never neither. What a crash left waiting is found by `left_waiting`. Thread-safe.
It does not know what a turn is doing. Read next: loop.py.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from agentsh.agent.turn.recorder import Recorder
from agentsh.jsontext import JsonObject
from agentsh.messages import Image, UserMessage
from agentsh.session.format.entries import Custom, Entry, EntryId, MessageBody, places_of
from agentsh.session.format.factcodec import decode_fact, names_of
from agentsh.session.format.facts import InboxChanged, Navigated
from agentsh.session.health.unfinished import says_something

QueueKind = Literal["steer", "follow-up"]

_FOLLOWED = names_of(InboxChanged, Navigated)
_NOT_YET = EntryId("")


class Queued(Struct, frozen=True):
    """One waiting message. `id` is unique on its path, `entry` the fact that it was queued."""

    id: str
    kind: QueueKind
    text: str
    """As it was typed: what is shown, and what comes back into the editor."""
    entry: EntryId
    said: str | None = None
    """What the model will be told, if otherwise (prompts/expansion.py)."""
    images: tuple[Image, ...] = ()

    @property
    def words(self) -> str:
        return self.text if self.said is None else self.said

    def fact(self) -> InboxChanged:
        """That it waits."""
        pictures = tuple[JsonObject, ...](
            {"data": image.data, "mimeType": image.mime_type} for image in self.images
        )
        return InboxChanged("queued", self.id, self.kind, self.text, pictures)


class Inbox:
    """The queue of one session. `leftovers`: what an earlier process left waiting on this path."""

    def __init__(self, recorder: Recorder, leftovers: tuple[Queued, ...] = ()) -> None:
        self._recorder = recorder
        self._lock = threading.Lock()
        self._waiting: list[Queued] = []
        self._count = max((_number(item.id) for item in leftovers), default=0)
        self._leftovers = leftovers
        self._is_shown = False
        self.steers_at_once = True
        """All that waits goes with the next request; False: one with each."""
        self.follow_ups_at_once = False
        """All that waits for the end of a turn is said in the one turn that follows."""

    def add(
        self,
        kind: QueueKind,
        text: str,
        said: str | None = None,
        images: tuple[Image, ...] = (),
    ) -> str:
        """Queue a message; durable when this returns. Raises SessionError: it is not queued."""
        with self._lock:
            self._count += 1
            item = Queued(f"q{self._count}", kind, text, _NOT_YET, said, images)
        entry = self._recorder.inbox_durably(item.fact())
        with self._lock:
            self._waiting.append(replace(item, entry=entry.id))
        return item.id

    def waiting(self) -> tuple[Queued, ...]:
        with self._lock:
            return tuple(self._waiting)

    def take(self, kind: QueueKind) -> Queued | None:
        """The oldest waiting message of this kind, now the caller's to say, then `said`."""
        with self._lock:
            oldest = next((item for item in self._waiting if item.kind == kind), None)
            if oldest is not None:
                self._waiting.remove(oldest)
                if kind == "follow-up" and self.follow_ups_at_once:
                    self._waiting = [replace(item, kind="steer") for item in self._waiting]
        return oldest

    def said(self, item: Queued) -> None:
        """The message that this became is on the path."""
        self._recorder.fact(InboxChanged("taken", item.id, item.kind))

    def drop(self, item: Queued) -> None:
        """It is not said after all."""
        self._drop([item])

    def take_back(self) -> tuple[Queued, ...]:
        """Empty the queue into the caller's hands (the editor's), oldest first."""
        with self._lock:
            items, self._waiting = self._waiting, []
        self._drop(items)
        return tuple(items)

    def show_leftovers(self) -> tuple[Queued, ...]:
        """What waits from an earlier process, for a person to see."""
        self._is_shown = True
        return self._leftovers

    def drop_leftovers(self) -> None:
        """Something was said. What a person has seen before that waits no longer."""
        if self._is_shown:
            items, self._leftovers = self._leftovers, ()
            self._drop(items)

    def restate(self) -> None:
        """After a compaction: what waits is said again, as a resume need not read before it."""
        with self._lock:
            for i, item in enumerate(self._waiting):
                entry = self._recorder.fact(item.fact())
                self._waiting[i] = replace(item, entry=entry.id)

    def _drop(self, items: Iterable[Queued]) -> None:
        for item in items:
            self._recorder.fact(InboxChanged("dropped", item.id, item.kind))


def left_waiting(entries: Sequence[Entry]) -> tuple[Queued, ...]:
    """What was queued on a path and neither said nor dropped; oldest first.

    A move of the leaf ends the wait: what was queued before it may have been said on the branch
    that was left. So does another program that went on: it moves without a fact about it.
    """
    waiting: dict[str, Queued] = {}
    facts = places_of(entries, Custom)
    for entry in entries[facts[0] :] if facts else ():
        body = entry.body
        if entry.stamp is None and says_something(entry):
            waiting.clear()
        elif isinstance(body, Custom):
            if body.custom_type in _FOLLOWED:
                _follow(waiting, entry.id, body)
        elif waiting and isinstance(body, MessageBody) and isinstance(body.message, UserMessage):
            said = entry.stamp.sources if entry.stamp else ()
            waiting = {k: q for k, q in waiting.items() if q.entry not in said}
    return tuple(waiting.values())


def _follow(waiting: dict[str, Queued], entry: EntryId, custom: Custom) -> None:
    match decode_fact(custom):
        case InboxChanged("queued", name, kind, str(text), images):
            waiting.pop(name, None)
            waiting[name] = Queued(name, kind, text, entry, images=_pictures(images))
        case InboxChanged(message_id=name):
            waiting.pop(name, None)
        case Navigated():
            waiting.clear()
        case _:
            pass


def _pictures(stored: tuple[JsonObject, ...]) -> tuple[Image, ...]:
    """Those that are pictures; of what else may stand there nobody knows what it is."""
    read = ((each.get("data"), each.get("mimeType")) for each in stored)
    return tuple(Image(d, kind) for d, kind in read if isinstance(d, str) and isinstance(kind, str))


def _number(name: str) -> int:
    digits = name[1:20]  # a name that is longer is none of ours, and int() refuses thousands
    return int(digits) if digits == name[1:] and digits.isascii() and digits.isdigit() else 0
