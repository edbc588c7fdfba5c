"""What was typed before the chat read single keys is not lost, an end of input included."""

from __future__ import annotations

import os
import pty
from pathlib import Path

import pytest

from agentsh.ui.input.terminal_input import KeyReader, TerminalInput
from tests.support.terminal import ENTER
from tests.ui.chat.test_repl import chat, leave


@pytest.mark.parametrize(
    ("typed", "keys"),
    [(b"\x04", ["c-d"]), (b"hi\r", ["h", "i", "c-m"]), (b"", ["c-@"])],
    ids=["end", "line", "nothing"],
)
def test_an_early_ctrl_d_is_ctrl_d_an_early_enter_an_enter_and_a_later_nul_is_none(
    typed: bytes, keys: list[str]
) -> None:
    master, slave = pty.openpty()
    try:
        os.write(master, typed)
        with open(slave, closefd=False) as stdin:
            source = TerminalInput(stdin, KeyReader())
            with source.raw_mode():
                if not typed:
                    os.write(master, b"\0")
                read = source.read_keys()
                assert [
                    str(key.key.value if hasattr(key.key, "value") else key.key) for key in read
                ] == keys
    finally:
        os.close(master)
        os.close(slave)


def test_a_newline_is_a_newline_once_single_keys_are_read() -> None:
    """Ctrl-J begins a line; only a terminal that gave lines had made it of an Enter."""
    master, slave = pty.openpty()
    try:
        os.write(master, b"hi\r")
        with open(slave, closefd=False) as stdin:
            source = TerminalInput(stdin, KeyReader())
            with source.raw_mode():
                source.read_keys()
                os.write(master, b"\n")
                [key] = source.read_keys()
                assert key.key == "c-j"
    finally:
        os.close(master)
        os.close(slave)


def test_what_is_typed_ahead_of_the_editor_and_answered_at_once_ends_no_chat(
    tmp_path: Path,
) -> None:
    with chat("tree", tmp_path) as terminal:
        terminal.type("/tree")
        terminal.send(ENTER)
        terminal.wait(lambda: "Enter go" in terminal.screen)
        terminal.send("q/hotkeys" + ENTER)  # the answer is printed before the editor stands again
        terminal.wait("Ctrl-J, Shift-Enter")
        assert leave(terminal) == "[]"
