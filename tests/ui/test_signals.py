"""Signals from outside: the terminal is never left raw, and neither a draft nor a turn is lost."""

from __future__ import annotations

import os
import random
import signal
import termios
import time
from pathlib import Path

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.key_binding import KeyBindings

from agentsh.ui.chat.chat import ChatOptions
from agentsh.ui.chat.repl import Repl
from agentsh.ui.chat.view import TranscriptView
from agentsh.ui.fullscreen import Screen, fullscreen
from agentsh.ui.signals import ENDING
from agentsh.ui.theme import choose_theme
from tests.support.terminal import CTRL_Z, ENTER, PtyTerminal
from tests.ui.chat.test_repl import chat, leave
from tests.ui.fakes import FakeAgent, says
from tests.ui.hosts import FakeHost
from tests.ui.screens import terminal as fake_terminal


def is_stopped(terminal: PtyTerminal) -> bool:
    stat = Path(f"/proc/{terminal.process.pid}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] == "T"


def cook(terminal: PtyTerminal) -> None:
    """As a shell does that takes the terminal."""
    modes = termios.tcgetattr(terminal._master)
    modes[3] |= termios.ICANON | termios.ECHO | termios.ISIG
    termios.tcsetattr(terminal._master, termios.TCSANOW, modes)


@pytest.mark.parametrize("sign", ENDING)
def test_a_signal_that_ends_the_chat_leaves_the_terminal_as_it_was(
    tmp_path: Path, sign: signal.Signals
) -> None:
    with chat("slow", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("slow words")
        os.kill(terminal.process.pid, sign)

        assert terminal.ends() == 0
        assert not terminal.reads_keys()
        assert (tmp_path / "left").read_text() == "aborted=True"
        assert bytes(terminal.raw).rstrip().rfind(b"\x1b[?2004l") > terminal.raw.rfind(
            b"\x1b[?2004h"
        )


def test_a_view_that_is_told_to_end_ends_the_chat(tmp_path: Path) -> None:
    with chat("tree", tmp_path) as terminal:
        terminal.type("/tree")
        terminal.send(ENTER)
        terminal.wait(lambda: b"\x1b[?1049h" in terminal.raw)
        terminal.quiet()
        os.kill(terminal.process.pid, signal.SIGQUIT)

        assert terminal.ends() == 0
        assert not terminal.reads_keys()
        assert terminal.raw.rfind(b"\x1b[?1049l") > terminal.raw.rfind(b"\x1b[?1049h")
        assert (tmp_path / "left").exists()


def test_u07_ctrl_z_in_a_view_gives_the_screen_back_and_returns_to_it(tmp_path: Path) -> None:
    with chat("tree", tmp_path) as terminal:
        terminal.type("/tree")
        terminal.send(ENTER)
        terminal.wait(lambda: "Enter go" in terminal.screen)
        terminal.send(CTRL_Z)  # nothing stops a group that no shell waits for
        terminal.wait(lambda: terminal.raw.count(b"\x1b[?1049h") == 2)
        assert terminal.raw.count(b"\x1b[?1049l") == 1
        terminal.quiet()
        terminal.send("q")
        terminal.wait(lambda: terminal.raw.count(b"\x1b[?1049l") == 2)
        assert leave(terminal) == "[]"


def test_a_stop_that_nobody_saw_coming_leaves_a_chat_that_goes_on(tmp_path: Path) -> None:
    with chat("echo", tmp_path) as terminal:
        terminal.type("two words")
        os.kill(terminal.process.pid, signal.SIGSTOP)
        terminal.wait(lambda: is_stopped(terminal))
        cook(terminal)
        before = len(terminal.raw)
        os.kill(terminal.process.pid, signal.SIGCONT)
        terminal.wait(terminal.reads_keys)
        terminal.wait(lambda: b"two words" in terminal.raw[before:])
        terminal.type(" more")
        terminal.send(ENTER)
        terminal.wait("an answer of few words")

        assert leave(terminal) == "['two words more']"


def test_a_signal_that_comes_while_a_view_is_ending_ends_whoever_showed_it() -> None:
    shown = fake_terminal()
    with create_pipe_input() as keyboard:
        screen = Screen(shown, choose_theme("none", "dark", shown.colours), keyboard)
        view = fullscreen(lambda *_: [("", "a view")], KeyBindings(), screen, result_type=int)

        def leave_and_be_told() -> None:
            view.exit(result=1)
            os.kill(os.getpid(), signal.SIGTERM)

        view.pre_run_callables.append(leave_and_be_told)
        with pytest.raises(SystemExit) as ended:
            view.run()
    assert ended.value.code == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_signal_that_comes_as_the_chat_makes_way_for_a_view_ends_the_chat(
    tmp_path: Path,
) -> None:
    shown, seen = fake_terminal(), []
    agent = FakeAgent(says("well"))
    theme = choose_theme("none", "dark", shown.colours)
    with create_pipe_input() as keyboard:
        options = ChatOptions(tmp_path, tmp_path, theme)
        repl = Repl(
            agent, FakeHost(agent), shown, lambda theme: TranscriptView(shown, theme), options,
            keyboard_input=keyboard,
        )  # fmt: skip

        def make_way_and_be_told() -> None:
            repl.chat.show_screen(lambda: seen.append("a view"))
            os.kill(os.getpid(), signal.SIGTERM)

        repl.app.pre_run_callables.append(make_way_and_be_told)
        keyboard.send_text("/quit\r")  # for a chat that goes on
        repl.run()
    assert (repl.ended_by, seen) == (signal.SIGTERM, [])
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_whatever_signals_come_the_draft_is_kept_and_the_terminal_given_back(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    passing = [signal.SIGCONT, signal.SIGTSTP, signal.SIGWINCH, signal.SIGSTOP, signal.SIGCHLD]
    with chat("slow", tmp_path) as terminal:
        terminal.type("go")
        terminal.send(ENTER)
        terminal.wait("slow words")
        terminal.type("half a draft")
        terminal.wait(lambda: "half a draft" in kept_drafts(tmp_path))
        for sign in chance.choices(passing, k=chance.randrange(8)):
            os.kill(terminal.process.pid, sign)
            time.sleep(chance.random() / 20)
            if sign in (signal.SIGSTOP, signal.SIGTSTP):
                if chance.random() < 0.5:
                    cook(terminal)
                os.kill(terminal.process.pid, signal.SIGCONT)
        os.kill(terminal.process.pid, signal.SIGCONT)
        os.kill(terminal.process.pid, chance.choice(ENDING))

        assert terminal.ends() == 0, terminal.everything
        assert not terminal.reads_keys()
        assert (tmp_path / "left").read_text() == "aborted=True"
        assert "half a draft" in kept_drafts(tmp_path)


def kept_drafts(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.glob("drafts/*"))
