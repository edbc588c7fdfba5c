"""A block of prose or of a list → lines of spans, and how far in each goes on below itself.

Pure, and so it stands alone beside what colours and prints.

Each line of the text is one here too, so that it can be printed before the next one is known; only
a mark that is open at a line's end makes one of both. Read next: render.py, inline.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentsh.ui.paper.inline import spans_of, unclosed
from agentsh.ui.paper.markdown import Block
from agentsh.ui.paper.rows import Laid, styled_lines

_ITEM = re.compile(r"([-*+]|\d{1,9}[.)])(?: +|$)")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_RULE = re.compile(r" {0,3}([-*_])(?: *\1){2,} *$")


def prose_lines(block: Block, width: int) -> Iterator[Laid]:
    """`width`: cells that a rule may take."""
    inside = block.indent
    for number, part in enumerate(_closed_parts(block.text)):
        if _RULE.match(part):
            yield [(" " * inside, ""), ("─" * (width - inside), "quiet")], 0
            continue
        mark, text, look = "", part, ""
        if block.kind == "item" and number == 0 and (item := _ITEM.match(part)) is not None:
            mark = "• " if item[1] in "-*+" else f"{item[1]} "
            text = part[item.end() :]
            inside += max(len(item.group()), len(mark))
        elif (heading := _HEADING.match(part)) is not None:
            text = heading[2] or ""
            look = "heading underline" if len(heading[1]) == 1 else "heading"
        for line in styled_lines(spans_of(text)):
            lead = f"{' ' * block.indent}{mark}" if mark else " " * inside
            mark = ""
            styled = [(t, f"{look} {own}".strip()) for t, own in line] if look else line
            yield [(lead, ""), *styled] if lead else styled, inside


def _closed_parts(text: str) -> Iterator[str]:
    """Its lines; those that a mark goes over are one part."""
    if "\n" not in text:
        yield text
        return
    part: list[str] = []
    for line in text.split("\n"):
        part.append(line)
        if unclosed("\n".join(part)) is None:
            yield "\n".join(part)
            part = []
    if part:
        yield "\n".join(part)
