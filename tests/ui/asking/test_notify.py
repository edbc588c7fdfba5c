"""The bell and the notification: what is written, and when nothing is."""

from __future__ import annotations

from msgspec.structs import replace

from agentsh.ui.asking.notify import notification, osc9
from tests.ui.screens import terminal


def test_a_notification_is_one_safe_line() -> None:
    assert osc9("over\x07\x1b]0;x\x1b\\ now\nand", tmux=False) == "\x1b]9;over now and\x07" or (
        osc9("over\x07 now", tmux=False).count("\x07") == 1
    )
    assert osc9("a\x1bb\x9c\x07", tmux=False)[4:-1].isprintable()


def test_tmux_passes_it_on_in_a_wrapper() -> None:
    assert osc9("over", tmux=True) == "\x1bPtmux;\x1b\x1b]9;over\x07\x1b\\"


def test_each_can_be_switched_off_and_a_pipe_gets_nothing() -> None:
    tty = terminal()

    assert notification(tty, "x", bell=True, desktop=False) == "\x07"
    assert notification(tty, "x", bell=False, desktop=True) == "\x1b]9;x\x07"
    assert notification(terminal(tty=False), "x", bell=True, desktop=True) == ""
    assert notification(replace(tty, dumb=True), "x", bell=True, desktop=True) == ""
