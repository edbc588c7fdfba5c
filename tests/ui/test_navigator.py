"""The tree navigator: what keys do, what is drawn, what comes back."""

from __future__ import annotations

import io

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from agentsh.errors import SessionNotSavedError
from agentsh.session.entries import EntryId
from agentsh.ui.navigator import KEYS, Choice, Forked, Left, Navigator, Went, difference, navigate
from agentsh.ui.theme import choose
from agentsh.ui.treeitem import tree_items
from agentsh.ui.treeview import TreeView
from tests.ui.fakes import FakeSession
from tests.ui.screens import terminal
from tests.ui.test_outline import FORKED

TARGET = terminal(columns=60, rows=20)
THEME = choose("none", "dark", TARGET.colours)


def press(
    keys: str,
    *,
    labels: list[tuple[str, str | None]] | None = None,
    copies: list[str] | None = None,
) -> Choice:
    """What the navigator decides on these keys, on the forked tree."""

    def label(target: EntryId, name: str | None) -> None:
        if labels is not None:
            labels.append((target, name))

    def copy(text: str) -> None:
        if copies is not None:
            copies.append(text)

    with create_pipe_input() as pipe:
        pipe.send_text(keys)
        return navigate(
            FakeSession(FORKED),
            TARGET,
            THEME,
            label=label,
            copy=copy,
            keyboard_input=pipe,
            output=DummyOutput(),
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
    ],
)
def test_keys(keys: str, choice: Choice) -> None:
    assert press(keys) == choice


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

    target = Navigator(view, label=refuse)
    target.begin("label")
    target.type("x")
    target.accept()

    assert drawn(target)[-1] == "the disk is full"


def test_what_differs_between_here_and_there() -> None:
    view = navigator().view

    assert difference(view.active, view.path_to(EntryId("b2"))) == [
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

    assert all(key in "\n".join(drawn(target)) for key, _ in KEYS)


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 120])
def test_the_way_out_and_the_way_to_the_keys_stay_at_every_width(columns: int) -> None:
    lines = drawn(navigator(), columns, 12)

    assert lines[0].endswith("? keys")
    assert lines[-1].endswith("q leave")
    assert max(map(len, (lines[0], lines[-1]))) < columns


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 120])
def test_the_meaning_of_a_key_is_wrapped_and_not_cut(columns: int) -> None:
    target = navigator()
    drawn(target, columns, 60)
    target.show_help()
    lines = drawn(target, columns, 60)

    assert max(map(len, lines)) < columns
    said = " ".join(" ".join(lines).split())
    assert all(does in said for _, does in KEYS)


def test_a_page_is_shown_whole_however_narrow_the_screen_is() -> None:
    view = navigator().view
    target = Navigator(view, files=lambda _: ["+ " + "take the badger road " * 9])
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
