"""The records of many sessions as one past of the folder: states, and who could do what between.

Files have one past, whoever worked in the folder. Sessions are merged by time, each in the order of
its own file; what a fork copied counts once. A person may change files whenever no turn is at work,
that is: outside of the time from a turn's first state (or first call) to its last one. Pure.
Read next: tracing.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from agentsh.agent.authors.between import Between
from agentsh.agent.authors.calls import Gap, RecordedCall, Write
from agentsh.agent.authors.commands import spares
from agentsh.agent.authors.witness import CallBegan, CallEnded, Event, Stood, Turned, Witness
from agentsh.session.format.entries import EntryId
from agentsh.session.format.facts import Checkpoint
from agentsh.tools.approval.policy import SHELL


class State(Struct, frozen=True, eq=False):
    """A recorded state; `number` is its place in the past. `target`: the number of another one."""

    number: int
    session: str
    fact: Checkpoint
    target: int | None = None


class _Moment(Struct, frozen=True, eq=False):
    """One event of one session, and whether a turn is at work in that session behind it."""

    time: str
    session: str
    event: Event
    at_work: bool


class Past:
    """All that is on record, from the first event to now."""

    def __init__(self, records: Iterable[Witness]) -> None:
        self._moments = _merged(records)
        self.states: list[State] = []
        self._running: list[tuple[RecordedCall, ...]] = []
        """Of each moment: which calls ran behind it."""
        self._idle: list[bool] = []
        """Of each moment: whether no session was at work behind it."""
        self._places: list[int] = []
        """Of each state: its moment."""
        self._mixed: dict[RecordedCall, str] = {}
        """Writes in whose time another session did something, and the file of each."""
        self._look_through()

    def _look_through(self) -> None:
        running: dict[RecordedCall, str] = {}
        working: dict[str, bool] = {}
        numbers: dict[tuple[str, EntryId | None], int] = {}
        copied: dict[EntryId | None, int] = {}
        for position, moment in enumerate(self._moments):
            what = moment.event.what
            match what:
                case CallBegan(call, write):
                    if write is not None and not self._is_by_itself(position):
                        self._mixed[call] = write.name
                    if write is None or call in self._mixed:
                        running[call] = moment.session
                case CallEnded(call):
                    running.pop(call, None)
                case Turned(True):
                    over = [c for c, session in running.items() if session == moment.session]
                    for call in over:
                        del running[call]
                case Stood(fact, state):
                    number = len(self.states)
                    target = numbers.get((moment.session, state), copied.get(state))
                    numbers[moment.session, moment.event.entry] = number
                    copied[moment.event.entry] = number
                    self.states.append(State(number, moment.session, fact, target))
                    self._places.append(position)
                case _:
                    pass
            working[moment.session] = moment.at_work
            self._running.append(tuple(running))
            self._idle.append(not any(working.values()))

    def writes(self) -> Iterator[Write]:
        """All that is on record of edits and writes that were done."""
        for moment in self._moments:
            if isinstance(moment.event.what, CallBegan) and moment.event.what.write is not None:
                yield moment.event.what.write

    def between(self, first: State | None, last: State | None, names: Collection[str]) -> Between:
        """Who could change a file of one of these names from one state (None: the beginning) to
        another one (None: now)."""

        def free(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
            return [call for call in calls if not all(self._spares(call, name) for name in names)]

        start = -1 if first is None else self._places[first.number]
        end = len(self._moments) if last is None else self._places[last.number]
        gaps = [self._gap(start, free)]
        writes: list[Write] = []
        for number in range(start + 1, end):
            what = self._moments[number].event.what
            if isinstance(what, CallBegan) and what.write is not None:
                if what.write.name not in names:
                    continue
                if what.call not in self._mixed:
                    writes.append(what.write)
                    gaps.append(Gap())
            behind = self._gap(number, free)
            _add(gaps[-1], behind.calls)
            gaps[-1].person = gaps[-1].person or behind.person
        if last is None:
            gaps[-1].person = True  # a turn may have been cut off, and nobody says when
        return Between(tuple(gaps), tuple(writes))

    def _gap(
        self, number: int, free: Callable[[Sequence[RecordedCall]], Sequence[RecordedCall]]
    ) -> Gap:
        if number < 0:
            return Gap(person=True)
        return Gap(tuple(free(self._running[number])), self._idle[number])

    def _is_by_itself(self, position: int) -> bool:
        """Whether nothing that matters comes between the call's start and its end."""
        call = self._moments[position].event.what
        assert isinstance(call, CallBegan)
        for number in range(position + 1, len(self._moments)):
            match self._moments[number].event.what:
                case CallEnded(over) if over is call.call:
                    return True
                case CallEnded():
                    continue
                case _:
                    return False
        return False

    def _spares(self, call: RecordedCall, name: str) -> bool:
        """Whether it cannot have changed that file."""
        if call in self._mixed:
            return self._mixed[call] != name
        return call.tool == SHELL and bool(call.command) and spares(call.command, name)


def _add(gap: Gap, calls: Sequence[RecordedCall]) -> None:
    if calls:
        gap.calls = tuple(dict.fromkeys((*gap.calls, *calls)))


def _merged(records: Iterable[Witness]) -> list[_Moment]:
    """In the order of time; parents before the forks that copied from them."""
    moments: list[_Moment] = []
    seen: set[tuple[EntryId, str]] = set()
    for record in sorted(records, key=lambda record: record.created):
        new = [event for event in record.events if (event.entry, event.time) not in seen]
        seen.update((event.entry, event.time) for event in record.events)
        moments += _moments(record.session, new)
    moments.sort(key=lambda moment: moment.time)
    return moments


def _moments(session: str, events: Sequence[Event]) -> Iterator[_Moment]:
    """With when a turn is at work: from its first state or call to its last."""
    last = _last_of_turns(events)
    latest = ""
    at_work = False
    for number, event in enumerate(events):
        match event.what:
            case Stood(state):
                at_work = state.when in ("turn", "step")
            case CallBegan(_, write) if write is None or not write.is_reading:
                at_work = True
            case Turned():
                at_work = False
            case _:
                pass
        at_work = at_work and number not in last
        latest = max(latest, event.time)
        yield _Moment(latest, session, event, at_work)


def _last_of_turns(events: Sequence[Event]) -> set[int]:
    """The events after which nothing more of their turn is on record."""
    numbers = set()
    for number, event in enumerate(events):
        follows = events[number + 1].what if number + 1 < len(events) else None
        if not isinstance(event.what, Turned) and (follows is None or isinstance(follows, Turned)):
            numbers.add(number)
    return numbers
