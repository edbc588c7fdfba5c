"""The chat in a real pseudo-terminal, with a scripted agent behind it."""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.terminal import (
    ALT_ENTER,
    CTRL_C,
    CTRL_D,
    CTRL_J,
    ENTER,
    ESC,
    LEFT,
    UP,
    PtyTerminal,
    pty_terminal,
)

ROOT = Path(__file__).resolve().parents[3]


def surroundings(home: Path) -> dict[str, str]:
    """The environment of a program of ours at a terminal."""
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "HOME": str(home),
    }


@contextmanager
def chat(name: str, tmp_path: Path, rows: int = 24, **env: str) -> Iterator[PtyTerminal]:
    world = {**surroundings(tmp_path), **env}
    argv = [sys.executable, "-m", "tests.ui.driver", name]
    with pty_terminal(argv, env=world, cwd=tmp_path, rows=rows) as terminal:
        if env.get("TERM") != "dumb":
            terminal.ready()
            terminal.wait(lambda: "›" in terminal.screen)  # drawn, too: keys are read before that
        yield terminal


def leave(terminal: PtyTerminal) -> str:
    """Quit; what the agent was asked."""
    terminal.quiet()
    terminal.send(CTRL_D)
    assert terminal.ends() == 0, terminal.everything
    return terminal.everything.split("prompts=")[1].split(" moves=")[0].replace("\n", "")


def each_once(text: str, last: int) -> None:
    counts = {n: text.count(f"K{n:03d}z") for n in range(1, last + 1)}
    assert {n: c for n, c in counts.items() if c != 1} == {}


