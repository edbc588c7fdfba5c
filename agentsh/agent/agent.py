"""Agent: one session and whoever answers in it. The programmatic face; frontends use nothing else.

`prompt` is a generator that runs one turn (and the follow-ups queued in it) in the calling thread;
`steer`, `follow_up`, `queued`, `take_back` and `abort` may be called from others meanwhile. What it
is made of is handed in (cli/wiring.py). Read next: loop.py, asking.py, execution.py.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.approvals import Approvals, Approver
from agentsh.agent.asking import Asker
from agentsh.agent.compactor import Compactor, Job
from agentsh.agent.events import AgentEvent, Notice
from agentsh.agent.execution import Executor
from agentsh.agent.inbox import Inbox, Queued
from agentsh.agent.loop import Loop, Turn
from agentsh.agent.moving import Moved, Mover
from agentsh.agent.opening import Wanted, differences, plan_opening
from agentsh.agent.pressure import Gauge
from agentsh.agent.projector import Projector
from agentsh.agent.recorder import Recorder
from agentsh.agent.requests import Target
from agentsh.agent.usage import added
from agentsh.agent.workbench import Workbench
from agentsh.context.tokens import context_tokens
from agentsh.errors import RefusedError, UsageError
from agentsh.messages import (
    THINKING_LEVELS,
    AssistantMessage,
    BashExecutionMessage,
    Image,
    ModelRef,
    Text,
    Usage,
    UserMessage,
)
from agentsh.providers.base import Provider
from agentsh.session.entries import Custom, Entry, EntryId, MessageBody
from agentsh.session.factcodec import decode_fact
from agentsh.session.facts import TurnStarted
from agentsh.session.session import Session


class Config(Struct, frozen=True):
    """What the user's settings and options say about turns."""

    model: ModelRef
    thinking: str
    sections: Mapping[str, str]
    """The system prompt of ours, section by section (context/prompt.py)."""
    max_retries: int = 4
    max_steps: int | None = None
    max_tokens: int | None = None
    context_window: int | None = None
    reserve: int | None = None
    keep: int | None = None
    auto_compact: bool = True


