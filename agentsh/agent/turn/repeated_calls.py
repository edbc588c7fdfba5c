"""Calls that are made again: anywhere in this session (R57), or answer after answer (H08).

A call that is made again has the same idempotency key. That is no reason not to run it, but it is
said, and its start says the how-manyeth it is. The file is searched for keys as bytes, once; for a
key that is known only the lines that tell of it are decoded. A loop of the same call (tool and
arguments equal) makes no progress: at the fifth time in a row the person is asked whether it goes
on, and where nobody can be asked the turn ends. Read next: execution.py, loop.py.
"""

from __future__ import annotations

from msgspec import Struct

from agentsh.jsontext import dumps, dumps_text
from agentsh.messages import ToolCall, ToolResultMessage
from agentsh.session.file.session import Session
from agentsh.session.format.entries import Custom, EntryId, MessageBody
from agentsh.session.format.factcodec import decode_fact, words_of
from agentsh.session.format.facts import ToolStarted

MAX_SAME = 5
NOTED_FROM = 3


class Repeat(Struct, frozen=True):
    """How often a call was started before, and a result of it that is no error."""

    starts: int = 0
    done: EntryId | None = None


class Repeats:
    """The calls of one session, by their keys."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._keys: set[bytes] | None = None

    def take(self, key: str) -> Repeat:
        """What is known of calls with this key; from now on it is a known one."""
        if self._keys is None:
            self._keys = self._session.words(words_of(ToolStarted, "key", rb"[0-9a-f]{32}"))
        is_new = key.encode() not in self._keys
        self._keys.add(key.encode())
        return Repeat() if is_new else self._look_up(key)

    def _look_up(self, key: str) -> Repeat:
        starts: set[EntryId] = set()
        done: EntryId | None = None
        for entry in self._session.with_words(key.encode()):
            if isinstance(entry.body, Custom):
                fact = decode_fact(entry.body)
                if isinstance(fact, ToolStarted) and fact.key == key:
                    starts.add(entry.id)
        if not starts:
            return Repeat()
        for entry in self._session.with_words(*(start.encode() for start in starts)):
            match entry.body:
                case MessageBody(ToolResultMessage(is_error=False)) if entry.stamp is not None:
                    if starts.intersection(entry.stamp.sources):
                        done = entry.id
                case _:
                    pass
        return Repeat(len(starts), done)


class Repetition:
    """Counts how often an answer called for the very same, in a row."""

    def __init__(self) -> None:
        self._last: bytes | None = None
        self._count = self._since = 0

    def stuck(self, calls: tuple[ToolCall, ...]) -> str | None:
        """Take the calls of one more answer; where they came too often, that in words.

        What one answer calls for twice counts once: it had no result to learn from. The count
        begins anew then: somebody may say that it goes on.
        """
        now = dumps(list(dict.fromkeys(dumps_text([call.name, call.arguments]) for call in calls)))
        same = now == self._last
        self._last = now
        self._count = self._count + 1 if same else 1
        self._since = self._since + 1 if same else 1
        if self._since < MAX_SAME:
            return None
        self._since = 0
        # each fifth time, so that the number ends in 0 or 5
        name, times = calls[0].name, f"{self._count}th time"
        return f"the model makes the same call of {name} for the {times} in a row"

    def note(self) -> str | None:
        """What the model is told from the third time on: small ones go in circles."""
        if self._count < NOTED_FROM:
            return None
        return (
            f"[The same call was made {self._count} times in a row. Use its result: answer now, or"
            " do something else.]"
        )
