"""Whether a call was made before in this session, on whatever branch (R57).

A call that is made again has the same idempotency key. That is no reason not to run it, but it is
said, and its start says the how-manyeth it is. The file is searched for the key as bytes; only
where it is found are entries decoded. Read next: execution.py, workbench.py.
"""

from __future__ import annotations

from msgspec import Struct

from agentsh.messages import ToolResultMessage
from agentsh.session.entries import Custom, EntryId, MessageBody
from agentsh.session.factcodec import decode_fact
from agentsh.session.facts import ToolStarted
from agentsh.session.session import Session


class Repeat(Struct, frozen=True):
    """How often a call was started before, and a result of it that is no error."""

    starts: int = 0
    done: EntryId | None = None


def find_repeat(session: Session, key: str) -> Repeat:
    """What the session knows of calls with this key."""
    if not session.mentions(f'"key":"{key}"'.encode()):
        return Repeat()
    starts: set[EntryId] = set()
    done: EntryId | None = None
    for entry in session.entries():
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
