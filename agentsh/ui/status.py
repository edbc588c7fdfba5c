"""The status line: folder, branch, model, thinking, context, cost, policy, saved state, what works.

Pure but for `git_branch`, which reads one small file. Read next: screen.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from agentsh.messages import ModelRef
from agentsh.ui.approval import Question, question_keys
from agentsh.ui.attachments import Attachment
from agentsh.ui.cells import cut, width_of
from agentsh.ui.face import AgentReport, QueuedMessage, SpendingFace
from agentsh.ui.sanitize import exact_text, safe_line


class Activity(Struct, frozen=True):
    """What goes on. `seconds` None: nothing."""

    seconds: float | None = None
    queued: int = 0
    asks: bool = False
    """A question is open: it is the person who is waited for."""
    hint: str | None = None
    """Something to say instead for a moment ("press Ctrl-C again to quit")."""


class Hint:
    """A few words that stand for a moment."""

    def __init__(self) -> None:
        self._words = ""
        self._until = 0.0
        self.was_shown = False

    def show(self, words: str, now: float, seconds: float | None = None) -> None:
        """`seconds` None: as long as it takes to read."""
        self._words = words
        self._until = now + (seconds if seconds is not None else 1.5 + len(words) / 30)

    def text(self, now: float) -> str | None:
        return self._words if now < self._until else None


def status_line(
    report: AgentReport | None, branch: str | None, home: Path, activity: Activity, width: int
) -> str:
    """One line, cut to the width; what matters most stands first."""
    if activity.hint is not None:
        return safe_line(activity.hint, width)
    parts: list[str] = []
    if activity.seconds is not None:
        what = "waits for your answer" if activity.asks else f"working {activity.seconds:.0f} s"
        parts.append(f"{what} (Esc stops)")
    if activity.queued:
        parts.append(f"{activity.queued} queued")
    if report is not None:
        if not report.saved:
            parts.append("NOT SAVED")
        parts += _facts(report)
        cwd = Path(report.cwd)
        at = f" ({branch})" if branch else ""
        whole = _line([*parts, short_path(cwd, home) + at])
        if width_of(whole) > width:  # the folder's own name is its end
            return safe_line(_line([*parts, f"…/{cwd.name}{at}" if cwd.name else str(cwd)]), width)
        return safe_line(whole, width)
    return safe_line(_line(parts), width)


def _line(parts: Sequence[str]) -> str:
    return " · ".join(part for part in parts if part)


def queue_lines(queued: Sequence[QueuedMessage], width: int) -> list[str]:
    """What waits: for the next request, or for afterwards."""
    shown = [
        safe_line(f"{'next' if q.kind == 'steer' else 'then'}: {q.text}", width)
        for q in sorted(queued, key=lambda q: q.kind != "steer")  # as they will be said
    ]
    return shown if len(shown) <= 4 else [*shown[:3], f"… {len(shown) - 3} more"]


def question_lines(question: Question | None, width: int, *, drafting: bool = False) -> list[str]:
    """The live part of an open question: what, why, and the keys.

    `drafting`: there is a draft in the editor, which letters go to.
    """
    if question is None:
        return []
    request = question.request
    what = safe_line(exact_text(request.shown), max(10, width - 20))
    lines = ["", safe_line(f"? {request.tool}: {what}", width)]
    if request.why:
        lines.append("  " + safe_line(f"asked because {request.why}", width - 2))
    if drafting:
        way = ["Enter sends your draft", "Ctrl-U cuts it, Ctrl-Y brings it back", "Esc no"]
        return [*lines, *joined("Allow it? Keys answer once the line is empty: ", way, width)]
    return [*lines, *joined("Allow it?  ", question_keys(request), width)]


def joined(head: str, parts: Sequence[str], width: int) -> list[str]:
    """Parts in a line, or in as many as they need; none is broken where it fits at all."""
    lines = [head]
    for part in parts:
        longer = lines[-1] + ("" if lines[-1] in (head, "  ") else " · ") + part
        if width_of(longer) <= width or lines[-1] == "  ":
            lines[-1] = longer
        else:
            lines.append("  " + part)
    return [safe_line(lines[0], width), *(cut(line, width) for line in lines[1:])]


def attachment_lines(attachments: Sequence[Attachment], width: int) -> list[str]:
    """What goes along with the next prompt."""
    return [
        safe_line(f"image {number}: {each.words} (Backspace drops it)", width)
        for number, each in enumerate(attachments, 1)
    ]


def _facts(report: AgentReport) -> list[str]:
    model = report.model.model if isinstance(report.model, ModelRef) else report.model
    thinking = f"thinking {report.thinking}" if report.thinking != "off" else ""
    context = context_words(report.context_tokens, report.context_window)
    if context and not report.context_window:
        context = f"context {context}"  # beside the figures of what was sent, it would be one more
    parts = [model, thinking, context]
    usage = report.usage
    if usage.output:
        sent = usage.input + usage.cache_read + usage.cache_write
        parts.append(f"{short_number(sent)} in, {short_number(usage.output)} out")
    if report.cost:
        parts.append(f"${report.cost:.2f}" if report.cost >= 0.01 else "<$0.01")
    parts.append(f"approve {report.policy}" + (", sandbox" if report.sandbox else ""))
    return parts


def context_words(tokens: int, window: int | None) -> str:
    if window:
        return f"{tokens * 100 // window}% of {short_number(window)}"
    return f"{short_number(tokens)} tokens" if tokens else ""


def short_number(number: int) -> str:
    if number >= 1_000_000:
        return f"{number / 1_000_000:.1f}M"
    return f"{number / 1000:.0f}k" if number >= 10_000 else str(number)


def short_path(path: Path, home: Path) -> str:
    try:
        inside = path.relative_to(home)
    except ValueError:
        return str(path)
    return "~" if str(inside) == "." else f"~/{inside}"


def git_branch(cwd: Path) -> str | None:
    """The branch that is checked out around a folder, without asking git."""
    for folder in (cwd, *cwd.parents):
        head = folder / ".git" / "HEAD"
        try:
            text = head.read_text("utf-8", "replace").strip()
        except OSError:
            continue
        reference, _, name = text.partition("ref: refs/heads/")
        return safe_line(name, 40) if not reference and name else text[:8]
    return None


def spending_words(spending: SpendingFace) -> str:
    """All that the session has cost, and what it may."""
    words = f"whole session ${spending.usage.cost.total:.4f}"
    if spending.inherited:
        words += f", of which ${spending.inherited:.4f} came along with the fork"
    if spending.warn is not None:
        words += f" · warns at ${spending.warn:.2f}"
    if spending.stop is not None:
        words += f" · stops at ${spending.stop:.2f}"
    return words
