"""What sessions took, as the value of `cost --json`: of one, or of all of a folder, or of all.

Read next: session/search/costgroups.py, remote/values/costs.py.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from agentsh.cli.setup.paths import Paths
from agentsh.errors import UsageError
from agentsh.jsontext import JsonObject
from agentsh.remote.values.costs import cost_json, session_cost_json
from agentsh.session.search.costgroups import (
    GROUPINGS,
    Costs,
    Group,
    Grouping,
    SessionCost,
    across,
    cost_of_session,
    costs_of,
)
from agentsh.session.search.costs import Sum
from agentsh.session.store.catalog import Index
from agentsh.session.store.store import Store

_OF_ONE = ("turn", "branch", "month")


class OneCost(Struct, frozen=True):
    """What one session took."""

    path: Path
    by: Grouping
    spent: SessionCost
    groups: list[Group]

    @property
    def whole(self) -> Sum:
        return self.spent.own.with_others(self.spent.inherited)

    def as_json(self) -> JsonObject:
        return session_cost_json(self.spent, self.path, self.by, self.groups)


class ManyCosts(Struct, frozen=True):
    """What many took; `unread`: files that could not be read, with why."""

    by: Grouping
    groups: list[Group]
    unread: dict[str, str]

    @property
    def whole(self) -> Sum:
        total = Sum()
        for group in self.groups:
            total = total.with_others(group.sum)
        return total

    def as_json(self) -> JsonObject:
        return cost_json(self.whole, self.by, self.groups, self.unread)


def cost_of_one(path: Path, word: str) -> OneCost:
    """Raises UsageError for a word that is no way to group one session."""
    by = _grouping(word)
    if by not in _OF_ONE:
        raise UsageError(f"--by {by} is for many sessions", hint="without SESSION, or with --all")
    ask = {"turn": Costs.by_turn, "branch": Costs.by_branch, "month": Costs.by_month}[by]
    return OneCost(path, by, cost_of_session(path), costs_of(path, ask))


def cost_of_many(places: Paths, cwd: Path, word: str, everywhere: bool) -> ManyCosts:
    """Raises UsageError for a word that is no way to group many sessions."""
    by = _grouping(word)
    if by in ("turn", "branch"):
        raise UsageError(f"--by {by} is for one session", hint="name it: agentsh cost SESSION")
    store = Store(places.sessions, places.flat, summaries=Index(places.index).summaries)
    unread: dict[str, str] = {}
    every_row = store.rows(unread=unread)
    rows = every_row if everywhere else [row for row in every_row if row.cwd == str(cwd)]
    return ManyCosts(by, across(rows, by, every_row, unread), unread)


def _grouping(word: str) -> Grouping:
    for grouping in GROUPINGS:
        if grouping == word:
            return grouping
    raise UsageError(f"--by {word[:40]!r}: it is one of " + ", ".join(GROUPINGS))
