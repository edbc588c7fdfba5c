"""Hiding is durable or refused; what is refused leaves the file as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.agent.agent import Agent
from agentsh.agent.events import ToolStart
from agentsh.agent.hiding import hide_entries, toggle_hidden, unhide_entries
from agentsh.agent.replay import check
from agentsh.errors import RefusedError
from agentsh.messages import AssistantMessage
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import ContextEdit, EntryId, MessageBody
from tests.agent.builders import make_agent, path_of, reopen, run, start_session, text_of
from tests.support.scripted import Call, ScriptedProvider
from tests.support.toys import echo

CALLS = (Call("a", "echo", {"say": "one"}), Call("b", "echo", {"say": "two"}))


def talked(folder: Path) -> tuple[Agent, ScriptedProvider]:
    provider = ScriptedProvider(CALLS, "done", "after", "and after")
    agent = make_agent(start_session(folder), provider, folder, tools=[echo()])
    run(agent, "go")
    return agent, provider


def caller(session: Session) -> EntryId:
    """The answer with the calls."""
    return next(
        e.id
        for e in path_of(session)
        if isinstance(e.body, MessageBody)
        and isinstance(e.body.message, AssistantMessage)
        and e.body.message.tool_calls
    )


def test_the_next_request_is_without_it_and_every_request_can_be_rebuilt(tmp_path: Path) -> None:
    agent, provider = talked(tmp_path)
    hidden = agent.by_hand(lambda session: toggle_hidden(session, caller(session)))
    run(agent, "next")

    assert len(hidden) == 3  # with the results of its calls
    assert [text_of(m) for m in provider.requests[-1].messages] == ["go", "done", "next"]
    assert agent.by_hand(lambda session: toggle_hidden(session, caller(session))) == {}
    run(agent, "again")
    sent = [text_of(m) for m in provider.requests[-1].messages]
    assert sent == ["go", "", "one", "two", "done", "next", "after", "again"]
    assert list(check(agent.session)) == []


def test_what_is_hidden_is_durable_and_weighs_nothing_before_the_next_answer(
    tmp_path: Path,
) -> None:
    provider = ScriptedProvider("x" * 8000)
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    run(agent, "y" * 8000)
    full = agent.report().context_tokens
    answer = next(e.id for e in path_of(agent.session) if is_answer(e.body))
    hide_entries(agent.session, [answer])
    assert agent.session.saved
    assert agent.report().context_tokens < full
    agent.close()
    with open_session(tmp_path / "session.jsonl", write=False) as session:
        edits = [e.body for e in path_of(session) if isinstance(e.body, ContextEdit)]
    assert edits == [ContextEdit(answer, None)]


def is_answer(body: object) -> bool:
    return isinstance(body, MessageBody) and isinstance(body.message, AssistantMessage)


def test_what_is_refused_writes_nothing_not_even_the_end_of_a_turn_that_was_cut_off(
    tmp_path: Path,
) -> None:
    provider = ScriptedProvider(CALLS, "done")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])
    copy = tmp_path / "copy"
    copy.mkdir()
    for event in agent.prompt("go"):
        if isinstance(event, ToolStart):
            (copy / "session.jsonl").write_bytes((tmp_path / "session.jsonl").read_bytes())
    data = (copy / "session.jsonl").read_bytes()
    with reopen(copy) as session:
        fact = path_of(session)[-1].id
        for refused in (hide_entries, unhide_entries):
            with pytest.raises(RefusedError):
                refused(session, [fact])
    assert (copy / "session.jsonl").read_bytes() == data
    # and where it is done, the results that close the turn go with the answer
    with reopen(copy) as session:
        edits = hide_entries(session, [caller(session)])
        known = {e.id for e in path_of(session)}
        assert len(edits) == 3
        assert {e.body.target for e in edits if isinstance(e.body, ContextEdit)} <= known
        again = make_agent(session, ScriptedProvider("on"), copy, tools=[echo()])
        run(again, "next")
        assert list(check(session)) == []


def test_a_session_opened_for_reading_only_is_refused(tmp_path: Path) -> None:
    agent, _ = talked(tmp_path)
    agent.close()
    with (
        open_session(tmp_path / "session.jsonl", write=False) as session,
        pytest.raises(RefusedError, match="opened for reading only"),
    ):
        toggle_hidden(session, caller(session))


def test_while_a_turn_runs_nothing_is_hidden(tmp_path: Path) -> None:
    agent, _ = talked(tmp_path)
    for _ in agent.prompt("more"):
        with pytest.raises(RefusedError, match="a turn is running"):
            agent.by_hand(lambda session: toggle_hidden(session, caller(session)))
