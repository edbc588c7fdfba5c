"""The record of a session as the history tool reads it: its own file, and if asked its neighbours'.

What the model has in front of it anyway is left out: the turn that runs, and earlier calls of this
tool with what they gave. Its own session is searched in the file itself; the index (and sqlite3) is
loaded only for other sessions. Read next: tools/history.py, session/search.py.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from agentsh.cli.places import Places
from agentsh.errors import SessionError, ToolFailedError
from agentsh.session.entries import Custom, EntryId
from agentsh.session.factcodec import decode_fact
from agentsh.session.facts import TurnStarted
from agentsh.session.query import Query, parse_query
from agentsh.session.search import Found, Hit, Search
from agentsh.session.searchable import Saying, read_saying
from agentsh.session.session import Session
from agentsh.session.source import open_source
from agentsh.session.store import SessionRow, Store, Summaries, summarize_each
from agentsh.session.whereabouts import Whereabouts
from agentsh.tools.history import Passage, Passages

_AROUND = (200, 500)
# for words that do not all occur together: so many entries with each are compared
_MOST_COMPARED = 200


class SessionHistory:
    """Satisfies tools.history.HistoryReader."""

    def __init__(self, session: Session, places: Places, cwd: str) -> None:
        self._session = session
        self._places = places
        self._cwd = cwd

    def search(self, query: str, *, others: bool, limit: int) -> Passages:
        wanted = parse_query(query)
        over = self._others() if others else self._own()
        found = over(Search(wanted, limit=limit, around=_AROUND))
        if not found.hits and len(wanted.terms) > 1:
            loose = _with_most_words(wanted, over, limit)
            return Passages([self._passage(hit) for hit in loose], loose=True)
        # what is out of sight first: it is what was asked for
        hits = sorted(found.hits, key=lambda hit: hit.place == "path")
        return Passages([self._passage(hit) for hit in hits], more=found.more)

    def read(self, entry: str) -> Passage:
        session, colon, name = entry.rpartition(":")
        try:
            if colon and session != self._session.header.id:
                return self._read_other(session, name)
            found = self._session.resolve(name)
            if found is None:
                raise ToolFailedError(f"there is no entry {name!r} in this session")
            return _read(self._row(), found)
        except SessionError as e:
            raise ToolFailedError(str(e)) from e

    # ---- its own -------------------------------------------------------------------------------

    def _own(self) -> Callable[[Search], Found]:
        row, skip = self._row(), self._skipped()
        return lambda search: replace(search, skip=skip).over([row])

    def _row(self) -> SessionRow:
        session = self._session
        if session.path is None or not session.path.exists():
            raise ToolFailedError("this session has no file yet")
        header = session.header
        return SessionRow(
            header.id, session.path, self._cwd, None, None, header.timestamp, "", messages=0
        )

    def _skipped(self) -> Callable[[Saying], bool]:
        running: set[str] = set()
        for entry in reversed(self._session.live(repaired=False).entries):
            running.add(entry.id)
            if isinstance(entry.body, Custom) and isinstance(decode_fact(entry.body), TurnStarted):
                break
        return lambda saying: saying.id in running or _is_asking(saying)

    # ---- others --------------------------------------------------------------------------------

    def _others(self) -> Callable[[Search], Found]:
        from agentsh.session.index import Index
        from agentsh.session.indextext import TextIndex

        index = self._places.index
        store = self._store(Index(index).summaries)
        rows = [row for row in store.rows(self._cwd) if row.id != self._session.header.id]
        return lambda search: replace(search, skip=_is_asking).over(rows, TextIndex(index))

    def _store(self, summaries: Summaries = summarize_each) -> Store:
        return Store(self._places.sessions, self._places.flat, summaries=summaries)

    def _read_other(self, session: str, name: str) -> Passage:
        """Of this project only: the model is not to read what others keep elsewhere."""
        path = self._store().find(session, self._cwd)
        row = next((r for r in self._store().rows(self._cwd) if r.path == path), None)
        if row is None:
            raise ToolFailedError(f"session {session} is not of this project")
        return replace(_read(row, EntryId(name)), entry=f"{row.id}:{name}", place="session")

    def _passage(self, hit: Hit) -> Passage:
        if hit.session == self._session.header.id:
            return Passage(hit.entry, hit.role, hit.time, hit.place, hit.text)
        return Passage(f"{hit.session}:{hit.entry}", hit.role, hit.time, "session", hit.text)


def _is_asking(saying: Saying) -> bool:
    """A call of the history tool, or what it gave."""
    return saying.tools != () and set(saying.tools) == {"history"}


def _with_most_words(wanted: Query, over: Callable[[Search], Found], limit: int) -> list[Hit]:
    """Entries with some of the words: the more, and the rarer they are, the better."""
    weights: dict[tuple[str, str], float] = {}
    hits: dict[tuple[str, str], Hit] = {}
    for term in wanted.terms:
        found = over(Search(Query((term,)), limit=_MOST_COMPARED, around=_AROUND)).hits
        for hit in found:
            key = (hit.session, hit.entry)
            hits.setdefault(key, hit)
            weights[key] = weights.get(key, 0.0) + 1 / len(found)
    best = sorted(hits, key=lambda key: weights[key], reverse=True)
    return [hits[key] for key in best[:limit]]


def _read(row: SessionRow, entry: EntryId) -> Passage:
    with open_source(row.path) as source:
        where = Whereabouts(source)
        line = where.raw(entry)
        saying = read_saying(line)
    if saying is None:
        raise ToolFailedError(f"entry {entry} holds no text")
    return Passage(entry, saying.role, saying.time, where.place(entry), saying.text)
