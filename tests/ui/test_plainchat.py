"""The chat in plain lines."""

from __future__ import annotations

import pytest

from agentsh.agent.approvals import ApprovalRequest
from agentsh.session.entries import Notice
from agentsh.ui.plainchat import PlainChat
from tests.ui.fakes import FakeAgent, FakeHost, FakeSession, call, says
from tests.ui.screens import printed, terminal
from tests.ui.scripts import asks
from tests.ui.test_outline import FORKED

ASKS = asks(ApprovalRequest(call("bash"), "bash", "touch \x1b[2Jp", "+x", "touch"))


def chat(typed: str, agent: FakeAgent | None = None, *, resumed: bool = False) -> str:
    target = terminal(typed=typed)
    agent = agent or FakeAgent(says("the answer"), FakeSession(list(FORKED)))
    PlainChat(agent, FakeHost(agent), target).run(resumed=resumed)
    out, err = printed(target)
    assert "\x1b" not in out + err
    return out + err


def test_a_line_is_a_prompt_and_its_answer_is_printed() -> None:
    agent = FakeAgent(says("the **answer**"))

    assert chat("hello\n\nagain\n", agent) == "> the **answer**\n> > the **answer**\n> "
    assert agent.prompts == ["hello", "again"]


def test_a_backslash_joins_lines() -> None:
    agent = FakeAgent(says("x"))
    chat("one\\\ntwo\n", agent)

    assert agent.prompts == ["one\ntwo"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("/help", "/checkout ENTRY"),
        ("/nosuch", "there is no command /nosuch"),
        ("/checkout b1", "the prompt there was: take the heron road"),
        ("/checkout zz", "error: no entry 'zz'"),
        ("/new", "new session 0000-fake"),
        ("!ls", "ran ls"),
    ],
)
def test_commands(line: str, words: str) -> None:
    assert words in chat(line + "\n")


def test_quit_ends_before_the_input_does() -> None:
    agent = FakeAgent(says("x"))
    chat("/quit\nnot said\n", agent)

    assert agent.prompts == []


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("\ny", "once"),
        ("a", "session"),
        ("p", "rule touch"),
        ("n too odd", "no too odd"),
        ("e ls", "once ls"),
        ("no", "no"),
        ("what\nn", "no"),
    ],
)
def test_an_empty_line_agrees_to_nothing(typed: str, answer: str) -> None:
    said = chat(f"go\n{typed}\n", FakeAgent(ASKS))

    assert f"answered {answer}" in said
    assert "touch ␛[2Jp" in said


def test_an_input_that_ends_agrees_to_nothing() -> None:
    assert "answered no" in chat("go\n", FakeAgent(ASKS))


def test_a_resumed_session_is_shown_first() -> None:
    session = FakeSession(list(FORKED), notices=(Notice("was cut", 7),))
    said = chat("", FakeAgent(says("x"), session), resumed=True)

    assert said.startswith("> where does it go\n\nto a fork\n")
    assert "line 7: was cut" in said


def test_what_a_crash_left_queued_is_said() -> None:
    agent = FakeAgent(says("x"), FakeSession(list(FORKED)))
    agent.left = ("mind \x1b[2Jthis",)

    assert "queued before and not sent: mind" in chat("", agent)
