"""What a FakeAgent plays: an answer in pieces, a question, a tool, a thought, a bug."""

from __future__ import annotations

import time
from collections.abc import Iterator

from agentsh.agent.events import (
    AgentEvent,
    MessageDone,
    TextPart,
    ThinkingPart,
    ToolEnd,
    ToolStart,
)
from agentsh.agent.turn.approvals import ApprovalRequest
from agentsh.messages import Text, ToolResultMessage
from agentsh.session.format.entries import EntryId
from tests.ui.fakes import FakeAgent, Script, answer, call, says


def says_at_last(text: str, *, waits: int, pause: float) -> Script:
    """A script that waits as often as a stream in so many pieces, and says it all then."""

    def play(agent: FakeAgent, prompt: str) -> Iterator[AgentEvent]:
        for _ in range(waits):
            if agent.aborted.is_set():
                break
            time.sleep(pause)
        yield from says(text)(agent, prompt)

    return play


def breaks(agent: FakeAgent, _: str) -> Iterator[AgentEvent]:
    """A bug in the agent."""
    yield TextPart("so far so good")
    raise RuntimeError("a bug")


def waits_for_steer(first: str, last: str) -> Script:
    """Says something, waits until something was steered in, says the rest."""

    def play(agent: FakeAgent, _: str) -> Iterator[AgentEvent]:
        yield TextPart(first)
        yield MessageDone(answer(first), EntryId("a"))
        while not agent.aborted.is_set():
            if agent.queued():
                yield from agent.steered()
                yield TextPart(last)
                yield MessageDone(answer(last), EntryId("b"))
                return
            time.sleep(0.01)

    return play


def asks(request: ApprovalRequest) -> Script:
    """Asks the person, and says what was answered."""

    def play(agent: FakeAgent, _: str) -> Iterator[AgentEvent]:
        assert agent.approver is not None
        got = agent.approver(request)
        assert got is not None
        text = f"answered {got.kind} {got.rule or ''}{got.reason or ''}{got.command or ''}"
        yield TextPart(text)
        yield MessageDone(answer(text), EntryId("a"))

    return play


def uses_a_tool(output: str) -> Script:
    """Runs one command that prints so much."""

    def play(agent: FakeAgent, _: str) -> Iterator[AgentEvent]:
        made = call("bash", command="seq 60")
        yield MessageDone(answer("", made), EntryId("a"))
        yield ToolStart(made)
        result = ToolResultMessage(made.id, "bash", (Text(output),), is_error=False)
        yield ToolEnd(made, result, EntryId("r"))
        yield TextPart("counted")
        yield MessageDone(answer("counted"), EntryId("b"))

    return play


def thinks(text: str) -> Script:
    def play(agent: FakeAgent, _: str) -> Iterator[AgentEvent]:
        yield ThinkingPart(text)
        yield TextPart("thought so")
        yield MessageDone(answer("thought so"), EntryId("a"))

    return play


def ponders(agent: FakeAgent, _: str) -> Iterator[AgentEvent]:
    """Thinks in many marked lines, slowly, and says one word."""
    for number in range(1, 81):
        if agent.aborted.is_set():
            return
        yield ThinkingPart(f"thought K{number:03d}z goes on and on, to no end\n")
        time.sleep(0.03)
    yield TextPart("Over.")
    yield MessageDone(answer("Over."), EntryId("a"))
