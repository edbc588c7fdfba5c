"""The loop: a turn is steps until no tool call is left; a step is one request and its tools.

    start → [ steer? → compact? → ask → run the calls ]* → end

Whatever is not the loop hangs on it: attempts and retries are asking.py's, order and approval of
calls execution.py's, what is written recorder.py's. A turn always ends, with a reason, and durable.
It does no IO of its own. Read next: asking.py, execution.py.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

from msgspec import Struct, field
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.asking import Answer, Asker
from agentsh.agent.budget import Budget
from agentsh.agent.events import AgentEvent, Notice, Steered, StepEnd, TurnEnd, TurnStart
from agentsh.agent.execution import Executor
from agentsh.agent.inbox import Inbox, Queued
from agentsh.agent.recorder import Recorder
from agentsh.agent.repetition import Repetition
from agentsh.agent.requests import Target
from agentsh.errors import SessionError
from agentsh.messages import Text, ToolCall, Usage, UserMessage
from agentsh.session.costs import added
from agentsh.session.entries import Body
from agentsh.session.facts import RequestReason, TurnEndReason

# How often in a row an answer may be cut inside its calls before the turn gives up (E19).
MAX_CUT_ANSWERS = 3


class Pressure(Struct, frozen=True):
    """How full the context is: `tokens` of `window` (None: unknown)."""

    tokens: int
    window: int | None
    must_compact: bool = False


class Turn(Struct, frozen=True):
    """What one turn is made of. `compact` yields events and says whether it made room."""

    number: int
    opening: tuple[Body, ...]
    message: UserMessage
    target: Target
    reason: RequestReason
    abort: Abort
    max_steps: int | None
    pressure: Callable[[], Pressure]
    compact: Callable[[str], Generator[AgentEvent, None, bool]]
    queued: Queued | None = None
    """The follow-up that the message was."""


class _Tally(Struct):
    """How the turn stands."""

    usage: Usage = field(default_factory=Usage)
    step: int = 0
    cut_answers: int = 0
    repetition: Repetition = field(default_factory=Repetition)


class _End(Struct, frozen=True):
    reason: TurnEndReason
    error: str | None = None
    hint: str | None = None


class Loop:
    """Runs turns of one session."""

    def __init__(
        self,
        recorder: Recorder,
        asker: Asker,
        executor: Executor,
        inbox: Inbox,
        budget: Budget,
        at_rest: Callable[[], None] = lambda: None,
    ) -> None:
        self._budget = budget
        self._at_rest = at_rest
        self._recorder = recorder
        self._asker = asker
        self._executor = executor
        self._inbox = inbox

    def run(self, turn: Turn) -> Generator[AgentEvent, None, None]:
        """One turn, from its prompt to rest. TurnEnd is its last event, always."""
        tally = _Tally()
        try:
            yield self._start(turn)
            end = yield from self._steps(turn, tally)
        except SessionError as e:
            end = _End("error", str(e), e.hint)
            if turn.queued is None:
                self._recorder.withdraw_turn()
        except GeneratorExit:
            self._close(_End("aborted"), tally)  # nobody listens any more
            raise
        yield self._close(end, tally)

    def _start(self, turn: Turn) -> TurnStart:
        queued = turn.queued
        sources = () if queued is None else (queued.entry,)
        _, prompt = self._recorder.start_turn(turn.opening, turn.number, turn.message, sources)
        if queued is not None:
            self._inbox.said(queued)
        self._inbox.drop_leftovers()
        return TurnStart(turn.message, prompt.id)

    def _close(self, end: _End, tally: _Tally) -> TurnEnd:
        session = self._recorder.session
        try:
            self._at_rest()
            entry = self._recorder.end_turn_durably(end.reason, end.error)
        except SessionError as e:
            words = f"{end.error}; {e}" if end.error else str(e)
            return TurnEnd("error", None, session.leaf, tally.usage, words, e.hint)
        return TurnEnd(
            end.reason, entry.id if entry else None, session.leaf, tally.usage, end.error, end.hint
        )

    def _steps(self, turn: Turn, tally: _Tally) -> Generator[AgentEvent, None, _End]:
        while True:
            if turn.max_steps is not None and tally.step >= turn.max_steps:
                return _End("max_steps", f"stopped after {tally.step} steps (--max-steps)")
            verdict = self._budget.verdict()
            if verdict.warning is not None:
                yield Notice(verdict.warning, "warning")
            if verdict.stop is not None:
                return _End("blocked", verdict.stop, verdict.hint)
            tally.step += 1
            yield from self._take_steers()
            if turn.pressure().must_compact:
                yield from turn.compact("the context is nearly full")
            if turn.abort.is_set:
                return _End("aborted")
            answer = yield from self._asker.ask(
                turn.target,
                turn=turn.number,
                step=tally.step,
                reason=turn.reason if tally.step == 1 else "resume",
                abort=turn.abort,
                compact=turn.compact,
            )
            end = yield from self._after(turn, tally, answer)
            if end is not None:
                return end

    def _after(
        self, turn: Turn, tally: _Tally, answer: Answer
    ) -> Generator[AgentEvent, None, _End | None]:
        """What an answer leads to: None means another step."""
        message = answer.message
        if answer.error is not None:
            return _End("error", str(answer.error), answer.error.hint)
        if message is None or answer.entry is None or message.stop_reason == "aborted":
            return _End("aborted")
        tally.usage = added(tally.usage, message.usage)
        if message.stop_reason == "error":  # never sent, so nothing of it may be done either
            return _End("error", message.error_message or "the model's answer failed")
        calls = message.tool_calls
        cut = message.stop_reason == "length"
        if calls:
            calls = tuple(_refused(call) for call in calls) if cut else calls
            stuck = tally.repetition.stuck(calls)
            note = tally.repetition.note()
            ended = yield from self._executor.run(calls, answer.entry, turn.abort, note)
            yield self._step_end(turn, tally, message.usage)
            if ended != "done":
                return _End(ended)
            return self._bounded(tally, stuck=stuck, cut=cut)
        yield self._step_end(turn, tally, message.usage)
        if turn.abort.is_set:
            return _End("aborted")
        if cut:
            words = "the answer was cut at the model's output limit (length)"
            yield Notice(words, "warning")
            return _End("max_tokens", words)
        waiting = any(item.kind == "steer" for item in self._inbox.waiting())
        return None if waiting else _End("completed")

    def _bounded(self, tally: _Tally, *, stuck: bool, cut: bool) -> _End | None:
        """No loop without a measure of progress (users.md §0 rule 8)."""
        tally.cut_answers = tally.cut_answers + 1 if cut else 0
        if tally.cut_answers >= MAX_CUT_ANSWERS:
            return _End(
                "error",
                f"the model's answer was cut at its output limit {tally.cut_answers} times in a"
                " row, inside a tool call",
                "ask for smaller pieces, or give more room with --max-tokens",
            )
        if stuck:
            return _End("error", tally.repetition.words())
        return None

    def _take_steers(self) -> Generator[AgentEvent, None, None]:
        while (item := self._inbox.take("steer")) is not None:
            message = UserMessage((Text(item.text),), self._recorder.now_ms())
            entry = self._recorder.message(message, sources=(item.entry,))
            self._inbox.said(item)
            yield Steered(message, entry.id)

    def _step_end(self, turn: Turn, tally: _Tally, usage: Usage) -> StepEnd:
        pressure = turn.pressure()
        return StepEnd(tally.step, usage, pressure.tokens, pressure.window)


def _refused(call: ToolCall) -> ToolCall:
    """A call of an answer that was cut: never executed, whole as it may look (E19)."""
    if call.arguments_error is not None:
        return call
    return replace(
        call,
        arguments_error="the answer was cut at the output limit, so the call may not be whole;"
        " use smaller pieces",
    )
