"""The state of the chat in the line below the prompt, and what it has cost. Pure.

Each is made of a `ChatState` alone, so no two say different things. What a narrow window has no
room for is left out from the right. Read next: chatstate.py, ui/chat/bottom.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentsh.agent.config import named
from agentsh.sanitize import safe_line
from agentsh.settings import STATUS_PARTS, StatusPart
from agentsh.ui.cells import width_of
from agentsh.ui.state.activity import activity_words
from agentsh.ui.state.chatstate import ChatState
from agentsh.ui.status import short_number, short_path


def footer(
    state: ChatState,
    now: float,
    width: int,
    home: Path,
    branch: str | None = None,
    parts: Sequence[StatusPart] = STATUS_PARTS,
) -> str:
    """The status line. What goes on and what is wrong stand first, whatever the parts are."""
    shown = [*_urgent(state, now)]
    if state.is_known:
        left = [part for part in parts if part != "model" or not _names_model(state, now)]
        shown += [words for part in left if (words := part_words(part, state, home, branch))]
    short = "folder" in parts and shown and _short_folder(state, branch)
    while len(shown) > 1 and width_of(_line(shown)) > width:
        if short and shown[-1] == part_words("folder", state, home, branch) != short:
            shown[-1] = short
        else:
            shown.pop()
    return safe_line(_line(shown), width)


def _line(parts: Sequence[str]) -> str:
    return " · ".join(parts)


def _urgent(state: ChatState, now: float) -> list[str]:
    shown = []
    if state.asks:
        shown.append("waits for your answer")  # what Esc means then stands at the question
    elif state.since is not None:
        shown.append(activity_words(state, now) + (" (Esc stops)" if state.can_stop else ""))
    if state.queued:
        shown.append(f"{state.queued} queued")
    if not state.saved:
        shown.append("NOT SAVED")
    return shown


def _names_model(state: ChatState, now: float) -> bool:
    """What is waited for says whose answer it is."""
    waiting = state.waiting
    if waiting is None or state.asks or state.since is None:
        return False
    return waiting.until is None or now >= waiting.until


def part_words(part: StatusPart, state: ChatState, home: Path, branch: str | None) -> str:
    """One part of the line; "" where there is nothing to say of it."""
    usage = state.usage
    match part:
        case "model":
            return named(state.endpoint, state.model)
        case "thinking":
            return f"thinking {state.thinking}"
        case "context":
            words = context_words(state)
            # beside the figures of what was sent, it would be one more
            return f"context {words}" if words and not state.window else words
        case "tokens" if usage.output:
            sent = usage.input + usage.cache_read + usage.cache_write
            return f"{short_number(sent)} in, {short_number(usage.output)} out"
        case "cost" if state.cost:
            return f"${state.cost:.2f}" if state.cost >= 0.01 else "<$0.01"
        case "policy":
            return f"approve {state.policy}" + (", sandbox" if state.sandbox else "")
        case "folder":
            return short_path(Path(state.cwd), home) + (f" ({branch})" if branch else "")
        case "tokens" | "cost":
            return ""


def _short_folder(state: ChatState, branch: str | None) -> str:
    """The folder's own name is its end."""
    name = Path(state.cwd).name
    return (f"…/{name}" if name else state.cwd) + (f" ({branch})" if branch else "")


def context_words(state: ChatState) -> str:
    """How full the window is; `~`: partly an estimate."""
    about = "~" if state.estimated else ""
    if state.window:
        return f"{about}{state.tokens * 100 // state.window}% of {short_number(state.window)}"
    return f"{about}{short_number(state.tokens)} tokens" if state.tokens else ""


def cost_words(state: ChatState, spending: str) -> str:
    usage = state.usage
    return (
        f"input {short_number(usage.input)} · cached {short_number(usage.cache_read)} · "
        f"output {short_number(usage.output)} tokens · cost ${state.cost:.4f}\n"
        f"{spending}\n"
        f"context {context_words(state) or 'unknown'}"
    )
