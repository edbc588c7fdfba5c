"""Ids: of entries, unique in their file by construction; of sessions, UUIDs of version 7.

An entry's id is a bijection of its line number, shifted by a salt: two lines of one writer never
clash. Each opening of a session draws its own salt, so that two machines that go on with one file
from the same state do not give the same ids (docs/adr/0009). Ids that stand there already may clash
by chance: the caller hands in those that it knows, and where it cannot know them all takes `wide`
ids, which no short one equals. Which words may be an id at all is naming.py's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container

from msgspec import Struct

from agentsh.session.format.entries import EntryId, SessionId

_STEP = 0x9E3779B1  # odd, hence invertible modulo 2^32: different lines, different ids
_WORD = 1 << 32


def session_id(seconds: float, random: bytes) -> SessionId:
    """A UUID of version 7 (RFC 9562): the time in milliseconds, then 10 random bytes."""
    number = (int(seconds * 1000) & ((1 << 48) - 1)) << 80 | int.from_bytes(random[:10], "big")
    number = number & ~(0xF << 76) | 0x7 << 76
    number = number & ~(0x3 << 62) | 0x2 << 62
    text = f"{number:032x}"
    return SessionId("-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:])))


def short_id(session: str) -> str:
    """The part of a session's id that its lines carry (`ash.s`): the end, which is random.

    A UUIDv7 begins with the time: a session and a fork of it, made in one minute, begin alike.
    """
    return session[-8:]


def salt(session: str) -> int:
    return int.from_bytes(hashlib.sha256(session.encode("utf-8", "replace")).digest()[:4], "big")


class Names(Struct, frozen=True):
    """How one opening of a session names what it appends."""

    salt: int
    prefix: str = ""
    """Of wide ids; none: short ones."""

    def at(self, line: int, taken: Container[str] = ()) -> EntryId:
        """The id of the entry on that line."""
        return EntryId(self.prefix + entry_id(line, self.salt, () if self.prefix else taken))


def first_names(session: str) -> Names:
    """Of whoever begins the file."""
    return Names(salt(session))


def drawn_names(drawn: bytes, *, are_wide: bool) -> Names:
    """Of whoever goes on with it, from eight random bytes."""
    number = int.from_bytes(drawn[:4], "big")
    return Names(number, drawn[4:8].hex() if are_wide else "")


def entry_id(line: int, session_salt: int, taken: Container[str] = ()) -> EntryId:
    """The id of the entry on that line; another one of the same kind if it is taken."""
    number = (line * _STEP + session_salt) % _WORD
    candidate = f"{number:08x}"
    turn = 0
    while candidate in taken:
        turn += 1
        digest = hashlib.sha256(f"{number}:{turn}".encode()).hexdigest()
        candidate = digest[:8]
    return EntryId(candidate)
