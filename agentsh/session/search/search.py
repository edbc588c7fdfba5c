"""Full text over session files: every branch, what compactions folded away, calls and outputs.

Newest conversation first, and in a file the last entry first. An index (fulltext.py) says which
lines may have a hit; each of them is read from its file and judged by query.py, and so is whatever
the index does not know, so that the answers are the same without it (R13). It stops at the limit
and says whether there was more. Writes nothing; knows no terminal and no sqlite3.
Read next: searchable.py, placement.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from agentsh.errors import SessionError
from agentsh.session.format.entries import EntryId
from agentsh.session.search.placement import Placement, Whereabouts
from agentsh.session.search.query import Query, excerpt, normalized, wanted_tokens
from agentsh.session.search.searchable import Saying, read_saying
from agentsh.session.store.folders import note_unopened
from agentsh.session.store.reader import Opener, SessionReader, open_reader
from agentsh.session.store.store import SessionRow

ALIASES: Mapping[str, str] = {
    "tool": "toolResult",
    "toolresult": "toolResult",
    "bash": "bashExecution",
    "bashexecution": "bashExecution",
    "summary": "branch_summary",
}
"""Other words for roles."""


class Filed(Struct, frozen=True):
    """What an index says of a file: lines at `starts` may have a hit, and all from `upto` on."""

    upto: int
    starts: Sequence[int] = ()
    is_all: bool = False
    """The file ends at `upto`, so that it need not be opened where `starts` is empty."""
    cut: int = 0
    """Entries so far that were too long to be looked at whole."""


class Filing(Protocol):
    """An index: indextext.TextIndex."""

    def look(
        self, paths: Iterable[Path], tokens: Sequence[tuple[str, bool]]
    ) -> Mapping[Path, Filed]: ...


class Filters(Struct, frozen=True):
    """What a hit must be besides; None is anything. Times as a file spells them."""

    since: str | None = None
    until: str | None = None
    role: str | None = None
    tool: str | None = None
    file: str | None = None
    model: str | None = None
    label: str | None = None

    def admits(self, saying: Saying) -> bool:
        """What can be told of the entry alone."""
        return (
            (self.since is None or saying.time >= self.since)
            and (self.until is None or saying.time < self.until)
            and (self.role is None or saying.role == ALIASES.get(self.role.lower(), self.role))
            and (self.tool is None or self.tool in saying.tools)
            and (self.model is None or self.model.lower() in saying.model.lower())
        )

    def admits_at(self, saying: Saying, where: Whereabouts) -> bool:
        """What its surroundings tell."""
        entry = EntryId(saying.id)
        if self.label is not None and where.tree.label(entry) != self.label:
            return False
        if self.file is None:
            return True
        files = saying.files or (
            where.files_of_call(entry, saying.answers) if saying.answers else ()
        )
        return any(_names(file, self.file) for file in files)


class Hit(Struct, frozen=True):
    """One entry that holds it all. `text` is an excerpt, not made safe."""

    session: str
    path: Path
    cwd: str
    name: str | None
    entry: EntryId
    type: str
    role: str
    time: str
    text: str
    place: Placement
    line: int
    tools: tuple[str, ...] = ()

    @property
    def on_path(self) -> bool:
        return self.place != "branch"


class SearchResults(Struct, frozen=True):
    """`more`: there were hits beyond the limit. `cut`: entries that were not searched whole.

    `unread`: sessions that could not be looked through: path → the system's words.
    """

    hits: tuple[Hit, ...]
    more: bool = False
    cut: int = 0
    unread: Mapping[str, str] = field(default_factory=dict)


class Search(Struct, frozen=True):
    """One question. `skip` leaves out what the asker does not want to see."""

    query: Query
    filters: Filters = Filters()
    limit: int = 50
    skip: Callable[[Saying], bool] = lambda _saying: False
    around: tuple[int, int] = (80, 160)
    """Characters of an excerpt before and after the hit."""
    opener: Opener = open_reader
    each: int | None = None
    """Hits of one session at most; what is left out by this is no `more`."""

    def over(self, rows: Iterable[SessionRow], index: Filing | None = None) -> SearchResults:
        """Look through these sessions, in their order."""
        tokens = wanted_tokens(self.query)
        since = self.filters.since
        chosen = [row for row in rows if since is None or not row.updated or row.updated >= since]
        filed = {} if index is None else index.look([row.path for row in chosen], tokens)
        hits: list[Hit] = []
        cut = 0
        unread: dict[str, str] = {}
        for row in chosen:
            filed_row = filed.get(row.path)
            # without a token the index cannot narrow, so all of the file is looked at
            looked = _Looked(row, filed_row if tokens else None)
            for hit in islice(self._in_file(looked, unread), self.each):
                hits.append(hit)
                if len(hits) > self.limit:
                    break
            cut += filed_row.cut if filed_row is not None and tokens else looked.cut
            if len(hits) > self.limit:
                break
        return SearchResults(tuple(hits[: self.limit]), len(hits) > self.limit, cut, unread)

    def _in_file(self, looked: _Looked, unread: dict[str, str]) -> Iterator[Hit]:
        filed = looked.filed
        if filed is not None and filed.is_all and not filed.starts:
            return
        try:
            with self.opener(looked.row.path) as source:
                yield from self._hits(looked, source)
        except (OSError, SessionError) as e:
            note_unopened(unread, looked.row.path, e)

    def _hits(self, looked: _Looked, source: SessionReader) -> Iterator[Hit]:
        filed = looked.filed or Filed(source.opening.end)
        unfiled = [
            line.start
            for line in source.lines(filed.upto)
            if self.query.may_be_in(line.data) and self._judged(line.data, looked) is not None
        ]
        where: Whereabouts | None = None
        for start in sorted({*filed.starts, *unfiled}, reverse=True):
            judged = self._judged(source.line(start))
            if judged is None:
                continue
            where = where or Whereabouts(source)
            saying, text = judged
            entry = where.entry_at(start)
            if entry is None:
                continue
            saying = replace(saying, id=entry)  # where two lines have one id, it is another
            if self.filters.admits_at(saying, where):
                yield _hit(looked.row, saying, text, where)

    def _judged(self, line: bytes, looked: _Looked | None = None) -> tuple[Saying, str] | None:
        """The entry and the excerpt, if it is a hit."""
        saying = read_saying(line)
        if saying is None:
            return None
        if looked is not None:
            looked.cut += saying.is_cut
        if not self.filters.admits(saying) or self.skip(saying):
            return None
        text = normalized(saying.text)
        span = self.query.find(text)
        return None if span is None else (saying, excerpt(text, span, *self.around))


class _Looked(Struct):
    """One session that is being looked through."""

    row: SessionRow
    filed: Filed | None
    cut: int = 0


def _hit(row: SessionRow, saying: Saying, text: str, where: Whereabouts) -> Hit:
    entry = EntryId(saying.id)
    return Hit(
        session=row.id,
        path=row.path,
        cwd=row.cwd,
        name=row.name,
        entry=entry,
        type=saying.type,
        role=saying.role,
        time=saying.time,
        text=text,
        place=where.place(entry),
        line=where.line(entry),
        tools=saying.tools,
    )


def _names(path: str, asked: str) -> bool:
    """Whether a path is the one asked for, or ends in it, or lies in it."""
    whole, part = path.removeprefix("./").rstrip("/"), asked.removeprefix("./").rstrip("/")
    return (
        whole == part
        or whole.endswith("/" + part)
        or f"/{whole}".find(f"/{part.lstrip('/')}/") >= 0
    )
