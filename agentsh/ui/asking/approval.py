"""The question about a call: its text, the keys that answer, and when they count.

The question is answered by one key (y, a, p, n, e, Esc), never by Enter alone. Keys count only once
nothing has been typed for QUIET_BEFORE_ANSWER seconds, and letters only while the line is empty, so
that a word being typed when the question comes up agrees to nothing; until then they go to the
editor as always. What is asked about is shown whole, with every odd character visible, and stays
named above the keys whatever is printed meanwhile.
A command may be changed first (e): Enter on what the person has written then is a yes to exactly
that, once; unchanged it agrees to nothing. Read next: keyboard.py.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable

from msgspec import Struct, field
from msgspec.structs import replace

from agentsh.agent.turn.approvals import ApprovalAnswer, ApprovalRequest
from agentsh.sanitize import exact_text, safe_line
from agentsh.tools.approval.policy import SHELL
from agentsh.tools.approval.rules import rule_hint

QUIET_BEFORE_ANSWER = 0.5
FROM_NOW_ON = "from now on in this session; /approve lists what is"


class Question(Struct):
    """One open question; the asking thread waits on `answered`. `command`: as it was changed."""

    request: ApprovalRequest
    command: str | None = None
    answered: threading.Event = field(default_factory=threading.Event)
    answer: ApprovalAnswer = field(default_factory=lambda: ApprovalAnswer("no"))

    def settle(self, answer: ApprovalAnswer) -> None:
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

    def approve(self, request: ApprovalRequest) -> ApprovalAnswer:
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
        return (
            self.question is not None and time.monotonic() - self._last_key >= QUIET_BEFORE_ANSWER
        )

    def agree(self, key: str) -> str | None:
        """`y`, `a` or `p`. What was answered, in words; None: that is no answer here."""
        question = self.question
        if question is None:
            return None
        request, command = question.request, question.command
        match key:
            case "y":
                answer, sentence = ApprovalAnswer("once", command=command), "allowed once"
            case "a" if not request.is_repeat:
                answer = replace(exactly(request), command=command)
                sentence = f"{what_exactly(answer)} allowed {FROM_NOW_ON}"
            case "p" if (prefix := prefix_rule(request)) is not None:
                answer = ApprovalAnswer("rule", rule=prefix, command=command)
                sentence = f"whatever begins with {safe_line(prefix, 60)} is allowed {FROM_NOW_ON}"
            case _:
                return None
        self.question = None
        question.settle(answer)
        return sentence

    def refuse(self, reason: str | None = None) -> str:
        """No; `reason` is for the model. In words."""
        question, self.question = self.question, None
        if question is None:
            return ""
        question.settle(refused(reason))
        return "not allowed"  # the call's card has the reason

    def change(self, command: str) -> str | None:
        """The person wrote this command instead, which is a yes to it, once. In words.

        None: the question stays. It does where nothing was changed; and one that still holds what
        an editor does not show is asked about anew, with that made visible.
        """
        question = self.question
        if question is None or not command.strip() or command == question.request.shown:
            return None
        if exact_text(command) == command:
            self.question = None
            question.settle(ApprovalAnswer("once", command=command))
            return "allowed once, as you changed it; the model will be told"
        question.command = command
        question.request = replace(
            question.request,
            shown=command,
            rule_hint=rule_hint(command),
            why="you changed it; the model will be told",
        )
        self._show(question)
        self._last_key = time.monotonic()
        return None

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


def exactly(request: ApprovalRequest) -> ApprovalAnswer:
    """The answer of the key `a`: exactly this, for this session. A file is meant by its path."""
    rule = request.rule_hint or ""
    return ApprovalAnswer("rule", rule=rule) if rule.startswith("@") else ApprovalAnswer("session")


def what_exactly(answer: ApprovalAnswer) -> str:
    """What `exactly` allows, as the subject of a sentence: "edits of this file are"."""
    kind, _, what = (answer.rule or "").partition(" ")
    match kind:
        case "@edit":
            return "edits of this file are"
        case "@mcp":
            return f"every call of {_served(what)} is"
        case _:
            return "exactly this is"


def _served(what: str) -> str:
    """SERVER/TOOL of a rule, without the digest of how it was described."""
    return safe_line(re.sub(r" #\S+$", "", what), 100)


def prefix_rule(request: ApprovalRequest) -> str | None:
    """The first words of the command, where a rule of them is safe to offer."""
    rule = request.rule_hint
    return rule if rule and rule[0] not in "=@" else None


def allowed_words(rule: str) -> str:
    """What a rule allows, as the key for it says."""
    kind, _, what = rule.partition(" ")
    match kind:
        case "=":
            return f"a  {safe_line(what, 200)}"
        case "@edit":
            return f"a  edits of {safe_line(what, 200)}"
        case "@mcp":
            return f"a  calls of {_served(what)}, as it was described"
        case _:
            return f"p  {safe_line(rule, 200)} …"


def refused(reason: str | None = None) -> ApprovalAnswer:
    return ApprovalAnswer("no", reason=reason)


def question_title(request: ApprovalRequest) -> str:
    return f"{safe_line(request.tool, 60)} asks to:"


def question_body(request: ApprovalRequest) -> str:
    """The whole command or path."""
    return "\n".join(f"  {line}" for line in exact_text(request.shown).split("\n"))


def question_keys(request: ApprovalRequest) -> list[str]:
    """What may be answered, one each."""
    if request.is_repeat:
        return ["y go on", "n no, say why", "Esc ends the turn"]
    prefix = prefix_rule(request)
    kind, _, what = (request.rule_hint or "").partition(" ")
    keys = ["y once", f"a always {_served(what)}" if kind == "@mcp" else "a always"]
    if prefix is not None:
        keys.append(f"p always {safe_line(prefix, 40).removesuffix('…').rstrip()} …")
    if can_change(request):
        keys.append("e edit")
    return [*keys, "n no, say why", "Esc no"]


def can_change(request: ApprovalRequest) -> bool:
    return request.tool == SHELL and not request.is_repeat
