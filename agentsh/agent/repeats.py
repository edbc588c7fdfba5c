"""Whether a call was made before in this session, on whatever branch (R57).

A call that is made again has the same idempotency key. That is no reason not to run it, but it is
said, and its start says the how-manyeth it is. The file is searched for keys as bytes, once; only
for one that is known are entries decoded. Read next: execution.py, workbench.py.
"""

from __future__ import annotations

import re

from msgspec import Struct

from agentsh.messages import ToolResultMessage
from agentsh.session.entries import Custom, EntryId, MessageBody
from agentsh.session.factcodec import decode_fact
from agentsh.session.facts import ToolStarted
from agentsh.session.session import Session

_KEY = re.compile(rb'"key":"([0-9a-f]{32})"')


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
            self._keys = self._session.words(_KEY)
        is_new = key.encode() not in self._keys
        self._keys.add(key.encode())
        return Repeat() if is_new else self._look_up(key)

    def _look_up(self, key: str) -> Repeat:
        starts: set[EntryId] = set()
        done: EntryId | None = None
        for entry in self._session.entries():
            match entry.body:
                case Custom() as custom:
                    fact = decode_fact(custom)
                    if isinstance(fact, ToolStarted) and fact.key == key:
                        starts.add(entry.id)
                case MessageBody(ToolResultMessage(is_error=False)) if entry.stamp is not None:
                    if starts.intersection(entry.stamp.sources):
                        done = entry.id
                case _:
                    pass
        return Repeat(len(starts), done)
