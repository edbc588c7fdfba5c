"""Who decides about a call: the policy first, then the person; and what is remembered of it.

A decision is a fact on its path (R20): "once" covers this call, "session" and "rule" add a rule
that later calls on the same path are covered by; "session" without a rule adds the exact one. The
question is in the file before it is asked: asked and not decided means not granted. What a policy
or a rule lets through is a decision as well, which names it; reading needs none. Nobody to ask
(headless) means the turn stops before the call. A rule that the file states counts only if it was
answered on this machine (agent/grants.py). It runs nothing.
Read next: agent/grants.py, tools/approval/policy.py, execution.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from agentsh.agent.events import Notice
from agentsh.agent.grants import Grants
from agentsh.agent.turn.recorder import Recorder
from agentsh.errors import UsageError
from agentsh.jsontext import JsonObject, JsonValue, dumps_text
from agentsh.messages import ToolCall
from agentsh.session.format.entries import EntryId
from agentsh.session.format.facts import ApprovalAsked, ApprovalDecided, StateSet
from agentsh.tools.approval.policy import SHELL, Allowed, Asked, Decision, Refused
from agentsh.tools.approval.rules import Rule, parse_rule

RULES = "approve.rules"


class ApprovalRequest(Struct, frozen=True):
    """What a person is shown: the whole command or path, and for edits the difference."""

    call: ToolCall
    tool: str
    shown: str
    diff: str | None = None
    rule_hint: str | None = None
    why: str | None = None
    is_repeat: bool = False
    """Asked not for what it does, but since it comes again and again: only yes and no answer."""


class ApprovalAnswer(Struct, frozen=True):
    """`rule` holds the first words of commands that need no more questions in this session.

    `command`: the person changed the command, was shown it so, and agreed to that one.
    """

    kind: Literal["once", "session", "rule", "no"]
    reason: str | None = None
    rule: str | None = None
    command: str | None = None


Approver: TypeAlias = Callable[[ApprovalRequest], ApprovalAnswer | None]
"""None: nobody is there any more who could answer."""


class Granted(Struct, frozen=True):
    """The call may start; `entry` is the decision where one was asked for.

    `changed`: the call as the person changed it; that one runs.
    """

    entry: EntryId | None = None
    changed: ToolCall | None = None


class Denied(Struct, frozen=True):
    """An error result for this call; the turn goes on. `reason`: the person's, if it is one."""

    words: str
    reason: str | None = None


class Unanswered(Struct, frozen=True):
    """Nobody could be asked: the turn stops before this call."""

    shown: str
    rule_hint: str


class QuestionHook(Protocol):
    """Told that somebody is waited for."""

    def asked(self, tool: str, arguments: JsonObject, shown: str) -> Sequence[str]:
        """Returns at once, with what failed."""


ApprovalVerdict: TypeAlias = Granted | Denied | Unanswered


class Approvals:
    """Policy and person for one session."""

    def __init__(
        self,
        recorder: Recorder,
        approver: Approver | None,
        grants: Grants,
        tell: Callable[[Notice], None],
        around: QuestionHook | None = None,
    ) -> None:
        """`around` is told of each question (agent/prompts/around.py)."""
        self._recorder = recorder
        self.approver = approver
        self._grants = grants
        self._tell = tell
        self._around = around
        self._granted: list[Rule] = []

    def on_path(self, state: Mapping[str, JsonValue]) -> None:
        """Take in what was granted on the path that the next turn goes on from, and no more."""
        self._granted = list(self.in_force(state))

    def in_force(self, state: Mapping[str, JsonValue]) -> tuple[Rule, ...]:
        """Of what a path states the rules that were agreed to on this machine."""
        return tuple(rule for rule in rules_in(state) if str(rule) in self._grants)

    def rules(self) -> list[Rule]:
        """The rules that the person added for this session, as far as they hold here."""
        return list(self._granted)

    def settle(self, call: ToolCall, decision: Decision, diff: str | None) -> ApprovalVerdict:
        """Turn the policy's decision into a verdict, asking the person where it says so."""
        match decision:
            case Allowed(None, None):
                return Granted()
            case Allowed(policy, rule):
                outcome: Literal["once", "rule"] = "once" if rule is None else "rule"
                fact = ApprovalDecided(call.id, outcome, "policy", rule, policy=policy)
                return Granted(self._recorder.fact(fact).id)
            case Refused(reason):
                return Denied(reason)
            case Asked(shown, hint, why):
                return self._ask(ApprovalRequest(call, call.name, shown, diff, hint, why))
            case _:
                assert_never(decision)

    def go_on(self, call: ToolCall, why: str) -> ApprovalVerdict:
        """Ask whether a call that comes again and again is made once more."""
        command = call.arguments.get("command")
        is_command = call.name == SHELL and isinstance(command, str)
        shown = str(command) if is_command else dumps_text(call.arguments)
        return self._ask(ApprovalRequest(call, call.name, shown, why=why, is_repeat=True))

    def _ask(self, request: ApprovalRequest) -> ApprovalVerdict:
        call = request.call
        self._recorder.fact(ApprovalAsked(call.id, call.name, request.shown))
        self._recorder.write()
        if self._around is not None:
            for words in self._around.asked(call.name, call.arguments, request.shown):
                self._tell(Notice(words, "warning"))
        answer = None if self.approver is None else self.approver(request)
        if answer is None:
            return Unanswered(request.shown, request.rule_hint or "")
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
            self._keep(rule)
            self._recorder.fact(StateSet(RULES, [str(each) for each in self._granted]))
        if answer.kind == "no":
            because = f": {answer.reason}" if answer.reason else ""
            return Denied(f"not approved by the user{because}", answer.reason)
        return Granted(entry.id, None if call is request.call else call)

    def _keep(self, rule: Rule) -> None:
        """Before the session's file states it: what is stated and not kept grants nothing."""
        try:
            self._grants.add(str(rule))
        except OSError as e:
            text = f"the rule {rule} holds until agentsh ends; it could not be kept: {e}"
            self._tell(Notice(text, "warning"))


def rules_in(state: Mapping[str, JsonValue]) -> tuple[Rule, ...]:
    """What was granted on a path, in its own order. Pure."""
    stored = state.get(RULES)
    texts = stored if isinstance(stored, list) else []
    rules = (_rule(text) for text in texts if isinstance(text, str))
    return tuple(rule for rule in rules if rule is not None)


def _granted_rule(answer: ApprovalAnswer, call: ToolCall, hint: str | None) -> Rule | None:
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
