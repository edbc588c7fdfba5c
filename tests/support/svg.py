"""A terminal's screen as a small SVG: text in runs of one look, on a fixed grid. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from msgspec import Struct

CELL, LINE, SIZE, EDGE = 8.4, 18.0, 14, 12.0
PAPER, INK = "#1d2021", "#d5d0c4"
COLOURS = {
    "black": "#3c3836",
    "red": "#ea6962",
    "green": "#a9b665",
    "brown": "#d8a657",
    "yellow": "#d8a657",
    "blue": "#7daea3",
    "magenta": "#d3869b",
    "cyan": "#89b482",
    "white": "#d5d0c4",
    "brightblack": "#928374",
}


class Cell(Struct, frozen=True):
    """One column; `text` is empty behind a wide character."""

    text: str
    ink: str = "default"
    paper: str = "default"
    bold: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False

    @property
    def look(self) -> tuple[str, str, bool, bool, bool]:
        ink, paper = _colour(self.ink, INK), _colour(self.paper, PAPER)
        if self.reverse:
            ink, paper = paper, ink
        return ink, paper, self.bold, self.italic, self.underline


def svg(rows: Sequence[Sequence[Cell]], title: str) -> str:
    """The picture; trailing empty rows are left out."""
    shown = list(rows)
    while shown and not "".join(cell.text for cell in shown[-1]).strip():
        shown.pop()
    width = 2 * EDGE + CELL * max(len(row) for row in rows)
    height = 2 * EDGE + LINE * len(shown)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace" '
        f'font-size="{SIZE}" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="100%" height="100%" rx="6" fill="{PAPER}"/>',
        *(line for number, row in enumerate(shown) for line in _row(number, row)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _row(number: int, row: Sequence[Cell]) -> list[str]:
    lines: list[str] = []
    at = 0
    while at < len(row):
        end = at
        while end < len(row) and row[end].look == row[at].look:
            end += 1
        lines += _run(number, at, row[at:end])
        at = end
    return lines


def _run(number: int, at: int, cells: Sequence[Cell]) -> list[str]:
    ink, paper, bold, italic, underline = cells[0].look
    text = "".join(cell.text for cell in cells)
    x, y = EDGE + CELL * at, EDGE + LINE * number
    lines: list[str] = []
    if paper != PAPER:
        lines.append(
            f'<rect x="{x:g}" y="{y:g}" width="{CELL * len(cells):g}" height="{LINE:g}" '
            f'fill="{paper}"/>'
        )
    kept = text.rstrip(" ")
    if kept:
        looks = f' fill="{ink}"'
        looks += ' font-weight="bold"' if bold else ""
        looks += ' font-style="italic"' if italic else ""
        looks += ' text-decoration="underline"' if underline else ""
        length = CELL * (len(cells) - (len(text) - len(kept)))
        lines.append(
            f'<text x="{x:g}" y="{y + LINE * 0.75:g}" textLength="{length:g}" '
            f'xml:space="preserve"{looks}>{escape(kept)}</text>'
        )
    return lines


def _colour(name: str, default: str) -> str:
    if name == "default":
        return default
    return COLOURS.get(name, f"#{name}" if len(name) == 6 else default)