def test_a_long_answer_is_in_the_scrollback_once(tmp_path: Path) -> None:
    with chat("long", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("Over.", 30)
        terminal.quiet()
        each_once(terminal.everything, 180)
        assert leave(terminal) == "['go']"


def test_a_change_of_size_while_it_streams_loses_nothing(tmp_path: Path) -> None:
    with chat("long", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("K020z")
        terminal.resize(30, 100)
        time.sleep(0.3)
        terminal.resize(20, 70)
        terminal.wait("Over.", 30)
        missing = [n for n in range(1, 181) if f"K{n:03d}z" not in terminal.everything]
        assert missing == []
        leave(terminal)


def test_a_draft_stays_while_an_answer_comes(tmp_path: Path) -> None:
    with chat("long", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("K005z")
        terminal.type("half a draft")
        terminal.wait("Over.", 30)
        terminal.quiet()
        assert "half a draft" in terminal.screen
        assert not re.search(r"[?^]\[\[?\d+m", terminal.everything)
        each_once(terminal.everything, 180)


@pytest.mark.parametrize(
    ("keys", "sent"),
    [
        (["one", CTRL_J, "two", ALT_ENTER, "three\\", ENTER, "four"], "one\ntwo\nthree\nfour"),
        (["one", "\x1b[27;2;13~", "two", "\x1b[13;2u", "three"], "one\ntwo\nthree"),
        (["\x1b[200~a\r\n  b\r\rc\x1b[201~"], "a\n  b\n\nc"),
        (["漢字漢字", LEFT, "X"], "漢字漢X字"),
    ],
)
def test_what_is_typed_is_what_is_sent(tmp_path: Path, keys: list[str], sent: str) -> None:
    with chat("echo", tmp_path) as terminal:
        for key in keys:
            terminal.send(key)
            terminal.quiet(0.2)
        terminal.send(ENTER)
        terminal.wait("an answer of few words")
        assert leave(terminal) == repr([sent])


@pytest.mark.timeout(300)
def test_a_paste_of_thousands_of_lines_is_little_work_and_one_message(tmp_path: Path) -> None:
    text = "\n".join(f"line {n} of a paste" for n in range(2000))
    with chat("echo", tmp_path) as terminal:
        terminal.send(f"\x1b[200~{text}\x1b[201~" + ENTER)
        terminal.wait("an answer of few words", 240)
        # work, not time: the text is shown a few times, not once for each piece that is read
        assert len(terminal.raw) < 6 * len(text)


def test_the_caret_stands_where_the_next_letter_goes(tmp_path: Path) -> None:
    with chat("echo", tmp_path) as terminal:
        terminal.type("漢字")
        before = terminal.cursor
        terminal.send(LEFT)
        terminal.wait(lambda: terminal.cursor != before)
        assert before[0] - terminal.cursor[0] == 2


def test_a_cleared_draft_comes_back_with_up(tmp_path: Path) -> None:
    with chat("echo", tmp_path) as terminal:
        terminal.type("precious words")
        terminal.send(CTRL_C)
        terminal.wait(lambda: "precious" not in terminal.screen)
        terminal.send(UP)
        terminal.wait(lambda: "precious words" in terminal.screen)
        terminal.send(ENTER)
        terminal.wait("an answer of few words")
        assert leave(terminal) == "['precious words']"


def test_ctrl_c_on_an_empty_editor_hints_and_then_quits(tmp_path: Path) -> None:
    with chat("echo", tmp_path) as terminal:
        terminal.send(CTRL_C)
        terminal.wait("again to quit")
        terminal.send(CTRL_C)
        assert terminal.ends() == 0


def test_ctrl_c_with_a_pause_between_does_not_quit(tmp_path: Path) -> None:
    with chat("echo", tmp_path) as terminal:
        terminal.send(CTRL_C)
        terminal.wait("again to quit")
        terminal.wait(lambda: "again to quit" not in terminal.screen)
        terminal.send(CTRL_C)
        terminal.wait("again to quit")
        assert terminal.process.poll() is None


@pytest.mark.parametrize("key", [CTRL_C, ESC])
def test_a_running_turn_is_stopped_and_the_chat_goes_on(tmp_path: Path, key: str) -> None:
    with chat("slow", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("slow words")
        terminal.send(key)
        terminal.wait("stopped")
        terminal.type("/quit")
        terminal.send(ENTER)
        assert terminal.ends() == 0


def test_enter_steers_while_the_agent_works(tmp_path: Path) -> None:
    with chat("steer", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("the first part")
        terminal.type("mind the herons")
        terminal.send(ENTER)
        terminal.wait("the last part")
        assert leave(terminal) == "['go', 'mind the herons']"


def test_a_queued_message_is_visible_and_comes_back_on_esc(tmp_path: Path) -> None:
    with chat("slow", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("slow words")
        terminal.type("count herons")
        terminal.send(ALT_ENTER)
        terminal.wait("then: count herons")
        terminal.type("and a draft")
        terminal.send(ESC)
        terminal.wait("stopped")
        terminal.quiet()
        assert "then: count herons" not in terminal.screen
        assert "count herons\n  and a draft" in terminal.screen
        assert "what was queued is in the editor again" in terminal.everything


def test_enter_agrees_to_nothing_and_a_key_decides(tmp_path: Path) -> None:
    with chat("ask", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("touch p # ␛]0;x␇flamingo")
        terminal.send(ENTER)
        time.sleep(0.8)
        assert "answered" not in terminal.everything
        terminal.send("y")
        terminal.wait("answered once")
        leave(terminal)


def test_a_word_that_is_being_typed_answers_nothing(tmp_path: Path) -> None:
    with chat("ask", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("Allow it?")
        terminal.send("yay any")
        terminal.wait(lambda: "yay any" in terminal.screen)
        assert "answered" not in terminal.everything
        time.sleep(0.7)
        terminal.send(ESC)
        terminal.wait("answered no")


def test_always_takes_the_rule_along(tmp_path: Path) -> None:
    with chat("ask", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("Allow it?")
        time.sleep(0.7)
        terminal.send("p")
        terminal.wait("answered rule touch")


def test_the_tree_opens_on_two_escapes_and_moves(tmp_path: Path) -> None:
    with chat("tree", tmp_path, rows=40) as terminal:
        terminal.wait("badger seen")
        assert "heron" not in terminal.screen
        for _ in range(2):  # with no pause: the second counts within a second of the first
            terminal.send(ESC)
        terminal.wait(lambda: "heron seen" in terminal.screen)
        terminal.send(UP + UP + UP)
        terminal.quiet()
        terminal.send(ENTER)
        terminal.wait(lambda: "tree: 6 entries" not in terminal.screen)
        terminal.wait(lambda: "› take the heron road" in terminal.screen)
        terminal.send(ENTER)
        terminal.wait("still here")
        assert leave(terminal) == "['take the heron road']"
        assert "moves=['b1']" in terminal.everything.replace("\n", "")


def test_what_was_hidden_in_the_tree_is_out_of_the_figures_at_once(tmp_path: Path) -> None:
    with chat("tree", tmp_path, rows=40) as terminal:
        terminal.wait("badger seen")
        terminal.type("/tree")
        terminal.send(ENTER)
        terminal.wait("tree: 6 entries")
        terminal.send("x")
        terminal.wait("hidden from the model")
        terminal.send("q")
        terminal.wait("10% of 12k")
        leave(terminal)


def test_commands_complete_and_explain_themselves(tmp_path: Path) -> None:
    with chat("echo", tmp_path) as terminal:
        terminal.type("/th")
        terminal.wait("how much the model thinks")
        terminal.send("\t high" + ENTER)
        terminal.wait("thinking: high")
        terminal.type("/nosuch")
        terminal.send(ENTER)
        terminal.wait("there is no command /nosuch")
        terminal.send(CTRL_C)
        terminal.type("/help")
        terminal.send(ENTER)
        terminal.wait(lambda: terminal.screen.startswith("commands and keys"))
        terminal.send("/Shift-Enter" + ENTER)
        terminal.wait(lambda: "Ctrl-J, Shift-Enter" in terminal.screen)
        terminal.send("q")
        terminal.wait(lambda: "›" in terminal.screen.split("q back")[-1])
        assert leave(terminal) == "[]"


def test_the_history_is_kept_privately_and_found_again(tmp_path: Path) -> None:
    kept = tmp_path / "state" / "history"
    for _ in range(2):
        with chat("echo", tmp_path, CHAT_HISTORY=str(kept)) as terminal:
            terminal.send(UP)
            terminal.quiet()
            if "earlier words" not in terminal.screen:
                terminal.type("earlier words")
            terminal.send(ENTER)
            terminal.wait("an answer of few words")
            assert leave(terminal) == "['earlier words']"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_leaving_gives_the_terminal_back_as_it_was(tmp_path: Path) -> None:
    with chat("echo", tmp_path) as terminal:
        assert b"\x1b[?2004h" in terminal.raw
        leave(terminal)
        assert not terminal.reads_keys()
        assert terminal.raw.rindex(b"\x1b[?2004l") > terminal.raw.rindex(b"\x1b[?2004h")
        assert b"\x1b[?1049h" not in terminal.raw


def test_a_dumb_terminal_gets_plain_lines(tmp_path: Path) -> None:
    with chat("echo", tmp_path, TERM="dumb") as terminal:
        terminal.wait(lambda: terminal.screen.startswith(">"))
        terminal.send("hello\r")
        terminal.wait("answer")
        terminal.quiet()
        terminal.send(CTRL_D)
        assert terminal.ends() == 0
        assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", terminal.raw)
        assert terminal.everything.count("an **answer** of few words") == 1


def test_keys_show_quickly_while_an_answer_streams(tmp_path: Path) -> None:
    """No measure of time (benchmarks are elsewhere): a letter shows before the answer is over."""
    with chat("slow", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("slow words")
        for letter in "herons":
            terminal.send(letter)
        terminal.wait(lambda: "herons" in terminal.screen, 3)
        terminal.send(ESC)
        terminal.wait("stopped")


def test_a_bug_ends_the_chat_with_the_terminal_given_back(tmp_path: Path) -> None:
    with chat("bug", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        assert terminal.ends() == 1
        assert "RuntimeError: a bug" in terminal.everything
        assert "Press ENTER" not in terminal.everything
        assert not terminal.reads_keys()


def test_vi_keys_where_they_are_asked_for(tmp_path: Path) -> None:
    with chat("echo", tmp_path, VI="1") as terminal:
        terminal.type("herons two")
        terminal.send(ESC)
        terminal.quiet()
        terminal.send("bidwo ")
        terminal.wait(lambda: "herons dwo two" in terminal.screen)
        terminal.send(ENTER)
        terminal.wait("an answer of few words")
        assert leave(terminal) == "['herons dwo two']"


def test_a_terminal_that_is_closed_ends_the_chat_and_its_turn(tmp_path: Path) -> None:
    with chat("slow", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("slow words")
        terminal.hang_up()
        terminal.process.wait(10)
        assert (tmp_path / "left").read_text() == "aborted=True"


def test_ctrl_c_clears_a_draft_before_it_stops_the_agent(tmp_path: Path) -> None:
    with chat("slow", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("slow words")
        terminal.type("a half draft")
        terminal.send(CTRL_C)
        terminal.wait(lambda: "a half draft" not in terminal.screen)
        assert "stopped" not in terminal.everything
        terminal.send(CTRL_C)
        terminal.wait("stopped")
