"""What a path gained since a look at it, so that what was computed then need not be made anew.

Sound because a path changes in three ways only: this process appends to it; the leaf moves, which
is a fact on the new path; appends are withdrawn. A side question is a fact on the path as well, as
what it cost stands beside the path. The last entry of the look is known by identity:
one that was withdrawn may give its id to another. What is computed is the caller's.
Read next: projector.py, usage.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from agentsh.session.file.session import Session
from agentsh.session.format.entries import Custom, Entry
from agentsh.session.format.factcodec import name_of
from agentsh.session.format.facts import AsideLeft, Navigated

Computed = TypeVar("Computed")

# a path that grew more since the last look is read whole: that is no slower
MAX_STEPS = 4096
_BESIDE = frozenset({name_of(Navigated), name_of(AsideLeft)})


def last_entry(session: Session) -> Entry | None:
    """The leaf, to look from later."""
    leaf = session.leaf
    return None if leaf is None else session.entry(leaf)


def grown(session: Session, since: Entry | None) -> tuple[Entry, ...] | None:
    """The path's entries after `since`, oldest first; None where they may not be all."""
    entries: list[Entry] = []
    entry = last_entry(session)
    while entry is not since:
        if entry is None or len(entries) == MAX_STEPS:
            return None
        if isinstance(entry.body, Custom) and entry.body.custom_type in _BESIDE:
            return None
        entries.append(entry)
        entry = None if entry.parent is None else session.entry(entry.parent)
    return tuple(reversed(entries))


class Grown(Generic[Computed]):
    """A value of the live path, made once and then grown with the path. It may be dropped any time.

    `made` computes it from the whole path, `more` from the value before and the entries since; None
    from `more` says that these entries ask for the whole.
    """

    def __init__(
        self,
        session: Session,
        made: Callable[[], Computed],
        more: Callable[[Computed, tuple[Entry, ...]], Computed | None],
    ) -> None:
        self._session = session
        self._made = made
        self._more = more
        self._seen: tuple[Entry | None, Computed] | None = None

    def value(self) -> Computed:
        """The value at the leaf."""
        last = last_entry(self._session)
        if self._seen is not None and self._seen[0] is last and last is not None:
            return self._seen[1]
        value = self._larger()
        if value is None:
            value = self._made()
        self._seen = (last, value)
        return value

    def _larger(self) -> Computed | None:
        if self._seen is None:
            return None
        gained = grown(self._session, self._seen[0])
        return None if gained is None else self._more(self._seen[1], gained)
