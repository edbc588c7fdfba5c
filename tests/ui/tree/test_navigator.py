"""The tree navigator: what keys do, what is drawn, what comes back."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from agentsh.context.hiding import Edited
from agentsh.errors import RefusedError, SessionNotSavedError
from agentsh.session.format.entries import EntryId
from agentsh.ui.fullscreen import Screen
from agentsh.ui.paper.pages import PageLine
from agentsh.ui.theme import choose_theme
from agentsh.ui.tree.navigator import (
    EntryDeeds,
    Explored,
    Forked,
    Left,
    Navigator,
    NavigatorChoice,
    Picked,
    Summed,
    Went,
)
from agentsh.ui.tree.navkeys import navigate
from agentsh.ui.tree.navtext import NAVIGATOR_KEYS, path_difference
from agentsh.ui.tree.outline import Filter
from agentsh.ui.tree.treeview import TreeView
from agentsh.views.explored import ExploredBranch, with_explored
from agentsh.views.treeitem import tree_items
from tests.ui.fakes import FakeSession
from tests.ui.hosts import FakeMarks
from tests.ui.screens import terminal
from tests.ui.tree.test_outline import FORKED

TARGET = terminal(columns=60, rows=20)
THEME = choose_theme("none", "dark", TARGET.colours)


def press(
    keys: str,
    *,
    labels: list[tuple[str, str | None]] | None = None,
    copies: list[str] | None = None,
    only_looks: str | None = None,
    explored: Sequence[ExploredBranch] = (),
) -> NavigatorChoice:
    """What the navigator decides on these keys, on the forked tree."""

    def label(target: EntryId, name: str | None) -> None:
        if labels is not None:
            labels.append((target, name))

    def copy(text: str) -> str:
        if copies is not None:
            copies.append(text)
        return "copied"

    with create_pipe_input() as pipe:
        pipe.send_text(keys)
        return navigate(
            FakeSession(FORKED),
            Screen(TARGET, THEME, pipe, DummyOutput()),
            EntryDeeds(label, copy),
            only_looks=only_looks,
            explored=explored,
        )


def navigator(*, unicode: bool = True) -> Navigator:
    session = FakeSession(FORKED)
    view = TreeView(tree_items(FORKED, {}), session.tree.path(session.leaf))
    return Navigator(view, unicode=unicode)


def drawn(target: Navigator, columns: int = 60, rows: int = 20) -> list[str]:
    text = "".join(fragment[1] for fragment in target.draw(columns, rows))
    return [line.rstrip() for line in text.split("\n")]


UP, DOWN = "\x1b[A", "\x1b[B"


@pytest.mark.parametrize(
    ("keys", "choice"),
    [
        ("q", Left()),
        ("\x1b", Left()),
        ("\x03", Left()),
        ("\r", Left()),  # on to where one is already
        (UP + "\r", Went(EntryId("c1"))),
        (UP + "cy", Summed(EntryId("c1"))),
        (UP + "cqq", Left()),
        (UP + "c\x03q", Left()),
        ("\x1b[Hcyq", Left()),  # nothing stands before it; y copies
        (UP + "b", Picked(EntryId("c1"))),
        (UP + "Bs", Picked(EntryId("c1"), summarize=True)),
        (UP + "Bw", Picked(EntryId("c1"), files=True)),
        ("Bqq", Left()),
        (UP * 2 + "\r", Went(EntryId("b2"))),
        ("kkkj\r", Went(EntryId("b2"))),
        ("/heron seen\r\r", Went(EntryId("b2"))),
        ("/heron\rn\r", Went(EntryId("b2"))),
        ("/herox\x7fn\rs", Went(EntryId("b1"), summarize=True)),
        ("\x1b[Hs", Went(EntryId("a1"), summarize=True)),
        (UP + "w", Went(EntryId("c1"), files=True)),
        (UP * 2 + "f", Forked(EntryId("b2"))),
        ("\t\t\r", Went(EntryId("c1"))),
        ("?xq", Left()),
        ("dxq", Left()),
        ("tq", Left()),
    ],
)
def test_keys(keys: str, choice: NavigatorChoice) -> None:
    assert press(keys) == choice


BRANCHES = [
    ExploredBranch("4f2a91c0.1", "◇ 4f2a91c0.1 ✓ heron drawn", EntryId("b2"), is_here=True),
    ExploredBranch("4f2a91c0.2", "◇ 4f2a91c0.2 ✗ no heron", EntryId("b2"), is_here=True),
    ExploredBranch("77777777.1", "of another session", EntryId("b2")),
]


@pytest.mark.parametrize(
    ("keys", "choice"),
    [
        ("/heron drawn\rp", Explored("4f2a91c0.1")),
        ("/no heron\rp", Explored("4f2a91c0.2")),
        ("/no heron\r\rlxzBscbfwq", Left()),  # it is no entry of this session
        ("/another session\rpq", Left()),
        ("pq", Left()),
    ],
)
def test_p_brings_a_branch_of_an_exploration_and_no_other_key_does(
    keys: str, choice: NavigatorChoice
) -> None:
    labels: list[tuple[str, str | None]] = []

    assert press(keys, labels=labels, explored=BRANCHES) == choice
    assert labels == []


def test_branches_of_explorations_stand_beside_what_goes_on() -> None:
    session = FakeSession(FORKED)
    items = with_explored(tree_items(FORKED, {}), BRANCHES)
    lines = drawn(Navigator(TreeView(items, session.tree.path(session.leaf))))

    [first, second] = [line for line in lines if "4f2a91c0" in line][:2]
    assert first.startswith("├─") or "├─" in first
    assert "branch: ◇ 4f2a91c0.2 ✗ no heron" in second
    assert not any("another session" in line for line in lines)


@pytest.mark.parametrize("key", ["\r", "s", "w", "cy", "b", "f", "Bs", "lname\r"])
def test_while_it_is_only_looked_at_no_key_decides_or_changes_anything(key: str) -> None:
    labels: list[tuple[str, str | None]] = []

    assert press(f"{key}kq", labels=labels, only_looks="a turn runs") == Left()
    assert labels == []


def test_an_entry_is_named_and_the_name_is_cleared() -> None:
    labels: list[tuple[str, str | None]] = []
    press(UP + "lgood place\r" + "l" + "\x7f" * 20 + "\rq", labels=labels)

    assert labels == [("c1", "good place"), ("c1", None)]


def test_a_name_that_is_left_with_escape_is_not_set() -> None:
    target = navigator()
    target.begin("label")
    target.type("x")
    target.cancel()

    assert target.mode == "move"


def test_the_text_of_an_entry_is_copied() -> None:
    copies: list[str] = []
    press("yq", copies=copies)

    assert copies == ["badger seen"]


def test_who_speaks_has_a_look_and_the_path_is_told_by_its_mark() -> None:
    fragments = navigator().draw(60, 20)

    assert ("class:user", "you: ") in fragments
    assert ("class:code", "agent: ") in fragments
    assert ("class:tree.path", "● ") in fragments
    assert ("", "take the badger road") in fragments
    assert ("class:quiet", "take the heron road") in fragments


def test_times_are_shown_on_demand() -> None:
    target = navigator()
    before = drawn(target)
    target.toggle_times()
    assert re.match(r"● \d\d-\d\d \d\d:\d\d  you: where does it go", drawn(target)[1])
    target.toggle_times()
    assert drawn(target) == before


def test_the_screen() -> None:
    lines = drawn(navigator())

    assert lines[0] == "tree: 6 entries, filter default (Tab), ? keys"
    assert lines[1:7] == [
        "● you: where does it go",
        "● agent: to a fork",
        "├─○ you: take the heron road  2 entries, 15 tokens",
        "│ ○ agent: heron seen",
        "● you: take the badger road",
        "● agent: badger seen  ← leaf",
    ]
    assert lines[-5:-3] == ["c2 · agent · 2026-01-01 00:00 · 15 tokens", "badger seen"]
    assert len(lines) == 20


def test_the_screen_without_box_characters_is_ascii() -> None:
    text = "\n".join(line for line in drawn(navigator(unicode=False)))

    assert text.replace("·", "").isascii()


def test_a_fold_says_what_it_hides() -> None:
    target = navigator()
    target.view.search("heron road")
    target.view.fold()

    assert "├─○ you: take the heron road  (+1)  2 entries, 15 tokens" in drawn(target)


def test_a_search_that_finds_nothing_says_so() -> None:
    target = navigator()
    target.begin("search")
    target.type("nothing of it")

    assert drawn(target)[-1] == "/nothing of it  (no hit)"


def test_a_name_that_cannot_be_saved_is_told() -> None:
    session = FakeSession(FORKED)
    view = TreeView(tree_items(FORKED, {}), session.tree.path(session.leaf))

    def refuse(target: EntryId, name: str | None) -> None:
        raise SessionNotSavedError("the disk is full")

    target = Navigator(view, EntryDeeds(label=refuse))
    target.begin("label")
    target.type("x")
    target.accept()

    assert drawn(target)[-1] == "the disk is full"


def test_x_hides_an_entry_and_shows_it_again() -> None:
    target = Navigator(navigator().view, EntryDeeds(toggle=FakeMarks().toggle_hidden))

    target.toggle_hidden()
    line = next(row for row in drawn(target) if "badger seen" in row)
    assert line == "● (hidden) agent: badger seen  ← leaf"
    assert ("class:tree.cursor strike", "badger seen") in target.draw(60, 20)
    assert drawn(target)[-1] == "hidden from the model"

    target.toggle_hidden()
    assert "● agent: badger seen  ← leaf" in drawn(target)
    assert drawn(target)[-1] == "the model is sent it again"


def test_z_puts_a_branch_away_and_shows_it_again() -> None:
    target = Navigator(navigator().view, EntryDeeds(fold=FakeMarks().toggle_folded))
    target.view.search("take the heron road")

    target.toggle_folded()
    shown = "\n".join(drawn(target))
    assert "you: folded: 2 entries · take the heron road" in shown
    assert "heron seen" not in shown
    assert target.choice() == Went(EntryId("b1"))

    while target.view.filter is not Filter.ALL:
        target.view.next_filter()
    assert "heron seen" in "\n".join(drawn(target)), "`all` shows what was put away"
    target.view.next_filter()
    target.view.search("take the heron road")

    target.toggle_folded()
    assert "heron seen" in "\n".join(drawn(target))
    assert drawn(target)[-1] == "unfolded"


def test_putting_a_branch_away_leaves_open_and_closed_lines_as_they_are() -> None:
    target = Navigator(navigator().view, EntryDeeds(fold=lambda _: frozenset({EntryId("b1")})))
    view = target.view
    view.search("take the badger road")
    view.fold()
    view.search("take the heron road")

    target.toggle_folded()

    assert [i.id for n, i in enumerate(view.outline.items) if view.is_folded(n)] == ["c1"]


def test_a_fold_that_is_refused_is_told() -> None:
    def refuse(target: EntryId) -> frozenset[EntryId]:
        raise RefusedError("c2 is on the path, which is never folded")

    target = Navigator(navigator().view, EntryDeeds(fold=refuse))
    target.toggle_folded()

    assert drawn(target)[-1] == "c2 is on the path, which is never folded"


def test_a_hiding_that_is_refused_is_told() -> None:
    def refuse(target: EntryId) -> dict[EntryId, Edited]:
        raise RefusedError("c2 is not on the current path")

    target = Navigator(navigator().view, EntryDeeds(toggle=refuse))
    target.toggle_hidden()

    assert drawn(target)[-1] == "c2 is not on the current path"
    assert "(hidden)" not in "\n".join(drawn(target))


def test_what_differs_between_here_and_there() -> None:
    view = navigator().view

    lines = path_difference(view.active, view.path_to(EntryId("b2")))
    assert [line.text for line in lines] == [
        "only here: 2 entries",
        "- you: take the badger road",
        "- agent: badger seen",
        "",
        "only there: 2 entries",
        "+ you: take the heron road",
        "+ agent: heron seen",
        "",
    ]


def test_the_help_names_every_key() -> None:
    target = navigator()
    target.show_help()

    shown = "\n".join(drawn(target, 80, 24))
    assert all(key in shown for key, _ in NAVIGATOR_KEYS)


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 120])
def test_the_way_out_and_the_way_to_the_keys_stay_at_every_width(columns: int) -> None:
    lines = drawn(navigator(), columns, 12)

    assert lines[0].endswith("? keys")
    assert lines[-1].endswith("q leave")
    assert max(map(len, (lines[0], lines[-1]))) < columns


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 120])
def test_the_meaning_of_a_key_is_wrapped_and_not_cut(columns: int) -> None:
    target = navigator()
    drawn(target, columns, 80)
    target.show_help()
    lines = drawn(target, columns, 80)

    assert max(map(len, lines)) < columns
    said = " ".join(" ".join(lines).split())
    assert all(does in said for _, does in NAVIGATOR_KEYS)


def test_a_page_is_shown_whole_however_narrow_the_screen_is() -> None:
    view = navigator().view
    target = Navigator(
        view, EntryDeeds(files=lambda _: [PageLine("+ " + "take the badger road " * 9)])
    )
    target.show_difference()
    seen = ""
    for _ in range(4):
        seen += " ".join(drawn(target, 20, 12)[:-2]) + " "
        target.scroll_page(target.rows)

    assert seen.count("badger") >= 9
    assert drawn(target, 40, 12)[-1].endswith("any other key goes back")


def test_nothing_is_written_to_the_terminal_by_looking() -> None:
    press("q")

    assert isinstance(TARGET.stdout, io.StringIO)
    assert TARGET.stdout.getvalue() == ""
