"""What the picker of sessions asks for: lists, other names, the archive. It satisfies
agent/driven/host.SessionKeeper, and a host is one as well.
Read next: cli/assembly/driving.py, ui/asking/pickers.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import time

from agentsh.cli.lookup.finding import ways_on
from agentsh.cli.setup.paths import Paths
from agentsh.errors import RefusedError
from agentsh.session.file.session import open_session
from agentsh.session.format.times import iso_time
from agentsh.session.search.fulltext import TextIndex
from agentsh.session.search.query import parse_query
from agentsh.session.search.search import Search
from agentsh.session.store.archive import archive_session
from agentsh.session.store.catalog import Index
from agentsh.session.store.store import SessionRow, Store

# rows that a person may still look through
_MOST_FOUND = 500


class StoreKeeper:
    """The sessions of one user; `cwd` is this folder."""

    def __init__(self, places: Paths, cwd: Path) -> None:
        self._store = Store(
            places.sessions,
            places.flat,
            summaries=Index(places.index).summaries,
            named=places.session_dir,
        )
        self._cwd = str(cwd)
        self._text = TextIndex(places.index)

    def sessions(self, *, everywhere: bool = False) -> Sequence[SessionRow]:
        return self._store.rows(None if everywhere else self._cwd)

    def find_text(self, words: str, *, everywhere: bool = False) -> Mapping[str, str]:
        """The sessions in which all of these words were said together → where, in a few words."""
        search = Search(parse_query(words, typing=True), limit=_MOST_FOUND, each=1)
        results = search.over(self.sessions(everywhere=everywhere), self._text)
        return {hit.session: hit.text for hit in results.hits}

    def rename_session(self, path: Path, name: str) -> None:
        """Raises SessionLockedError: another process writes it."""
        with ways_on(path, self._store), open_session(path, write=True) as session:
            session.rename(name)

    def archive_session(self, path: Path) -> None:
        if not self._store.owns(path):
            raise RefusedError(f"{path} is not in the sessions folder", path=str(path))
        with ways_on(path, self._store):
            archive_session(path, now=iso_time(time()))
