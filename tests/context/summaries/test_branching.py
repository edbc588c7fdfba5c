"""Summaries of branches that are left."""

from __future__ import annotations

import pytest

from agentsh.context.outbound import OutboundRules
from agentsh.context.summaries.branching import (
    branch_summary_messages,
    finish_branch,
    left_messages,
    plan_branch_summary,
)
from agentsh.context.summaries.summaries import SYSTEM
from agentsh.jsontext import JsonObject, dumps, loads_object
from agentsh.messages import Usage
from agentsh.session.format.entries import BranchSummary, Custom, EntryId
from tests.context.builders import call, context, kept, result, said, text_of, user

RULES = OutboundRules("here", "model-a")
TALK = (
    user("common"),
    said("common answer"),
    user("beta"),
    said("answer to beta", call("a", "edit", path="x.py")),
    result("a", "done"),
    said("answer to gamma"),
)


def ids(first: int, last: int) -> set[EntryId]:
    return {EntryId(f"e{i}") for i in range(first, last)}


def asked(plan: JsonObject, *talk: object) -> str:
    request = branch_summary_messages(context(*talk), RULES, plan)  # type: ignore[arg-type]
    assert (request.system, request.tools, len(request.messages)) == (SYSTEM, (), 1)
    return text_of(request.messages[0].content)


def test_what_is_not_on_the_new_path_is_summarised_with_the_focus() -> None:
    plan = plan_branch_summary(context(*TALK), ids(2, 6), focus="what beta taught")
    assert plan is not None
    text = asked(loads_object(dumps(plan)), *TALK)

    assert "answer to beta" in text
    assert "answer to gamma" in text
    assert "what beta taught" in text
    assert "common" not in text
    assert "done" not in text  # results are left out: the calls speak


def test_where_nothing_was_said_there_is_nothing_to_summarise() -> None:
    assert plan_branch_summary(context(*TALK), ids(6, 9)) is None
    assert plan_branch_summary(context(*TALK, Custom("agentsh.nav")), {EntryId("e6")}) is None


def test_a_compaction_on_the_way_stands_for_what_came_before_it() -> None:
    talk = (*TALK, kept("e5", "THE SUMMARY"), user("delta"))
    found = context(*talk)
    plan = plan_branch_summary(found, ids(2, 8))
    assert plan is not None
    text = asked(plan, *talk)

    assert "THE SUMMARY" in text
    assert "answer to gamma" in text
    assert "answer to beta" not in text
    assert plan_branch_summary(found, ids(6, 7)) == {**plan, "first": None}
    assert "delta" not in asked({**plan, "first": None}, *talk)


def test_a_compaction_that_both_paths_have_is_not_summarised() -> None:
    talk = (*TALK, kept("e5", "THE SUMMARY"), user("delta"), said("answer to delta"))
    plan = plan_branch_summary(context(*talk), ids(7, 9))
    assert plan is not None
    assert "THE SUMMARY" not in asked(plan, *talk)


def test_the_request_keeps_to_the_window() -> None:
    talk = [user("x" * 4000) for _ in range(100)]
    plan = plan_branch_summary(context(*talk), ids(0, 100), window=16_000)
    assert plan is not None
    assert len(asked(plan, *talk)) // 4 < 12_000


def test_the_entry_names_the_leaf_that_was_left_and_the_files() -> None:
    found = context(*TALK)
    plan = plan_branch_summary(found, ids(2, 6))
    assert plan is not None
    usage = Usage(input=1)

    assert finish_branch(
        found, plan, " LESSON ", from_id=EntryId("e5"), source={"count": 4}, usage=usage
    ) == BranchSummary(
        "LESSON\n\n<modified-files>\nx.py\n</modified-files>",
        "e5",
        {"readFiles": [], "modifiedFiles": ["x.py"], "ash": {"src": {"count": 4}}},
        usage,
    )
    assert finish_branch(found, plan, "L", from_id=EntryId("e5")).details == {
        "readFiles": [],
        "modifiedFiles": ["x.py"],
    }
    with pytest.raises(ValueError, match="empty"):
        finish_branch(found, plan, " ", from_id=EntryId("e5"))


def test_a_plan_of_another_context_is_refused() -> None:
    with pytest.raises(ValueError, match="not in this context"):
        left_messages(context(*TALK), {"first": "nowhere"})
    with pytest.raises(ValueError, match="budget"):
        branch_summary_messages(context(*TALK), RULES, {"first": "e2"})
