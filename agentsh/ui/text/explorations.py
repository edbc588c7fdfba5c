"""An exploration as lines: news while it runs, the table at its end, or JSON for programs.

Off a terminal: a line on stderr for each change of status, the plain table on stdout. What branches
said is foreign text, and shown as such. Read next: explore/log/values.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TextIO, assert_never

from agentsh.explore.log.folder import ExploreFolders
from agentsh.explore.log.outcome import best_branch, has_passed, same_files
from agentsh.explore.log.state import BranchRow, Exploration
from agentsh.explore.log.values import (
    branch_json,
    branch_usage_json,
    exploration_json,
    exploration_status,
)
from agentsh.explore.running.news import (
    BranchNews,
    ExploreNews,
    LimitNews,
    StepNews,
    WaitNews,
    WordsNews,
)
from agentsh.jsontext import JsonObject, dumps_text
from agentsh.sanitize import safe_line, safe_text
from agentsh.ui.cells import cut, width_of

_SAID = 60
_HEAD = ("branch", "status", "model", "files", "+", "-", "check", "steps", "tokens", "cost", "time")


class ExplorationFront(Protocol):
    """Shows one exploration."""

    def begin(self, folders: ExploreFolders, session: str, now: Exploration) -> None: ...

    def hear(self, news: ExploreNews) -> None: ...

    def end(self, value: JsonObject, now: Exploration) -> None: ...


@contextmanager
def open_front(output: str, stdout: TextIO, stderr: TextIO) -> Iterator[ExplorationFront]:
    """`output`: text, json or events."""
    if output == "events":
        yield EventFront(stdout)
    elif output == "json":
        yield JsonFront(stdout, stderr)
    else:
        yield LineFront(stdout, stderr)


class EventFront:
    """JSON lines on stdout."""

    def __init__(self, stdout: TextIO) -> None:
        self._out = stdout
        self._folders: ExploreFolders | None = None
        self._now: Exploration | None = None

    def begin(self, folders: ExploreFolders, session: str, now: Exploration) -> None:
        self._folders, self._now = folders, now
        value = exploration_json(folders, session, now, runner=0)
        self._say({"type": "exploration", **value})

    def hear(self, news: ExploreNews) -> None:
        assert self._folders is not None
        assert self._now is not None
        match news:
            case BranchNews(row):
                value = branch_json(self._folders, self._now, row, None, is_running=True)
                self._say({"type": "branch", **value})
            case StepNews(n, usage):
                cost = round(usage.cost.total, 6)
                self._say({"type": "step", "n": n, "usage": branch_usage_json(usage), "cost": cost})
            case WaitNews(endpoint, seconds, why):
                self._say({"type": "wait", "endpoint": endpoint, "seconds": seconds, "why": why})
            case LimitNews(what):
                self._say({"type": "limit", "what": what})
            case WordsNews(text, level):
                self._say({"type": "notice", "level": level, "text": text})
            case _:
                assert_never(news)

    def end(self, value: JsonObject, now: Exploration) -> None:
        del now
        self._say({"type": "done", **value})

    def _say(self, value: JsonObject) -> None:
        self._out.write(dumps_text(value) + "\n")
        self._out.flush()


class JsonFront:
    """One value on stdout; what a person should know on stderr."""

    def __init__(self, stdout: TextIO, stderr: TextIO) -> None:
        self._out, self._err = stdout, stderr

    def begin(self, folders: ExploreFolders, session: str, now: Exploration) -> None:
        """Nothing is said before the end."""

    def hear(self, news: ExploreNews) -> None:
        for line in news_lines(news):
            _write(self._err, f"agentsh: {line}")

    def end(self, value: JsonObject, now: Exploration) -> None:
        del now
        self._out.write(dumps_text(value) + "\n")


class LineFront:
    """Lines for a person where there is no terminal."""

    def __init__(self, stdout: TextIO, stderr: TextIO) -> None:
        self._out, self._err = stdout, stderr
        self._name = ""

    def begin(self, folders: ExploreFolders, session: str, now: Exploration) -> None:
        del session
        self._name = folders.name
        count = len(now.to_do())
        _write(self._err, f"exploration {folders.name}: {count} branches to run")

    def hear(self, news: ExploreNews) -> None:
        if isinstance(news, BranchNews):
            row = news.row
            error = f": {row.error}" if row.error else ""
            _write(self._err, f"{self._name}.{row.n} {row.status}{error}")
        for line in news_lines(news):
            _write(self._err, f"agentsh: {line}")

    def end(self, value: JsonObject, now: Exploration) -> None:
        del value
        for line in exploration_table(self._name, now):
            _write(self._out, line)
        for line in next_commands(self._name, now):
            _write(self._out, line)


def exploration_table(name: str, now: Exploration) -> Iterator[str]:
    """The rows, a line each, columns aligned; behind them what each branch said."""
    same = same_files(now.rows)
    rows = [_HEAD, *(_cells(name, row) for row in now.rows)]
    widths = [max(width_of(cells[column]) for cells in rows) for column in range(len(_HEAD))]
    for cells, row in zip(rows, (None, *now.rows), strict=True):
        line = "  ".join(
            cell + " " * (width - width_of(cell)) for cell, width in zip(cells, widths, strict=True)
        )
        yield (line if row is None else f"{line}  {_said(row, same.get(row.n))}").rstrip()
    if not now.plan.has_view:
        yield "no bubblewrap: branches worked at paths of their own, and not at the folder's"


def branch_lines(name: str, now: Exploration, *, unicode: bool) -> Iterator[str]:
    """The branches in the tree of their trunk."""
    mark, good, bad = ("◇", "✓", "✗") if unicode else ("<>", "ok", "x")
    for row in now.rows:
        is_done = has_passed(row) if row.check is not None else row.status == "completed"
        sign = good if is_done else bad if row.status not in ("queued", "running") else "…"
        words = _said(row, None)
        yield " ".join(part for part in (mark, f"{name}.{row.n}", sign, words) if part)


def exploration_line(name: str, now: Exploration, *, is_running: bool) -> str:
    """One exploration in the list."""
    done = sum(row.status == "completed" for row in now.rows)
    what = now.plan.name or now.rows[0].task.prompt if now.rows else ""
    status = exploration_status(now, is_running=is_running)
    return cut(safe_line(f"{name}  {status}  {done}/{len(now.rows)} completed  {what}"), 200)


def next_commands(name: str, now: Exploration) -> Iterator[str]:
    """What a person may do now."""
    chosen = best_branch(now)
    number = chosen or next((r.n for r in now.rows if r.capture and r.capture.changed), None)
    if number is not None:
        how = " (the best)" if chosen else ""
        yield ""
        yield f"agentsh explore diff {name}.{number}    what branch {number}{how} changed"
        yield f"agentsh explore pick {name}.{number}    bring it here"


def _cells(name: str, row: BranchRow) -> tuple[str, ...]:
    capture, check = row.capture, row.check
    how = "-" if check is None else "timed out" if check.timed_out else f"exit {check.exit}"
    return (
        f"{name}.{row.n}",
        row.status,
        safe_line(row.planned.model or "-"),
        str(0 if capture is None else len(capture.changed)),
        str(0 if capture is None else capture.added),
        str(0 if capture is None else capture.removed),
        "passed" if check is not None and check.exit == 0 else how,
        str(0 if row.turn is None else row.turn.steps),
        str(row.usage.total_tokens),
        f"{row.usage.cost.total:.4f}" if row.usage.cost.total else "-",
        f"{row.seconds:.0f}s",
    )


def _said(row: BranchRow, same_as: int | None) -> str:
    words = row.error or ("" if row.turn is None else row.turn.text)
    marks = [f"same files as {same_as}"] if same_as is not None else []
    if row.capture is not None and row.capture.protected:
        marks.append(f"changed protected files: {', '.join(row.capture.protected)}")
    return cut(safe_line("; ".join([*marks, words])), _SAID)


def news_lines(news: ExploreNews) -> Sequence[str]:
    """What a person should know of it; a change of a row is told by its table."""
    match news:
        case WordsNews(text=text):
            return (text,)
        case WaitNews(endpoint, seconds, why):
            return (f"{endpoint} says to wait {seconds:g} s: {why}",)
        case LimitNews(what):
            return (f"limit: {what}",)
        case BranchNews() | StepNews():
            return ()
        case _:
            assert_never(news)


def _write(stream: TextIO, line: str) -> None:
    stream.write(safe_text(line) + "\n")
    stream.flush()
