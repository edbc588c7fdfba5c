"""Rules for tools of servers: this tool, as it was described when somebody agreed to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.errors import UsageError
from agentsh.settings import POLICIES
from agentsh.tools.approval.policy import Allowed, Asked, CallFacts, Refused, decide
from agentsh.tools.approval.rules import covers, covers_path, covers_served, parse_rule, served_hint
from agentsh.tools.base import Effect, ServedTool

COUNT = ServedTool("birds", "count", "0123456789abcdef")
CALL = CallFacts("mcp__birds__count", Effect.UNKNOWN, shown='{"bird":"owl"}', served=COUNT)
HERE = Path("/proj")


@pytest.mark.parametrize(
    ("text", "is_covered"),
    [
        ("@mcp birds/count", True),
        ("@mcp birds/*", True),
        ("@mcp birds/c*t", True),
        ("@mcp birds/count #0123456789abcdef", True),
        ("@mcp birds/count #ffffffffffffffff", False),
        ("@mcp birds/wipe", False),
        ("@mcp */count", False),
        ("@mcp bird/count", False),
        ("@mcp birds/coun?", False),
        ("count", False),
        ("mcp__birds__count", False),
        ("= mcp__birds__count", False),
    ],
)
def test_a_rule_covers_the_tool_that_it_names(text: str, is_covered: bool) -> None:
    rule = parse_rule(text)

    assert covers_served(rule, COUNT) == is_covered
    assert str(parse_rule(str(rule))) == str(rule)


def test_it_covers_no_command_and_no_file() -> None:
    rule = parse_rule("@mcp birds/*")

    assert not covers(rule, "birds/count")
    assert not covers_path(rule, Path("birds/count"))


@pytest.mark.parametrize("text", ["@mcp birds", "@mcp /count", "@mcp birds/"])
def test_half_a_rule_is_none(text: str) -> None:
    with pytest.raises(UsageError):
        parse_rule(text)


def test_a_tool_that_is_called_star_offers_no_rule_for_others() -> None:
    star = ServedTool("birds", "*", "a" * 16)
    rule = parse_rule(served_hint(star))

    assert covers_served(rule, star)
    assert not covers_served(rule, COUNT)


def test_below_all_it_is_asked_about_with_server_tool_and_arguments() -> None:
    asked = Asked('birds/count {"bird":"owl"}', "@mcp birds/count #0123456789abcdef")
    found = {policy: decide(policy, CALL, cwd=HERE) for policy in POLICIES}

    assert found["ask"] == found["edits"] == asked
    assert found["all"] == Allowed("all")
    assert isinstance(found["never"], Refused)


def test_a_definition_that_has_changed_since_is_asked_about_and_says_so() -> None:
    agreed = parse_rule("@mcp birds/count #ffffffffffffffff")

    found = decide("edits", CALL, [agreed], cwd=HERE)

    assert isinstance(found, Asked)
    assert found.why == "its description or schema has changed since it was allowed"
