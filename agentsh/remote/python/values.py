"""What a script is handed: answers, events, questions, and what it raises. Values only.

Their names for the script are those of `agentsh.__all__`, and so they are called when they are
shown. Read next: remote/values/lines.py, talk.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

from agentsh.agent.events import (
    AgentEvent,
    ApprovalNeeded,
    MessageDone,
    StepStart,
    TurnEnd,
    code_of,
)
from agentsh.agent.moving import Moved
from agentsh.agent.turn.approvals import ApprovalRequest
from agentsh.errors import AgentshError
from agentsh.jsontext import JsonValue
from agentsh.messages import Usage
from agentsh.remote.values.lines import (
    EventLine,
    TurnStatus,
    UsageMembers,
    done_line,
    usage_members,
)

_Class = TypeVar("_Class", bound=type)
_TO_ANSWER: Final = "approve= takes a callback that answers, allow= rules, policy= another policy"


def shown_as(name: str) -> Callable[[_Class], _Class]:
    """The class bears the name that a script imports it by."""

    def named(this: _Class) -> _Class:
        this.__name__ = this.__qualname__ = name
        this.__module__ = "agentsh"
        return this

    return named


@shown_as("Answer")
class Answer(Struct, frozen=True):
    """How a turn ended. `text` is the last answer."""

    text: str
    status: TurnStatus
    """`completed`, or how else it ended: the `status` of `run --output json`."""
    exit: int
    """What `agentsh run` would exit with."""
    error: str | None
    hint: str | None
    usage: UsageMembers
    cost: float
    steps: int
    """How many requests were sent."""
    entry: str
    """Where the last answer is stored; empty: none is."""
    leaf: str | None
    data: Any = None
    """The answer as the value that `schema` asked for."""

    @property
    def ok(self) -> bool:
        """Whether the turn came to its end by itself."""
        return self.status == "completed"


@shown_as("TurnError")
class TurnError(AgentshError):
    """A turn did not complete; `answer` is what there is of it."""

    def __init__(self, answer: Answer) -> None:
        message = answer.error or f"the turn did not complete: {answer.status}"
        super().__init__(message, hint=answer.hint)
        self.answer = answer
        self.exit_code = answer.exit


@shown_as("Denied")
class CallDeniedError(Exception):
    """Raised by an approve callback: no, and why, which the model is told."""


@shown_as("Event")
class TurnNews(Struct, frozen=True):
    """What happens in a turn, as one line of `run --output events` tells it.

    `type` says which, and the line's other members are attributes. A member that the line lacks is
    an AttributeError; one that it leaves out (`error` of a `done` without one) is None.
    """

    _line: EventLine
    answer: Answer | None = None
    """Of the last event, `done`: how the turn ended."""

    @property
    def type(self) -> str:
        return str(self._line.__struct_config__.tag)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._line, name)
        return None if value is UNSET else value

    def __repr__(self) -> str:
        return f"Event({self._line!r})"


@shown_as("Request")
class CallQuestion(Struct, frozen=True):
    """A call that somebody must agree to. `shown` is all of what would be done."""

    tool: str
    arguments: Mapping[str, JsonValue]
    shown: str
    diff: str | None = None
    """What an edit would change."""
    rule: str | None = None
    """What "always" would allow from now on, where there is such a rule."""
    why: str | None = None
    """What of it needs the question, where there is more to say than the policy."""

    @classmethod
    def of(cls, request: ApprovalRequest) -> CallQuestion:
        arguments, rule = request.call.arguments, request.rule_hint
        return cls(request.tool, arguments, request.shown, request.diff, rule, request.why)


@shown_as("Checkout")
class CheckedOut(Struct, frozen=True):
    """Where the leaf is now; `text` is that of the prompt that it stands before."""

    leaf: str | None
    text: str | None
    notices: Sequence[str]

    @classmethod
    def of(cls, moved: Moved) -> CheckedOut:
        return cls(moved.leaf, moved.editor_text, moved.notices)


class AnswerWatch:
    """Sees the events of a turn, and those of what was queued in it, and makes the answer."""

    def __init__(self) -> None:
        self._text = ""
        self._entry = ""
        self._steps = 0
        self._unanswered: str | None = None
        self._end = TurnEnd("error", None, None, Usage(), "the turn did not end")

    def see(self, event: AgentEvent) -> None:
        match event:
            case MessageDone(message, entry):
                self._text, self._entry = message.text, entry
            case StepStart():
                self._steps += 1
            case ApprovalNeeded(call, shown):
                self._unanswered = f"nobody could be asked about {call.name}: {shown}"
            case TurnEnd():
                self._end = event
            case _:
                pass

    def done(self, leaf: str | None) -> TurnNews:
        """The last event, with the answer."""
        end = self._end
        error, hint = end.error, end.hint
        if end.status == "blocked" and error is None and self._unanswered is not None:
            error, hint = self._unanswered, hint or _TO_ANSWER
        line = done_line(replace(end, leaf=leaf, error=error), code_of(end.status))
        answer = Answer(
            text=self._text,
            status=end.status,
            exit=line.exit,
            error=error,
            hint=hint,
            usage=usage_members(end.usage),
            cost=line.cost,
            steps=self._steps,
            entry=self._entry,
            leaf=leaf,
            data=None if line.data is UNSET else line.data,
        )
        return TurnNews(line, answer)
