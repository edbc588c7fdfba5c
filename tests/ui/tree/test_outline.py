"""The tree as lines."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from agentsh.session.format.entries import Custom, Entry, EntryId
from agentsh.ui.tree.outline import Filter, build_outline
from agentsh.views.treeitem import TreeItem, tree_items
from tests.ui.fakes import FakeSession, answer_entry, call, user_entry

FORKED = [
    user_entry("a1", None, "where does it go"),
    answer_entry("a2", "a1", "to a fork"),
    user_entry("b1", "a2", "take the heron road"),
    answer_entry("b2", "b1", "heron seen"),
    user_entry("c1", "a2", "take the badger road"),
    answer_entry("c2", "c1", "badger seen"),
]


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[TreeItem], list[EntryId]]:
    """Any forest, with odd parents: missing, itself, later, in a circle."""
    count = draw(st.integers(1, 40))
    items = []
    for n in range(count):
        parent = draw(st.none() | st.integers(0, count + 2))
        role = draw(st.sampled_from(["user", "assistant", "toolResult"]))
        is_log = draw(st.booleans())
        name = None if parent is None else EntryId(str(parent))
        aside = draw(st.booleans())
        items.append(
            TreeItem(
                EntryId(str(n)), name, "message", role, f"t{n}", "", is_log=is_log, is_aside=aside
            )
        )
    path: list[EntryId] = []
    at: int | None = draw(st.integers(0, count - 1))
    while at is not None and at < count and EntryId(str(at)) not in path:
        path.append(EntryId(str(at)))
        parent_id = items[at].parent
        at = None if parent_id is None else int(parent_id)
    return items, path[::-1]


@given(trees(), st.sampled_from(list(Filter)))
def test_what_a_filter_shows_is_shown_once(
    tree: tuple[list[TreeItem], list[EntryId]], shows: Filter
) -> None:
    items, path = tree
    outline = build_outline(items, path, shows.shows)

    assert sorted(i.id for i in outline.items) == sorted(i.id for i in items if shows.shows(i))


@given(trees())
def test_what_hangs_below_a_line_follows_it(tree: tuple[list[TreeItem], list[EntryId]]) -> None:
    outline = build_outline(*tree, Filter.ALL.shows)

    for line, parent in enumerate(outline.parents):
        assert parent < line
        if parent >= 0:
            assert line < outline.ends[parent]
            assert outline.depths[line] == outline.depths[parent] + outline.opens[line]


@given(trees())
def test_no_line_stands_far_in(tree: tuple[list[TreeItem], list[EntryId]]) -> None:
    outline = build_outline(*tree, Filter.ALL.shows)

    assert max(outline.depths) <= math.log2(len(outline.items)) + 2


def test_a_side_question_stands_in_until_somebody_goes_on_from_it() -> None:
    said = [
        TreeItem(EntryId("p"), None, "message", "user", "go", ""),
        TreeItem(EntryId("q"), EntryId("p"), "message", "user", "which?", "", is_aside=True),
        TreeItem(EntryId("a"), EntryId("q"), "message", "assistant", "grey", "", is_aside=True),
    ]
    further = TreeItem(EntryId("n"), EntryId("a"), "message", "user", "paint it", "")

    assert build_outline(said, [EntryId("p")]).depths == (0, 1, 1)
    assert build_outline([*said, further], [EntryId("p")]).depths == (0, 0, 0, 0)
    assert build_outline(said, [item.id for item in said]).depths == (0, 0, 0)


def test_the_path_to_the_leaf_keeps_the_left_edge() -> None:
    session = FakeSession(FORKED)
    outline = build_outline(tree_items(FORKED, {}), session.tree.path(session.leaf))

    assert [(i.id, d) for i, d in zip(outline.items, outline.depths, strict=True)] == [
        ("a1", 0),
        ("a2", 0),
        ("b1", 1),
        ("b2", 1),
        ("c1", 0),
        ("c2", 0),
    ]
    assert outline.leaf == "c2"


def test_a_leaf_that_is_not_shown_is_marked_at_its_nearest_ancestor() -> None:
    fact = Entry(EntryId("f"), EntryId("c2"), "", Custom("agentsh.nav", {"ev": "x"}))
    entries = [*FORKED, fact]
    session = FakeSession(entries)

    assert build_outline(tree_items(entries, {}), session.tree.path(fact.id)).leaf == "c2"


def test_filters() -> None:
    entries = [
        user_entry("p", None, "prompt"),
        answer_entry("c", "p", "", call("bash", command="ls")),
        answer_entry("a", "c", "answer"),
        Entry(EntryId("f"), EntryId("a"), "", Custom("agentsh.turn", {"ev": "end"})),
    ]
    items = tree_items(entries, {EntryId("a"): "good"})

    shown = {f.value: [i.id for i in items if f.shows(i)] for f in Filter}
    assert shown == {
        "default": ["p", "c", "a"],
        "no tools": ["p", "a"],
        "prompts": ["p"],
        "labelled": ["a"],
        "all": ["p", "c", "a", "f"],
    }


def test_fifty_thousand_entries_in_one_line_of_descent() -> None:
    items = [
        TreeItem(EntryId(str(n)), EntryId(str(n - 1)) if n else None, "message", "user", "t", "")
        for n in range(50_000)
    ]
    outline = build_outline(items, [item.id for item in items])

    assert len(outline.items) == 50_000
    assert outline.ends[0] == 50_000


def test_of_two_entries_with_one_id_the_first_counts() -> None:
    entries = [user_entry("a", None, "first"), user_entry("a", None, "second")]

    assert [item.text for item in tree_items(entries, {})] == ["first"]
