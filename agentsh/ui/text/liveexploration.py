"""An exploration at a terminal: a live table on stderr, gone at the end, then the table on stdout.

It never grows over the screen: branches at work stand first, the rest is counted. It stands alone
so that nobody else loads what draws it. Read next: explorations.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from agentsh.explore.log.folder import ExploreFolders
from agentsh.explore.log.state import BranchRow, Exploration
from agentsh.explore.running.news import BranchNews, ExploreNews, StepNews
from agentsh.jsontext import JsonObject
from agentsh.sanitize import safe_line
from agentsh.ui.text.explorations import exploration_table, news_lines, next_commands

_OTHERS = 4
"""Rows of the screen that are no branch's: head, count, what is told, the cursor's."""
_COLUMNS = ("branch", "status", "model", "steps", "said")


@contextmanager
def live_front(stdout: TextIO, stderr: TextIO) -> Iterator[LiveFront]:
    console = Console(file=stderr, markup=False, highlight=False, emoji=False)
    with Live(console=console, transient=True, auto_refresh=False) as live:
        yield LiveFront(live, stdout)


class LiveFront:
    """Satisfies explorations.ExplorationFront."""

    def __init__(self, live: Live, stdout: TextIO) -> None:
        self._live, self._out = live, stdout
        self._name = ""
        self._width = 0
        """Of a branch's name, which is what a person types."""
        self._rows: dict[int, BranchRow] = {}
        self._steps: Counter[int] = Counter()

    def begin(self, folders: ExploreFolders, session: str, now: Exploration) -> None:
        del session
        self._name = folders.name
        self._rows = {row.n: row for row in now.rows}
        self._width = max((len(f"{self._name}.{n}") for n in self._rows), default=0)
        self._draw()

    def hear(self, news: ExploreNews) -> None:
        match news:
            case BranchNews(row):
                self._rows[row.n] = row
            case StepNews(n):
                self._steps[n] += 1
            case _:
                for line in news_lines(news):
                    self._live.console.print(Text(safe_line(f"agentsh: {line}")))
        self._draw()

    def end(self, value: JsonObject, now: Exploration) -> None:
        del value
        self._live.stop()
        for line in (*exploration_table(self._name, now), *next_commands(self._name, now)):
            self._out.write(line + "\n")
        self._out.flush()

    def _draw(self) -> None:
        self._live.update(self._table(self._live.console.size.height - _OTHERS), refresh=True)

    def _table(self, room: int) -> Table:
        table = Table(box=None, pad_edge=False, expand=False)
        for column in _COLUMNS:
            least = self._width if column == _COLUMNS[0] else None
            table.add_column(column, no_wrap=True, overflow="ellipsis", min_width=least)
        rows = sorted(self._rows.values(), key=_rank)
        shown = rows[: max(1, room)]
        for row in shown:
            table.add_row(*map(Text, self._cells(row)))
        left = Counter(row.status for row in rows[len(shown) :])
        counted = ", ".join(f"{count} {status}" for status, count in sorted(left.items()))
        more = f"and {counted}" if counted else ""
        table.add_row(Text(f"{len(rows)} in all"), Text(more))
        return table

    def _cells(self, row: BranchRow) -> tuple[str, ...]:
        said = row.error or ("" if row.turn is None else row.turn.text)
        steps = self._steps[row.n] if row.turn is None else row.turn.steps
        model = safe_line(row.planned.model or "-")
        return (f"{self._name}.{row.n}", row.status, model, str(steps), safe_line(said))


def _rank(row: BranchRow) -> tuple[int, int]:
    """At work first, then what ended last, then what waits."""
    order = 0 if row.status == "running" else 2 if row.status == "queued" else 1
    return (order, row.n)
