"""The chat in plain lines."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from agentsh.agent.events import AgentEvent, TextPart
from agentsh.agent.turn.approvals import ApprovalRequest
from agentsh.session.format.entries import ReadNotice
from agentsh.ui.chat.plainchat import PlainChat
from tests.ui.fakes import FakeAgent, FakeSession, call, fake_report, says
from tests.ui.hosts import FakeHost
from tests.ui.screens import FakeTty, printed, terminal
from tests.ui.scripts import asks
from tests.ui.tree.test_outline import FORKED

ASKS = asks(ApprovalRequest(call("bash"), "bash", "touch \x1b[2Jp", "+x", "touch"))


class Gone(FakeTty):
    """Takes the mark of the prompt and nothing of an answer."""

    def write(self, text: str) -> int:
        if text.startswith("words"):
            raise OSError(errno.EIO, "gone")
        return super().write(text)


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


def test_an_answer_is_asked_for_once_more() -> None:
    agent = FakeAgent(says("said anew"))

    assert chat("/retry\n/retry 3dd8\n", agent).count("said anew") == 2
    assert agent.retried == [None, "3dd8"]


def test_a_template_is_sent_and_a_command_of_that_name_goes_before() -> None:
    agent = FakeAgent(says("x"))
    shown = chat("/ship now\n/compact\n/skill:heron twice\n/skill:stork\n/help\n", agent)

    assert agent.prompts == ["shipped: now", "/skill:heron twice"]
    assert len(agent.compactions) == 1
    assert "error: there is no such skill; there are: heron" in shown
    assert "/ship [WHAT]  ship it" in shown
    assert "not this one" not in shown


def test_explorations_are_listed_picked_of_and_begun() -> None:
    agent = FakeAgent(says("x"))
    shown = chat(
        "/explore\n/explore pick 2\n/explore pick 2 overwrite\n/explore -n 3 list all\n", agent
    )

    assert "there is no exploration of this folder yet" in shown
    assert "change: of 2\n" in shown
    assert "change: of 2 over\n" in shown
    assert "exploration 4f2a91c0: -n 3 list all" in shown
    assert agent.prompts == []


def test_a_side_question_is_answered_and_is_no_prompt() -> None:
    agent = FakeAgent(says("x"))

    assert "**aside** on which?" in chat("/btw which?\n/btw\n", agent)
    assert (agent.asides, agent.prompts) == (["which?"], [])


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
        ("/context", "1,000 of 8,000 tokens"),
        ("/session", "session  0000-fake"),
        ("/session", "holds    "),
        ("/session", "model    m, thinking off"),
        ("/export talk.md", "exported to talk.md"),
        ("/export talk.md --with-private", "exported to talk.md with private"),
        ("/export", "/export cannot be done like that"),
        ("/mcp", "servers None"),
        ("/mcp restart birds", "servers birds"),
        ("/mcp dance", "/mcp restart NAME"),
        ("/jobs", "list None"),
        ("/jobs stop 2", "stop 2"),
        ("/jobs stop", "/jobs show N"),
        ("/settings", 'ui.bell   true    default\nui.theme  "auto"  config.toml:2'),
        ("/settings auto", 'ui.theme  "auto"  config.toml:2\n> '),
        ("/settings ui.bell", "ui.bell: what it is for"),
        ("/model far/n", "model: far/n, from the next prompt on"),
        ("/model", "/model cannot be done like that; /help says how it is written"),
        ("!ls\ny", "ran ls"),
        ("!!ls\nyes", "run ls in the shell, for yourself only? [y/N]"),
    ],
)
def test_commands(line: str, words: str) -> None:
    assert words in chat(line + "\n")


@pytest.mark.parametrize(
    "text", ["/home/me/x.py does not compile", "/tmp what is it", "/etc/hosts"]
)
def test_u19_a_line_that_begins_with_a_path_is_a_prompt(text: str) -> None:
    agent = FakeAgent(says("x"))
    chat(f"{text}\n", agent)

    assert agent.prompts == [text]


def test_u19_an_unknown_command_names_those_that_are_near() -> None:
    assert "there is no command /compat here; is it /compact? /help" in chat("/compat now\n")


@pytest.mark.parametrize("answer", ["", "n", "!touch more", "what"])
def test_w23_a_line_for_the_shell_is_run_only_when_a_person_agreed(answer: str) -> None:
    agent = FakeAgent(says("x"))

    assert "not run" in chat(f"!touch \x1bran\n{answer}\n", agent)
    assert agent.shelled == []


def test_w23_where_everything_is_allowed_a_line_for_the_shell_is_run() -> None:
    agent = FakeAgent(says("x"))
    agent.figures = fake_report(policy="all")
    chat("!ls\n", agent)

    assert agent.shelled == [("ls", False)]


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_l31_a_signal_ends_the_turn_and_then_the_chat(sign: signal.Signals) -> None:
    def script(_agent: FakeAgent, _text: str) -> Iterator[AgentEvent]:
        os.kill(os.getpid(), sign)
        yield TextPart("said before the end")

    agent = FakeAgent(script)
    target = terminal(typed="go\nnever said\n")
    lines = PlainChat(agent, FakeHost(agent), target)
    before = signal.getsignal(sign)  # SIGQUIT is ignored where a shell began the tests with `&`
    lines.run()

    assert (agent.prompts, agent.aborted.is_set(), lines.ended_by) == (["go"], True, sign)
    assert signal.getsignal(sign) is before


def test_l31_a_terminal_that_is_gone_lets_the_turn_end_first() -> None:
    ended: list[bool] = []

    def script(agent: FakeAgent, _text: str) -> Iterator[AgentEvent]:
        for _ in range(3):
            yield TextPart("words ")
        ended.append(agent.aborted.is_set())

    target = terminal(typed="go\n")
    agent = FakeAgent(script)
    lines = PlainChat(agent, FakeHost(agent), replace(target, stdout=Gone()))
    with pytest.raises(OSError, match="gone"):
        lines.run()

    assert ended == [True]


@pytest.mark.parametrize("line", ["/quit", "/exit", "exit", ":q"])
def test_u25_a_line_that_leaves_ends_before_the_input_does(line: str) -> None:
    agent = FakeAgent(says("x"))
    chat(f"{line}\nnot said\n", agent)

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
    session = FakeSession(list(FORKED), notices=(ReadNotice("was cut", 7),))
    said = chat("", FakeAgent(says("x"), session), resumed=True)

    assert said.startswith("> where does it go\n\nto a fork\n")
    assert "line 7: was cut" in said


def test_what_a_crash_left_queued_is_said() -> None:
    agent = FakeAgent(says("x"), FakeSession(list(FORKED)))
    agent.left = ("mind \x1b[2Jthis",)

    assert "queued before and not sent: mind" in chat("", agent)
