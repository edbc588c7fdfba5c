"""Questions about calls as Pi's dialogs: said as a `select`, answered in any of its forms.

`ask` waits in the turn's thread; answers come from the thread that reads. Nothing times out: a
question ends by its answer, by an abort (no), or by the end of the input (nobody answered). What a
client says is held against what was asked, so that an odd value is never a yes.
Read next: agent/turn/approvals.py.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec import UNSET, Struct

from agentsh.agent.turn.approvals import ApprovalAnswer, ApprovalRequest
from agentsh.errors import UsageError
from agentsh.remote.rpc.commands import DialogAnswer
from agentsh.remote.values.rpcrecords import AskedCall, QuestionRecord
from agentsh.remote.values.rulechoice import ALWAYS, DENY, ONCE, offered_rule

_NO = ApprovalAnswer("no")


class _Open(Struct):
    request: ApprovalRequest
    answer: ApprovalAnswer | None = None
    is_over: bool = False


class Dialogs:
    """The questions of one process."""

    def __init__(self, say: Callable[[QuestionRecord], None]) -> None:
        self._say = say
        self._news = threading.Condition()
        self._open: dict[str, _Open] = {}
        self._count = 0
        self._is_closed = self._is_refusing = False

    def ask(self, request: ApprovalRequest) -> ApprovalAnswer | None:
        """Ask, and wait; None: nobody answers any more."""
        with self._news:
            if self._is_closed or self._is_refusing:
                return None if self._is_closed else _NO
            self._count += 1
            name = f"approval-{self._count}"
            question = self._open[name] = _Open(request)
        self._say(question_record(name, request))
        with self._news:
            self._news.wait_for(lambda: question.is_over)
        return question.answer

    def answer(self, said: DialogAnswer) -> bool:
        """Whether somebody waited for it. Raises UsageError, and the question stays."""
        with self._news:
            question = self._open.get(said.id)
            if question is None:
                return False
            self._settle(said.id, question, approval_of(said, question.request))
            return True

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """No to whatever is asked, now and until the block ends: it is being stopped."""
        with self._news:
            self._is_refusing = True
            for name, question in [*self._open.items()]:
                self._settle(name, question, _NO)
        try:
            yield
        finally:
            self._is_refusing = False

    def close(self) -> None:
        """There is nobody to ask from now on; what is asked is not answered."""
        with self._news:
            self._is_closed = True
            for name, question in [*self._open.items()]:
                self._settle(name, question, None)

    def _settle(self, name: str, question: _Open, answer: ApprovalAnswer | None) -> None:
        del self._open[name]
        question.answer, question.is_over = answer, True
        self._news.notify_all()


def question_record(name: str, request: ApprovalRequest) -> QuestionRecord:
    """What a client shows; `approval` holds the same for a program."""
    parts = (request.shown, request.why, request.diff)
    return QuestionRecord(
        id=name,
        method="select",
        title=f"Allow {request.tool}? {request.shown}",
        message="\n\n".join(part for part in parts if part),
        options=(*dialog_options(request),),
        approval=AskedCall(
            request.call.id,
            request.tool,
            request.call.arguments,
            request.shown,
            request.diff or UNSET,
            request.rule_hint or UNSET,
            request.why or UNSET,
        ),
    )


def dialog_options(request: ApprovalRequest) -> Iterator[str]:
    """What can be chosen, in this order."""
    yield ONCE
    if (rule := offered_rule(request)) is not None:
        yield ALWAYS + rule
    yield DENY


def approval_of(said: DialogAnswer, request: ApprovalRequest) -> ApprovalAnswer:
    """What an answer means for that question. Raises UsageError."""
    match said:
        case DialogAnswer(decision=str(decision)):
            answer = _decided(decision, request)
        case DialogAnswer(cancelled=True):
            answer = _NO
        case DialogAnswer(confirmed=bool(confirmed)):
            answer = ApprovalAnswer("once") if confirmed else _NO
        case DialogAnswer(value=value):
            answer = _chosen(value, request)
    if answer.kind == "no":
        return ApprovalAnswer("no", said.reason)
    return ApprovalAnswer(answer.kind, said.reason, answer.rule, said.command)


def _chosen(value: str | None, request: ApprovalRequest) -> ApprovalAnswer:
    if value == ONCE:
        return ApprovalAnswer("once")
    rule = offered_rule(request)
    if rule is None or value != ALWAYS + rule:
        return _NO
    return ApprovalAnswer("rule", rule=rule)


def _decided(decision: str, request: ApprovalRequest) -> ApprovalAnswer:
    match decision:
        case "once":
            return ApprovalAnswer("once")
        case "always" if not request.is_repeat:
            rule = request.rule_hint or ""
            exactly = ApprovalAnswer("session")
            return ApprovalAnswer("rule", rule=rule) if rule.startswith("@") else exactly
        case "rule" if not request.is_repeat and request.rule_hint:
            return ApprovalAnswer("rule", rule=request.rule_hint)
        case "no":
            return _NO
        case _:
            raise UsageError(f"{decision} is no answer to this question")
