"""What a command does while a turn runs."""

from __future__ import annotations

from agentsh.ui.chat.actions import Actions
from tests.ui.input.test_commands import FakeChat, run
from tests.ui.paper.test_render import bare


def test_what_fills_the_window_is_told_while_a_turn_runs() -> None:
    chat = FakeChat()
    chat.busy = True

    _, said = run("/context", chat)

    assert "1,000 of 8,000 tokens" in said
    assert chat.started == []


def queue(text: str, *, said: bool = False) -> FakeChat:
    chat = FakeChat()
    chat.busy = True
    Actions(chat).queue(text, said=said)  # type: ignore[arg-type]
    return chat


def test_a_command_that_is_queued_is_one_and_no_prompt() -> None:
    for line, words in (("/compact", "/compact waits"), ("!make", "a command waits")):
        chat = queue(line)
        assert chat.agent.queued() == ()
        assert (chat.draft, chat.hints[0].startswith(words)) == (line, True)
    assert "no command /compcat" in bare(queue("/compcat").view.take())
    # what was pasted, or came back, is for the model
    assert [item.text for item in queue("/compact", said=True).agent.queued()] == ["/compact"]
    assert [item.text for item in queue("then count").agent.queued()] == ["then count"]
