"""What stands below the prompt beside the state: questions, queue, attachments, hints; words of it.

Only `git_branch` looks outside: it reads one small file. Read next: screen.py, ui/state/footer.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentsh.agent.turn.budget import Spending
from agentsh.agent.turn.inbox import Queued
from agentsh.files import read_foreign
from agentsh.sanitize import exact_text, safe_line
from agentsh.ui.asking.approval import Question, question_keys
from agentsh.ui.cells import cut, width_of
from agentsh.ui.input.attachments import Attachment

ROWS_FOR_A_LIST = 24
"""From this height on each answer to a question has a line."""
_MOST_HEAD = 4096


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


def queue_lines(queued: Sequence[Queued], width: int) -> list[str]:
    """What waits: for the next request, or for afterwards."""
    shown = [
        safe_line(f"{'next' if q.kind == 'steer' else 'then'}: {_pictures(q)}{q.text}", width)
        for q in sorted(queued, key=lambda q: q.kind != "steer")  # as they will be said
    ]
    return shown if len(shown) <= 4 else [*shown[:3], f"… {len(shown) - 3} more"]


def _pictures(queued: Queued) -> str:
    count = len(queued.images)
    return f"[{'picture' if count == 1 else f'{count} pictures'}] " if count else ""


def question_lines(question: Question | None, width: int, *, is_above: bool = False) -> list[str]:
    """The live part of an open question: what, and why. `is_above`: what stands right above."""
    if question is None:
        return []
    request = question.request
    shown = request.shown.removeprefix(f"{request.tool} ")
    what = safe_line(exact_text(shown), max(10, width - 20))
    lines = [""] if is_above else ["", safe_line(f"? {request.tool}: {what}", width)]
    if request.why:
        lines.append("  " + safe_line(f"asked because {request.why}", width - 2))
    return lines


def choice_lines(
    question: Question | None, width: int, rows: int, *, drafting: bool = False
) -> list[str]:
    """The keys that answer it: one a line where the window is high enough, else in a row.

    `drafting`: there is a draft in the editor, which letters go to.
    """
    if question is None:
        return []
    if drafting:
        way = ["Enter sends your draft", "Ctrl-U cuts it, Ctrl-Y brings it back", "Esc no"]
        return _in_lines("Allow it? Keys answer once the line is empty: ", way, width)
    keys = question_keys(question.request)
    if rows < ROWS_FOR_A_LIST:
        return _in_lines("Allow it?  ", keys, width)
    pairs = [key.split(" ", 1) for key in keys]
    return ["Allow it?", *(cut(f"  {key:<4} {does}", width) for key, does in pairs)]


def _in_lines(head: str, parts: Sequence[str], width: int) -> list[str]:
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
    """The branch that is checked out around a folder, without asking git.

    In a worktree and in a submodule `.git` is a file that names the folder. Where git keeps its
    branches in another form (reftable), HEAD names `.invalid`, which no branch can be called.
    """
    for folder in (cwd, *cwd.parents):
        marker = folder / ".git"
        text = _read_word(marker / "HEAD")
        if text is None:
            link = (_read_word(marker) or "").partition("gitdir: ")[2]
            if not link:
                continue
            text = _read_word(folder / link / "HEAD") or ""
        reference, _, name = text.partition("ref: refs/heads/")
        if name.startswith("."):
            return None
        return safe_line(name, 40) if not reference and name else text[:8] or None
    return None


def _read_word(path: Path) -> str | None:
    try:
        return read_foreign(path, _MOST_HEAD).decode("utf-8", "replace").strip()
    except (OSError, ValueError):  # ValueError: no path, with a NUL in it
        return None


def spending_words(spending: Spending) -> str:
    """All that the session has cost, and what it may."""
    text = f"whole session ${spending.usage.cost.total:.4f}"
    if spending.inherited:
        text += f", of which ${spending.inherited:.4f} came along with the fork"
    if spending.warn is not None:
        text += f" · warns at ${spending.warn:.2f}"
    if spending.stop is not None:
        text += f" · stops at ${spending.stop:.2f}"
    return text
