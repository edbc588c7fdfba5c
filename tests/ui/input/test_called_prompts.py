"""Skills and templates in the chat: what a line that calls one does, and who is offered them."""

from __future__ import annotations

from tests.ui.input.test_commands import run


def test_a_template_is_a_prompt_and_the_chats_own_command_of_that_name_goes_before() -> None:
    assert run("/ship now")[0].started == ["/ship now"]
    assert run("/compact")[0].started == []
    assert "is it /ship?" in run("/shi")[1]


def test_help_has_the_templates_and_skills_that_can_be_called() -> None:
    shown = run("/help")[1]

    assert "/ship [WHAT]" in shown
    assert "/skill:heron [WORDS]" in shown
    assert "not this one" not in shown
