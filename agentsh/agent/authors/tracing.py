"""The authors of a file's lines, followed back from now through the states on record. Pure.

Only states that the file's content came by are looked into: where files were brought back, the way
goes on at the state that came back, and what was in between is not read. A file that vanishes while
another one appears with its lines was moved, and is followed. Then the authors are worked out from
the first content to the last. Read next: blame.py, statefiles.py (where contents come from).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, Protocol

from msgspec import Struct

from agentsh.agent.authors.between import Between, stretches
from agentsh.agent.authors.blame import Authors, advance, begin, regained, undisputed
from agentsh.agent.authors.calls import ABSENT, UNKNOWN, Digest, Gap, Write
from agentsh.agent.authors.content import Content
from agentsh.agent.authors.linediff import kept_lines
from agentsh.agent.authors.timeline import Past, State

_MOST_LIKE: Final = 16
"""Files that vanished, and are compared with one that appeared."""
_MOST_ALIKE: Final = 4
"""Of files that the moved one may equally well have been."""


class Version(Struct, frozen=True):
    """A content as states name it; `name` "": there is no file. `size` in bytes."""

    name: str
    size: int = 0


NO_FILE: Final = Version("")


class RecordedFiles(Protocol):
    """What the states hold (statefiles.py)."""

    def versions(self, states: Sequence[State], name: str) -> Sequence[Version | None]:
        """What each has of that name; None: it does not say."""

    def content(self, version: Version) -> Content: ...

    def expect(self, versions: Sequence[Version]) -> None:
        """These will be asked for next, in this order."""

    def vanished(self, old: State, new: State | None) -> Sequence[tuple[str, Version]]:
        """The files of the old state that the new one (None: now) has no more."""

    def compare(self, pairs: Sequence[tuple[State, State]]) -> None:
        """What vanished between these will be asked for."""


class _Place(Struct, frozen=True):
    """A file at a moment; `state` None: now."""

    state: State | None
    name: str
    version: Version


class _Leg(Struct, frozen=True):
    """From one place to a later one; `first` None: from the beginning of all."""

    first: _Place | None
    between: Between
    last: _Place


class _Moved(Struct, frozen=True):
    """The places that a file may have come from."""

    places: Sequence[_Place]
    is_certain: bool


class Tracer:
    """Follows one file back. `now`: its present content and version."""

    def __init__(self, past: Past, recorded: RecordedFiles, now: Content, version: Version) -> None:
        self._past = past
        self._recorded = recorded
        self._now = (version, now)
        self._versions: dict[str, Sequence[Version | None]] = {}
        self._known: dict[tuple[int, str], Authors] = {}
        self._compared: set[str] = set()

    def authors(self, name: str) -> Authors:
        """One for each line of the present content."""
        return self._authors(_Place(None, name, self._now[0]))

    def is_on_record(self, name: str) -> bool:
        """Whether a call may have changed a file of this name, on whatever branch, or states tell
        of a change by whomever."""
        if any(w.name == name and not w.is_reading for w in self._past.writes()):
            return True
        versions = (version for version in self._of(name) if version is not None)
        return len({version.name for version in (*versions, self._now[0])}) > 1

    def is_held(self, name: str) -> bool:
        """Whether the newest state says what it holds of that name."""
        return bool(self._past.states) and self._of(name)[-1] is not None

    # ---- backward ------------------------------------------------------------------------------

    def _authors(self, end: _Place) -> Authors:
        legs: list[_Leg] = []
        place: _Place | None = end
        base: Authors | None = None
        while place is not None:
            base = self._settled(place)
            if base is not None:
                break
            moved = self._came_back_from(place)
            if isinstance(moved, _Place):
                place = moved
                continue
            if moved is not None:
                base = moved
                break
            leg, moved_from = self._leg(place)
            if moved_from is not None and not moved_from.is_certain:
                base = self._along(leg, self._of_one_of(moved_from.places))
                break
            if leg.first is None or leg.between.writes or leg.first.version != place.version:
                legs.append(leg)
            place = leg.first
        self._recorded.expect(
            [each.version for leg in reversed(legs) for each in (leg.first, leg.last) if each]
        )
        for leg in reversed(legs):
            base = self._along(leg, base)
        assert base is not None
        if end.state is not None:
            self._known[end.state.number, end.name] = base
        return base

    def _of_one_of(self, places: Sequence[_Place]) -> Authors:
        """What is certain of a file that was one of these, or none."""
        if not 1 < len(places) <= _MOST_ALIKE or len({place.version for place in places}) > 1:
            return unknown(self._content(places[0]))
        return undisputed([self._authors(place) for place in places])

    def _settled(self, place: _Place) -> Authors | None:
        if place.state is None:
            return None
        return self._known.get((place.state.number, place.name))

    def _leg(self, place: _Place) -> tuple[_Leg, _Moved | None]:
        """To the last state before it that says something, and what the file was there."""
        first = self._before(place)
        if first is None:
            return _Leg(None, self._past.between(None, place.state, (place.name,)), place), None
        between = self._past.between(first.state, place.state, (place.name,))
        moved = self._moved_from(first, place, between)
        if moved is not None:
            first = moved.places[0]
            between = self._past.between(first.state, place.state, (first.name, place.name))
        return _Leg(first, between, place), moved

    def _before(self, place: _Place) -> _Place | None:
        versions = self._of(place.name)
        number = len(self._past.states) if place.state is None else place.state.number
        while number:
            number -= 1
            version = versions[number]
            if version is not None:
                return _Place(self._past.states[number], place.name, version)
        return None

    def _of(self, name: str) -> Sequence[Version | None]:
        if name not in self._versions:
            self._versions[name] = self._recorded.versions(self._past.states, name)
        return self._versions[name]

    # ---- moved ---------------------------------------------------------------------------------

    def _moved_from(self, old: _Place, new: _Place, between: Between) -> _Moved | None:
        """What the file was before, if it was moved."""
        if new.version == NO_FILE or old.version == new.version or old.state is None:
            return None
        free = any(gap.calls or gap.person for gap in between.gaps)
        made = next((w.before for w in between.writes if w.name == new.name), None)
        if not free or made == ABSENT:
            return None
        if new.state is not None:
            self._compare_all(new.name)
        gone = self._recorded.vanished(old.state, new.state)
        same = [pair for pair in gone if pair[1].name == new.version.name]
        is_certain = bool(same)
        if not same and old.version == NO_FILE and gone:
            is_certain, same = self._most_like(gone, new, made)
        if len(same) > 1:
            same = [p for p in same if _base(p[0]) == _base(new.name)] or same
        places = [
            _Place(old.state, name, self._of(name)[old.state.number] or version)
            for name, version in same[: _MOST_ALIKE + 1]
        ]
        return _Moved(places, is_certain and len(places) == 1) if places else None

    def _compare_all(self, name: str) -> None:
        """One question instead of one for each change."""
        if name in self._compared:
            return
        self._compared.add(name)
        versions = self._of(name)
        stated = [s for s in self._past.states if versions[s.number] is not None]
        self._recorded.compare(
            [
                (old, new)
                for old, new in pairwise(stated)
                if versions[old.number] != versions[new.number] and versions[new.number] != NO_FILE
            ]
        )

    def _most_like(
        self, gone: Sequence[tuple[str, Version]], new: _Place, digest: Digest
    ) -> tuple[bool, list[tuple[str, Version]]]:
        """The vanished files that have the most of the lines. It is certain where the content is
        that which the next call found, or where one has more than half of the lines."""
        near = sorted(gone, key=lambda pair: _base(pair[0]) != _base(new.name))[:_MOST_LIKE]
        contents = [self._recorded.content(version) for _, version in near]
        alike = [
            pair for pair, c in zip(near, contents, strict=True) if digest and c.digest == digest
        ]
        if alike:
            return True, alike
        ratios = [_likeness(content.text, self._content(new).text) for content in contents]
        best = max(ratios)
        pairs = [pair for pair, ratio in zip(near, ratios, strict=True) if ratio == best]
        return best > 0.5, pairs if best else []

    # ---- brought back --------------------------------------------------------------------------

    def _came_back_from(self, place: _Place) -> _Place | Authors | None:
        """The place from which going back brought this file, or the authors if there are several.

        None: it did not come back.
        """
        state = place.state
        if state is None or state.fact.when != "restored":
            return None
        versions = self._of(place.name)
        version = None if state.target is None else versions[state.target]
        if version == place.version:
            assert state.target is not None
            return _Place(self._past.states[state.target], place.name, version)
        left = self._before(place)
        if left is None or left.version == place.version:
            return None
        assert left.state is not None
        if state.target is None:
            last = [
                _Place(old, place.name, place.version)
                for old in self._past.states[: left.state.number]
                if versions[old.number] == place.version
                and versions[old.number + 1] != place.version
            ]
            if last:
                return last[0] if len(last) == 1 else self._of_one_of(last)
        chain = self._calls_between(left, place)
        if chain:
            leg = _Leg(left, Between((Gap(),) * (len(chain) + 1), chain), place)
            return self._along(leg, self._authors(left))
        sources = [left]
        if version is not None and state.target is not None:
            sources.insert(0, _Place(self._past.states[state.target], place.name, version))
        return regained(
            [(self._content(each), self._authors(each)) for each in sources], self._content(place)
        )

    def _calls_between(self, left: _Place, came: _Place) -> tuple[Write, ...]:
        """The calls whose record leads, digest by digest, from what was there to what came.

        What a branch of an exploration did, which is brought here, it did in a folder of its own:
        no state of this folder came in between. Only the session that brought it is asked.
        """
        assert came.state is not None
        session, names = came.state.session, (came.name,)
        made = {
            write.after: write
            for write in self._past.between(None, came.state, names).writes
            if write.call.session == session and not write.is_reading
        }
        chain: list[Write] = []
        first, digest = self._content(left).digest, self._content(came).digest
        while digest != first:
            write = made.pop(digest, None)
            if write is None or write.before is None:
                return ()
            chain.insert(0, write)
            digest = write.before
        return tuple(chain)

    # ---- forward -------------------------------------------------------------------------------

    def _content(self, place: _Place) -> Content:
        return self._now[1] if place.state is None else self._recorded.content(place.version)

    def _along(self, leg: _Leg, authors: Authors | None) -> Authors:
        """The authors at the end of a leg, from those at its beginning."""
        content = None if leg.first is None else self._content(leg.first)
        for stretch in stretches(content, leg.between, self._content(leg.last)):
            if content is None:
                authors = begin(stretch)
            else:
                assert authors is not None
                authors = advance(content, authors, stretch)
            content = stretch.content
        assert authors is not None
        return authors


def _likeness(old: bytes, new: bytes) -> float:
    """Which part of the lines the two have in common; 0 where none says anything."""
    lines = new.split(b"\n")
    ranges = [range(j, j + n) for _, j, n in kept_lines(old, new)]
    if not any(lines[j].strip() for each in ranges for j in each):
        return 0.0
    return sum(map(len, ranges)) / max(old.count(b"\n"), new.count(b"\n"))


def _base(name: str) -> str:
    return name.rpartition("/")[2]


def unknown(content: Content) -> Authors:
    """Nobody knows any of it."""
    return [UNKNOWN] * len(content.lines())
