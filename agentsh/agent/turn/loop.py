"""The loop: a turn is steps until no tool call is left; a step is one request and its tools.

    start → [ steer? → compact? → ask → run the calls ]* → end

Whatever is not the loop hangs on it: attempts and retries are requester.py's, order and approval of
calls execution.py's, what is written recorder.py's. A turn always ends, with a reason, and durable.
It does no IO of its own. Read next: requester.py, execution.py.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Final, assert_never

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.events import AgentEvent, Notice, Steered, StepEnd, TurnEnd, TurnStart
from agentsh.agent.turn.budget import Budget, BudgetVerdict
from agentsh.agent.turn.execution import Ended, Executor
from agentsh.agent.turn.inbox import Inbox, Queued
from agentsh.agent.turn.recorder import Recorder
from agentsh.agent.turn.repeated_calls import Repetition
from agentsh.agent.turn.requester import Asker, RequestEnd, StepWish
from agentsh.agent.turn.requests import Target
from agentsh.errors import (
    AuthenticationError,
    ContextOverflowError,
    ProviderError,
    RequestRejectedError,
    SessionError,
)
from agentsh.jsontext import JsonValue
from agentsh.messages import Image, Text, ToolCall, Usage, UserMessage
from agentsh.session.format.entries import Body, EntryId
from agentsh.session.format.facts import PromptTyped, RequestReason, TurnEndCause, TurnEndReason

if TYPE_CHECKING:  # most turns have none
    from agentsh.agent.structured.answers import AnswerSchema

NEARLY_FULL: Final = "the context is nearly full"
"""Why a context is compacted before a request that would still fit."""

# How often in a row an answer may be cut inside its calls before the turn gives up (E19).
MAX_CUT_ANSWERS = 3
MAX_MENDED = 2
"""How often an answer that does not fit its schema is asked for once more."""
_CUT = "the answer was cut at the output limit, so the call may not be whole; use smaller pieces"
_NO_TOOLS = "tools were called, but none are offered any more"
_NOT_SHOWN = "takes no pictures: it is asked without what is attached; the session keeps it"
_UNFIT = "the session has its answers; ask again, with a simpler schema or another model"
_GO_ON = "its results are in the session: say what else is to be tried, and the turn goes on"
_MAKE_ROOM = (
    "/context, or `agentsh context last`, shows what fills the window; x in /tree, or"
    " `agentsh hide last ENTRY`, keeps an entry from the model"
)


class Pressure(Struct, frozen=True):
    """How full the context is: `tokens` of `window` (None: unknown)."""

    tokens: int
    window: int | None
    must_compact: bool = False
    estimated: bool = False
    """Whether any of the tokens is an estimate."""


def admitted(item: Queued) -> UserMessage:
    """A queued message as it is."""
    return UserMessage((Text(item.words),))


class Turn(Struct, frozen=True):
    """What one turn is made of. `compact` yields events and says whether it made room."""

    number: int
    opening: tuple[Body, ...]
    message: UserMessage | None
    """None: an answer is asked for again, from the leaf."""
    target: Target
    reason: RequestReason
    abort: Abort
    max_steps: int | None
    pressure: Callable[[], Pressure]
    compact: Callable[[str], Generator[AgentEvent, None, bool]]
    queued: Queued | None = None
    """The follow-up that the message was."""
    schema: AnswerSchema | None = None
    """What the last answer must fit."""
    typed: PromptTyped | None = None
    """What is recorded before the message."""
    admit: Callable[[Queued], UserMessage | str] = admitted
    """What a steer becomes, or why it is not said."""


class _Tally(Struct):
    """How the turn stands."""

    usage: Usage = field(default_factory=Usage)
    step: int = 0
    cut_answers: int = 0
    unfit_answers: int = 0
    is_mending: bool = False
    """The next answer is to mend one that did not fit: no tool is offered."""
    repetition: Repetition = field(default_factory=Repetition)


class _End(Struct, frozen=True):
    reason: TurnEndReason
    error: str | None = None
    hint: str | None = None
    cause: TurnEndCause | None = None
    data: JsonValue | UnsetType = UNSET


class Loop:
    """Runs turns of one session."""

    def __init__(
        self,
        recorder: Recorder,
        asker: Asker,
        executor: Executor,
        inbox: Inbox,
        budget: Budget,
        at_rest: Callable[[], EntryId | None] = lambda: None,
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
            yield from self._start(turn)
            end = yield from self._steps(turn, tally)
            yield from self._warned(self._budget.verdict())  # of the last request
        except SessionError as e:
            end = _End("error", str(e), e.hint)
            if turn.queued is None:
                self._recorder.withdraw_turn()
        except (GeneratorExit, KeyboardInterrupt):
            self._close(_End("aborted"), tally)  # nobody listens any more
            raise
        yield self._close(_timed(end, turn.abort), tally)

    def _warned(self, verdict: BudgetVerdict) -> Iterator[Notice]:
        if verdict.warning is not None:
            yield Notice(verdict.warning, "warning")

    def _start(self, turn: Turn) -> Iterator[TurnStart | Notice]:
        queued = turn.queued
        sources = () if queued is None else (queued.entry,)
        recorder = self._recorder
        _, prompt = recorder.start_turn(
            turn.opening, turn.number, turn.message, sources, turn.typed
        )
        if queued is not None:
            self._inbox.said(queued)
        self._inbox.drop_leftovers()
        if turn.message is not None and prompt is not None:
            yield TurnStart(turn.message, prompt.id)
            has_pictures = any(isinstance(each, Image) for each in turn.message.content)
            if has_pictures and not turn.target.shape.accepts_images:
                yield Notice(f"{turn.target.model} {_NOT_SHOWN}", "warning")

    def _close(self, end: _End, tally: _Tally) -> TurnEnd:
        session = self._recorder.session
        try:
            self._executor.note_jobs()
            state = self._at_rest()
            entry = self._recorder.end_turn_durably(end.reason, end.error, state, end.cause)
        except SessionError as e:
            error = f"{end.error}; {e}" if end.error else str(e)
            return TurnEnd("error", None, session.leaf, tally.usage, error, e.hint)
        return TurnEnd(
            end.reason,
            entry.id if entry else None,
            session.leaf,
            tally.usage,
            end.error,
            end.hint,
            end.cause,
            end.data,
        )

    def _steps(self, turn: Turn, tally: _Tally) -> Generator[AgentEvent, None, _End]:
        while True:
            if turn.max_steps is not None and tally.step >= turn.max_steps:
                return _End("max_steps", f"stopped after {tally.step} steps (--max-steps)")
            verdict = self._budget.verdict()
            yield from self._warned(verdict)
            if verdict.stop is not None:
                return _End("blocked", verdict.stop, verdict.hint, verdict.cause)
            tally.step += 1
            yield from self._take_steers(turn, tally)
            if turn.pressure().must_compact:
                yield from turn.compact(NEARLY_FULL)
            if turn.abort.is_set:
                return _End("aborted")
            self._executor.note_jobs()
            wish = StepWish(
                turn.number,
                tally.step,
                turn.reason if tally.step == 1 else "continue",
                turn.schema.schema if turn.schema and tally.is_mending else None,
                # after the first the figures are kept by what is added to them
                turn.pressure().tokens if tally.step == 1 else None,
            )
            answer = yield from self._asker.ask(
                turn.target, wish, abort=turn.abort, compact=turn.compact
            )
            end = yield from self._after(turn, tally, answer)
            if end is not None:
                return end

    def _after(
        self, turn: Turn, tally: _Tally, answer: RequestEnd
    ) -> Generator[AgentEvent, None, _End | None]:
        """What an answer leads to: None means another step."""
        message = answer.message
        if answer.error is not None:
            hint = answer.error.hint or _hint(answer.error, turn.target.model)
            return _End("error", str(answer.error), hint)
        if message is None or answer.entry is None or message.stop_reason == "aborted":
            return _End("aborted")
        tally.usage = tally.usage + message.usage
        if message.stop_reason == "error":  # never sent, so nothing of it may be done either
            return _End("error", message.error_message or "the model's answer failed")
        calls = message.tool_calls
        cut = message.stop_reason == "length"
        if calls:
            if cut or tally.is_mending:
                why = _CUT if cut else _NO_TOOLS
                calls = tuple(_refused(call, why) for call in calls)
            again = tally.repetition.stuck(calls)
            note = tally.repetition.note()
            ended = yield from self._executor.run(calls, answer.entry, turn.abort, note, again)
            yield self._step_end(turn, tally, message.usage)
            why = f"stopped: {again or ''}"
            end = _after_calls(ended, why) or self._bounded(tally, cut=cut)
            if end is None and tally.is_mending:
                return (yield from self._unfit(turn, tally, _NO_TOOLS))
            return end
        yield self._step_end(turn, tally, message.usage)
        if turn.abort.is_set:
            return _End("aborted")
        if cut:
            reason = "the answer was cut at the model's output limit (length)"
            yield Notice(reason, "warning")
            return _End("max_tokens", reason)
        waiting = any(item.kind == "steer" for item in self._inbox.waiting())
        return None if waiting else (yield from self._completed(turn, tally, message.text))

    def _completed(
        self, turn: Turn, tally: _Tally, text: str
    ) -> Generator[AgentEvent, None, _End | None]:
        """The end, unless the answer must be a value and is none: None means another step."""
        if turn.schema is None:
            return _End("completed")
        read = turn.schema.read(text)
        if read.complaint is None:
            return _End("completed", data=read.value)
        return (yield from self._unfit(turn, tally, read.complaint))

    def _unfit(
        self, turn: Turn, tally: _Tally, complaint: str
    ) -> Generator[AgentEvent, None, _End | None]:
        """Say what is wrong with it, as long as that may help."""
        assert turn.schema is not None
        if tally.unfit_answers >= MAX_MENDED:
            words = f"the answer does not fit the JSON Schema: {complaint}"
            return _End("error", words, _UNFIT, "schema_mismatch")
        tally.unfit_answers += 1
        tally.is_mending = True
        said = UserMessage((Text(turn.schema.asked_again(complaint)),), self._recorder.now_ms())
        yield Steered(said, self._recorder.message(said).id)
        return None

    def _bounded(self, tally: _Tally, *, cut: bool) -> _End | None:
        """No loop without a measure of progress (H08)."""
        tally.cut_answers = tally.cut_answers + 1 if cut else 0
        if tally.cut_answers >= MAX_CUT_ANSWERS:
            return _End(
                "error",
                f"the model's answer was cut at its output limit {tally.cut_answers} times in a"
                " row, inside a tool call",
                "ask for smaller pieces, or give more room with --max-tokens",
            )
        return None

    def _take_steers(self, turn: Turn, tally: _Tally) -> Generator[AgentEvent, None, None]:
        while (item := self._inbox.take("steer")) is not None:
            tally.is_mending = False
            message = turn.admit(item)
            if isinstance(message, str):
                self._inbox.drop(item)
                yield Notice(message, "warning")
                continue
            message = replace(message, timestamp=self._recorder.now_ms())
            entry = self._recorder.message(message, sources=(item.entry,))
            self._inbox.said(item)
            yield Steered(message, entry.id)
            if not self._inbox.steers_at_once:
                return

    def _step_end(self, turn: Turn, tally: _Tally, usage: Usage) -> StepEnd:
        pressure = turn.pressure()
        return StepEnd(tally.step, usage, pressure.tokens, pressure.window, pressure.estimated)


def _timed(end: _End, abort: Abort) -> _End:
    """Stopped by the clock is another end than stopped by a person."""
    if end.reason != "aborted" or abort.cause != "max_time":
        return end
    reason = "stopped: the time of this run is over (--max-time)"
    return _End("aborted", reason, "the session can go on with another --max-time", "max_time")


def _after_calls(ended: Ended, why: str) -> _End | None:
    """None: the turn goes on. `why`: what stopped it where the calls were stuck."""
    match ended:
        case "done":
            return None
        case "stuck":
            return _End("error", why, _GO_ON)
        case "blocked" | "aborted":
            return _End(ended)
        case _:
            assert_never(ended)


def _refused(call: ToolCall, why: str) -> ToolCall:
    """A call that is never executed, whole as it may look (E19)."""
    if call.arguments_error is not None:
        return call
    return replace(call, arguments_error=why)


def _hint(error: ProviderError, model: str) -> str | None:
    """What helps where the prompt does not fit, or where the model may be what was refused: it may
    be one that a session brought along."""
    if isinstance(error, ContextOverflowError):
        return _MAKE_ROOM
    is_refused = isinstance(error, RequestRejectedError) and not isinstance(
        error, AuthenticationError
    )
    if is_refused and (error.status == 404 or model in str(error)):
        return f"the model asked was {model}; -m, or /model in a chat, names another one"
    return None


def telling(
    events: Generator[AgentEvent, None, None], notes: list[Notice]
) -> Generator[AgentEvent, None, TurnEnd | None]:
    """With what the recorder has to tell, before each; how the turn ended, if it was one."""
    end = None
    try:
        for event in events:
            while notes:
                yield notes.pop(0)
            if isinstance(event, TurnEnd):
                end = event
            yield event
    finally:
        events.close()
    return end
