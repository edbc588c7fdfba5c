"""Tool calls as compact cards: name, target, duration, outcome, the lines that matter.

    ● read  birds.txt  · 3 lines
    ● bash  npm test  1.2 s
      first lines
      … 40 lines
      last lines

What does not fit into a row goes on below its own text, never at the edge. The text of a result is
data. Read next: render.py, transcript.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentsh.messages import BashExecutionMessage, Image, ToolCall, ToolResultMessage
from agentsh.sanitize import safe_line, safe_text
from agentsh.ui.cells import width_of
from agentsh.ui.paper.changes import changed_lines
from agentsh.ui.paper.render import Renderer
from agentsh.ui.paper.rows import Laid, cut_around_address
from agentsh.ui.theme import Role
from agentsh.views.describe import (
    call_path,
    call_subject,
    counted,
    own_member,
    result_note,
    result_text,
    seen_from,
)

HEAD_LINES = 3
TAIL_LINES = 4
DIFF_LINES = 20
ERROR_ROWS = 6
# what a person does not read line by line: the model does
_COUNTED = frozenset({"read"})


def tool_card(
    renderer: Renderer, call: ToolCall, result: ToolResultMessage, seconds: float | None
) -> str:
    note, text = result_note(result), result_text(result)
    diff = None if result.is_error else _diff(result)
    title, indent = _title(renderer, call, failed=result.is_error, seconds=seconds)
    card: list[Laid] = []
    if note is not None:
        card.append(([(f"  the model is told: {safe_line(note)}", "warn")], 2))
    if diff is not None:
        added, removed = counted(diff)
        title += [(f"  +{added}", "added"), (f" -{removed}", "removed")]
        card += _short_difference(renderer, diff, call_path(call))
    elif call.name in _COUNTED and not result.is_error and not _has_picture(result):
        stated = own_member(result, "lines")  # notes on how to go on are none of the file's
        count = stated if isinstance(stated, int) else len(text.rstrip("\n").split("\n"))
        card.append(([(f"  {count} line{'s' if count != 1 else ''}", "quiet")], 2))
    else:
        card += _output(renderer, text, "error" if result.is_error else "quiet")
        content = call.arguments.get("content")
        if call.name == "write" and isinstance(content, str) and not result.is_error:
            card += _output(renderer, content, "added")  # there was nothing to compare it with
    lines = _joined_row(renderer, (title, indent), card)
    return "\n" + printed_lines(renderer, lines, whole_addresses=diff is None)


def _joined_row(renderer: Renderer, title: Laid, card: list[Laid]) -> list[Laid]:
    """Call and result on one row, where the result is one line and both fit."""
    if len(card) == 1:
        ((_, look),) = card[0][0]
        text = card[0][0][0][0].strip()
        row = [*title[0], (f"  · {text}" if renderer.is_unicode else f"  - {text}", look)]
        if sum(width_of(piece) for piece, _ in row) <= renderer.width:
            return [(row, title[1])]
    return [title, *card]


def shell_card(renderer: Renderer, message: BashExecutionMessage) -> str:
    """`!command` of the person's own."""
    mark = "!!" if message.excluded else "!"
    first, *more = safe_text(message.command).split("\n")
    card: list[Laid] = [([(f"{mark} {first}", "user")], 4)]
    card += [([(f"  {line}", "user")], 4) for line in more]
    card += _output(renderer, message.output, "quiet", head=10, tail=30)
    if message.cancelled:
        card.append(([("  stopped", "warn")], 2))
    elif message.exit_code:
        card.append(([(f"  exit code {message.exit_code}", "error")], 2))
    if message.excluded:
        card.append(([("  (kept from the model)", "quiet")], 2))
    return "\n" + printed_lines(renderer, card, whole_addresses=True)


def question_text(
    renderer: Renderer, title: str, body: str, diff: str | None, file: str = ""
) -> str:
    """What the person is asked about, whole; every character of it is visible already.

    `file`: the name of what differs, which says the language.
    """
    card: list[Laid] = [([(safe_line(title), "warn")], 2)]
    card += [([(line, "tool")], 4) for line in body.split("\n")]
    if diff:
        card += changed_lines(diff, file, tinted=renderer.theme.tints_lines)
    return "\n" + printed_lines(renderer, card)


def printed_lines(
    renderer: Renderer, lines: Iterable[Laid], *, whole_addresses: bool = False
) -> str:
    """As text: wrapped at words, with the indent that each has.

    Not of a question or a difference: what a terminal breaks there stands at the edge.
    """
    how = renderer.lines_and_addresses if whole_addresses else renderer.lines
    return "".join(row for line, indent in lines for row in how(line, indent))


def shown_lines(text: str, head: int = HEAD_LINES, tail: int = TAIL_LINES) -> list[str]:
    """The first and last lines of an output, safe; a gap says how many are left out."""
    lines = text.rstrip("\n").split("\n") if text else []
    if len(lines) > head + tail + 1:
        left_out = len(lines) - head - tail
        lines = [*lines[:head], f"… {left_out} lines", *lines[-tail:]]
    # a progress bar rewrites its line; its last state is what one would have seen
    return [safe_text(line.rstrip("\r").rpartition("\r")[2]) for line in lines]


def _title(renderer: Renderer, call: ToolCall, *, failed: bool, seconds: float | None) -> Laid:
    title = [
        ("✗ " if failed else "● ", "error" if failed else "ok"),
        (safe_line(call.name, 60), "tool"),
    ]
    subject = call_subject(seen_from(call, renderer.folder), max(20, 2 * renderer.width))
    if subject:
        title.append((f"  {subject}", ""))
    if seconds is not None and seconds >= 1:
        title.append((f"  {seconds:.1f} s", "quiet"))
    return title, 4


def _output(
    renderer: Renderer, text: str, role: Role, head: int = HEAD_LINES, tail: int = TAIL_LINES
) -> Iterator[Laid]:
    """Of an error all of each line, since it says what to do at its end; else one row a line."""
    limit = renderer.width - 3
    for line in shown_lines(text, head, tail):
        if role == "error":
            room = ERROR_ROWS * limit
            line = line.expandtabs(4)[:room]
        elif width_of(line.expandtabs(4)) > limit:
            line = cut_around_address(line.expandtabs(4), limit)
        yield [(f"  {line.expandtabs(4)}", role)], 2


def _short_difference(renderer: Renderer, diff: str, file: str) -> Iterator[Laid]:
    lines = diff.rstrip("\n").split("\n")
    if len(lines) > DIFF_LINES + 4:
        lines = [*lines[:DIFF_LINES], f"… {len(lines) - DIFF_LINES} lines"]
    return changed_lines("\n".join(lines), file, tinted=renderer.theme.tints_lines)


def _has_picture(result: ToolResultMessage) -> bool:
    return any(isinstance(block, Image) for block in result.content)


def _diff(result: ToolResultMessage) -> str | None:
    details = result.details
    if isinstance(details, dict):
        diff = details.get("diff")
        if isinstance(diff, str) and diff.strip():
            return diff
    return None
