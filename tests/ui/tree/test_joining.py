"""A call and its result on one row of the tree."""

from __future__ import annotations

from collections.abc import Sequence

from agentsh.context.hiding import Edited
from agentsh.messages import Text, ToolCallId, ToolResultMessage
from agentsh.session.format.entries import Custom, Entry, EntryId, MessageBody
from agentsh.ui.tree.treeview import TreeView
from agentsh.views.treeitem import tree_items
from tests.ui.fakes import answer_entry, call, user_entry

TIME = "2026-01-01T00:00:02.000Z"


def result_entry(name: str, parent: str, text: str, call_id: str = "c1") -> Entry:
    message = ToolResultMessage(ToolCallId(call_id), "bash", (Text(text),), is_error=False)
    return Entry(EntryId(name), EntryId(parent), TIME, MessageBody(message))


def fact_entry(name: str, parent: str) -> Entry:
    return Entry(EntryId(name), EntryId(parent), TIME, Custom("agentsh.tool", {"ev": "start"}))


TURN = (
    user_entry("u1", None, "sort the birds"),
    answer_entry("a1", "u1", "", call("bash", command="sort birds")),
    fact_entry("f1", "a1"),
    result_entry("r1", "f1", "bittern\nheron"),
    answer_entry("a2", "r1", "Done."),
)


def rows(entries: Sequence[Entry], labels: dict[EntryId, str] | None = None) -> list[str]:
    return [f"{i.id} {i.text}" for i in view_of(entries, labels or {}).outline.items]


def view_of(entries: Sequence[Entry], labels: dict[EntryId, str]) -> TreeView:
    path = [entry.id for entry in entries]
    return TreeView(tree_items(entries, labels, path), path)


def test_a_call_and_its_result_are_one_row_with_facts_between_them() -> None:
    assert rows(TURN) == ["u1 sort the birds", "a1 bash: sort birds · bittern", "a2 Done."]


def test_each_filter_but_the_first_leaves_entries_as_they_are() -> None:
    view = view_of(TURN, {})
    while view.filter != "all":
        view.next_filter()

    assert [i.id for i in view.outline.items] == ["u1", "a1", "f1", "r1", "a2"]
    assert view.outline.items[1].text == "bash: sort birds"


def test_the_row_is_the_leaf_where_the_result_is() -> None:
    view = view_of(TURN[:4], {})

    assert view.current is not None
    assert view.current.id == view.outline.leaf == "a1"


def test_what_the_result_says_is_found_and_read_there() -> None:
    view = view_of(TURN, {})
    view.home()

    assert view.search("heron")
    assert view.current is not None
    assert view.current.whole == "bash: sort birds\nbittern\nheron"


def test_a_result_with_a_name_and_those_of_several_calls_have_rows_of_their_own() -> None:
    assert rows(TURN, {EntryId("r1"): "sorted"})[1:3] == ["a1 bash: sort birds", "r1 bittern"]
    several = (
        TURN[0],
        answer_entry("a1", "u1", "", call("bash", command="ls"), call("bash", "c2", command="id")),
        result_entry("r1", "a1", "birds"),
        result_entry("r2", "r1", "me", "c2"),
    )
    assert rows(several)[1:] == ["a1 bash: ls · bash: id", "r1 birds", "r2 me"]


def test_an_answer_that_says_something_beside_its_call_is_a_row_of_its_own() -> None:
    talks = (TURN[0], answer_entry("a1", "u1", "I sort.", call("bash", command="s")), *TURN[2:])

    assert rows(talks)[1:3] == ["a1 I sort.", "r1 bittern"]


def test_a_call_that_was_gone_on_from_without_its_result_is_a_row_of_its_own() -> None:
    left = rows((*TURN, user_entry("u2", "a1", "no")))

    assert sorted(left)[:2] == ["a1 bash: sort birds", "a2 Done."]
    assert "r1 bittern" in left


def test_a_result_that_is_hidden_by_itself_stands_by_itself() -> None:
    view = view_of(TURN, {})
    edits: dict[EntryId, Edited] = {EntryId("r1"): "hidden"}
    view.show_edited(edits)
    assert [i.id for i in view.outline.items] == ["u1", "a1", "r1", "a2"]

    edits[EntryId("a1")] = "hidden"
    view.show_edited(edits)
    assert [i.id for i in view.outline.items] == ["u1", "a1", "a2"]
    assert view.outline.items[1].edited == "hidden"


def test_a_name_leaves_the_result_beside_the_call() -> None:
    view = view_of(TURN, {})
    view.relabel(EntryId("a1"), "sorted")

    assert view.outline.items[1].text == "bash: sort birds · bittern"
    assert view.outline.items[1].label == "sorted"
