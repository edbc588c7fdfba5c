"""`/btw` at a real pseudo-terminal, with a scripted agent behind it."""

from __future__ import annotations

from pathlib import Path

from tests.support.terminal import CTRL_C, ENTER, ESC, PtyTerminal
from tests.ui.chat.test_repl import chat, leave


def test_a_side_question_is_answered_while_the_agent_works(tmp_path: Path) -> None:
    with chat("steer", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("the first part")
        terminal.type("/btw which colour")
        terminal.send(ENTER)
        terminal.wait("aside on which colour")
        assert "the last part" not in terminal.everything
        terminal.type("on")
        terminal.send(ENTER)
        terminal.wait("the last part")
        assert leave(terminal) == "['go', 'on']"


def enter(terminal: PtyTerminal, line: str) -> None:
    terminal.type(line)
    terminal.send(ENTER)


def test_what_would_leave_the_place_waits_for_its_end_and_esc_stops_it(tmp_path: Path) -> None:
    with chat("echo", tmp_path, rows=40) as terminal:
        enter(terminal, "/btw wait")
        terminal.wait("aside, being answered: wait")
        enter(terminal, "/new")
        terminal.wait("/new waits for the end of the side question")
        terminal.send(CTRL_C)  # clears the draft
        enter(terminal, "/btw and how many")
        terminal.wait("one side question at a time")
        terminal.send(ESC)
        terminal.wait("the side question is stopped")
        terminal.wait(lambda: "being answered" not in terminal.screen)
        assert "/btw and how many" in terminal.screen  # in the editor
        terminal.send(ENTER)
        terminal.wait("aside on and how many")
        assert "error" not in terminal.everything
        assert leave(terminal) == "[]"


def test_what_only_looks_answers_while_the_agent_works_and_the_turn_goes_on(tmp_path: Path) -> None:
    with chat("steer", tmp_path, rows=40) as terminal:
        enter(terminal, "go")
        terminal.wait("the first part")
        enter(terminal, "/diff")
        terminal.wait("from None to None")
        enter(terminal, "/why a.py")
        terminal.wait("a.py in ")
        enter(terminal, "/mcp")
        terminal.wait("servers None")
        enter(terminal, "/tree")
        terminal.wait("filter default")
        terminal.send(ENTER)
        terminal.wait("a turn runs: the tree is only looked at")
        terminal.send("q")
        terminal.wait("working")
        enter(terminal, "on")
        terminal.wait("the last part")
        assert leave(terminal) == "['go', 'on']"


def test_one_that_fails_says_why_and_the_next_is_asked(tmp_path: Path) -> None:
    with chat("echo", tmp_path) as terminal:
        enter(terminal, "/btw fail")
        terminal.wait("error: no herons here")
        enter(terminal, "/btw")
        terminal.wait("what is asked aside?")
        enter(terminal, "/btw which colour")
        terminal.wait("aside on which colour")
        assert leave(terminal) == "[]"


def test_leaving_stops_it(tmp_path: Path) -> None:
    with chat("echo", tmp_path) as terminal:
        enter(terminal, "/btw wait")
        terminal.wait("aside, being answered: wait")
        assert leave(terminal) == "[]"
        assert "left behind" not in terminal.everything
