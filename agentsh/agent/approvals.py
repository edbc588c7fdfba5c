"""Who decides about a call: the policy first, then the person; and what is remembered of it.

A decision is a fact on its path (R20): "once" covers this call, "session" and "rule" add a rule
that later calls on the same path are covered by; "session" without a rule adds the exact one. The
question is in the file before it is asked: asked and not decided means not granted. Nobody to ask
(headless) means the turn stops before the call. It runs nothing.
Read next: tools/policy.py, execution.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from agentsh.agent.recorder import Recorder
from agentsh.errors import UsageError
from agentsh.jsontext import JsonValue
from agentsh.messages import ToolCall
from agentsh.session.entries import EntryId
from agentsh.session.facts import ApprovalAsked, ApprovalDecided, StateSet
from agentsh.tools.policy import SHELL, Allowed, Asked, Decision, Refused
from agentsh.tools.rules import Rule, parse_rule

RULES = "approve.rules"


class ApprovalRequest(Struct, frozen=True):
    """What a person is shown: the whole command or path, and for edits the difference."""

    call: ToolCall
    tool: str
    shown: str
    diff: str | None = None
    rule_hint: str | None = None
    why: str | None = None


class Answer(Struct, frozen=True):
    """`rule` holds the first words of commands that need no more questions in this session.

    `command`: the person changed the command, was shown it so, and agreed to that one.
    """

    kind: Literal["once", "session", "rule", "no"]
    reason: str | None = None
    rule: str | None = None
    command: str | None = None


Approver: TypeAlias = Callable[[ApprovalRequest], Answer]


class Granted(Struct, frozen=True):
    """The call may start; `entry` is the decision where one was asked for.

    `changed`: the call as the person changed it; that one runs.
    """

    entry: EntryId | None = None
    changed: ToolCall | None = None


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
        self._granted: list[Rule] = []

    def on_path(self, state: Mapping[str, JsonValue]) -> None:
        """Take in what was granted on the path that the next turn goes on from, and no more."""
        self._granted = list(rules_in(state))

    def rules(self) -> list[Rule]:
        """The rules that the person added for this session, as far as they hold here."""
        return list(self._granted)

    def settle(self, call: ToolCall, decision: Decision, diff: str | None) -> Verdict:
        """Turn the policy's decision into a verdict, asking the person where it says so."""
        match decision:
            case Allowed():
                return Granted()
            case Refused(reason):
                return Denied(reason)
            case Asked(shown, hint, why):
                return self._ask(ApprovalRequest(call, call.name, shown, diff, hint, why))
            case _:
                assert_never(decision)

    def _ask(self, request: ApprovalRequest) -> Verdict:
        call = request.call
        self._recorder.fact(ApprovalAsked(call.id, call.name, request.shown))
        self._recorder.write()
        if self.approver is None:
            return Unanswered(request.shown, request.rule_hint or "")
        answer = self.approver(request)
        if answer.command is not None and answer.kind != "no" and call.name == SHELL:
            call = replace(call, arguments={**call.arguments, "command": answer.command})
            self._recorder.fact(ApprovalAsked(call.id, call.name, answer.command))
        rule = _granted_rule(answer, call, request.rule_hint)
        entry = self._recorder.fact(
            ApprovalDecided(
                call.id, answer.kind, "user", None if rule is None else str(rule), answer.reason
            )
        )
        if rule is not None and rule not in self._granted:
            self._granted.append(rule)
            self._recorder.fact(StateSet(RULES, [str(each) for each in self._granted]))
        if answer.kind == "no":
            because = f": {answer.reason}" if answer.reason else ""
            return Denied(f"not approved by the user{because}")
        return Granted(entry.id, None if call is request.call else call)


def rules_in(state: Mapping[str, JsonValue]) -> tuple[Rule, ...]:
    """What was granted on a path, in its own order. Pure."""
    stored = state.get(RULES)
    texts = stored if isinstance(stored, list) else []
    rules = (_rule(text) for text in texts if isinstance(text, str))
    return tuple(rule for rule in rules if rule is not None)


def _granted_rule(answer: Answer, call: ToolCall, hint: str | None) -> Rule | None:
    """The rule that an answer adds; "always" without one means this very command, or this file."""
    if answer.kind in ("no", "once"):
        return None
    if answer.rule is not None:
        return _rule(answer.rule)
    command = call.arguments.get("command")
    if call.name == SHELL and isinstance(command, str):
        return Rule("exact", command.strip())
    return None if hint is None else _rule(hint)


def _rule(text: str) -> Rule | None:
    """A rule that cannot be read covers nothing: it may come from a file that a stranger made."""
    try:
        return parse_rule(text)
    except UsageError:
        return None
