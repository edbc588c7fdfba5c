"""Branch → Context: Pi's rules (R75), one test each, and the two theorems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.context.projection import HIDDEN_RESULT, Item, SummaryMessage, project
from agentsh.context.system import SystemState
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    ModelRef,
    SystemMessage,
    Text,
    ToolSchema,
    UserMessage,
)
from agentsh.session.format.entries import (
    Body,
    Branch,
    BranchSummary,
    Compaction,
    ContextEdit,
    Custom,
    CustomMessage,
    Entry,
    EntryId,
    ModelChange,
    ThinkingLevelChange,
)
from tests.context.builders import (
    LOG_ONLY,
    bodies,
    call,
    context,
    cut_at_compaction,
    kept,
    path,
    result,
    said,
    stating,
    texts,
    user,
)


def test_without_a_compaction_every_message_is_there_in_order_with_its_entry() -> None:
    found = context(user("one"), said("two"), CustomMessage("x", (Text("note"),)), user("three"))

    assert found.items == (
        Item(EntryId("e0"), user("one")),
        Item(EntryId("e1"), said("two")),
        Item(EntryId("e2"), CustomRoleMessage("x", (Text("note"),))),
        Item(EntryId("e3"), user("three")),
    )
    assert (found.compaction, found.tail) == (None, 0)


def test_an_empty_path_is_an_empty_context() -> None:
    assert context() == project(Branch(()))
    assert context().items == ()


def test_a_compaction_puts_the_summary_first_then_what_it_kept_then_the_rest() -> None:
    found = context(user("a"), said("b"), user("c"), said("d"), kept("e2"), user("e"))

    assert texts(found.items) == ["SUMMARY", "c", "d", "e"]
    assert found.items[0] == Item(EntryId("e4"), SummaryMessage("compaction", "SUMMARY"))
    assert (found.compaction, found.tail) == (EntryId("e4"), 3)


def test_only_the_last_compaction_counts_and_older_ones_in_its_kept_range_say_nothing() -> None:
    found = context(user("a"), user("b"), kept("e1", "FIRST"), user("c"), kept("e1", "SECOND"))

    assert texts(found.items) == ["SECOND", "b", "c"]


def test_a_compaction_that_names_itself_an_unknown_entry_or_none_keeps_nothing() -> None:
    for first in ("e1", "nowhere", None):
        assert texts(context(user("a"), kept(first), user("b")).items) == ["SUMMARY", "b"]


def test_a_retained_tail_stands_for_the_kept_range() -> None:
    tail = (user("kept"), said("gone", stop="error"), SystemMessage("no"))
    found = context(user("a"), Compaction("S", None, 1, retained_tail=tail), user("b"))

    assert texts(found.items) == ["S", "kept", "b"]
    assert found.items[1].entry is None
    assert found.tail == 2


def test_answers_that_failed_or_were_stopped_are_left_out_with_the_results_of_their_calls() -> None:
    found = context(
        user("go"),
        said("half", call("a"), stop="aborted"),
        result("a", "late"),
        said("again", call("b")),
        result("a", "stray"),
        result("b", "good"),
        said("broken", stop="error"),
        said("cut", stop="length"),
    )

    assert texts(found.items) == ["go", "again", "stray", "good", "cut"]


def test_an_empty_branch_summary_and_an_excluded_command_say_nothing() -> None:
    found = context(
        BranchSummary("", "root"),
        BranchSummary("learnt", "e0"),
        BashExecutionMessage("secret", "x", excluded=True),
        BashExecutionMessage("ls", "x"),
    )

    assert texts(found.items) == ["learnt", "ls"]


def test_the_details_of_a_summary_made_by_an_extension_are_opaque() -> None:
    details = {"readFiles": ["a"]}
    found = context(BranchSummary("s", "e0", details, from_hook=True))
    assert found.items[0].message == SummaryMessage("branch", "s")
    found = context(Compaction("s", None, 1, details))
    assert found.items[0].message == SummaryMessage("compaction", "s", details)


def test_the_latest_context_edit_of_a_message_wins() -> None:
    found = context(
        user("one"),
        said("secret", call("a")),
        result("a", "x"),
        user("three"),
        BashExecutionMessage("ls", ""),
        ContextEdit(EntryId("e0"), (Text("first edit"),)),
        ContextEdit(EntryId("e0"), (Text("second edit"),)),
        ContextEdit(EntryId("e1"), (Text("EDITED"),)),
        ContextEdit(EntryId("e3"), None),
    )

    assert texts(found.items) == ["second edit", "EDITED", "ls"]


def test_a_command_and_a_summary_can_be_hidden_but_not_replaced() -> None:
    said_so = (BashExecutionMessage("ls", "out"), BranchSummary("before", "root"), user("on"))
    others = (Text("other words"),)
    replaced = (ContextEdit(EntryId("e0"), others), ContextEdit(EntryId("e1"), others))
    hidden = (ContextEdit(EntryId("e0"), None), ContextEdit(EntryId("e1"), None))

    assert texts(context(*said_so, *replaced).items) == ["ls", "before", "on"]
    assert texts(context(*said_so, *replaced, *hidden).items) == ["on"]


@pytest.mark.parametrize(
    ("edit", "outdated"),
    [
        ("e0", {"e1", "e3", "e4"}),  # the first prompt: of all that was asked after it
        ("e2", {"e3", "e4"}),
        ("e4", set()),  # a failed answer, as Pi hides it: nobody was asked since
        ("gone", {"e1", "e3", "e4"}),  # perhaps of what a compaction left out
    ],
)
def test_s32_what_was_measured_before_an_edit_of_its_prompt_is_no_measurement(
    edit: str, outdated: set[str]
) -> None:
    talk = (user("a"), said("b"), user("c"), said("d"), said("x", stop="error"))
    found = context(*talk, ContextEdit(EntryId(edit), None), user("e"), said("f"))

    assert found.outdated == outdated


def test_an_edited_answer_has_the_calls_that_the_edit_left_it_and_their_results() -> None:
    found = context(
        said("secret", call("a"), call("b")),
        result("a", "x"),
        result("b", "y"),
        ContextEdit(EntryId("e0"), (Text("EDITED"), call("b"))),
    )

    assert texts(found.items) == ["EDITED", "y"]
    message = found.items[0].message
    assert isinstance(message, AssistantMessage)
    assert [c.id for c in message.tool_calls] == ["b"]


def test_an_edit_made_after_a_compaction_reaches_what_it_kept() -> None:
    found = context(user("a"), user("b"), kept("e1"), ContextEdit(EntryId("e1"), None), user("c"))

    assert texts(found.items) == ["SUMMARY", "c"]
    assert found.tail == 1


def test_an_edit_does_not_reach_what_comes_after_it() -> None:
    assert texts(context(ContextEdit(EntryId("e1"), None), user("a")).items) == ["a"]


def test_a_hidden_result_leaves_a_note_because_its_call_needs_an_answer() -> None:
    found = context(said(call("a")), result("a", "x"), ContextEdit(EntryId("e1"), None))
    assert texts(found.items) == ["", HIDDEN_RESULT]


def test_system_messages_are_patches_of_sections_and_tools_in_order_of_appearance() -> None:
    read, ls, read2 = (
        ToolSchema("read", "1", {}),
        ToolSchema("ls", "", {}),
        ToolSchema("read", "2", {}),
    )
    found = context(
        SystemMessage(sections={"a": "1", "b": "2", "c": "3"}, tools_added=(read, ls)),
        SystemMessage(sections={"b": "new", "a": None, "d": "4"}, tools_added=(read2,)),
        SystemMessage("whole", tools_removed=("ls",)),
    )

    assert found.system == SystemState(
        (("", "whole"), ("b", "new"), ("c", "3"), ("d", "4")), (read2,), EntryId("e2")
    )
    assert found.items == ()


def test_more_plain_text_comes_behind_what_is_there_and_null_takes_it_all_away() -> None:
    said = (SystemMessage("one"), SystemMessage(sections={"a": "1"}), SystemMessage("two"))

    assert context(*said).system.sections == (("", "one\n\ntwo"), ("a", "1"))
    removed = context(*said, SystemMessage(sections={"": None}))
    assert removed.system.sections == (("a", "1"),)


def test_a_checkpoint_of_a_compaction_replaces_the_system_messages_before_it() -> None:
    found = context(
        SystemMessage(sections={"old": "1"}),
        user("a"),
        Compaction("s", EntryId("e1"), 1, system=SystemMessage(sections={"new": "2"})),
        SystemMessage(sections={"later": "3"}),
    )

    assert found.system.sections == (("new", "2"), ("later", "3"))
    assert found.system.snapshot == EntryId("e3")


def test_the_model_is_that_of_the_last_change_or_answer_and_thinking_that_of_the_last_change() -> (
    None
):
    found = context(ModelChange("p", "m1"), ThinkingLevelChange("high"), said("x", stop="error"))
    assert (found.model, found.thinking) == (ModelRef("here", "model-a"), "high")
    assert context().model is None
    assert context().thinking == "off"


def test_state_is_the_latest_of_each_key() -> None:
    found = context(
        Custom("agentsh.state", {"key": "k", "value": 1}),
        Custom("agentsh.state", {"key": "k", "value": [2]}),
        Custom("agentsh.state", {"value": 3}),
        Custom("agentsh.state", "odd"),
    )
    assert found.state == {"k": [2]}


@given(bodies(), st.data())
def test_log_only_entries_change_nothing_wherever_they_stand(
    made: list[Body], data: st.DataObject
) -> None:
    plain = path(*made)
    mixed: list[Entry] = []
    for entry in plain:
        for n, body in enumerate(data.draw(st.lists(LOG_ONLY, max_size=2))):
            mixed.append(Entry(EntryId(f"x{entry.id}{n}"), None, "", body))
        mixed.append(entry)

    assert project(Branch(tuple(mixed))) == project(Branch(plain))


@given(bodies())
def test_a_branch_cut_at_its_last_compaction_projects_like_the_whole_path(made: list[Body]) -> None:
    entries = stating(path(*made))
    branch = cut_at_compaction(entries)

    assert project(branch) == project(Branch(entries))


@given(bodies())
def test_every_item_but_a_retained_one_names_an_entry_of_the_path_in_order(
    made: list[Body],
) -> None:
    entries = path(*made)
    found = project(Branch(entries))
    order = [e.id for e in entries]
    rest = [order.index(i.entry) for i in found.items if i.entry and i.entry != found.compaction]

    assert rest == sorted(rest)
    assert not any(isinstance(i.message, UserMessage) and i.entry is None for i in found.items)
