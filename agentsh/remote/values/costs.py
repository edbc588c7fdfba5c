"""What sessions took, as a value. Pure.

It stands alone: whoever asks for it loads no other value. Read next: session/search/costgroups.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.sanitize import first_line
from agentsh.session.search.costgroups import Group, Grouping, SessionCost
from agentsh.session.search.costs import Sum
from agentsh.views.sessionviews import usage_json


def session_cost_json(
    costs: SessionCost, path: Path, by: Grouping, groups: Sequence[Group]
) -> JsonObject:
    """Of one session; what a fork copied is told apart."""
    return {
        "session": costs.session,
        "path": str(path),
        "by": by,
        "total": _sum(costs.own.with_others(costs.inherited)),
        "own": _sum(costs.own),
        "inherited": _sum(costs.inherited),
        "groups": _groups(groups),
    }


def cost_json(
    whole: Sum, by: Grouping, groups: Sequence[Group], unread: Iterable[str]
) -> JsonObject:
    """Of many sessions."""
    return {
        "by": by,
        "total": _sum(whole),
        "groups": _groups(groups),
        "unread": sorted(unread),
    }


def _groups(groups: Sequence[Group]) -> list[JsonValue]:
    return [_group(group) for group in groups]


def _group(group: Group) -> JsonObject:
    value: JsonObject = {"name": group.name, "text": first_line(group.text), **_sum(group.sum)}
    return value if group.path is None else {**value, "path": _sum(group.path)}


def _sum(sum_: Sum) -> JsonObject:
    return {
        "cost": sum_.usage.cost.total,
        "requests": sum_.requests,
        "unpriced": sum_.unpriced,
        "usage": usage_json(sum_.usage),
    }
