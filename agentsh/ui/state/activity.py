"""What goes on, or what is waited for, in words: the chat, plain lines and `run` say the same.

Those who show no status line load no library of the terminal for it. Read next: chatstate.py,
footer.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from agentsh.agent.config import named
from agentsh.sanitize import safe_line
from agentsh.ui.state.chatstate import Began, ChatState, Happening, Waiting, fold


class Activity:
    """The words of now for who hears events and shows no status line. A thread may ask for them."""

    def __init__(
        self, state: ChatState | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._state = fold(state or ChatState(), Began(), clock())

    def hear(self, what: Happening) -> None:
        self._state = fold(self._state, what, self._clock())

    def words(self) -> str:
        return activity_words(self._state, self._clock())


def activity_words(state: ChatState, now: float) -> str:
    """What goes on, or what is waited for, and for how long."""
    waiting = state.waiting
    if waiting is not None:
        return _waiting_words(waiting, state, now)
    if not state.calls:
        doing = f"waiting for {safe_line(state.looks_for, 60)}" if state.looks_for else "working"
        return f"{doing} {_seconds(now, now if state.since is None else state.since)}"
    first = min(each.since for each in state.calls)
    count = len(state.calls)
    tools = f"{safe_line(state.calls[0].tool, 40)} runs" if count == 1 else f"{count} calls run"
    return f"{tools} {_seconds(now, first)}"


def _waiting_words(waiting: Waiting, state: ChatState, now: float) -> str:
    model = safe_line(named(state.endpoint, state.model), 60)
    if waiting.until is not None and now < waiting.until:
        return f"repeat {waiting.attempt} in {waiting.until - now:.0f} s"
    what = "first token" if waiting.kind == "answer" else "summary"
    again = f", repeat {waiting.attempt}" if waiting.attempt else ""
    since = waiting.since if waiting.until is None else waiting.until
    return f"waiting for {model} {_seconds(now, since)} ({what}{again})"


def _seconds(now: float, since: float) -> str:
    return f"{max(0.0, now - since):.0f} s"
