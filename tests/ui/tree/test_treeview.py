"""Cursor, folds, filters and search in the drawn tree."""

from __future__ import annotations

from agentsh.session.format.entries import EntryId
from agentsh.ui.tree.outline import Filter
from agentsh.ui.tree.treeview import TreeView
from agentsh.views.treeitem import TreeItem, tree_items
from tests.ui.fakes import FakeSession
from tests.ui.tree.test_outline import FORKED


def forked(leaf: str = "c2") -> TreeView:
    session = FakeSession(FORKED, leaf=EntryId(leaf))
    return TreeView(tree_items(FORKED, {}), session.tree.path(session.leaf))


def at(view: TreeView) -> str:
    assert view.current is not None
    return view.current.id


def test_it_starts_on_the_leaf() -> None:
    assert at(forked()) == "c2"
    assert at(forked("b2")) == "b2"


def test_moves_stop_at_the_ends() -> None:
    view = forked()
    view.move(5)
    assert at(view) == "c2"
    view.home()
    view.move(-1)
    assert at(view) == "a1"
    view.end()
    assert at(view) == "c2"


def test_a_folded_line_hides_what_hangs_below_it() -> None:
    view = forked()
    view.search("heron road")
    view.fold()

    assert [view.outline.items[n].id for n in view.window(20)] == ["a1", "a2", "b1", "c1", "c2"]
    view.move(1)
    assert at(view) == "c1"
    view.move(-1)
    assert at(view) == "b1"
    view.unfold()
    view.move(1)
    assert at(view) == "b2"


def test_folding_a_line_with_nothing_below_goes_to_its_parent() -> None:
    view = forked()
    view.fold()

    assert at(view) == "c1"


def test_a_search_finds_what_is_folded() -> None:
    view = forked()
    view.search("heron road")
    view.fold()
    view.end()

    assert view.search("heron seen")
    assert at(view) == "b2"


def test_a_search_goes_round_and_can_be_repeated() -> None:
    view = forked()

    assert view.search("HERON")
    assert at(view) == "b1"
    assert view.search("heron", step=1)
    assert at(view) == "b2"
    assert view.search("heron", step=1)
    assert at(view) == "b1"
    assert not view.search("no such words")
    assert at(view) == "b1"


def test_a_filter_keeps_the_cursor_at_the_nearest_entry() -> None:
    view = forked()
    for _ in range(2):
        view.next_filter()

    assert view.filter is Filter.PROMPTS
    assert at(view) == "c1"
    assert [i.id for i in view.outline.items] == ["a1", "b1", "c1"]


def test_a_label_shows_at_once() -> None:
    view = forked()
    view.relabel(EntryId("b2"), "here")

    assert at(view) == "b2"
    assert view.current is not None
    assert view.current.label == "here"


def test_the_window_follows_the_cursor() -> None:
    view = forked()

    assert [view.outline.items[n].id for n in view.window(3)] == ["b2", "c1", "c2"]
    view.home()
    assert [view.outline.items[n].id for n in view.window(3)] == ["a1", "a2", "b1"]
    view.move(1)
    assert [view.outline.items[n].id for n in view.window(3)] == ["a1", "a2", "b1"]


def test_a_key_costs_a_screen_not_the_tree() -> None:
    """Counted: lines looked at per key, in a tree of 50,000."""
    items = [
        TreeItem(EntryId(str(n)), EntryId(str(n - 1)) if n else None, "message", "user", "t", "")
        for n in range(50_000)
    ]
    view = TreeView(items, [item.id for item in items])
    looked = 0
    original = view._next

    def counted(line: int) -> int | None:
        nonlocal looked
        looked += 1
        return original(line)

    view._next = counted  # type: ignore[method-assign]
    for _ in range(10):
        view.move(-20)
        assert len(view.window(40)) == 40

    assert looked <= 10 * 2 * 40


def test_an_empty_tree_can_be_looked_at() -> None:
    view = TreeView([], [])
    view.move(1)
    view.move(-1)
    view.fold()
    view.next_filter()
    view.home()
    view.end()

    assert view.current is None
    assert view.window(10) == []
