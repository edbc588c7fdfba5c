"""What a driver's person may say to a question about a call: once, always by a rule, no. Pure.

It stands alone because protocols offer the same choices, each in its own words.
Read next: agent/turn/approvals.py.
"""

from __future__ import annotations

from agentsh.agent.turn.approvals import ApprovalRequest
from agentsh.tools.approval.policy import SHELL

ONCE = "Allow once"
ALWAYS = "Always allow: "
DENY = "Deny"


def offered_rule(request: ApprovalRequest) -> str | None:
    """What "always" allows: the rule that the question names, else this very command."""
    command = request.call.arguments.get("command")
    if request.is_repeat:
        return None
    if request.rule_hint is None and request.call.name == SHELL and isinstance(command, str):
        return f"= {command.strip()}"
    return request.rule_hint
