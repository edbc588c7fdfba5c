"""`agentsh diff`: what differs between two places of a session: messages, and working files.

Looks only: the session file is read, and git is asked about states that are recorded already. Which
state belongs to a place is agent/filestates.py's. The chat's /diff shows the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from agentsh.agent.filestates import FileState, state_at
from agentsh.cli.finding import find_store, look_at
from agentsh.cli.notices import warn
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.places import find_places
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.session.entries import Entry, EntryId
from agentsh.session.session import Session
from agentsh.tools.keeper import Keeper
from agentsh.tools.undo import Change
from agentsh.ui.sanitize import safe_line, safe_text
from agentsh.ui.views import chat_lines, chat_view

MOST_PATCH = 256 * 1024
_SIGNS = {"create": "A", "change": "M", "delete": "D"}


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


def diff(session: str, a: str, b: str, *, json: bool, session_dir: str | None) -> int:
    """Show it."""
    with look_at(session, session_dir) as opened:
        home = find_store(session_dir).cwd_of(opened.header.id, opened.header.cwd)
        places = find_places(os.environ, session_dir)
        keeper = Keeper(Path(home), places.checkpoints, os.environ)
        found = compare(opened, keeper, opened.resolve(a), opened.resolve(b))
        if json:
            print_json(_as_json(opened, found))
        else:
            warn(found.notices)
            print_lines(diff_lines(found))
    return 0


def compare(session: Session, keeper: Keeper, a: EntryId | None, b: EntryId | None) -> Differences:
    """The two places side by side. Raises ToolFailedError: git cannot be asked."""
    common = session.tree.common_ancestor(a, b)
    files, patch, notices = _files(session, keeper, a, b)
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


def diff_lines(found: Differences) -> Iterator[str]:
    """For a person, every line safe to show."""
    sides = ((found.a, found.only_a), (found.b, found.only_b))
    for name, (place, entries) in zip("AB", sides, strict=True):
        lines = list(chat_lines(entries))
        if lines:
            yield f"only on the way to {name} ({place}):"
            yield from (f"  {line}" for line in lines)
    yield from file_lines(found)


def file_lines(found: Differences) -> Iterator[str]:
    """The same of the files alone."""
    if not found.files:
        yield "no files differ" if not found.notices else "files: not known"
        return
    yield "files, from A to B:"
    yield from (f"  {_SIGNS[change.kind]} {safe_line(change.path)}" for change in found.files)
    yield from safe_text(found.patch).split("\n")


def _as_json(session: Session, found: Differences) -> JsonObject:
    messages: JsonObject = {
        "a": _messages(found.only_a),
        "b": _messages(found.only_b),
    }
    files: list[JsonValue] = [{"path": c.path, "kind": c.kind} for c in found.files]
    return {
        "session": session.header.id,
        "a": found.a,
        "b": found.b,
        "common": found.common,
        "messages": messages,
        "files": files,
        "patch": found.patch,
        "notices": list(found.notices),
    }


def _messages(entries: Iterable[Entry]) -> list[JsonValue]:
    return [*chat_view(entries)]


def _behind(session: Session, place: EntryId | None, common: EntryId | None) -> tuple[Entry, ...]:
    """The entries of a path that come after the common ancestor."""
    path = session.tree.path(place)
    start = 0 if common is None else path.index(common) + 1
    return tuple(session.entry(entry) for entry in path[start:])


def _files(
    session: Session, keeper: Keeper, a: EntryId | None, b: EntryId | None
) -> tuple[tuple[Change, ...], str, tuple[str, ...]]:
    old, new = state_at(session, a), state_at(session, b)
    if old is None or new is None:
        missing = [name for name, state in (("A", old), ("B", new)) if state is None]
        if len(missing) == 2:
            return (), "", ()
        return (), "", (f"the files' state at {missing[0]} is not recorded",)
    if old.fact.store != new.fact.store or not keeper.has(old.fact.store):
        return (), "", ("the files' states cannot be compared: their store is another, or gone",)
    if old.fact.commit == new.fact.commit:
        return (), "", _inexact(old, new)
    store, one, two = old.fact.store, old.fact.commit, new.fact.commit
    patch = keeper.patch(store, one, two)
    notices = _inexact(old, new)
    if len(patch) > MOST_PATCH:
        patch = patch[:MOST_PATCH].rpartition("\n")[0]
        notices = (*notices, f"the patch is cut at {MOST_PATCH} characters")
    return keeper.difference(store, one, two), patch.rstrip("\n"), notices


def _inexact(*states: FileState) -> tuple[str, ...]:
    if all(state.exact for state in states):
        return ()
    return ("the exact state of the files was not recorded there; the nearest before it is shown",)
