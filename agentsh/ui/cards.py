"""Tool calls as compact cards: what, where, how long, how it ended, the lines that matter.

    ● bash  npm test                                  1.2 s
      first lines
      … 40 lines
      last lines

Built from rich `Text` only; the text of a result is data. Read next: render.py, live.py.
"""

from __future__ import annotations

from rich.text import Text

from agentsh.messages import BashExecutionMessage, Image, ToolCall, ToolResultMessage
from agentsh.ui.cells import cut, wrapped
from agentsh.ui.describe import call_subject, own_member, result_note, result_text
from agentsh.ui.render import Renderer
from agentsh.ui.sanitize import safe_line, safe_text
from agentsh.ui.theme import Role

HEAD_LINES = 3
TAIL_LINES = 4
DIFF_LINES = 20
ERROR_ROWS = 6
# what a person does not read line by line: the model does
_COUNTED = frozenset({"read"})


def tool_card(
    renderer: Renderer, call: ToolCall, result: ToolResultMessage, seconds: float | None
) -> str:
    card = _title(renderer, call, failed=result.is_error, seconds=seconds)
    note, text = result_note(result), result_text(result)
    if note is not None:
        for piece in wrapped(f"the model is told: {safe_line(note)}", renderer.width - 3)[
            :ERROR_ROWS
        ]:
            card.append(f"\n  {piece}", renderer.theme.rich("warn"))
    diff = _diff(result)
    if diff is not None and not result.is_error:
        _append_diff(renderer, card, diff)
    elif call.name in _COUNTED and not result.is_error and not _has_picture(result):
        known = own_member(result, "lines")  # notes on how to go on are none of the file's
        count = known if isinstance(known, int) else len(text.rstrip("\n").split("\n"))
        card.append(f"\n  {count} line{'s' if count != 1 else ''}", renderer.theme.rich("quiet"))
    else:
        _append_lines(renderer, card, text, "error" if result.is_error else "quiet")
        content = call.arguments.get("content")
        if call.name == "write" and isinstance(content, str) and not result.is_error:
            _append_lines(renderer, card, content, "added")  # there was nothing to compare it with
    return "\n" + renderer.ansi(card)


def shell_card(renderer: Renderer, message: BashExecutionMessage) -> str:
    """`!command` of the person's own."""
    mark = "!!" if message.excluded else "!"
    card = Text()
    card.append(f"{mark} {safe_text(message.command)}", renderer.theme.rich("user"))
    _append_lines(renderer, card, message.output, "quiet", head=10, tail=30)
    if message.cancelled:
        card.append("\n  stopped", renderer.theme.rich("warn"))
    elif message.exit_code:
        card.append(f"\n  exit code {message.exit_code}", renderer.theme.rich("error"))
    if message.excluded:
        card.append("\n  (kept from the model)", renderer.theme.rich("quiet"))
    return "\n" + renderer.ansi(card)


def diff_text(renderer: Renderer, diff: str) -> Text:
    """A difference with its colours, whole."""
    body = Text()
    for number, line in enumerate(safe_text(diff).split("\n")):
        role: Role = "added" if line[:1] == "+" else "removed" if line[:1] == "-" else "quiet"
        body.append(("\n" if number else "") + line, renderer.theme.rich(role))
    return body


def shown_lines(text: str, head: int = HEAD_LINES, tail: int = TAIL_LINES) -> list[str]:
    """The first and last lines of an output, safe; a gap says how many are left out."""
    lines = text.rstrip("\n").split("\n") if text else []
    if len(lines) > head + tail + 1:
        left_out = len(lines) - head - tail
        lines = [*lines[:head], f"… {left_out} lines", *lines[-tail:]]
    # a progress bar rewrites its line; its last state is what one would have seen
    return [safe_text(line.rstrip("\r").rpartition("\r")[2]) for line in lines]


def _title(renderer: Renderer, call: ToolCall, *, failed: bool, seconds: float | None) -> Text:
    theme = renderer.theme
    title = Text(no_wrap=False)
    title.append("✗ " if failed else "● ", theme.rich("error" if failed else "ok"))
    title.append(safe_line(call.name, 60), theme.rich("tool"))
    subject = call_subject(call, max(20, 2 * renderer.width))
    if subject:
        title.append(f"  {subject}")
    if seconds is not None and seconds >= 1:
        title.append(f"  {seconds:.1f} s", theme.rich("quiet"))
    return title


def _append_lines(
    renderer: Renderer,
    card: Text,
    text: str,
    role: Role,
    head: int = HEAD_LINES,
    tail: int = TAIL_LINES,
) -> None:
    limit = renderer.width - 3
    for line in shown_lines(text, head, tail):
        pieces = wrapped(line, limit)
        if role != "error" and len(pieces) > 1:  # an error says what to do at its end
            pieces = [cut(line.expandtabs(4), limit - 1) + "…"]
        for piece in pieces[:ERROR_ROWS]:
            card.append(f"\n  {piece}", renderer.theme.rich(role))


def _append_diff(renderer: Renderer, card: Text, diff: str) -> None:
    lines = diff.rstrip("\n").split("\n")
    if len(lines) > DIFF_LINES + 4:
        lines = [*lines[:DIFF_LINES], f"… {len(lines) - DIFF_LINES} lines"]
    for line in lines:
        role: Role = "added" if line[:1] == "+" else "removed" if line[:1] == "-" else "quiet"
        card.append(f"\n  {safe_text(line)}", renderer.theme.rich(role))


def _has_picture(result: ToolResultMessage) -> bool:
    return any(isinstance(block, Image) for block in result.content)


def _diff(result: ToolResultMessage) -> str | None:
    details = result.details
    if isinstance(details, dict):
        diff = details.get("diff")
        if isinstance(diff, str) and diff.strip():
            return diff
    return None
