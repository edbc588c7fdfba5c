"""What the transcript shows folded, kept whole: tool calls and thoughts, to be read unfolded.

What is printed is never redrawn, so unfolding opens a view of its own (reader.py) on these pages.
Only values are kept here, the newest KEPT of them; a page's lines are made when it is looked at.
Read next: transcript.py, reader.py.
"""

from __future__ import annotations

from collections import deque
from functools import partial

from msgspec import Struct

from agentsh.jsontext import JsonError, dumps_text
from agentsh.messages import ToolCall, ToolResultMessage
from agentsh.sanitize import safe_line, safe_text
from agentsh.ui.cells import hang_of
from agentsh.ui.paper.pages import Page, PageLine
from agentsh.ui.theme import Role
from agentsh.views.describe import blocks_text, call_path, call_subject

KEPT = 200
_NAMELESS = "file"


class _Called(Struct, frozen=True):
    call: ToolCall
    result: ToolResultMessage
    seconds: float | None


class Shelf:
    """The newest calls and thoughts of one chat."""

    def __init__(self) -> None:
        self._calls: deque[_Called] = deque(maxlen=KEPT)
        self._thoughts: deque[tuple[str, str]] = deque(maxlen=KEPT)

    def add_call(self, call: ToolCall, result: ToolResultMessage, seconds: float | None) -> None:
        self._calls.append(_Called(call, result, seconds))

    def clear(self) -> None:
        self._calls.clear()
        self._thoughts.clear()

    def add_thought(self, title: str, text: str) -> None:
        self._thoughts.append((title, text))

    def calls(self) -> list[Page]:
        return [_page(called) for called in self._calls]

    def thoughts(self) -> list[Page]:
        return [Page(title, partial(_lines, text, "plain")) for title, text in self._thoughts]


def _page(called: _Called) -> Page:
    call, result = called.call, called.result
    title = f"{safe_line(call.name, 60)}  {call_subject(call, 200)}"
    if called.seconds is not None:
        title += f"  {called.seconds:.1f} s"
    return Page(title + ("  failed" if result.is_error else ""), lambda: call_lines(call, result))


def call_lines(call: ToolCall, result: ToolResultMessage) -> list[PageLine]:
    """All of a call: its arguments, the difference it made, what came back."""
    lines = _arguments(call)
    details = result.details
    diff = details.get("diff") if isinstance(details, dict) else None
    if isinstance(diff, str) and diff.strip():
        lines += [*diff_lines(diff, call_path(call)), PageLine("", "plain")]
    return lines + _lines(blocks_text(result.content), "error" if result.is_error else "plain")


def diff_lines(diff: str, file: str) -> list[PageLine]:
    roles: dict[str, Role] = {"+": "added", "-": "removed"}
    return [
        PageLine(safe_text(line), roles.get(line[:1], "quiet"), hang_of(line), file or _NAMELESS)
        for line in diff.rstrip("\n").split("\n")
    ]


def _arguments(call: ToolCall) -> list[PageLine]:
    lines: list[PageLine] = []
    for name, value in call.arguments.items():
        if isinstance(value, str):
            text = value
        else:
            try:
                text = dumps_text(value)
            except JsonError:
                text = "(not to be shown)"
        first, *later = safe_text(text).split("\n")
        lines.append(PageLine(f"{safe_line(name, 40)}: {first}", "tool", 2))
        lines += [PageLine(f"  {line}", "tool", 2) for line in later]
    return [*lines, PageLine("", "plain")] if lines else []


def _lines(text: str, role: Role) -> list[PageLine]:
    return [
        PageLine(line, role, hang_of(line)) for line in safe_text(text).rstrip("\n").split("\n")
    ]
