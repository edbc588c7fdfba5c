"""The question about a call of a server's tool: what its keys allow, and in which words."""

from __future__ import annotations

from agentsh.agent.turn.approvals import ApprovalRequest
from agentsh.ui.asking.approval import allowed_words, exactly, question_keys, what_exactly
from tests.ui.fakes import call


def test_what_is_always_allowed_of_a_server_is_the_tool_whatever_it_is_given() -> None:
    shown = 'birds/count {"bird":"owl"}'
    request = ApprovalRequest(call("t"), "t", shown, None, "@mcp birds/count #0123", None)

    assert question_keys(request)[:2] == ["y once", "a always birds/count"]
    assert what_exactly(exactly(request)) == "every call of birds/count is"
    assert allowed_words("@mcp birds/count #0123") == "a  calls of birds/count, as it was described"
