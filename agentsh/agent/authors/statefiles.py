"""The files of recorded states as tracing.py asks for them, from the stores that hold them.

A state whose store is gone says nothing. Contents are read in the order in which they are needed,
some at a time, and let go again. Reads the stores and, for what vanished since the last state, the
folder. Read next: tools/undo/contents.py.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol

from agentsh.agent.authors.content import NO_CONTENT, Content
from agentsh.agent.authors.timeline import State
from agentsh.agent.authors.tracing import Version
from agentsh.errors import ToolFailedError
from agentsh.tools.undo.contents import NONE, Blob, StoreContents

_HELD = 64 * 1024 * 1024
"""Bytes of contents that are kept at hand."""


class Stores(Protocol):
    """The stores of states (tools/undo/checkpointer.py)."""

    def has(self, store: str) -> bool: ...

    def contents(self, store: str) -> StoreContents: ...


class StateFiles:
    """Satisfies tracing.RecordedFiles. `tree`: the folder. `read`: how many contents were read."""

    def __init__(self, stores: Stores, tree: Path) -> None:
        self._stores = stores
        self._tree = tree
        self._homes: dict[str, str] = {}
        """Content → a store that has it."""
        self._held: dict[str, Content] = {}
        self._next: list[Version] = []
        self._gone: dict[tuple[str, str], Sequence[tuple[str, Version]]] = {}
        self.read = 0
        self.lost: set[str] = set()
        """Stores that could not be asked."""

    def versions(self, states: Sequence[State], name: str) -> Sequence[Version | None]:
        """Of a path outside of the folder no state says anything."""
        versions: dict[tuple[str, str], Version] = {}
        for store in dict.fromkeys(state.fact.store for state in states):
            commits = [s.fact.commit for s in states if s.fact.store == store]
            if name.startswith("/") or not self._has(store):
                continue
            for commit, blob in self._stores.contents(store).of_path(commits, name).items():
                versions[store, commit] = self._version(store, blob)
        return [versions.get((state.fact.store, state.fact.commit)) for state in states]

    def content(self, version: Version) -> Content:
        """Raises ToolFailedError: it is lost."""
        if version.name == NONE:
            return NO_CONTENT
        if version.name not in self._held:
            self._fetch(version)
        return self._held[version.name]

    def expect(self, versions: Sequence[Version]) -> None:
        self._next = [version for version in versions if version.name != NONE]

    def vanished(self, old: State, new: State | None) -> Sequence[tuple[str, Version]]:
        store = old.fact.store
        if not self._has(store) or (new is not None and new.fact.store != store):
            return ()
        if new is None:
            return self._not_there(old)
        pair = (old.fact.commit, new.fact.commit)
        if pair not in self._gone:
            self._ask(store, [pair])
        return self._gone[pair]

    def compare(self, pairs: Sequence[tuple[State, State]]) -> None:
        by_store: dict[str, dict[str, tuple[str, str]]] = {}
        for old, new in pairs:
            if old.fact.store == new.fact.store and self._has(new.fact.store):
                pair = (old.fact.commit, new.fact.commit)
                by_store.setdefault(new.fact.store, {}).setdefault(pair[1], pair)
        for store, asked in by_store.items():
            self._ask(store, list(asked.values()))

    # ---- inside --------------------------------------------------------------------------------

    def _has(self, store: str) -> bool:
        if self._stores.has(store):
            return True
        self.lost.add(store)
        return False

    def _version(self, store: str, blob: Blob) -> Version:
        self._homes[blob.name] = store
        return Version(blob.name, blob.size)

    def _ask(self, store: str, pairs: Sequence[tuple[str, str]]) -> None:
        for pair, gone in self._stores.contents(store).gone(pairs).items():
            self._gone[pair] = [(name, self._version(store, Blob(b, 0))) for name, b in gone]

    def _not_there(self, last: State) -> Sequence[tuple[str, Version]]:
        store = last.fact.store
        listed = self._stores.contents(store).all_of(last.fact.commit)
        return [
            (name, self._version(store, Blob(blob, 0)))
            for name, blob in listed.items()
            if not os.path.lexists(self._tree / name)
        ]

    def _fetch(self, version: Version) -> None:
        """It, and what comes next."""
        store = self._homes[version.name]
        ahead = self._next[self._next.index(version) :] if version in self._next else [version]
        fitting = _fitting([each for each in ahead if self._homes.get(each.name) == store])
        for name, data in self._stores.contents(store).read(
            [Blob(each.name, each.size) for each in fitting]
        ):
            self.read += 1
            self._held[name] = Content(data)
        self._let_go({each.name for each in fitting})
        if version.name not in self._held:
            raise ToolFailedError("a recorded state of the file cannot be read: it was lost")

    def _let_go(self, names: Collection[str]) -> None:
        self._held = {name: each for name, each in self._held.items() if name in names}


def _fitting(versions: Sequence[Version]) -> Sequence[Version]:
    """As many of the first as are kept at hand at once, each once."""
    fitting: dict[str, Version] = {}
    size = 0
    for each in versions:
        if fitting and size + each.size > _HELD:
            break
        if each.name not in fitting:
            fitting[each.name] = each
            size += each.size
    return list(fitting.values())
