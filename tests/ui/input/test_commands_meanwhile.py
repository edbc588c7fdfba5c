"""What a command does while a turn runs."""

from __future__ import annotations

from tests.ui.input.test_commands import FakeChat, run


def test_what_fills_the_window_is_told_while_a_turn_runs() -> None:
    chat = FakeChat()
    chat.busy = True

    _, said = run("/context", chat)

    assert "1,000 of 8,000 tokens" in said
    assert chat.started == []
