"""Asking the person about a call: what is shown, which keys answer, and when they count.

The question is answered by one key (y, a, n, Esc), never by Enter. Keys count only once nothing has
been typed for QUIET seconds, so that a word being typed when the question comes up agrees to
nothing; until then they go to the editor as always. What is asked about is shown whole, with every
odd character visible. Read next: repl.py.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from agentsh.agent.approvals import Answer, ApprovalRequest
from agentsh.ui.sanitize import exact_text, safe_line

QUIET = 0.5


@dataclass(slots=True)
class Question:
    """One open question; the asking thread waits on `answered`."""

    request: ApprovalRequest
    answered: threading.Event = field(default_factory=threading.Event)
    answer: Answer = field(default_factory=lambda: Answer("no"))

    def settle(self, answer: Answer) -> None:
        self.answer = answer
        self.answered.set()


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
