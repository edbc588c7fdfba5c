"""An answer that is asked for again is a sibling; the settings are those of its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.agent.agent import Agent
from agentsh.agent.events import Notice
from agentsh.agent.moving import is_answer
from agentsh.agent.replay import check
from agentsh.errors import EntryNotFoundError, RefusedError
from agentsh.session.format.entries import EntryId, MessageBody
from tests.agent.builders import make_agent, path_of, results, run, start_session, text_of
from tests.support.scripted import Call, ScriptedProvider
from tests.support.toys import echo


def talked(folder: Path, *more: str) -> tuple[Agent, ScriptedProvider]:
    provider = ScriptedProvider((Call("a", "echo", {"say": "one"}),), "first", *more)
    agent = make_agent(start_session(folder), provider, folder, tools=[echo()])
    run(agent, "go")
    return agent, provider


def answers(agent: Agent) -> list[EntryId]:
    return [entry.id for entry in path_of(agent.session) if is_answer(entry)]


def test_the_same_request_gives_a_sibling_and_nothing_runs_again(tmp_path: Path) -> None:
    agent, provider = talked(tmp_path, "second", "third")
    old = answers(agent)
    told = [event.text for event in agent.retry() if isinstance(event, Notice)]
    assert told == [f"asked again, beside {old[1]}: first"]

    assert provider.requests[-1].messages == provider.requests[-2].messages
    assert results(agent.session) == [("a", "one", False)]
    assert (answers(agent)[0], old[1] in answers(agent)) == (old[0], False)
    assert list(check(agent.session)) == []

    run(agent, "and on")
    sent = [text_of(m) for m in provider.requests[-1].messages]
    assert sent == ["go", "", "one", "second", "and on"]


def test_what_is_no_answer_is_refused_and_nothing_moves(tmp_path: Path) -> None:
    agent, provider = talked(tmp_path)
    leaf = agent.session.leaf
    prompt = next(e.id for e in path_of(agent.session) if isinstance(e.body, MessageBody))

    with pytest.raises(RefusedError, match="is no answer"):
        list(agent.retry(prompt))
    assert (agent.session.leaf, len(provider.requests)) == (leaf, 2)


def test_a_prompt_that_was_stopped_before_its_answer_is_what_is_asked_again(
    tmp_path: Path,
) -> None:
    provider = ScriptedProvider("first", "second", "third")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    run(agent, "go")
    agent.abort()
    run(agent, "and on")
    assert len(provider.requests) == 1

    told = [event.text for event in agent.retry() if isinstance(event, Notice)]

    assert told == ["asked again: and on"]
    sent = [text_of(m) for m in provider.requests[-1].messages]
    assert sent == ["go", "first", "and on"]
    list(agent.retry())
    assert [text_of(m) for m in provider.requests[-1].messages] == sent
    assert list(check(agent.session)) == []


def test_without_an_answer_there_is_nothing_to_retry(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider(), tmp_path)

    with pytest.raises(EntryNotFoundError, match="no answer"):
        list(agent.retry())
