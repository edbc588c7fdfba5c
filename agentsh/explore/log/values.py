"""An exploration as JSON, for programs: the whole value, and one row of it. Pure.

Shapes and names are those of docs/explore.md. What lives is given by whoever looks (folder.py).
Read next: state.py, outcome.py.
"""

from __future__ import annotations

from agentsh.explore.log.facts import CaptureFact, CheckFact
from agentsh.explore.log.folder import ExploreFolders
from agentsh.explore.log.outcome import best_branch, code_of_exploration, same_files
from agentsh.explore.log.state import GOES_ON, BranchRow, Exploration
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import Usage


def exploration_status(exploration: Exploration, *, is_running: bool) -> str:
    """running, stopped (rows are open and nobody runs it) or ended."""
    if is_running:
        return "running"
    return "stopped" if any(row.status in GOES_ON for row in exploration.rows) else "ended"


def exploration_json(
    folders: ExploreFolders, session: str, exploration: Exploration, *, runner: int | None
) -> JsonObject:
    """The whole value. `runner`: the process that runs it."""
    same = same_files(exploration.rows)
    rows: list[JsonValue] = [
        branch_json(folders, exploration, row, same.get(row.n), is_running=runner is not None)
        for row in exploration.rows
    ]
    return exploration_head(folders, session, exploration, runner=runner) | {"branches": rows}


def exploration_head(
    folders: ExploreFolders, session: str, exploration: Exploration, *, runner: int | None
) -> JsonObject:
    """The value without its rows, as `list` gives it."""
    plan, limits = exploration.plan, exploration.limits
    base = plan.bases[0]
    trunk = plan.trunk
    left_out: list[JsonValue] = list(base.left_out)
    return {
        "exploration": folders.name,
        "session": session,
        "path": str(folders.log),
        "name": plan.name,
        "status": exploration_status(exploration, is_running=runner is not None),
        "exit": code_of_exploration(exploration),
        "folder": plan.folder,
        "engine": plan.engine,
        "trunk": None
        if trunk is None
        else {"session": trunk.session, "path": trunk.path, "leaf": trunk.leaf},
        "base": {
            "commit": base.commit,
            "files": base.files,
            "bytes": base.bytes,
            "left_out": left_out,
        },
        "check": plan.check,
        "limits": {
            "cost": limits.cost,
            "tokens": limits.tokens,
            "seconds": limits.seconds,
            "steps": limits.steps,
            "parallel": limits.parallel,
            "retries": limits.retries,
        },
        "spent": spent_json(exploration),
        "best": best_branch(exploration),
        "picked": exploration.picked,
    }


def explored_json(folders: ExploreFolders, exploration: Exploration) -> JsonObject:
    """What the tree of a trunk says of it."""
    trunk = exploration.plan.trunk
    return {
        "exploration": folders.name,
        "entry": None if trunk is None else trunk.leaf,
        "branches": [
            {
                "branch": f"{folders.name}.{row.n}",
                "session": None if row.started is None else row.started.session,
                "path": None if row.started is None else row.started.path,
                "status": row.status,
            }
            for row in exploration.rows
        ],
    }


def spent_json(exploration: Exploration) -> JsonObject:
    spent = Usage()
    for row in exploration.rows:
        spent = spent + row.usage
    return {
        "cost": round(spent.cost.total, 6),
        "input": spent.input,
        "output": spent.output,
        "cache_read": spent.cache_read,
        "seconds": round(sum(row.seconds for row in exploration.rows), 3),
    }


def branch_json(
    folders: ExploreFolders,
    exploration: Exploration,
    row: BranchRow,
    same_as: int | None,
    *,
    is_running: bool,
) -> JsonObject:
    """One branch."""
    capture, started, turn = row.capture, row.started, row.turn
    is_at_work = is_running and row.status == "running" and started is not None
    return {
        "branch": f"{folders.name}.{row.n}",
        "n": row.n,
        "task": row.task.id,
        "prompt": row.task.prompt,
        "model": row.planned.model,
        "nth": row.planned.nth,
        "tries": row.tries,
        "status": row.status,
        "session": None if started is None else started.session,
        "path": None if started is None else started.path,
        "leaf": None if turn is None else turn.leaf,
        "text": None if turn is None else turn.text,
        "error": row.error,
        "check": None if row.check is None else check_json(row.check),
        **_changes_json(capture),
        "same_as": same_as,
        "steps": 0 if turn is None else turn.steps,
        "usage": branch_usage_json(row.usage),
        "cost": round(row.usage.cost.total, 6),
        "seconds": round(row.seconds, 3),
        "workspace": row.workspace,
        "process": {"pid": started.pid, "host": started.host} if is_at_work and started else None,
        "extra": dict(row.task.extra),
    }


def _changes_json(capture: CaptureFact | None) -> JsonObject:
    """What it did to the files."""
    if capture is None:
        return {"files": 0, "added": 0, "removed": 0, "changed": [], "protected": []}
    changed: list[JsonValue] = [{"path": path, "kind": kind} for path, kind in capture.changed]
    protected: list[JsonValue] = list(capture.protected)
    return {
        "files": len(changed),
        "added": capture.added,
        "removed": capture.removed,
        "changed": changed,
        "protected": protected,
    }


def check_json(check: CheckFact) -> JsonObject:
    return {
        "exit": check.exit,
        "seconds": check.seconds,
        "output": check.output,
        "timed_out": check.timed_out,
    }


def branch_usage_json(usage: Usage) -> JsonObject:
    return {
        "input": usage.input,
        "output": usage.output,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "total": usage.total_tokens,
    }
