"""`agentsh cost`: what sessions took, added up by turn, branch, session, project or month.

Costs are what was stored with each answer, in the currency of the prices of the settings; a model
without a price costs 0 and its tokens still count. Read next: session/costgroups.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from agentsh.cli.finding import find_session
from agentsh.cli.notices import warn
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.places import find_places
from agentsh.errors import UsageError
from agentsh.jsontext import JsonObject
from agentsh.messages import Usage
from agentsh.session.costgroups import (
    GROUPINGS,
    Costs,
    Group,
    Grouping,
    across,
    cost_of_session,
    costs_of,
)
from agentsh.session.costs import Sum, added
from agentsh.session.index import Index
from agentsh.session.store import Store
from agentsh.ui.jsonl import usage_json
from agentsh.ui.sanitize import first_line, safe_line

_OF_ONE = ("turn", "branch", "month")


def cost(
    session: str | None, *, by: str | None, everywhere: bool, json: bool, session_dir: str | None
) -> int:
    """Of one session, of this directory's, or with --all of all."""
    if session is not None:
        return _one(session, _grouping(by or "turn"), json=json, session_dir=session_dir)
    return _many(_grouping(by or "session"), everywhere, json=json, session_dir=session_dir)


def _grouping(word: str) -> Grouping:
    for grouping in GROUPINGS:
        if grouping == word:
            return grouping
    raise UsageError(f"--by {word[:40]!r}: it is one of " + ", ".join(GROUPINGS))


def _one(word: str, by: Grouping, *, json: bool, session_dir: str | None) -> int:
    if by not in _OF_ONE:
        raise UsageError(f"--by {by} is for many sessions", hint="without SESSION, or with --all")
    path = find_session(word, session_dir)
    found = cost_of_session(path)
    ask = {"turn": Costs.by_turn, "branch": Costs.by_branch, "month": Costs.by_month}[by]
    groups = costs_of(path, ask)
    whole = Sum(
        added(found.own.usage, found.inherited.usage),
        found.own.requests + found.inherited.requests,
    )
    if json:
        head: JsonObject = {"session": found.session, "path": str(path), "by": by}
        print_json(
            {
                **head,
                "total": _sum(whole),
                "own": _sum(found.own),
                "inherited": _sum(found.inherited),
                "groups": [_as_json(group) for group in groups],
            }
        )
        return 0
    print_lines(_lines(groups, whole))
    if found.inherited.requests:
        shown = _words(found.inherited.usage)
        warn([f"of the total, {shown} was spent by the session that this one was forked from"])
    return 0


def _many(by: Grouping, everywhere: bool, *, json: bool, session_dir: str | None) -> int:
    if by in ("turn", "branch"):
        raise UsageError(f"--by {by} is for one session", hint="name it: agentsh cost SESSION")
    places = find_places(os.environ, session_dir)
    store = Store(places.sessions, places.flat, summaries=Index(places.index).summaries)
    known = store.rows()
    here = str(Path.cwd())
    rows = known if everywhere else [row for row in known if row.cwd == here]
    groups = across(rows, by, known)
    whole = Sum()
    for group in groups:
        requests = whole.requests + group.sum.requests
        whole = Sum(added(whole.usage, group.sum.usage), requests)
    if json:
        print_json(
            {"by": by, "total": _sum(whole), "groups": [_as_json(group) for group in groups]}
        )
    else:
        print_lines(_lines(groups, whole))
    return 0


def _sum(sum_: Sum) -> JsonObject:
    return {
        "cost": sum_.usage.cost.total,
        "requests": sum_.requests,
        "usage": usage_json(sum_.usage),
    }


def _as_json(group: Group) -> JsonObject:
    value: JsonObject = {"name": group.name, "text": first_line(group.text), **_sum(group.sum)}
    return value if group.path is None else {**value, "path": _sum(group.path)}


def _lines(groups: list[Group], whole: Sum) -> Iterator[str]:
    for group in groups:
        path = "" if group.path is None else f"  (path {_words(group.path.usage)})"
        text = first_line(group.text, 60)
        yield f"{_words(group.sum.usage)}  {safe_line(group.name)}{path}  {text}".rstrip()
    yield f"{_words(whole.usage)}  total, {whole.requests} requests"


def _words(usage: Usage) -> str:
    cached = usage.cache_read + usage.cache_write
    return f"${usage.cost.total:.4f}  {usage.input + cached:>9,} in {usage.output:>8,} out"
