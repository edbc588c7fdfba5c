"""Asking the person about a call: what is shown, which keys answer, and when they count.

The question is answered by one key (y, a, n, Esc), never by Enter. Keys count only once nothing has
been typed for QUIET seconds, so that a word being typed when the question comes up agrees to
nothing; until then they go to the editor as always. What is asked about is shown whole, with every
odd character visible. Read next: repl.py.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from msgspec import Struct, field

from agentsh.agent.approvals import Answer, ApprovalRequest
from agentsh.ui.sanitize import exact_text, safe_line

QUIET = 0.5


class Question(Struct):
    """One open question; the asking thread waits on `answered`."""

    request: ApprovalRequest
    answered: threading.Event = field(default_factory=threading.Event)
    answer: Answer = field(default_factory=lambda: Answer("no"))

    def settle(self, answer: Answer) -> None:
        self.answer = answer
        self.answered.set()


class Desk:
    """Where questions are asked and answered. `approve` is called in the worker's thread."""

    def __init__(
        self, post: Callable[[Callable[[], None]], None], show: Callable[[Question], None]
    ) -> None:
        self._post = post
        self._show = show
        self._last_key = 0.0
        self._closed = False
        self.question: Question | None = None

    def approve(self, request: ApprovalRequest) -> Answer:
        """Ask, wait, give the answer."""
        question = Question(request)
        self._post(lambda: self._open(question))
        question.answered.wait()
        return question.answer

    def typed(self) -> None:
        """Something was typed that is no answer."""
        self._last_key = time.monotonic()

    def is_asked(self) -> bool:
        """A question is open and keys count as answers."""
        return self.question is not None and time.monotonic() - self._last_key >= QUIET

    def answer(self, key: str) -> str:
        """`y`, `a`, anything else is no. What was answered, in words."""
        question, self.question = self.question, None
        if question is None:
            return ""
        match key:
            case "y":
                question.settle(Answer("once"))
                return "allowed once"
            case "a":
                answer = always(question.request)
                question.settle(answer)
                return "allowed from now on" + (f": {answer.rule}" if answer.rule else "")
            case _:
                question.settle(refused())
                return "not allowed"

    def close(self, reason: str, *, for_good: bool = False) -> None:
        """Answer the open question with no; `for_good`: and every later one."""
        self._closed = self._closed or for_good
        question, self.question = self.question, None
        if question is not None:
            question.settle(refused(reason))

    def _open(self, question: Question) -> None:
        if self._closed:
            question.settle(refused("the chat was left"))
            return
        self.question = question
        self._last_key = time.monotonic()
        self._show(question)


def always(request: ApprovalRequest) -> Answer:
    """`a`: this and what its rule covers, for this session."""
    if request.rule_hint:
        return Answer("rule", rule=request.rule_hint)
    return Answer("session")


def refused(reason: str | None = None) -> Answer:
    return Answer("no", reason=reason)


def question_title(request: ApprovalRequest) -> str:
    return f"{safe_line(request.tool, 60)} asks to:"


def question_body(request: ApprovalRequest) -> str:
    """The whole command or path."""
    return "\n".join(f"  {line}" for line in exact_text(request.shown).split("\n"))


def question_keys(request: ApprovalRequest) -> str:
    rule = f" ({safe_line(request.rule_hint, 60)})" if request.rule_hint else ""
    return f"Allow it?  y once · a always in this session{rule} · n or Esc no"


def question_lines(question: Question | None) -> list[str]:
    """The live part of an open question."""
    return [] if question is None else [question_keys(question.request)]
