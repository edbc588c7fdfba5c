"""What was folded, read whole: pages, scrolling, search, copy."""

from __future__ import annotations

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from agentsh.messages import Text, ToolResultMessage
from agentsh.ui.asking.reader import Reader, read_pages
from agentsh.ui.fullscreen import Screen
from agentsh.ui.paper.changes import page_lines
from agentsh.ui.paper.pages import Page, PageLine
from agentsh.ui.paper.shelf import KEPT, Shelf, diff_lines
from agentsh.ui.theme import choose_theme
from tests.ui.fakes import call
from tests.ui.screens import terminal


def reader(lines: int = 50) -> Reader:
    pages = [
        Page("first", lambda: [PageLine("only this")]),
        Page("second", lambda: [PageLine(f"line {n}") for n in range(1, lines + 1)]),
    ]
    return Reader(pages)


def drawn(target: Reader, columns: int = 40, rows: int = 12) -> list[str]:
    return "".join(fragment[1] for fragment in target.draw(columns, rows)).split("\n")


def test_the_newest_page_is_shown_and_the_one_before_is_left_of_it() -> None:
    target = reader()
    lines = drawn(target)
    assert (lines[0].rstrip(), lines[1], len(lines)) == ("2/2  second", "line 1", 12)
    assert "40 more lines" in lines[-1]

    target.turn(-1)
    assert drawn(target)[:2] == ["1/2  first".ljust(39), "only this"]
    target.turn(-1)
    assert target.at == 0


def test_scrolling_stops_at_both_ends() -> None:
    target = reader()
    drawn(target)
    target.scroll(1000)
    assert drawn(target)[10] == "line 50"
    target.scroll(-1000)
    assert drawn(target)[1] == "line 1"


@pytest.mark.parametrize("columns", [20, 40, 60, 80])
def test_the_way_back_stays_at_every_width(columns: int) -> None:
    foot = drawn(reader(), columns)[-1]

    assert foot.endswith("q back")
    assert len(foot) < columns


def test_a_search_goes_round() -> None:
    target = reader()
    drawn(target)
    target.type("line 4")
    assert drawn(target)[1] == "line 4"
    target.find(1)
    assert drawn(target)[1] == "line 40"
    target.find(-1)
    assert drawn(target)[1] == "line 4"
    target.type("x")
    assert target.message == "no hit"


def test_a_long_line_is_wrapped_by_cells() -> None:
    target = Reader([Page("p", lambda: [PageLine("漢" * 30)])])

    assert drawn(target)[1:4] == ["漢" * 19, "漢" * 11, ""]


def test_the_words_that_differ_are_marked_as_in_the_card() -> None:
    page = Page(
        "p", lambda: diff_lines("-1 one heron stands here\n+1 one stork stands here", "a.txt")
    )
    target = Reader([page], lay=page_lines)

    shown = target.draw(40, 12)
    assert ("class:removed class:removed_word", "heron") in shown
    assert ("class:added class:added_word", "stork") in shown
    target.type("stork")
    assert ("class:tree.hit", "+1 one stork stands here") in target.draw(40, 12)


@pytest.mark.parametrize("keys", ["q", "\x1b", "/line\rq", "jk\x1b[6~ /x\x03q", "\x0f", "\x03"])
def test_keys_lead_back(keys: str) -> None:
    target = terminal(columns=40, rows=10)
    with create_pipe_input() as pipe:
        pipe.send_text(keys)
        pages = [Page("p", lambda: [PageLine("x")])]
        theme = choose_theme("none", "dark", target.colours)
        read_pages(pages, Screen(target, theme, pipe, DummyOutput()))


def test_a_call_is_kept_whole_and_safe() -> None:
    shelf = Shelf()
    made = call("bash", command="printf x\nls\x1b[2J")
    result = ToolResultMessage(
        made.id, "bash", (Text("one\x1b]0;x\x07\ntwo"),), False, {"diff": "+new\n-old\n same"}
    )
    shelf.add_call(made, result, 1.25)
    (page,) = shelf.calls()

    assert page.title == "bash  printf x ls  1.2 s"
    assert page.lines() == [
        PageLine("command: printf x", "tool", 2),
        PageLine("  ls", "tool", 2),
        PageLine(""),
        PageLine("+new", "added", 1, "file"),
        PageLine("-old", "removed", 1, "file"),
        PageLine(" same", "quiet", 1, "file"),
        PageLine(""),
        PageLine("one"),
        PageLine("two"),
    ]


def test_only_the_newest_are_kept() -> None:
    shelf = Shelf()
    for n in range(KEPT + 5):
        shelf.add_thought(f"t{n}", "x")

    assert [page.title for page in shelf.thoughts()][0 :: KEPT - 1] == ["t5", f"t{KEPT + 4}"]
