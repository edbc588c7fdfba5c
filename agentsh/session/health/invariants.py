"""What the facts of a file promise one another: turns that end, ranges that exist, one root.

Collected line by line for verify.py; it reads no file and knows no bytes. Read next: facts.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from agentsh.jsontext import JsonValue
from agentsh.messages import own_details
from agentsh.session.format.entries import Compaction, Custom, Entry, EntryId, Header
from agentsh.session.format.factcodec import decode_fact, names_of
from agentsh.session.format.facts import CompactionMark, Origin, Repaired, TurnEnded, TurnStarted

# the rest of our facts promise nothing that a check could hold against them
FACTS_THAT_COUNT = frozenset(
    name.encode() for name in names_of(Origin, TurnStarted, CompactionMark, Repaired)
)


class Brackets(Struct):
    """`torn`: lines (from 1) that a repair found torn and says so."""

    torn: set[int] = field(default_factory=set)
    _turns: dict[EntryId, int] = field(default_factory=dict)
    _copied: set[EntryId] = field(default_factory=set)
    _compaction: int = 0
    _roots: list[tuple[int, Origin]] = field(default_factory=list)
    _ranges: list[tuple[int, str]] = field(default_factory=list)
    _loose: list[tuple[int, str]] = field(default_factory=list)

    def take(self, line: int, entry: Entry, *, is_own: bool) -> None:
        """One entry, in the order of the file.

        A copy's brackets are those of another file: what closes them may lie behind the place that
        was forked at.
        """
        match entry.body:
            case Compaction() as compaction if is_own:
                self._take_range(line, compaction)
            case Custom() as custom:
                self._take_fact(line, entry.id, custom, is_own=is_own)
            case _:
                pass

    def _take_fact(self, line: int, id_: EntryId, custom: Custom, *, is_own: bool) -> None:
        match decode_fact(custom):
            case Origin() as origin:
                self._roots.append((line, origin))
            case TurnStarted() if is_own:
                self._turns[id_] = line
            case TurnStarted():
                self._copied.add(id_)  # a fork may close it, and need not
            case TurnEnded(start=start):
                is_known = self._turns.pop(start, None) is not None or start in self._copied
                if is_own and not is_known:
                    problem = f"the end of a turn ({start}) that is not open"
                    self._loose.append((line, problem))
            case CompactionMark(event="start") if is_own:
                self._compaction = line
            case CompactionMark() if is_own:
                self._compaction = 0
            case Repaired(torn_line=int(torn)):
                self.torn.add(torn)
            case _:
                pass

    def _take_range(self, line: int, compaction: Compaction) -> None:
        ours = own_details(compaction.details)
        source = _member(ours, "src")
        for end in ("from", "to"):
            named = _member(source, end)
            if isinstance(named, str):
                self._ranges.append((line, named))

    def problems(self, ids: set[bytes]) -> Iterator[tuple[int, str]]:
        """Ranges of compactions that name entries which are not there."""
        for line, named in self._ranges:
            if named.encode() not in ids:
                yield line, f"its summary is of a range with {named}, which is not there"

    def warnings(self) -> Iterator[tuple[int, str]]:
        """Brackets that do not close."""
        yield from self._loose
        for line in self._turns.values():
            yield line, "this turn has no end"
        if self._compaction:
            yield self._compaction, "this compaction has no end"

    def foreign_root(self, header: Header) -> str | None:
        """Why the header cannot be the one that the entries were written under.

        A fork by another program has the parent's root inside, and says so with parentSession.
        """
        roots = [origin for _, origin in self._roots]
        if not roots or any(origin.session_id == header.id for origin in roots):
            return None
        first = roots[0]
        own_parent = _member(first.parent, "path")
        if header.parent_session is None or header.parent_session == own_parent:
            return f"the entries belong to session {first.session_id}, the header names another"
        return None


def _member(value: JsonValue, key: str) -> JsonValue:
    return value.get(key) if isinstance(value, dict) else None
