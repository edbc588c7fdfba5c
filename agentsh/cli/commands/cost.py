"""`agentsh cost`: what sessions took, added up by turn, branch, session, project or month.

Costs are what was stored with each answer, in the currency of the prices of the settings; a model
without a price costs 0 and its tokens still count. Read next: session/search/costgroups.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.notices import unread_words, warn
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.parsing.options import Json, SessionDir
from agentsh.cli.parsing.words import Argument, Option
from agentsh.sanitize import first_line, safe_line

if TYPE_CHECKING:
    from agentsh.messages import Usage
    from agentsh.session.search.costgroups import Group
    from agentsh.session.search.costs import Sum


def cost(
    session: Annotated[
        str | None,
        Argument(help="id, unique prefix, path, or `last`; without it, of this directory"),
    ] = None,
    by: Annotated[
        str | None,
        Option("--by", metavar="WHAT", help="turn, branch, session, project or month"),
    ] = None,
    everywhere: Annotated[bool, Option("--all", help="sessions of every directory")] = False,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Add up tokens and cost; what a fork copied counts once."""
    if session is not None:
        return _one(session, by or "turn", json=json, session_dir=session_dir)
    return _many(by or "session", everywhere, json=json, session_dir=session_dir)


def _one(word: str, by: str, *, json: bool, session_dir: str | None) -> int:
    from agentsh.cli.lookup.costing import cost_of_one
    from agentsh.cli.lookup.finding import find_session

    cost = cost_of_one(find_session(word, session_dir), by)
    if json:
        print_json(cost.as_json())
        return 0
    print_lines(_lines(cost.groups, cost.whole))
    warn(_without_price(cost.whole))
    inherited = cost.spent.inherited
    if inherited.requests:
        shown = _words(inherited.usage)
        warn([f"of the total, {shown} was spent by the session that this one was forked from"])
    return 0


def _many(by: str, everywhere: bool, *, json: bool, session_dir: str | None) -> int:
    from agentsh.cli.lookup.costing import cost_of_many
    from agentsh.cli.setup.paths import find_places

    costs = cost_of_many(find_places(os.environ, session_dir), Path.cwd(), by, everywhere)
    if json:
        print_json(costs.as_json())
    else:
        print_lines(_lines(costs.groups, costs.whole))
        warn(_without_price(costs.whole))
    warn(unread_words(costs.unread))
    return 1 if costs.unread and not costs.groups else 0


def _without_price(whole: Sum) -> list[str]:
    if not whole.unpriced:
        return []
    return [f"{whole.unpriced} of {whole.requests} requests had no price: their cost is not in it"]


def _lines(groups: list[Group], whole: Sum) -> Iterator[str]:
    for group in groups:
        path = "" if group.path is None else f"  (path {_words(group.path.usage)})"
        text = first_line(group.text, 60)
        yield f"{_words(group.sum.usage)}  {safe_line(group.name)}{path}  {text}".rstrip()
    yield f"{_words(whole.usage)}  total, {whole.requests} requests"


def _words(usage: Usage) -> str:
    cached = usage.cache_read + usage.cache_write
    return f"${usage.cost.total:.4f}  {usage.input + cached:>9,} in {usage.output:>8,} out"
