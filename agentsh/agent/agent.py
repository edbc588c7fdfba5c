"""Agent: one session and whoever answers in it. The programmatic face; frontends use nothing else.

`prompt` is a generator that runs one turn (and the follow-ups queued in it) in the calling thread;
`steer`, `follow_up`, `queued`, `take_back` and `abort` may be called from others meanwhile. What it
is made of is handed in (cli/assembly/wiring.py); what few turns need is made, and loaded, at its
first use. Read next: loop.py, requester.py, execution.py; treeactions.py for what is between turns.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agentsh.abort import Abort, AbortCause
from agentsh.agent.config import Config, EndpointLimits, StatusFigures, thinking_at
from agentsh.agent.events import AgentEvent, AgentEvents, Notice, TurnEnd
from agentsh.agent.files.checkpoints import states_of
from agentsh.agent.opening import Wanted, differences, plan_opening
from agentsh.agent.prompts.expansion import Expander, Spoken, Verbatim, spoken_as
from agentsh.agent.prompts.sequence import TurnSequence
from agentsh.agent.restoring import InForce, chosen, come_back, in_force, refreshed, stays_here
from agentsh.agent.turn.approvals import Approvals, Approver
from agentsh.agent.turn.budget import Budget
from agentsh.agent.turn.execution import Executor
from agentsh.agent.turn.inbox import Inbox, Queued, QueueKind, left_waiting
from agentsh.agent.turn.interruption import Interrupted, cut_off, last_turn
from agentsh.agent.turn.loop import Loop, Turn, telling
from agentsh.agent.turn.pressure import Gauge, Gauges
from agentsh.agent.turn.projector import Projector
from agentsh.agent.turn.recorder import Changed, Recorder
from agentsh.agent.turn.requester import Asker
from agentsh.agent.turn.requests import Target, target_of
from agentsh.agent.turn.usage import Meter, figures
from agentsh.agent.workbench import Workbench
from agentsh.context.tokens import Room
from agentsh.errors import BusyError
from agentsh.messages import BashExecutionMessage, Image, ModelRef
from agentsh.providers.base import Provider
from agentsh.session.file.session import Session
from agentsh.session.format.entries import EntryId
from agentsh.session.format.facts import RequestSent

if TYPE_CHECKING:  # with what comes along, which most runs never need
    from agentsh.agent.files.rewinding import Rewinder
    from agentsh.agent.moving import Moved
    from agentsh.agent.prompts.around import HookedTurns
    from agentsh.agent.structured.answers import AnswerSchema
    from agentsh.agent.summaries.compactor import SummedUp
    from agentsh.agent.summaries.titler import Titler
    from agentsh.agent.treeactions import TreeActions
    from agentsh.tools.undo.checkpointer import Checkpointer


class Agent:
    """One session, one provider, one set of tools."""

    _schema: AnswerSchema | None = None
    _titler: Titler | None = None

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
        open_checkpointer: Callable[[], Checkpointer] | None = None,
        expander: Expander | None = None,
        around: HookedTurns | None = None,
    ) -> None:
        self.session = session
        self.provider, self.workbench, self.config = provider, workbench, config
        self.expander: Expander = expander or Verbatim()
        self._verify, self.running, self._abort = verify, False, Abort()
        self.reach: Callable[[InForce, InForce], Iterable[str]] = stays_here
        self._notes: list[Notice] = []
        entries = session.live(repaired=False).entries
        self._turns, self._interrupted = last_turn(session), cut_off(session, entries)
        self._meter, self._gauges = Meter(session), Gauges()
        self._projector = projector = Projector(session)
        self._recorder = recorder = Recorder(session, clock, self._notes.append, workbench.cwd)
        self.inbox = inbox = Inbox(recorder, left_waiting(entries))
        retries, grants = config.max_retries, workbench.grants
        self._approvals = Approvals(recorder, approver, grants, self._notes.append, around)
        self.asker = Asker(recorder, projector, provider, max_retries=retries, verify=verify)
        self._states = states_of(recorder, open_checkpointer, self._notes.append, config, clock)
        executor = Executor(recorder, workbench, self._approvals, self._states.before_change)
        self.budget = budget = Budget(
            session, config.cost, lambda: self._gauge().has_price(self._abort)
        )
        self._loop = Loop(recorder, self.asker, executor, inbox, budget, self._states.at_rest)
        self._sequence = TurnSequence(
            session, inbox, around, self._turn, lambda: self._abort, self.rest
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

    def use(self, provider: Provider, model: str, limits: EndpointLimits | None = None) -> None:
        """Another endpoint's model from the next request on, in everything that asks.

        The provider that was used before is its maker's. Raises RefusedError while a turn runs.
        """
        self._must_rest()
        self.config = chosen(self.config, provider, model, limits, self.workbench)
        self.provider = provider
        self.asker.use(provider, self.config.max_retries)
        if self._titler is not None:
            self._titler.use(provider)

    def set_thinking(self, level: str) -> None:
        """From the next prompt on. Raises UsageError for a level that there is not."""
        self.config = thinking_at(self.config, level)

    def changes(self) -> tuple[str, ...]:
        """What differs from what is in force on the path (R09); shown at a resume."""
        return differences(self._projector.now(), self._wanted())

    # ---- turns ---------------------------------------------------------------------------------

    def prompt(
        self, text: str, images: tuple[Image, ...] = (), schema: AnswerSchema | None = None
    ) -> AgentEvents:
        """Run a turn, then one for each message that waits at its end.

        A turn that did not end well leaves what waits to whoever asked (`take_back`). Raises
        SkillNotFoundError at once.
        """
        asked = "" if schema is None else schema.asked
        return self._run(spoken_as(self.expander, text, images, asked), schema)

    def again(self) -> Iterator[AgentEvent]:
        """As `prompt`, without one: what was said up to the leaf is answered."""
        yield from self._run(None)

    def retry(self, word: str | None = None) -> Iterator[AgentEvent]:
        """Ask for an answer (the last one) once more, beside the old one; what is before it stays.
        Raises EntryNotFoundError, RefusedError: there is none."""
        self._must_rest()
        before, old = in_force(self.session), self._tree().step_back(word)
        yield from map(Notice, (old.words, *self._come_back(before, old.asked)))
        yield from self._run(None)

    def aside(self, question: str, abort: Abort) -> Iterator[AgentEvent]:
        """Answer a side question (asides.py), from any thread; a turn may run meanwhile.

        Raises RefusedError where the session may cost no more; a running turn sees to that itself.
        """
        if not self.running:
            self.budget.check()
        from agentsh.agent.asides import Asides

        asides = Asides(self._recorder, self.provider, self.config.max_retries, self._wanted())
        yield from asides.ask(question, self._target(), self._turns, abort)

    def _run(self, spoken: Spoken | None, schema: AnswerSchema | None = None) -> AgentEvents:
        self._must_rest()
        self.running, self._schema = True, schema
        try:
            well = yield from self._sequence.run(spoken)
            well = yield from self._sequence.run_queued(well)
            if well and self.config.title:
                yield from self._its_titler().run(self._target(), self._turns, self._abort)
                yield from self._sequence.run_queued(well)
        finally:
            self.running = False
            self.rest()

    def _turn(
        self, spoken: Spoken | None, queued: Queued | None
    ) -> Generator[AgentEvent, None, TurnEnd | None]:
        """One turn, and how it ended."""
        bench, leaf = self.workbench, self.session.leaf
        config = yield from refreshed(self.config, bench, self.provider, leaf, self._abort)
        if config is None:
            return None
        self.config = replace(self.config, facts=config.facts, sections=config.sections)
        self._recorder.begin()
        self._interrupted, context = None, self._projector.now()
        self._approvals.on_path(context.state)
        opening = plan_opening(context, self._wanted())
        self._turns += 1
        # all that is asked in this turn goes by the settings of now, whatever is changed meanwhile
        gauge, target = self._gauge(), self._target()
        turn = Turn(
            number=self._turns,
            opening=opening,
            message=None if spoken is None else spoken.message(self._recorder.now_ms()),
            target=target,
            reason="initial" if context.model is None else "change" if opening else "resume",
            abort=self._abort,
            max_steps=self.config.max_steps,
            pressure=lambda: gauge.read(self._projector.now(), self._abort),
            compact=lambda why: self._tree(target).make_room(why),
            queued=queued,
            typed=spoken.fact() if spoken is not None and queued is None else None,
            admit=self._sequence.admit,
            schema=self._schema,
        )
        return (yield from telling(self._loop.run(turn), self._notes))

    def abort(self, cause: AbortCause = "person") -> None:
        """Stop the running turn. Thread-safe; may be called from a signal handler."""
        self._abort.set(cause)

    def steer(self, text: str, images: tuple[Image, ...] = ()) -> str:
        """Say this with the next request; durable when this returns. Thread-safe."""
        return self._told("steer", text, images)

    def follow_up(self, text: str, images: tuple[Image, ...] = ()) -> str:
        """Say this as the next turn; durable when this returns. Thread-safe."""
        return self._told("follow-up", text, images)

    def _told(self, kind: QueueKind, text: str, images: tuple[Image, ...]) -> str:
        name = self.inbox.add(kind, text, self.expander.expand(text), images)
        if self._titler is not None:  # one that is made meanwhile looks at the queue first
            self._titler.give_way()
        return name

    def queued(self) -> tuple[Queued, ...]:
        return self.inbox.waiting()

    def take_back(self) -> tuple[Queued, ...]:
        """Empty the queue; what waited is the caller's again. Thread-safe."""
        return self.inbox.take_back()

    def pending(self) -> tuple[Queued, ...]:
        """What an earlier process was told and never said; shown, and dropped with a prompt."""
        return self.inbox.show_leftovers()

    def interrupted(self) -> Interrupted | None:
        """The turn that a crash cut off, until one goes on (R54)."""
        return self._interrupted

    def _must_rest(self) -> None:
        if self.running:
            raise BusyError("a turn is running in this session; stop it first")

    def rest(self) -> None:
        """An abort was meant for what has just ended; the next thing starts afresh."""
        if self._abort.is_set:
            self._abort = Abort()

    @contextmanager
    def _between_turns(self) -> Iterator[None]:
        """For what a person asks for that is no turn, and may stop. Raises RefusedError."""
        self._must_rest()
        try:
            yield
        finally:
            self.rest()

    # ---- the tree ------------------------------------------------------------------------------

    def compact(
        self, focus: str | None = None, keep: int | None = None, until: EntryId | None = None
    ) -> Iterator[AgentEvent]:
        """Append a compaction: of all but the last `keep` tokens, or of what is before `until`.
        Raises ProviderError, RefusedError: there is nothing to do."""
        with self._between_turns():
            yield from telling(self._tree().compact(focus, keep, until), self._notes)

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
        with self._between_turns():
            before = in_force(self.session)
            return self._tree().checkout(
                target,
                summarize=summarize,
                focus=focus,
                files=self.files if files else None,
                overwrite=overwrite,
                arrived=lambda: self._come_back(before),
            )

    def _come_back(self, before: InForce, asked: RequestSent | None = None) -> tuple[str, ...]:
        """The settings of the place where the leaf is now; what to tell of it."""
        reached = self.reach(before, there := in_force(self.session, asked))
        self.config, notices = come_back(self.config, before, there, self.provider, self.workbench)
        return (*reached, *notices)

    def sum_up(self, source: Session, target: EntryId, focus: str | None) -> SummedUp | None:
        """Summarise the branch of a session that ends there (picking.py). Raises ProviderError."""
        with self._between_turns():
            return self._tree().sum_up(source, target, focus)

    def label(self, target: EntryId, name: str | None) -> None:
        self._recorder.settle(lambda: self.session.label(target, name))

    def by_hand(self, change: Callable[[Session], Changed]) -> Changed:
        """What a person does to entries between two turns (hiding.py, picking.py); durable."""
        self._must_rest()
        return self._recorder.by_hand(change)

    def rename(self, name: str) -> None:
        self._recorder.settle(lambda: self.session.rename(name))

    def shell(
        self, command: str, *, excluded: bool, progress: Callable[[str], None]
    ) -> BashExecutionMessage:
        """`!command`: run it for the person and put it on the path. Raises ToolError."""
        with self._between_turns():
            ran = self.workbench.shell(command, self._abort, progress)
        message = replace(ran, excluded=excluded, timestamp=self._recorder.now_ms())
        self._recorder.settle(lambda: self._recorder.message(message))
        return message

    def report(self) -> StatusFigures:
        """Cheap: only what the path gained since the last one is looked at."""
        context = self._projector.now()
        return figures(
            self.config,
            self.workbench,
            usage=self._meter.total(),
            context=context,
            gauge=self._gauge(),
            saved=self._recorder.saves,
            allowed=tuple(map(str, self._approvals.in_force(context.state))),
        )

    def room(self) -> Room:
        """How much the model holds, without asking anybody."""
        return self._gauge().room(self.config.keep)

    def close(self) -> None:
        self.provider.close()
        self.session.close()

    def _target(self) -> Target:
        return target_of(self.config, self.provider)

    def _wanted(self) -> Wanted:
        return Wanted.of(self.config, self.workbench.toolset.schemas())

    def _gauge(self) -> Gauge:
        return self._gauges.of(self.provider, self.config)

    # ---- made at their first use ----------------------------------------------------------------

    @cached_property
    def files(self) -> Rewinder:
        """Brings the working files back to how they were at a place."""
        from agentsh.agent.files.rewinding import Rewinder

        return Rewinder(self._recorder, self._states)

    def _its_titler(self) -> Titler:
        from agentsh.agent.summaries.titler import Titler

        if self._titler is None:
            parts = self._recorder, self._projector, self.provider, self.inbox, self.budget
            self._titler = Titler(*parts, verify=self._verify)
        return self._titler

    def _tree(self, target: Target | None = None) -> TreeActions:
        """By the settings of now; in a turn, who is asked is as it was when that began."""
        from agentsh.agent.treeactions import TreeActions

        return TreeActions(
            recorder=self._recorder,
            projector=self._projector,
            inbox=self.inbox,
            provider=self.provider,
            config=self.config,
            target=target or self._target(),
            gauge=self._gauge(),
            abort=self._abort,
            turn=self._turns,
            spent=self._meter.total,
        )
