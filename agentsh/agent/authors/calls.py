"""Who may have written a line of a file, and what is on record of a call. Values only. Pure.

A digest is the sha256 of a file's bytes in hex, ABSENT where there was no file, None where nobody
said. Read next: content.py, between.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from agentsh.session.format.entries import EntryId

ABSENT: Final = ""
Digest: TypeAlias = str | None


class RecordedCall(Struct, frozen=True, eq=False, gc=False):
    """A call that may have changed files. It is itself and no other, whatever it holds.

    `entry` is the prompt that it was made for, `prompt` that one's first line. `command`: what a
    command ran, else empty. `time` is that of its start.
    """

    session: str
    entry: EntryId
    prompt: str
    id: str
    tool: str
    command: str
    time: str


class Whole(Struct, frozen=True):
    """The call gives the file this content."""

    data: bytes


class Replaced(Struct, frozen=True):
    """The call replaces passages: (old, new). `patch`: what it did, where that is on record."""

    edits: tuple[tuple[str, str], ...]
    patch: str = ""


class Nothing(Struct, frozen=True):
    """The call only read the file; `data` is what it saw, where it saw all of it."""

    data: bytes | None = None


class Write(Struct, frozen=True, eq=False):
    """A call of `edit` or `write` that was done, or of `read`: a moment at which the file is known.

    `name`: the file's; states name it so, too.
    """

    call: RecordedCall
    name: str
    change: Whole | Replaced | Nothing
    before: Digest = None
    after: Digest = None

    @property
    def is_reading(self) -> bool:
        return isinstance(self.change, Nothing)


class Gap(Struct):
    """A time in which these, and maybe a person, could change the file as they liked."""

    calls: tuple[RecordedCall, ...] = ()
    person: bool = False


Who: TypeAlias = Literal["agent", "person", "before", "unknown"]


class Author(Struct, frozen=True, eq=False, gc=False):
    """Who wrote a line. `calls`: one, or several of one prompt where it was one of these."""

    who: Who
    calls: Sequence[RecordedCall] = ()


PERSON: Final = Author("person")
BEFORE: Final = Author("before")
UNKNOWN: Final = Author("unknown")