class Report(Struct, frozen=True):
    """The figures of a status line."""

    context_tokens: int
    context_window: int | None
    usage: Usage
    cost: float
    saved: bool
    policy: str
    sandbox: bool
    model: str
    thinking: str
    cwd: str


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
    ) -> None:
        self.session = session
        self.provider = provider
        self.workbench = workbench
        self.config = config
        self.running = False
        self._notes: list[str] = []
        self._abort = Abort()
        self._recorder = Recorder(session, clock, self._notes.append)
        self._projector = Projector(session)
        self._inbox = Inbox(self._recorder)
        self._approvals = Approvals(self._recorder, approver)
        self._asker = Asker(
            self._recorder,
            self._projector,
            provider,
            max_retries=config.max_retries,
            verify=verify,
        )
        self._executor = Executor(self._recorder, workbench, self._approvals)
        self._loop = Loop(self._recorder, self._asker, self._executor, self._inbox)
        self._compactor = Compactor(self._recorder, self._projector, provider, config.max_retries)
        self._mover = Mover(self._recorder, self._compactor)
        self._turns = _last_turn(session)
        self._last_gauge: Gauge | None = None

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
        """Run a turn, then one for each follow-up that was queued in it."""
        if self.running:
            raise RefusedError("a turn is running in this session")
        self.running = True
        try:
            blocks = (*((Text(text),) if text else ()), *attachments)
            yield from self._turn(UserMessage(blocks))
            while not self._abort.is_set and (item := self._inbox.take("follow-up")) is not None:
                yield from self._turn(UserMessage((Text(item.text),)))
        finally:
            self.running = False
            self._rest()

    def _turn(self, message: UserMessage) -> Iterator[AgentEvent]:
        context = self._projector.now()
        fresh = context.model is None
        self._approvals.on_path(context.state)
        wanted = self._wanted()
        opening = plan_opening(context, wanted)
        self._turns += 1
        turn = Turn(
            number=self._turns,
            opening=opening,
            message=replace(message, timestamp=self._recorder.now_ms()),
            target=self._target(),
            reason="initial" if fresh else "change" if opening else "resume",
            abort=self._abort,
            max_steps=self.config.max_steps,
            pressure=lambda: self._gauge().read(self._projector.now()),
            compact=self._make_room,
        )
        for event in self._loop.run(turn):
            yield from self._said()
            yield event
        yield from self._said()

    def _said(self) -> Iterator[AgentEvent]:
        """What the recorder has to tell."""
        while self._notes:
            yield Notice(self._notes.pop(0), "error")

    def abort(self) -> None:
        """Stop the running turn. Thread-safe; may be called from a signal handler."""
        self._abort.set()

    def steer(self, text: str) -> str:
        """Say this with the next request; durable when this returns. Thread-safe."""
        return self._inbox.add("steer", text)

    def follow_up(self, text: str) -> str:
        """Say this as the next turn; durable when this returns. Thread-safe."""
        return self._inbox.add("follow-up", text)

    def queued(self) -> tuple[Queued, ...]:
        return self._inbox.waiting()

    def take_back(self) -> tuple[str, ...]:
        """Empty the queue; its texts are the caller's again. Thread-safe."""
        return self._inbox.take_back()

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
            yield from self._compactor.run(self._job(focus, keep))
        finally:
            self._rest()

    def checkout(
        self,
        target: EntryId | None,
        *,
        summarize: bool = False,
        focus: str | None = None,
        files: bool = False,
    ) -> Moved:
        """Move the leaf, durably; a user message means before it (R74)."""
        if self.running:
            raise RefusedError("a turn is running in this session; stop it first")
        if files:
            raise UsageError("bringing back the working files is not built yet")
        steps = self._mover.move(target, self._job(focus) if summarize else None)
        try:
            while True:
                next(steps)
        except StopIteration as done:
            moved: Moved = done.value
            return moved
        finally:
            self._rest()

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
        try:
            ran = self.workbench.shell(command, self._abort, progress)
        finally:
            self._rest()
        message = replace(ran, excluded=excluded, timestamp=self._recorder.now_ms())
        self._recorder.message(message)
        self._recorder.settle()
        return message

    def report(self) -> Report:
        context = self._projector.now()
        usage = Usage()
        for entry in self.session.live().entries:
            if isinstance(entry.body, MessageBody) and isinstance(
                entry.body.message, AssistantMessage
            ):
                usage = added(usage, entry.body.message.usage)
        return Report(
            context_tokens=context_tokens(context),
            context_window=self._gauge().known_window(),
            usage=usage,
            cost=usage.cost.total,
            saved=self.session.saved,
            policy=self.workbench.policy,
            sandbox=self.workbench.sandbox is not None,
            model=self.config.model.model,
            thinking=self.config.thinking,
            cwd=str(self.workbench.cwd),
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

    def _make_room(self, why: str) -> Generator[AgentEvent, None, bool]:
        """An automatic compaction; its failure is told, never fatal by itself."""
        return (yield from self._compactor.try_run(self._job(), why))

    def _job(self, focus: str | None = None, keep: int | None = None) -> Job:
        return Job(
            target=self._target(),
            window=self._gauge().known_window(),
            keep=keep if keep is not None else self.config.keep,
            focus=focus,
            abort=self._abort,
            turn=self._turns,
        )


def _last_turn(session: Session) -> int:
    """The number of the newest turn on the path, 0 before the first."""
    for entry in reversed(session.live().entries):
        number = _turn_number(entry)
        if number is not None:
            return number
    return 0


def _turn_number(entry: Entry) -> int | None:
    if not isinstance(entry.body, Custom):
        return None
    fact = decode_fact(entry.body)
    return fact.number if isinstance(fact, TurnStarted) else None
