"""What differs between two places of a session: entries behind their common ancestor, and files.

Looks only: the session is read, and git is asked about states that are recorded already. Which
state belongs to a place is filestates.py's; how it reads is ui/text/differences.py's.
"""

from __future__ import annotations

from msgspec import Struct

from agentsh.agent.files.filestates import FileState, calls_since, state_at
from agentsh.session.file.session import Session
from agentsh.session.format.entries import Entry, EntryId
from agentsh.tools.undo.checkpointer import Checkpointer
from agentsh.tools.undo.undo import Change

MOST_PATCH = 256 * 1024


class Differences(Struct, frozen=True):
    """From `a` to `b`. `only_a` and `only_b`: the entries behind their common ancestor."""

    a: EntryId | None
    b: EntryId | None
    common: EntryId | None
    only_a: tuple[Entry, ...]
    only_b: tuple[Entry, ...]
    files: tuple[Change, ...] = ()
    patch: str = ""
    notices: tuple[str, ...] = ()


def compare(
    session: Session, checkpointer: Checkpointer, a: EntryId | None, b: EntryId | None
) -> Differences:
    """The two places side by side. Raises ToolFailedError: git cannot be asked."""
    common = session.tree.common_ancestor(a, b)
    files, patch, notices = _files(session, checkpointer, a, b)
    return Differences(
        a,
        b,
        common,
        _behind(session, a, common),
        _behind(session, b, common),
        files,
        patch,
        notices,
    )


def _behind(session: Session, end: EntryId | None, common: EntryId | None) -> tuple[Entry, ...]:
    """The entries of a path that come after the common ancestor."""
    path = session.tree.path(end)
    start = 0 if common is None else path.index(common) + 1
    return tuple(session.entry(entry) for entry in path[start:])


def _files(
    session: Session, checkpointer: Checkpointer, a: EntryId | None, b: EntryId | None
) -> tuple[tuple[Change, ...], str, tuple[str, ...]]:
    old, new = state_at(session, a), state_at(session, b)
    if old is None or new is None:
        missing = [name for name, state in (("A", old), ("B", new)) if state is None]
        if len(missing) == 2:
            return (), "", ()
        return (), "", (f"the files' state at {missing[0]} is not recorded",)
    if old.fact.store != new.fact.store or not checkpointer.has(old.fact.store):
        return (), "", ("the files' states cannot be compared: their store is another, or gone",)
    if old.fact.commit == new.fact.commit:
        return (), "", (*_inexact(old, new), *_unrecorded(session, checkpointer, old, new))
    store, one, two = old.fact.store, old.fact.commit, new.fact.commit
    patch = checkpointer.patch(store, one, two)
    notices = (*_inexact(old, new), *_unrecorded(session, checkpointer, old, new))
    if len(patch) > MOST_PATCH:
        patch = patch[:MOST_PATCH].rpartition("\n")[0]
        notices = (*notices, f"the patch is cut at {MOST_PATCH} characters")
    return checkpointer.difference(store, one, two), patch.rstrip("\n"), notices


def _unrecorded(
    session: Session, checkpointer: Checkpointer, old: FileState, new: FileState
) -> tuple[str, ...]:
    """What the agent wrote between the two states and neither holds."""
    calls = calls_since(session, old.entry, new.entry)
    if not calls.overwritten:
        return ()
    commits = (old.fact.commit, new.fact.commit)
    named = checkpointer.not_held(old.fact.store, commits, calls.overwritten)
    return tuple(f"not compared: {each}" for each in named)


def _inexact(*states: FileState) -> tuple[str, ...]:
    if all(state.exact for state in states):
        return ()
    return ("the exact state of the files was not recorded there; the nearest before it is shown",)
