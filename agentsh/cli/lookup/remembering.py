"""The record of a session as the history tool reads it: its own file, and if asked its neighbours'.

What the model has in front of it anyway is left out: the turn that runs, and earlier calls of this
tool with what they gave; and what a person ran for themself only (`!!`), which no model is shown.
Its own session is searched in the file itself; the index (and sqlite3) is loaded only for other
sessions. Read next: tools/history.py, session/search/search.py.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from agentsh.cli.setup.paths import Paths
from agentsh.errors import SessionError, ToolFailedError
from agentsh.files import is_there
from agentsh.session.file.session import Session
from agentsh.session.format.entries import Custom, EntryId
from agentsh.session.format.factcodec import decode_fact
from agentsh.session.format.facts import TurnStarted
from agentsh.session.search.placement import Whereabouts
from agentsh.session.search.query import Query, parse_query
from agentsh.session.search.search import Hit, Search, SearchResults
from agentsh.session.search.searchable import Saying, read_saying
from agentsh.session.store.reader import open_reader
from agentsh.session.store.store import SessionRow, Store, Summaries, summarize_each
from agentsh.tools.history import Passage, Passages

_AROUND = (200, 500)
# for words that do not all occur together: so many entries with each are compared
_MOST_COMPARED = 200


class SessionHistory:
    """Satisfies tools.history.HistoryReader."""

    def __init__(self, session: Session, places: Paths, cwd: str) -> None:
        self._session = session
        self._places = places
        self._cwd = cwd

    def search(self, query: str, *, others: bool, limit: int) -> Passages:
        parsed = parse_query(query)
        over = self._others() if others else self._own()
        results = over(Search(parsed, limit=limit, around=_AROUND))
        if not results.hits and len(parsed.terms) > 1:
            loose = _with_most_words(parsed, over, limit)
            found_loose = [self._passage(hit) for hit in loose]
            return Passages(found_loose, loose=True, unread=len(results.unread))
        # what is out of sight first: it is what was asked for
        hits = sorted(results.hits, key=lambda hit: hit.place == "path")
        passages = [self._passage(hit) for hit in hits]
        return Passages(passages, more=results.more, unread=len(results.unread))

    def read(self, entry: str) -> Passage:
        session, colon, name = entry.rpartition(":")
        try:
            if colon and session != self._session.header.id:
                return self._read_other(session, name)
            entry_id = self._session.resolve(name)
            if entry_id is None:
                raise ToolFailedError(f"there is no entry {name!r} in this session")
            return _read(self._row(), entry_id)
        except SessionError as e:
            raise ToolFailedError(str(e)) from e

    # ---- its own -------------------------------------------------------------------------------

    def _own(self) -> Callable[[Search], SearchResults]:
        row, skip = self._row(), self._skipped()
        return lambda search: replace(search, skip=skip).over([row])

    def _row(self) -> SessionRow:
        session = self._session
        if session.path is None or not is_there(session.path):
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
        return lambda saying: saying.id in running or _is_withheld(saying)

    # ---- others --------------------------------------------------------------------------------

    def _others(self) -> Callable[[Search], SearchResults]:
        from agentsh.session.search.fulltext import TextIndex
        from agentsh.session.store.catalog import Index

        index = self._places.index
        store = self._store(Index(index).summaries)
        unread: dict[str, str] = {}
        rows = [row for row in store.rows(self._cwd, unread) if row.id != self._session.header.id]

        def over(search: Search) -> SearchResults:
            results = replace(search, skip=_is_withheld).over(rows, TextIndex(index))
            return replace(results, unread={**unread, **results.unread})

        return over

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


def _is_withheld(saying: Saying) -> bool:
    return saying.is_private or _is_asking(saying)


def _is_asking(saying: Saying) -> bool:
    """A call of the history tool, or what it gave."""
    return saying.tools != () and set(saying.tools) == {"history"}


def _with_most_words(
    query: Query, over: Callable[[Search], SearchResults], limit: int
) -> list[Hit]:
    """Entries with some of the words: the more, and the rarer they are, the better."""
    weights: dict[tuple[str, str], float] = {}
    hits: dict[tuple[str, str], Hit] = {}
    for term in query.terms:
        hits_of_term = over(Search(Query((term,)), limit=_MOST_COMPARED, around=_AROUND)).hits
        for hit in hits_of_term:
            key = (hit.session, hit.entry)
            hits.setdefault(key, hit)
            weights[key] = weights.get(key, 0.0) + 1 / len(hits_of_term)
    best = sorted(hits, key=lambda key: weights[key], reverse=True)
    return [hits[key] for key in best[:limit]]


def _read(row: SessionRow, entry: EntryId) -> Passage:
    with open_reader(row.path) as source:
        where = Whereabouts(source)
        line = where.raw(entry)
        saying = read_saying(line)
    if saying is None or saying.is_private:
        raise ToolFailedError(f"entry {entry} holds no text")
    return Passage(entry, saying.role, saying.time, where.place(entry), saying.text)
