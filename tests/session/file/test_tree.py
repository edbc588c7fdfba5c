"""The tree against a naive model, and damage that must not hang it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.errors import EntryNotFoundError
from agentsh.session.file.tree import Tree
from agentsh.session.format.entries import EntryId

_names = st.sampled_from([EntryId(c) for c in "abcdefgh"])
_rows = st.lists(st.tuples(_names, st.none() | _names | st.just(EntryId("zz"))), max_size=12)


def _tree(rows: list[tuple[EntryId, EntryId | None]]) -> Tree:
    tree = Tree()
    for entry, parent in rows:
        tree.add(entry, parent, "message")
    tree.settle()
    return tree


def _first_ones(rows: list[tuple[EntryId, EntryId | None]]) -> dict[EntryId, EntryId | None]:
    found: dict[EntryId, EntryId | None] = {}
    for entry, parent in rows:
        found.setdefault(entry, parent)
    return found


def _has_circle(parents: dict[EntryId, EntryId | None], entry: EntryId) -> bool:
    seen: list[EntryId | None] = []
    at: EntryId | None = entry
    while at in parents and at not in seen:
        seen.append(at)
        at = parents[at]
    return at in seen


@given(_rows)
def test_paths_are_those_of_following_parents_by_hand(
    rows: list[tuple[EntryId, EntryId | None]],
) -> None:
    tree = _tree(rows)
    parents = _first_ones(rows)

    assert list(tree) == list(parents)
    for entry in parents:
        if _has_circle(parents, entry):
            continue
        path = []
        at: EntryId | None = entry
        while at is not None and at in parents:
            path.append(at)
            at = parents[at]
        assert tree.path(entry) == tuple(reversed(path))


@given(_rows)
def test_every_entry_is_reachable_from_a_root_exactly_once(
    rows: list[tuple[EntryId, EntryId | None]],
) -> None:
    tree = _tree(rows)
    seen: list[EntryId] = []
    waiting = list(tree.roots)
    while waiting:
        entry = waiting.pop()
        seen.append(entry)
        waiting += tree.children(entry)

    assert sorted(seen) == sorted(set(tree))


@given(_rows, st.data())
def test_the_common_ancestor_is_the_last_that_both_paths_share(
    rows: list[tuple[EntryId, EntryId | None]], data: st.DataObject
) -> None:
    tree = _tree(rows)
    places = st.sampled_from([None, *tree])
    one, other = data.draw(places), data.draw(places)

    shared = None
    for a, b in zip(tree.path(one), tree.path(other), strict=False):
        if a == b:
            shared = a
    assert tree.common_ancestor(one, other) == shared


@given(_rows)
def test_an_entry_that_is_added_later_shows_among_the_children(
    rows: list[tuple[EntryId, EntryId | None]],
) -> None:
    tree = _tree(rows)
    _ = tree.roots  # the children are known from here on
    tree.add(EntryId("new"), next(iter(tree), None), "message")

    again = _tree([*rows, (EntryId("new"), next(iter(tree)) if rows else None)])
    assert tree.children(tree.parent(EntryId("new"))) == again.children(
        again.parent(EntryId("new"))
    )


def test_a_parent_that_is_nowhere_makes_one_more_root_and_is_still_named() -> None:
    tree = _tree([(EntryId("a"), None), (EntryId("b"), EntryId("gone"))])

    assert tree.roots == ("a", "b")
    assert tree.parent(EntryId("b")) is None
    assert tree.stated_parent(EntryId("b")) == "gone"
    assert tree.missing == ("b",)


def test_a_long_file_in_the_wrong_order_is_settled_in_one_walk() -> None:
    count = 50_000
    rows = [(EntryId(str(i)), EntryId(str(i + 1))) for i in range(count)]

    tree = _tree([*rows, (EntryId(str(count)), None)])

    assert len(tree.path(EntryId("0"))) == count + 1


def test_labels_are_the_latest_and_nothing_clears() -> None:
    tree = _tree([(EntryId("a"), None), (EntryId("b"), None)])
    for target, label in (("a", "one"), ("b", "two"), ("a", "three"), ("b", "")):
        tree.set_label(EntryId(target), label)

    assert tree.labels == {"a": "three"}


def test_an_unknown_entry_is_not_found() -> None:
    with pytest.raises(EntryNotFoundError):
        _tree([]).path(EntryId("a"))
