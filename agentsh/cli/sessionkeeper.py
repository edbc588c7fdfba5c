"""What the picker of sessions asks for: lists, other names, the archive. It satisfies
ui/pickers.SessionKeeper, and the chat's host is one as well. Read next: host.py, ui/pickers.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import time

from agentsh.cli.finding import ways_on
from agentsh.cli.places import Places
from agentsh.errors import RefusedError
from agentsh.session.archive import archive
from agentsh.session.index import Index
from agentsh.session.indextext import TextIndex
from agentsh.session.query import parse_query
from agentsh.session.search import Search
from agentsh.session.session import open_session
from agentsh.session.store import SessionRow, Store
from agentsh.session.times import iso_time

# rows that a person may still look through
_MOST_FOUND = 500


class StoreKeeper:
    """The sessions of one user; `cwd` is this folder."""

    def __init__(self, places: Places, cwd: Path) -> None:
        self._store = Store(places.sessions, places.flat, summaries=Index(places.index).summaries)
        self._cwd = str(cwd)
        self._text = TextIndex(places.index)

    def sessions(self, *, everywhere: bool = False) -> Sequence[SessionRow]:
        return self._store.rows(None if everywhere else self._cwd)

    def find_text(self, words: str, *, everywhere: bool = False) -> Mapping[str, str]:
        """The sessions in which all of these words were said together → where, in a few words."""
        search = Search(parse_query(words, typing=True), limit=_MOST_FOUND, each=1)
        found = search.over(self.sessions(everywhere=everywhere), self._text)
        return {hit.session: hit.text for hit in found.hits}

    def rename_session(self, path: Path, name: str) -> None:
        """Raises SessionLockedError: another process writes it."""
        with ways_on(path), open_session(path, write=True) as session:
            session.rename(name)

    def archive_session(self, path: Path) -> None:
        if not self._store.owns(path):
            raise RefusedError(f"{path} is not in the sessions folder", path=str(path))
        with ways_on(path):
            archive(path, now=iso_time(time()))
