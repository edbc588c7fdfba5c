"""Questions about calls, put to the editor's person: once, always by a named rule, no.

What comes back is held against what was asked, so that an odd answer is never a yes. An editor that
calls the question off calls the turn off. Read next: agent/turn/approvals.py,
remote/values/rulechoice.py.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from acp import schema
from pydantic import ValidationError

from agentsh.agent.turn.approvals import ApprovalAnswer, ApprovalRequest
from agentsh.jsontext import JsonValue
from agentsh.remote.acp.shown.calls import CallContent, call_kind, words_content
from agentsh.remote.values.rulechoice import ALWAYS, DENY, ONCE, offered_rule
from agentsh.sanitize import exact_text
from agentsh.views.fences import fenced

_ONCE: Final = "once"
_ALWAYS: Final = "always"
_NO: Final = "no"

PermissionOutcome: TypeAlias = ApprovalAnswer | Literal["called off"]


def permission_request(
    session: str, name: str, title: str, request: ApprovalRequest, change: list[CallContent]
) -> schema.RequestPermissionRequest:
    """`name`: the call's id that the editor knows. `change`: the difference it would make."""
    words = [fenced(exact_text(request.shown))]
    if request.why:
        words.append(exact_text(request.why))
    if request.diff and not change:
        words.append(fenced(exact_text(request.diff)))
    return schema.RequestPermissionRequest(
        session_id=session,
        tool_call=schema.ToolCallUpdate(
            tool_call_id=name,
            title=title,
            kind=call_kind(request.call),
            status="pending",
            content=[*change, words_content("\n\n".join(words))],
            raw_input=request.call.arguments,
        ),
        options=permission_options(request),
    )


def permission_options(request: ApprovalRequest) -> list[schema.PermissionOption]:
    """What can be chosen, in this order."""
    options = [schema.PermissionOption(option_id=_ONCE, name=ONCE, kind="allow_once")]
    if (rule := offered_rule(request)) is not None:
        name = f"{ALWAYS}{exact_text(rule)}"
        options.append(schema.PermissionOption(option_id=_ALWAYS, name=name, kind="allow_always"))
    return [*options, schema.PermissionOption(option_id=_NO, name=DENY, kind="reject_once")]


def outcome_of(answer: JsonValue, request: ApprovalRequest) -> PermissionOutcome:
    """What the editor's answer means."""
    try:
        outcome = schema.RequestPermissionResponse.model_validate(answer).outcome
    except ValidationError:
        return ApprovalAnswer("no", "the editor's answer could not be understood")
    match outcome:
        case schema.DeniedOutcome():
            return "called off"
        case schema.AllowedOutcome(option_id="once"):
            return ApprovalAnswer("once")
        case schema.AllowedOutcome(option_id="always"):
            rule = offered_rule(request)
            return ApprovalAnswer("no") if rule is None else ApprovalAnswer("rule", rule=rule)
        case _:
            return ApprovalAnswer("no")
