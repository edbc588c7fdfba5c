"""Agent: one session and whoever answers in it. The programmatic face; frontends use nothing else.

`prompt` is a generator that runs one turn (and the follow-ups queued in it) in the calling thread;
`steer`, `follow_up`, `queued`, `take_back` and `abort` may be called from others meanwhile. What it
is made of is handed in (cli/wiring.py). Read next: loop.py, asking.py, execution.py.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Literal

from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.approvals import Approvals, Approver, rules_in
from agentsh.agent.asking import Asker
from agentsh.agent.budget import Budget
from agentsh.agent.checkpoints import Keeper, states_of
from agentsh.agent.compactor import Compactor, Job, StoppedError
from agentsh.agent.config import Config, Report
from agentsh.agent.events import AgentEvent, Compacted, Notice, TurnEnd
from agentsh.agent.execution import Executor
from agentsh.agent.inbox import Inbox, Queued, left_waiting
from agentsh.agent.interruption import (
    Interrupted,
    find_interrupted,
    last_turn,
    still_running,
)
from agentsh.agent.loop import Loop, Turn
from agentsh.agent.moving import Moved, Mover
from agentsh.agent.opening import Wanted, differences, plan_opening
from agentsh.agent.pressure import Gauge
from agentsh.agent.projector import Projector
from agentsh.agent.recorder import Recorder
from agentsh.agent.requests import Target
from agentsh.agent.rewinding import Rewinder
from agentsh.agent.titler import Titler
from agentsh.agent.usage import Meter
from agentsh.agent.workbench import Workbench
from agentsh.errors import RefusedError, UsageError
from agentsh.messages import (
    THINKING_LEVELS,
    BashExecutionMessage,
    Image,
    ModelRef,
    Text,
    UserMessage,
)
from agentsh.providers.base import Provider
from agentsh.session.entries import Entry, EntryId
from agentsh.session.session import Session


class Agent:
    """One session, one provider, one set of tools."""

    def __init__(
        self,
        session: Session,
        provider: Provider,
        workbench: Workbench,
        config: Config,
        *,
        clock: Callable[[], float],
        approver: Approver | None = None,
        verify: Callable[[EntryId], None] | None = None,
        open_keeper: Callable[[], Keeper] | None = None,
    ) -> None:
        self.session = session
        self.provider = provider
        self.workbench = workbench
        self.config = config
        self.running = False
        self._notes: list[Notice] = []
        self._abort = Abort()
        entries = session.live(repaired=False).entries
        self._turns = last_turn(entries)
        self._interrupted = _cut_off(session, entries)
        self._meter = Meter(session)
        self._last_gauge: Gauge | None = None
        self._projector = projector = Projector(session)
        self._recorder = recorder = Recorder(session, clock, self._notes.append)
        self._inbox = Inbox(recorder, left_waiting(entries))
        self._approvals = Approvals(recorder, approver)
        retries = config.max_retries
        asker = Asker(recorder, projector, provider, max_retries=retries, verify=verify)
        states = states_of(recorder, open_keeper, self._notes.append, config, clock)
        self.files = Rewinder(recorder, states)
        executor = Executor(recorder, workbench, self._approvals, states.before_change)
        self.budget = Budget(session, config.cost)
        self._loop = Loop(recorder, asker, executor, self._inbox, self.budget, states.at_rest)
        self._compactor = Compactor(recorder, projector, provider, retries)
        self._mover = Mover(recorder, self._compactor)
        self._titler = Titler(
            recorder, projector, provider, self._inbox, self.budget, verify=verify
        )

    # ---- who answers ---------------------------------------------------------------------------

    @property
    def approver(self) -> Approver | None:
        return self._approvals.approver

    @approver.setter
    def approver(self, approver: Approver | None) -> None:
        self._approvals.approver = approver

    @property
    def model(self) -> ModelRef:
        return self.config.model

    def set_model(self, name: str) -> None:
        """From the next prompt on; a model_change is written with it."""
        self.config = replace(self.config, model=replace(self.config.model, model=name))

    def set_thinking(self, level: str) -> None:
        """From the next prompt on. Raises UsageError for a level that there is not."""
        if level not in THINKING_LEVELS:
            raise UsageError(
                f"there is no thinking level {level!r}",
                hint="one of: " + ", ".join(THINKING_LEVELS),
            )
        self.config = replace(self.config, thinking=level)

    def changes(self) -> tuple[str, ...]:
        """What differs from what is in force on the path (R09); shown at a resume."""
        return differences(self._projector.now(), self._wanted())

    # ---- turns ---------------------------------------------------------------------------------

    def prompt(self, text: str, attachments: tuple[Image, ...] = ()) -> Iterator[AgentEvent]:
        """Run a turn, then one for each message that waits at its end.

        A turn that did not end well leaves what waits to whoever asked (`take_back`).
        """
        if self.running:
            raise RefusedError("a turn is running in this session")
        self.running = True
        try:
            blocks = (*((Text(text),) if text else ()), *attachments)
            well = yield from self._turn(UserMessage(blocks))
            well = yield from self._queued_turns(well)
            if well and self.config.title:
                yield from self._titler.run(self._target(), self._turns, self._abort)
                yield from self._queued_turns(well)
        finally:
            self.running = False
            self._rest()

    def _queued_turns(self, well: bool) -> Generator[AgentEvent, None, bool]:
        while well and not self._abort.is_set and (item := self._next()) is not None:
            well = yield from self._turn(UserMessage((Text(item.text),)), item)
        return well

    def _next(self) -> Queued | None:
        """What waits longest; a steer that came too late for its turn goes first."""
        return self._inbox.take("steer") or self._inbox.take("follow-up")

    def _turn(
        self, message: UserMessage, queued: Queued | None = None
    ) -> Generator[AgentEvent, None, bool]:
        """One turn; True if it came to its end by itself."""
        self._recorder.begin()
        self._interrupted = None
        context = self._projector.now()
        fresh = context.model is None
        self._approvals.on_path(context.state)
        opening = plan_opening(context, self._wanted())
        self._turns += 1
        # all that is asked in this turn goes by the settings of now, whatever is changed meanwhile
        gauge, job = self._gauge(), self._job()
        turn = Turn(
            number=self._turns,
            opening=opening,
            message=replace(message, timestamp=self._recorder.now_ms()),
            target=job.target,
            reason="initial" if fresh else "change" if opening else "resume",
            abort=self._abort,
            max_steps=self.config.max_steps,
            pressure=lambda: gauge.read(self._projector.now()),
            # the window may have become known only now, from the endpoint's own list
            compact=lambda why: self._make_room(replace(job, window=gauge.known_window()), why),
            queued=queued,
        )
        well = False
        events = self._loop.run(turn)
        try:
            for event in events:
                yield from self._said()
                if isinstance(event, TurnEnd):
                    well = event.reason in ("completed", "max_tokens")
                yield event
        finally:
            events.close()
        return well

    def _said(self) -> Iterator[AgentEvent]:
        """What the recorder has to tell; never behind the end of a turn."""
        while self._notes:
            yield self._notes.pop(0)

    def abort(self) -> None:
        """Stop the running turn. Thread-safe; may be called from a signal handler."""
        self._abort.set()

    def steer(self, text: str) -> str:
        """Say this with the next request; durable when this returns. Thread-safe."""
        return self._told("steer", text)

    def follow_up(self, text: str) -> str:
        """Say this as the next turn; durable when this returns. Thread-safe."""
        return self._told("follow-up", text)

    def _told(self, kind: Literal["steer", "follow-up"], text: str) -> str:
        name = self._inbox.add(kind, text)
        self._titler.give_way()
        return name

    def queued(self) -> tuple[Queued, ...]:
        return self._inbox.waiting()

    def take_back(self) -> tuple[str, ...]:
        """Empty the queue; its texts are the caller's again. Thread-safe."""
        return self._inbox.take_back()

    def pending(self) -> tuple[str, ...]:
        """What an earlier process was told and never said: for the editor.

        Whoever asks shows it, so it is dropped with the next prompt.
        """
        return tuple(item.text for item in self._inbox.show_leftovers())

    def interrupted(self) -> Interrupted | None:
        """The turn that a crash cut off, until one goes on (R54)."""
        return self._interrupted

    def _rest(self) -> None:
        """An abort was meant for what has just ended; the next thing starts afresh."""
        if self._abort.is_set:
            self._abort = Abort()

    # ---- the tree ------------------------------------------------------------------------------

    def compact(self, focus: str | None = None, keep: int | None = None) -> Iterator[AgentEvent]:
        """Append a compaction. Raises ProviderError, RefusedError: there is nothing to do."""
        if self.running:
            raise RefusedError("a turn is running in this session; stop it first")
        try:
            self._gauge().read(self._projector.now())  # asks for the window where it is not known
            yield from self._compactor.run(self._job(focus, keep))
            self._inbox.restate()
        except StoppedError as e:
            tokens = self._weight()
            yield Compacted(None, tokens, tokens, str(e))
        finally:
            self._rest()

    def checkout(
        self,
        target: EntryId | None,
        *,
        summarize: bool = False,
        focus: str | None = None,
        files: bool = False,
        overwrite: bool = False,
    ) -> Moved:
        """Move the leaf, durably; a user message means before it (R74).

        `files`: bring the working files to that place as well, but those that somebody else changed
        since only with `overwrite`. Raises RefusedError, ToolFailedError before anything moves.
        """
        if self.running:
            raise RefusedError("a turn is running in this session; stop it first")
        plan = self.files.plan(target) if files else None
        steps = self._mover.move(target, self._job(focus) if summarize else None)
        if plan is not None:
            self.files.leave(plan)
        try:
            while True:
                next(steps)
        except StopIteration as done:
            moved: Moved = done.value
        finally:
            self._rest()
        if plan is None:
            return moved
        notices = (*moved.notices, *self.files.bring_back(plan, overwrite=overwrite))
        return Moved(self.session.leaf, moved.editor_text, notices)

    def label(self, target: EntryId, name: str | None) -> None:
        self.session.label(target, name)
        self._recorder.settle()

    def rename(self, name: str) -> None:
        self.session.rename(name)
        self._recorder.settle()

    # ---- beside the model ----------------------------------------------------------------------

    def shell(
        self, command: str, *, excluded: bool, progress: Callable[[str], None]
    ) -> BashExecutionMessage:
        """`!command`: run it for the person and put it on the path. Raises ToolError."""
        if self.running:
            raise RefusedError("a turn is running in this session; stop it first")
        try:
            ran = self.workbench.shell(command, self._abort, progress)
        finally:
            self._rest()
        message = replace(ran, excluded=excluded, timestamp=self._recorder.now_ms())
        self._recorder.message(message)
        self._recorder.settle()
        return message

    def report(self) -> Report:
        """Cheap: only what the path gained since the last one is looked at."""
        usage = self._meter.total()
        return Report(
            context_tokens=self._weight(),
            context_window=self._gauge().known_window(),
            usage=usage,
            cost=usage.cost.total,
            saved=self.session.saved,
            policy=self.workbench.policy,
            sandbox=self.workbench.sandbox is not None,
            model=self.config.model.model,
            thinking=self.config.thinking,
            cwd=str(self.workbench.cwd),
            allowed=tuple(map(str, rules_in(self._projector.now().state))),
        )

    def close(self) -> None:
        self.provider.close()
        self.session.close()

    # ---- made of -------------------------------------------------------------------------------

    def _wanted(self) -> Wanted:
        return Wanted(
            self.config.model,
            self.config.thinking,
            self.config.sections,
            self.workbench.toolset.schemas(),
        )

    def _target(self) -> Target:
        model = self.config.model
        return Target(
            provider=model.provider,
            model=model.model,
            thinking=self.config.thinking,
            shape=self.provider.shape(model.model),
            max_tokens=self.config.max_tokens,
        )

    def _gauge(self) -> Gauge:
        model = self.config.model.model
        if self._last_gauge is None or self._last_gauge.model != model:
            config = self.config
            self._last_gauge = Gauge(
                self.provider,
                model,
                config.context_window,
                config.max_tokens,
                config.reserve,
                config.auto_compact,
            )
        return self._last_gauge

    def _weight(self) -> int:
        return self._gauge().weigh(self._projector.now())

    def _make_room(self, job: Job, why: str) -> Generator[AgentEvent, None, bool]:
        """An automatic compaction; its failure is told, never fatal by itself."""
        made = yield from self._compactor.try_run(job, why)
        if made:
            self._inbox.restate()
        return made

    def _job(self, focus: str | None = None, keep: int | None = None) -> Job:
        return Job(
            target=self._target(),
            window=self._gauge().known_window(),
            keep=keep if keep is not None else self.config.keep,
            focus=focus,
            abort=self._abort,
            turn=self._turns,
            weigh=self._gauge().weigh,
        )


def _cut_off(session: Session, entries: tuple[Entry, ...]) -> Interrupted | None:
    """The turn that a crash cut off, and what of it still runs."""
    found = find_interrupted(entries)
    return found and replace(found, running=still_running(session.live().entries))
