"""A context that grows says what a projection of the longer path says, or that it cannot tell."""

from __future__ import annotations

import pytest

from agentsh.context.extension import extended
from agentsh.context.projection import project
from agentsh.messages import AssistantMessage, SystemMessage, ToolResultMessage, UserMessage
from agentsh.session.format.entries import (
    Body,
    Branch,
    BranchSummary,
    ContextEdit,
    Custom,
    EntryId,
    Label,
    MessageBody,
    ModelChange,
    SessionInfo,
    ThinkingLevelChange,
)
from agentsh.session.format.facts import Fact, StateSet, TurnStarted
from tests.session.builders import Path, result, said, user

Step = Body | Fact | UserMessage | AssistantMessage | ToolResultMessage

PREFIX: tuple[Step, ...] = (user("1"), said("calls", ("a", "bash")), result("a"), said("2"))


def grown(*more: Step) -> tuple[object, object]:
    """(extended, projected anew)."""
    path = Path()
    for step in PREFIX:
        path.add(step)
    context = project(path.branch)
    size = len(path.entries)
    for step in more:
        path.add(step)
    return extended(context, path.entries[size:]), project(Branch(tuple(path.entries)))


@pytest.mark.parametrize(
    "more",
    [
        (),
        (user("3"),),
        (user("3"), said("4")),
        (said("c", ("b", "bash"), ("c", "bash")), result("b"), result("c")),
        (TurnStarted(2), user("3"), Label(EntryId("00000000"), "x"), SessionInfo("name")),
        (Custom("another.extension", {"x": 1}), said("4", ("a", "bash")), result("a"), user("5")),
        (said("cut", ("a", "bash"), stop="length"), result("a")),
        (ModelChange("scripted", "other"), ThinkingLevelChange("high"), user("3"), said("4")),
        (MessageBody(SystemMessage("more", {"a": "b"})), user("3")),
        (user("3"), MessageBody(SystemMessage(sections={"a": "b", "c": None}))),
    ],
)
def test_messages_and_facts_are_added(more: tuple[Step, ...]) -> None:
    with_them, anew = grown(*more)
    assert with_them == anew


@pytest.mark.parametrize(
    "more",
    [
        (said("failed", stop="error"),),
        (said("stopped", ("b", "bash"), stop="aborted"), result("b")),
        (result("a"),),
        (StateSet("approve.rules", ["ls"]),),
        (ContextEdit(EntryId("00000000"), None),),
        (BranchSummary("left", "root"),),
    ],
)
def test_where_only_the_whole_path_can_tell_it_says_so(more: tuple[Step, ...]) -> None:
    assert grown(*more)[0] is None


def test_log_only_entries_give_the_very_same_context() -> None:
    path = Path()
    path.add(user("1"))
    context = project(path.branch)
    path.add(TurnStarted(1))
    assert extended(context, path.entries[1:]) is context
