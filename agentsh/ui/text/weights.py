"""What fills the window, as a table with bars. Pure.

`agentsh context` and the chat's /context show the same. What it weighs is context/weights.py's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from agentsh.context.weights import DESCRIBES_TOOL, Section, Weights
from agentsh.sanitize import safe_line
from agentsh.session.format.entries import Entry
from agentsh.ui.tree.treetext import who
from agentsh.views.treeitem import item_of

BAR: Final = 10
_LITTLE: Final = 0.03
"""The share below which a tool has no row of its own."""
_WHOLE: Final = 200
"""How much of a name or a line is shown where the width is not known."""


def context_lines(
    weights: Weights, path: Sequence[Entry], width: int | None, folder: str = ""
) -> Iterator[str]:
    """For a person, each line safe to show and of fewer characters than `width` (None: unknown).

    Paths below the folder are said as they are from there.
    """
    room = (width or _WHOLE + 32) - 1
    yield from (safe_line(line, room) for line in _head(weights))
    yield ""
    for section in _joined(weights):
        share = section.tokens / weights.tokens if weights.tokens else 0.0
        row = f"{section.tokens:>9,}  {share:>4.0%}  {bar(share)}  "
        yield row + _name(section.name, room - len(row))
    if not weights.heaviest:
        return
    items = {entry.id: item_of(entry, None, folder) for entry in path}
    yield ""
    yield "the heaviest entries:"
    for heavy in weights.heaviest:
        item = items[heavy.entry]
        row = f"{heavy.tokens:>9,}  {safe_line(heavy.entry, 40)}  {who(item):<7} "
        yield row + safe_line(item.text, max(10, room - len(row)))


def _joined(weights: Weights) -> Iterator[Section]:
    """The parts, with the tools that weigh little in one row."""
    least = weights.tokens * _LITTLE
    little = [s for s in weights.sections if s.name.startswith(DESCRIBES_TOOL) and s.tokens < least]
    for section in weights.sections:
        if len(little) < 2 or section not in little:
            yield section
        elif section is little[-1]:
            yield Section(f"tool schemas: {len(little)} more", sum(s.tokens for s in little))


def bar(share: float) -> str:
    """A share of one as a bar of `BAR` cells, in signs that every terminal has."""
    full = min(BAR, round(share * BAR))
    return ("#" * full).ljust(BAR, ".")


def _name(name: str, room: int) -> str:
    """Of a path that does not fit, the end: there the file's name is."""
    kind, colon, path = safe_line(name).partition(": ")
    if len(kind) + 2 + len(path) <= room or "/" not in path:
        return safe_line(name, max(1, room))
    return f"{kind}{colon}…{path[-max(1, room - len(kind) - 3) :]}"


def _head(weights: Weights) -> Iterator[str]:
    room = weights.room
    if room.window is None:
        yield f"{weights.tokens:,} tokens; how many the model holds is not known"
    else:
        part = weights.tokens * 100 // room.window  # as in the chat's status line
        yield f"{weights.tokens:,} of {room.window:,} tokens ({part}%)"
    if weights.measured is None:
        yield "estimated; no prompt of this path was measured"
    else:
        yield f"estimated, by the last measured prompt: {weights.measured:,} tokens"
    if room.reserve is not None:
        yield f"{room.reserve:,} stay free for the answer"
    if weights.kept is None:
        yield f"a compaction would do nothing: it keeps the last {room.keep:,}"
    else:
        yield f"a compaction would keep {weights.kept:,} of the end"
