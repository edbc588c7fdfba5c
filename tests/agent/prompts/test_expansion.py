"""What is typed and what is said: expanded once, stored as sent, given back as typed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from agentsh.agent.events import MessageDone, TurnEnd
from agentsh.agent.prompts.expansion import PromptCommand
from agentsh.errors import SkillNotFoundError
from agentsh.messages import UserMessage
from agentsh.session.file.session import Session
from agentsh.session.format.entries import Entry, MessageBody
from agentsh.session.format.facts import InboxChanged, PromptTyped
from tests.agent.builders import (
    during,
    facts,
    make_agent,
    path_of,
    prompts,
    reopen,
    run,
    start_session,
)
from tests.support.scripted import Call, ScriptedProvider
from tests.support.toys import echo


class Shouting:
    """Satisfies Expander: `/shout X` is X!, `/none` is not there."""

    def expand(self, text: str) -> str:
        if text.startswith("/none"):
            raise SkillNotFoundError("there is none")
        return text.removeprefix("/shout ").upper() + "!" if text.startswith("/shout ") else text

    def commands(self) -> Sequence[PromptCommand]:
        return ()


def prompt_entries(session: Session) -> list[Entry]:
    return [
        entry
        for entry in path_of(session)
        if isinstance(entry.body, MessageBody) and isinstance(entry.body.message, UserMessage)
    ]


def test_the_message_is_what_was_sent_and_the_fact_before_it_what_was_typed(
    tmp_path: Path,
) -> None:
    session = start_session(tmp_path)
    agent = make_agent(session, ScriptedProvider("yes", "yes"), tmp_path, expander=Shouting())
    run(agent, "/shout heron")
    run(agent, "plain")

    assert prompts(session) == ["HERON!", "plain"]
    assert [f for f in facts(path_of(session)) if isinstance(f, PromptTyped)] == [
        PromptTyped("/shout heron")
    ]
    first, second = prompt_entries(session)
    moved = agent.checkout(second.id)
    assert moved.editor_text == "plain"
    moved = agent.checkout(first.id)
    assert moved.editor_text == "/shout heron"
    agent.close()


def test_a_reopened_session_gives_back_what_was_typed(tmp_path: Path) -> None:
    agent = make_agent(
        start_session(tmp_path), ScriptedProvider("yes"), tmp_path, expander=Shouting()
    )
    run(agent, "/shout heron")
    agent.close()

    again = make_agent(reopen(tmp_path), ScriptedProvider(), tmp_path)
    (entry,) = prompt_entries(again.session)
    assert again.checkout(entry.id).editor_text == "/shout heron"
    again.close()


def test_what_is_not_there_is_said_at_once_and_stores_nothing(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    provider = ScriptedProvider("yes")
    agent = make_agent(session, provider, tmp_path, expander=Shouting())

    with pytest.raises(SkillNotFoundError, match="there is none"):
        agent.prompt("/none x")
    with pytest.raises(SkillNotFoundError):
        agent.steer("/none")

    assert (list(path_of(session)), provider.requests, agent.queued()) == ([], [], ())


def test_a_steer_is_queued_as_typed_and_said_expanded(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    provider = ScriptedProvider((Call("a", "echo", {}),), "end", "then")
    agent = make_agent(session, provider, tmp_path, tools=[echo()], expander=Shouting())

    def say() -> None:
        agent.steer("/shout mind this")
        agent.follow_up("/shout and that")
        assert [item.text for item in agent.queued()] == ["/shout mind this", "/shout and that"]

    during(agent, "go", MessageDone, say)

    assert prompts(session) == ["go", "MIND THIS!", "AND THAT!"]
    queued = [
        f.text
        for f in facts(path_of(session))
        if isinstance(f, InboxChanged) and f.text is not None
    ]
    assert queued == ["/shout mind this", "/shout and that"]
    for entry, typed in zip(prompt_entries(session)[:0:-1], reversed(queued), strict=True):
        assert agent.checkout(entry.id).editor_text == typed


def test_no_result_and_no_answer_is_expanded(tmp_path: Path) -> None:
    session = start_session(tmp_path)
    provider = ScriptedProvider((Call("a", "echo", {"text": "/shout x"}),), "/shout y")
    agent = make_agent(session, provider, tmp_path, tools=[echo()], expander=Shouting())

    events = run(agent, "go")

    assert [e.reason for e in events if isinstance(e, TurnEnd)] == ["completed"]
    assert prompts(session) == ["go"]
    assert [f for f in facts(path_of(session)) if isinstance(f, PromptTyped)] == []
