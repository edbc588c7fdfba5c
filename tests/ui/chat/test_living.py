"""Living in the chat, in a real pseudo-terminal: search, drafts, images, unfolding, questions."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.support.endpoint import serve, text
from tests.support.pictures import png
from tests.support.terminal import CTRL_C, DOWN, ENTER, ESC, UP, PtyTerminal, pty_terminal
from tests.ui.chat.test_repl import chat, leave, surroundings

CTRL_O, CTRL_R, CTRL_T, F2, ALT_UP = "\x0f", "\x12", "\x14", "\x1bOQ", "\x1b[1;3A"


def asked(terminal: PtyTerminal) -> None:
    """Bring the question up, and wait until keys count."""
    terminal.type("go")
    terminal.send(ENTER)
    terminal.wait("Allow it?")
    time.sleep(0.7)


def test_ctrl_r_finds_a_prompt_of_an_earlier_chat_and_sends_nothing_by_itself(
    tmp_path: Path,
) -> None:
    kept = tmp_path / "history"
    kept.write_bytes(b'"the heron road"\n"the badger road"\n"something else"\n')
    with chat("echo", tmp_path, CHAT_HISTORY=str(kept)) as terminal:
        terminal.send(CTRL_R + "heron")
        terminal.wait(lambda: "the heron road" in terminal.screen)
        terminal.send(ENTER)
        terminal.quiet()
        assert "an answer" not in terminal.everything
        terminal.send("\x05 twice")  # Ctrl-E
        terminal.wait(lambda: "road twice" in terminal.screen)
        terminal.send(ENTER)
        terminal.wait("an answer of few words")
        assert leave(terminal) == "['the heron road twice']"


def test_a_search_that_is_left_gives_the_draft_back(tmp_path: Path) -> None:
    kept = tmp_path / "history"
    kept.write_bytes(b'"the heron road"\n')
    with chat("echo", tmp_path, CHAT_HISTORY=str(kept)) as terminal:
        terminal.type("half a draft")
        terminal.send(CTRL_R + "heron")
        terminal.wait(lambda: "the heron road" in terminal.screen)
        terminal.send(CTRL_C)
        terminal.wait(lambda: "half a draft" in terminal.screen)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP])
def test_a_chat_that_is_told_to_end_leaves_in_order_and_says_so(
    tmp_path: Path, sign: signal.Signals
) -> None:
    with serve(text("an answer")) as endpoint:
        env = {
            **surroundings(tmp_path),
            "AGENTSH_HOME": str(tmp_path / "home"),
            "OPENAI_BASE_URL": endpoint.base_url,
            "AGENTSH_MODEL": "m",
        }
        argv = [sys.executable, "-m", "agentsh", "chat"]
        with pty_terminal(argv, env=env, cwd=tmp_path) as terminal:
            terminal.ready()
            terminal.type("hello")
            terminal.send(ENTER)
            terminal.wait("an answer")
            terminal.quiet()
            os.kill(terminal.process.pid, sign)
            assert terminal.ends() == 128 + sign
            assert "go on with: agentsh resume" in terminal.everything


def test_what_was_sent_does_not_come_back_as_a_draft_after_a_kill(tmp_path: Path) -> None:
    with chat("echo", tmp_path) as terminal:
        terminal.type("a whole prompt")
        terminal.wait(lambda: any(file.stat().st_size for file in (tmp_path / "drafts").glob("*")))
        terminal.send(ENTER)
        terminal.wait("an answer of few words")
        os.kill(terminal.process.pid, signal.SIGKILL)
        terminal.process.wait(5)
    with chat("echo", tmp_path) as terminal:
        terminal.quiet()
        assert "a whole prompt" not in terminal.screen
        assert leave(terminal) == "[]"


def test_a_draft_survives_a_kill(tmp_path: Path) -> None:
    with chat("echo", tmp_path) as terminal:
        terminal.type("half a draft")
        time.sleep(0.6)
        os.kill(terminal.process.pid, signal.SIGKILL)
        terminal.process.wait(5)
    with chat("echo", tmp_path) as terminal:
        terminal.wait(lambda: "› half a draft" in terminal.screen)
        terminal.send(ENTER)
        terminal.wait("an answer of few words")
        assert leave(terminal) == "['half a draft']"
    with chat("echo", tmp_path) as terminal:
        terminal.quiet()
        assert "half a draft" not in terminal.screen
    assert list((tmp_path / "drafts").iterdir()) == []


def test_the_pasted_path_of_an_image_is_shown_and_goes_along(tmp_path: Path) -> None:
    (tmp_path / "a heron.png").write_bytes(png(3, 2))
    with chat("echo", tmp_path) as terminal:
        terminal.send("\x1b[200~'a heron.png'\x1b[201~")
        terminal.wait("image 1: a heron.png, png 3x2")
        terminal.send("\x7f")
        terminal.wait(lambda: "image 1" not in terminal.screen)
        terminal.send("\x1b[200~a\\ heron.png\x1b[201~")
        terminal.wait(lambda: "image 1" in terminal.screen)
        terminal.type("what is it")
        terminal.send(ENTER)
        terminal.wait("an answer of few words")
        assert "image 1" not in terminal.screen
        assert leave(terminal) == "['what is it']"
        assert "images=['image/png']" in terminal.everything.replace("\n", "")


def test_a_folded_call_is_read_whole_on_a_screen_of_its_own(tmp_path: Path) -> None:
    with chat("tool", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("counted")
        terminal.wait("… 53 lines")
        terminal.send(CTRL_O)
        terminal.wait(lambda: "command: seq 60" in terminal.screen)
        terminal.send("\x1b[F")
        terminal.wait(lambda: "line 60" in terminal.screen and "command" not in terminal.screen)
        assert b"\x1b[?1049h" in terminal.raw  # a screen of its own: the scrollback stays
        terminal.send("q")
        terminal.wait(lambda: b"\x1b[?1049l" in terminal.raw)
        terminal.type("still here")
        terminal.send(ENTER)
        terminal.quiet()
        assert leave(terminal) == "['go', 'still here']"


def test_thoughts_are_folded_and_read_with_ctrl_t(tmp_path: Path) -> None:
    with chat("think", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("thought so")
        terminal.wait("about 3 words (Ctrl-T shows them)")
        terminal.send(CTRL_T)
        terminal.wait(lambda: "herons are birds" in terminal.screen)
        terminal.send(ESC)
        terminal.wait(lambda: b"\x1b[?1049l" in terminal.raw)


def test_keys_of_the_settings_are_the_ones_in_force(tmp_path: Path) -> None:
    with chat("tool", tmp_path, KEYS="1") as terminal:
        terminal.type("one")
        terminal.send("\x1bj")
        terminal.type("two")
        terminal.send(ENTER)
        terminal.wait("counted")
        terminal.send(F2)
        terminal.wait(lambda: "command: seq 60" in terminal.screen)
        terminal.send("q")
        terminal.wait(lambda: b"\x1b[?1049l" in terminal.raw)
        assert leave(terminal) == "['one\\ntwo']"


def test_no_letter_of_a_draft_answers_a_question(tmp_path: Path) -> None:
    with chat("ask", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.send("do it another w")
        terminal.wait("Keys answer once the line is empty")
        time.sleep(1.2)
        terminal.send("ay")
        terminal.wait(lambda: "do it another way" in terminal.screen)
        time.sleep(0.7)
        assert "answered" not in terminal.everything
        terminal.send("\x15")  # Ctrl-U
        terminal.wait(lambda: "y    once" in terminal.screen)
        time.sleep(0.7)
        terminal.send("y")
        terminal.wait("answered once")


def test_esc_is_no_even_while_there_is_a_draft(tmp_path: Path) -> None:
    with chat("ask", tmp_path) as terminal:
        asked(terminal)
        terminal.send("half a draft")
        terminal.wait("Keys answer once the line is empty")
        time.sleep(0.7)
        terminal.send(ESC)
        terminal.wait("answered no")
        assert "half a draft" in terminal.screen


def test_enter_on_a_changed_command_runs_it_without_a_second_question(tmp_path: Path) -> None:
    with chat("ask", tmp_path) as terminal:
        terminal.type("a draft")
        terminal.send(CTRL_C)
        asked(terminal)
        terminal.send("e")
        terminal.wait("run instead› touch p")
        terminal.send("\x01\x0becho y")  # Ctrl-A, Ctrl-K
        terminal.wait(lambda: "run instead› echo y" in terminal.screen)
        terminal.send(ENTER)
        terminal.wait("answered once echo y")
        assert "  echo y" not in terminal.everything
        assert terminal.everything.count("asks to:") == 1
        leave(terminal)


def test_enter_on_a_command_left_as_it_was_agrees_to_nothing(tmp_path: Path) -> None:
    with chat("ask", tmp_path) as terminal:
        asked(terminal)
        terminal.send("e")
        terminal.wait("run instead› touch p")
        terminal.send(ENTER)
        terminal.wait(lambda: "run instead›" not in terminal.screen)
        assert "answered" not in terminal.everything
        time.sleep(0.7)
        terminal.send("n")
        terminal.wait("why not?")
        terminal.send(ENTER)
        terminal.wait("not allowed")
        leave(terminal)


def test_a_change_that_is_given_up_leaves_the_question(tmp_path: Path) -> None:
    with chat("ask", tmp_path) as terminal:
        asked(terminal)
        terminal.send("e")
        terminal.wait("run instead›")
        terminal.send(ESC)
        terminal.wait(lambda: "run instead›" not in terminal.screen)
        assert "answered" not in terminal.everything
        time.sleep(0.7)
        terminal.send("y")
        terminal.wait("answered once")


def test_a_no_may_have_a_reason(tmp_path: Path) -> None:
    with chat("ask", tmp_path) as terminal:
        asked(terminal)
        terminal.send("n")
        terminal.wait("why not?")
        terminal.type("yes is for later")
        terminal.send(ENTER)
        terminal.wait("answered no yes is for later")
        assert leave(terminal) == "['go']"


def test_a_question_rings_and_tells_the_desktop(tmp_path: Path) -> None:
    with chat("ask", tmp_path) as terminal:
        asked(terminal)
        assert b"\x07\x1b]9;agentsh: bash waits for your agreement\x07" in terminal.raw
    with chat("ask", tmp_path, TMUX="/tmp/x,1,0") as terminal:
        asked(terminal)
        assert b"\x1bPtmux;\x1b\x1b]9;agentsh: bash" in terminal.raw


def test_the_queue_comes_back_into_the_editor_on_alt_up(tmp_path: Path) -> None:
    with chat("slow", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("slow words")
        terminal.type("count herons")
        terminal.send("\x1b\r")
        terminal.wait("then: count herons")
        terminal.send(ALT_UP)
        terminal.wait(lambda: "› count herons" in terminal.screen)
        assert "then: count herons" not in terminal.screen
        terminal.send(ESC)
        terminal.wait("stopped")


def test_the_terminals_answer_is_never_typed(tmp_path: Path) -> None:
    with chat("echo", tmp_path, ASK="1") as terminal:
        terminal.wait(lambda: b"\x1b]11;?\x1b\\" in terminal.raw)
        terminal.send("ab\x1b]11;rgb:ffff/ffff/ffff\x1b\\cd")
        terminal.wait(lambda: "› abcd" in terminal.screen)
        terminal.send(ENTER)
        terminal.wait("an answer of few words")
        assert leave(terminal) == "['abcd']"


def test_vi_searches_the_history_and_undoes(tmp_path: Path) -> None:
    kept = tmp_path / "history"
    kept.write_bytes(b'"the heron road"\n"something else"\n')
    with chat("echo", tmp_path, VI="1", CHAT_HISTORY=str(kept)) as terminal:
        terminal.send(ESC)
        terminal.quiet()
        terminal.send("/heron" + ENTER)
        terminal.wait(lambda: "› the heron road" in terminal.screen)
        terminal.send("$a twice" + ESC)
        terminal.wait(lambda: "› the heron road twice" in terminal.screen)
        terminal.quiet()
        terminal.send("dd")
        terminal.wait(lambda: "heron" not in terminal.screen)
        terminal.send("u")
        terminal.wait(lambda: "› the heron road twice" in terminal.screen)
        terminal.send(ENTER)
        terminal.wait("an answer of few words")
        assert leave(terminal) == "['the heron road twice']"


def test_folders_complete_after_an_at_sign(tmp_path: Path) -> None:
    (tmp_path / "src" / "nest").mkdir(parents=True)
    (tmp_path / "src" / "nest" / "egg.py").write_text("")
    with chat("echo", tmp_path) as terminal:
        terminal.send("see @nes")
        terminal.wait(lambda: "src/nest/" in terminal.screen)
        terminal.send(DOWN + ENTER)
        terminal.wait(lambda: "› see @src/nest/" in terminal.screen)
        terminal.send(UP)
