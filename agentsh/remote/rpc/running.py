"""What runs beside the thread that reads: a turn, or one thing that takes the session.

The agent is synchronous (docs/adr/0023), so each runs in a thread of its own, one at a time; what
comes meanwhile and would take the session away is refused as busy. The gate orders what is said
with what is true: who hears that all is settled is never refused because of it. A wish to stop
reaches whatever runs, and does not linger for what comes next.
What cannot be gone on from (the reader is gone, a bug) is kept for the thread that reads.
Read next: agent/driven/host.py, events.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Literal, TypeAlias

from agentsh.agent.driven.host import SessionAgent
from agentsh.agent.driven.remotehost import RemoteHost
from agentsh.agent.events import AgentEvent, AgentEvents, Compacted, TurnEnd
from agentsh.agent.turn.approvals import ApprovalAnswer, ApprovalRequest
from agentsh.errors import AgentshError, BusyError, RefusedError
from agentsh.messages import Image, Usage
from agentsh.remote.rpc.dialogs import Dialogs
from agentsh.remote.rpc.events import PiEvents
from agentsh.remote.values.rpcrecords import (
    AgentSettledRecord,
    NoticeRecord,
    QueueRecord,
    RpcRecord,
)

Occupation: TypeAlias = Literal["turn", "bash", "compaction", "navigation", "session"]
Say: TypeAlias = Callable[[RpcRecord], None]

_RUNS = {
    "turn": "a turn is running",
    "bash": "a command is running",
    "compaction": "the context is being compacted",
    "navigation": "a branch is being left",
    "session": "another session is being opened",
}


class Runner:
    """One thing at a time beside the reading thread. `wake` is called where it must look up."""

    def __init__(
        self, host: RemoteHost, say: Say, dialogs: Dialogs, wake: Callable[[], None]
    ) -> None:
        self.activity: Occupation | None = None
        self.last_end: TurnEnd | None = None
        self.failure: BaseException | None = None
        self._host = host
        self._say = say
        self._dialogs = dialogs
        self._wake = wake
        self._gate = threading.RLock()
        self._rested = threading.Event()
        self._rested.set()
        self._queues: tuple[list[str], list[str]] = ([], [])
        self._queue_order = threading.Lock()

    def ask(self, request: ApprovalRequest) -> ApprovalAnswer | None:
        """The approver of every agent that is driven."""
        return self._dialogs.ask(request)

    # ---- one at a time -------------------------------------------------------------------------

    def claim(self, activity: Occupation) -> None:
        """Raises BusyError."""
        with self._gate:
            if self.activity is not None:
                raise BusyError(f"{_RUNS[self.activity]} in this session; abort it, or wait")
            self.activity = activity
            self._rested.clear()

    @contextmanager
    def alone(self, activity: Occupation) -> Iterator[None]:
        """In the calling thread, while nothing else runs. Raises BusyError."""
        self.claim(activity)
        try:
            yield
        finally:
            self._leave(lambda: None)

    def beside(self, job: Callable[[], Callable[[], None]], name: str) -> None:
        """Run what was claimed in a thread; what it gives is called when the session is free."""

        def work() -> None:
            last: Callable[[], None] = lambda: None  # noqa: E731
            try:
                last = job()
            except BaseException as e:  # noqa: BLE001  # carried over to the thread that reads
                self._fall(e)
            finally:
                self._leave(last)

        threading.Thread(target=work, name=name, daemon=True).start()

    def wait(self) -> None:
        """Until nothing runs."""
        self._rested.wait()

    def stop(self) -> None:
        """Ask what runs to stop, and wait for it; questions are answered with no."""
        with self._dialogs.refusing():
            self.ask_to_stop()
            self._rested.wait()

    def ask_to_stop(self) -> None:
        with self._gate:
            if self.activity is not None:
                self._host.front.abort()

    def _leave(self, last: Callable[[], None]) -> None:
        with self._gate:
            self.activity = None
            self._host.front.rest()
            try:
                last()
            except OSError as e:
                self._fall(e)
            finally:
                self._rested.set()

    def _fall(self, error: BaseException) -> None:
        self.failure = self.failure or error
        self._wake()

    # ---- turns ---------------------------------------------------------------------------------

    def claim_turn(self, text: str, images: tuple[Image, ...]) -> AgentEvents:
        """A turn that may begin. Raises BusyError, SkillNotFoundError."""
        self.claim("turn")
        try:
            return self._host.front.prompt(text, images)
        except AgentshError:
            self._leave(lambda: None)
            raise

    def start_turn(self, turn: AgentEvents) -> None:
        """What was claimed."""

        def work() -> None:
            try:
                self._turns(turn)
            except BaseException as e:  # noqa: BLE001  # carried over to the thread that reads
                self._fall(e)
                self._leave(self._say_settled)

        threading.Thread(target=work, name="turn", daemon=True).start()

    def queue(
        self, kind: Literal["steer", "followUp"], text: str, images: tuple[Image, ...]
    ) -> bool:
        """Say this in the turn that runs; False: none does."""
        with self._gate:
            if self.activity != "turn":
                return False
            agent = self._host.front
            (agent.steer if kind == "steer" else agent.follow_up)(text, images)
            return True

    def tell_queue(self) -> None:
        """Say what waits, where that is not what was said last."""
        with self._queue_order:
            waiting = self._host.front.queued()
            steers = [item.text for item in waiting if item.kind == "steer"]
            follow_ups = [item.text for item in waiting if item.kind == "follow-up"]
            if (steers, follow_ups) != self._queues:
                self._queues = (steers, follow_ups)
                self._say(QueueRecord((*steers,), (*follow_ups,)))

    def _turns(self, turn: AgentEvents) -> None:
        agent = self._host.front
        events = PiEvents(agent.session.entry, lambda: self._host.max_retries)
        while True:
            is_well = self._walk(agent, events, turn)
            with self._gate:
                # what came after the agent had looked for the last time is not left behind
                if not is_well or not agent.queued():
                    self._leave(self._say_settled)
                    return
                first, *others = agent.take_back()
                turn = agent.prompt(first.text, first.images)
                for each in others:
                    agent.follow_up(each.text, each.images)

    def _say_settled(self) -> None:
        aborted = self.last_end is not None and self.last_end.reason == "aborted"
        self._say(AgentSettledRecord(aborted))

    def _walk(self, agent: SessionAgent, events: PiEvents, turn: AgentEvents) -> bool:
        """Say what happens; whether it came to its end by itself."""
        end: TurnEnd | None = None
        try:
            with closing(turn):
                for event in turn:
                    end = event if isinstance(event, TurnEnd) else end
                    self._tell(events, event)
        except AgentshError as e:
            end = TurnEnd("error", None, agent.session.leaf, Usage(), str(e))
            self._say(NoticeRecord("error", str(e)))
            if e.hint:
                self._say(NoticeRecord("info", e.hint))
        self.last_end = end
        return end is not None and end.reason in ("completed", "max_tokens")

    def _tell(self, events: PiEvents, event: AgentEvent) -> None:
        for record in events.of(event):
            self._say(record)
        self.tell_queue()

    # ---- other things that take a while --------------------------------------------------------

    def compact(self, focus: str | None) -> Compacted:
        """Raises ProviderError, RefusedError: nothing was compacted."""
        agent, done = self._host.front, None
        events = PiEvents(agent.session.entry, lambda: self._host.max_retries)
        try:
            for event in agent.compact(focus):
                self._tell(events, event)
                done = event if isinstance(event, Compacted) else done
        except AgentshError as e:
            for record in events.failed(str(e)):
                self._say(record)
            raise
        if done is None or done.entry is None:
            words = "nothing was compacted" if done is None else done.error
            raise RefusedError(words or "nothing was compacted")
        return done
