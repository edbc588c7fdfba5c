"""Work beside the event loop: a thread for jobs and some beside it, whose news come in bunches.

The agent is synchronous (docs/adr/0003), so a turn runs in a thread; its events queue here and are
drained at most every INTERVAL, which bounds the redraws whatever a model's speed (U02). A job that
is more than BACKLOG ahead of the screen waits for it, so that keys are heard whatever an endpoint
pours out. A function among the news is called in the loop's thread. Read next: repl.py.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from msgspec import Struct

from agentsh.abort import Abort
from agentsh.agent.events import AgentEvent, TextPart, ThinkingPart

INTERVAL = 0.08
BACKLOG = 32_000
"""Characters that may wait; at INTERVAL that is 400,000 a second, which rendering just keeps up."""
_NEWS_WEIGH = 32

News: TypeAlias = AgentEvent | Callable[[], None]


class Awaited(Struct, frozen=True):
    """What is waited for beside the agent, in words, and what stops it."""

    words: str
    abort: Abort


class Worker:
    """Runs jobs in threads; `drain` is called in the loop's thread with what they posted."""

    def __init__(self, drain: Callable[[list[News]], None]) -> None:
        self._drain = drain
        self._news: deque[News] = deque()
        self._scheduled = threading.Event()
        self._taken = threading.Event()
        self._weight = 0  # about: threads may post at once, and each taking begins at zero
        self._last = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._beside: list[threading.Thread] = []

    def attach(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """The loop that news go to from now on; None: they wait."""
        self._loop = loop
        self._scheduled.clear()
        if loop is not None and self._news:
            self._schedule(loop)

    def start(self, job: Callable[[], None], name: str) -> None:
        """A job that fails fails in the loop's thread."""
        self._thread = self._made(job, name)
        self._thread.start()

    def beside(self, job: Callable[[], None], name: str) -> None:
        """As `start`, while other jobs may run."""
        thread = self._made(job, name)
        self._beside = [*(each for each in self._beside if each.is_alive()), thread]
        thread.start()

    def _made(self, job: Callable[[], None], name: str) -> threading.Thread:
        def work() -> None:
            try:
                job()
            except BaseException as e:  # noqa: BLE001  # carried over and raised by `_flush`
                self.post(partial(_raise, e))

        return threading.Thread(target=work, name=name, daemon=True)

    def join(self, seconds: float) -> bool:
        """Wait for what runs; True when it is over."""
        running = [*self._beside, *([] if self._thread is None else [self._thread])]
        until = time.monotonic() + seconds
        for thread in running:
            thread.join(max(0.0, until - time.monotonic()))
        return not any(thread.is_alive() for thread in running)

    def post(self, news: News) -> None:
        """From any thread."""
        self._news.append(news)
        self._weight += _NEWS_WEIGH
        if isinstance(news, TextPart | ThinkingPart):
            self._weight += len(news.text)
        loop = self._loop
        if loop is not None and not self._scheduled.is_set():
            self._scheduled.set()
            try:
                loop.call_soon_threadsafe(self._schedule, loop)
            except RuntimeError:  # the loop was closed under us; the news wait for the next one
                self._scheduled.clear()
        if self._weight > BACKLOG and threading.current_thread() is self._thread:
            self._wait_for_room()

    def _wait_for_room(self) -> None:
        """Let the screen catch up; without a loop there is nothing to wait for."""
        while self._loop is not None and self._weight > BACKLOG:
            self._taken.clear()
            self._taken.wait(INTERVAL)

    def take(self) -> list[News]:
        """Everything posted so far, neighbouring text joined."""
        # what comes while we take is for the next time: a quick job would keep us here for ever
        self._weight = 0
        taken = [self._news.popleft() for _ in range(len(self._news))]
        self._taken.set()
        return _joined(taken)

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        wait = max(0.0, self._last + INTERVAL - time.monotonic())
        loop.call_later(wait, self._flush)

    def _flush(self) -> None:
        self._scheduled.clear()
        if self._loop is None:
            return
        self._last = time.monotonic()
        self._drain(self.take())


def _raise(error: BaseException) -> None:
    raise error


def _joined(news: list[News]) -> list[News]:
    """Runs of text parts made one, so that a fast model costs no more than a slow one."""
    result: list[News] = []
    texts: list[str] = []
    kind: type[TextPart | ThinkingPart] = TextPart
    for item in news:
        if isinstance(item, TextPart | ThinkingPart):
            if texts and type(item) is not kind:
                result.append(kind("".join(texts)))
                texts = []
            kind = type(item)
            texts.append(item.text)
            continue
        if texts:
            result.append(kind("".join(texts)))
            texts = []
        result.append(item)
    if texts:
        result.append(kind("".join(texts)))
    return result
