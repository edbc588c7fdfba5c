"""Who decides about a call: the policy first, then the person; and what is remembered of it.

A decision is a fact on its path (R20): "once" covers this call, "session" and "rule" add a rule
that later calls on the same path are covered by. Nobody to ask (headless) means the turn stops
before the call. It runs nothing. Read next: tools/policy.py, execution.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, assert_never

from msgspec import Struct

from agentsh.agent.recorder import Recorder
from agentsh.jsontext import JsonValue
from agentsh.messages import ToolCall
from agentsh.session.entries import EntryId
from agentsh.session.facts import ApprovalAsked, ApprovalDecided, StateSet
from agentsh.tools.policy import Allowed, Asked, Decision, Refused
from agentsh.tools.rules import Rule, parse_rule

RULES = "approve.rules"


class ApprovalRequest(Struct, frozen=True):
    """What a person is shown: the whole command or path, and for edits the difference."""

    call: ToolCall
    tool: str
    shown: str
    diff: str | None = None
    rule_hint: str | None = None


class Answer(Struct, frozen=True):
    """`rule` holds the first words of commands that need no more questions in this session."""

    kind: Literal["once", "session", "rule", "no"]
    reason: str | None = None
    rule: str | None = None


Approver: TypeAlias = Callable[[ApprovalRequest], Answer]


class Granted(Struct, frozen=True):
    """The call may start; `entry` is the decision where one was asked for."""

    entry: EntryId | None = None


class Denied(Struct, frozen=True):
    """An error result for this call; the turn goes on."""

    words: str


class Unanswered(Struct, frozen=True):
    """Nobody could be asked: the turn stops before this call."""

    shown: str
    rule_hint: str


Verdict: TypeAlias = Granted | Denied | Unanswered


class Approvals:
    """Policy and person for one session."""

    def __init__(self, recorder: Recorder, approver: Approver | None) -> None:
        self._recorder = recorder
        self.approver = approver
        self._granted: list[str] = []

    def on_path(self, state: Mapping[str, JsonValue]) -> None:
        """Take in what was granted on the path that the next turn goes on from, and no more."""
        stored = state.get(RULES)
        self._granted = [str(rule) for rule in stored] if isinstance(stored, list) else []

    def rules(self) -> list[Rule]:
        """The rules that the person added for this session, as far as they hold here."""
        return [parse_rule(text) for text in self._granted]

    def settle(self, call: ToolCall, decision: Decision, diff: str | None) -> Verdict:
        """Turn the policy's decision into a verdict, asking the person where it says so."""
        match decision:
            case Allowed():
                return Granted()
            case Refused(reason):
                return Denied(reason)
            case Asked(shown, hint):
                return self._ask(call, shown, hint, diff)
            case _:
                assert_never(decision)

    def _ask(self, call: ToolCall, shown: str, hint: str | None, diff: str | None) -> Verdict:
        self._recorder.fact(ApprovalAsked(call.id, call.name, shown))
        if self.approver is None:
            return Unanswered(shown, hint or "")
        answer = self.approver(ApprovalRequest(call, call.name, shown, diff, hint))
        entry = self._recorder.fact(
            ApprovalDecided(call.id, answer.kind, "user", answer.rule, answer.reason)
        )
        if answer.rule is not None and answer.rule not in self._granted:
            self._granted.append(answer.rule)
            self._recorder.fact(StateSet(RULES, list(self._granted)))
        if answer.kind == "no":
            because = f": {answer.reason}" if answer.reason else ""
            return Denied(f"not approved by the user{because}")
        return Granted(entry.id)
