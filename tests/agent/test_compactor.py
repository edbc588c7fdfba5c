"""Summaries: asked for on record, stored with their source, or nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsh.abort import Abort
from agentsh.agent.agent import Agent
from agentsh.agent.events import AgentEvent, Compacted, Retry
from agentsh.agent.replay import check
from agentsh.errors import (
    ConnectionFailedError,
    ContextOverflowError,
    EmptyAnswerError,
    ProviderError,
    RefusedError,
    RequestRejectedError,
    UnfinishedAnswerError,
)
from agentsh.messages import (
    AssistantMessage,
    Text,
    ToolCall,
    ToolCallId,
    Usage,
    UserMessage,
)
from agentsh.providers.base import Finished, Request, Shape, StreamEvent
from agentsh.session.format.entries import Compaction, Entry, MessageBody
from agentsh.session.format.facts import AttemptEnded, CompactionMark, RequestSent
from tests.agent.builders import (
    facts,
    make_agent,
    messages,
    path_of,
    reopen,
    run,
    start_session,
    text_of,
)
from tests.support.scripted import Call, ScriptedProvider, Step
from tests.support.toys import echo


class LostError(ConnectionFailedError):
    """Tried again at once."""

    def __init__(self) -> None:
        super().__init__("lost")
        self.retry_after = 0.0


def talked(folder: Path, *script: Step) -> tuple[Agent, ScriptedProvider]:
    """An agent with something to compact; the script is for what comes then."""
    provider = ScriptedProvider("x" * 4000, *script)
    agent = make_agent(start_session(folder), provider, folder, max_retries=2)
    run(agent, "y" * 4000)
    return agent, provider


def compacted(agent: Agent) -> list[AgentEvent]:
    return list(agent.compact(keep=1))


def compactions(agent: Agent) -> list[Compaction]:
    return [e.body for e in path_of(agent.session) if isinstance(e.body, Compaction)]


def test_a_summary_stands_for_what_it_was_made_of(tmp_path: Path) -> None:
    agent, provider = talked(tmp_path, "the summary", "after")
    (made,) = [e for e in compacted(agent) if isinstance(e, Compacted)]
    assert made.tokens_after < made.tokens_before
    (body,) = compactions(agent)
    assert body.summary.startswith("the summary")
    assert agent.session.leaf is not None
    run(agent, "next")
    assert b"the summary" in provider.bodies[-1]
    assert b"yyyy" not in provider.bodies[-1]
    assert any("yyyy" in str(m) for m in messages(agent.session))  # R10: history is as it was


def test_it_says_of_what_it_was_made_and_which_request_it_answers(tmp_path: Path) -> None:
    agent, _ = talked(tmp_path, "the summary")
    compacted(agent)
    (entry,) = [e for e in path_of(agent.session) if isinstance(e.body, Compaction)]
    assert isinstance(entry.body, Compaction)
    assert isinstance(entry.body.details, dict)
    ours = entry.body.details["ash"]
    assert isinstance(ours, dict)
    assert isinstance(ours["src"], dict)
    assert {"from", "to", "count", "sha256"} == set(ours["src"])
    assert entry.stamp is not None
    assert entry.stamp.request is not None
    (fact,) = facts([agent.session.entry(entry.stamp.request)])
    assert isinstance(fact, RequestSent)
    assert (fact.kind, fact.reason) == ("compaction", "compaction")


def test_it_is_bracketed_whether_it_succeeds_or_not(tmp_path: Path) -> None:
    agent, _ = talked(tmp_path, RequestRejectedError("no"), "the summary")
    with pytest.raises(RequestRejectedError):
        compacted(agent)
    assert agent.session.saved
    compacted(agent)
    marks = [f for f in facts(path_of(agent.session)) if isinstance(f, CompactionMark)]
    assert marks == [
        CompactionMark("start"),
        CompactionMark("end", "no"),
        CompactionMark("start"),
        CompactionMark("end"),
    ]


@pytest.mark.parametrize("error", [RequestRejectedError("no"), EmptyAnswerError("nothing")])
def test_a_failure_leaves_the_context_as_it_was(error: ProviderError, tmp_path: Path) -> None:
    error.retryable = False
    agent, _ = talked(tmp_path, error)
    before = agent._projector.now()
    with pytest.raises(ProviderError):
        compacted(agent)
    assert agent._projector.now() == before
    assert compactions(agent) == []


def test_an_empty_summary_is_none(tmp_path: Path) -> None:
    agent, _ = talked(tmp_path, " \n ")
    with pytest.raises(EmptyAnswerError):
        compacted(agent)
    assert compactions(agent) == []


def test_a_summary_that_frees_nothing_is_refused(tmp_path: Path) -> None:
    agent, _ = talked(tmp_path, "z" * 20_000)
    with pytest.raises(RefusedError, match="not smaller"):
        compacted(agent)
    assert compactions(agent) == []


def test_nothing_to_compact_is_refused_and_nothing_is_sent(tmp_path: Path) -> None:
    provider = ScriptedProvider("hello")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    with pytest.raises(RefusedError):
        compacted(agent)
    run(agent)
    with pytest.raises(RefusedError):
        list(agent.compact(keep=100_000))
    assert len(provider.requests) == 1


def test_the_network_is_given_another_chance(tmp_path: Path) -> None:
    agent, _ = talked(tmp_path, LostError(), "the summary")
    events = compacted(agent)
    assert [e.attempt for e in events if isinstance(e, Retry)] == [1]
    assert len(compactions(agent)) == 1
    failed = [f for f in facts(path_of(agent.session)) if isinstance(f, AttemptEnded)]
    assert [f.error for f in failed] == ["lost"]


def test_a_request_that_does_not_fit_is_asked_in_a_smaller_form(tmp_path: Path) -> None:
    agent, provider = talked(tmp_path, ContextOverflowError("too long"), "the summary")
    compacted(agent)
    assert len(compactions(agent)) == 1
    assert len(provider.bodies[2]) < len(provider.bodies[1])


def test_a_shape_that_was_learnt_is_used(tmp_path: Path) -> None:
    agent, provider = talked(tmp_path, RequestRejectedError("no such field"), "the summary")
    provider.learned = [Shape(stream_usage=False)]
    compacted(agent)
    assert b"include_usage" not in provider.bodies[-1]


def test_a_refusal_says_how_much_was_said_how_much_is_kept_and_how_to_keep_less(
    tmp_path: Path,
) -> None:
    agent, provider = talked(tmp_path, "the summary")
    with pytest.raises(RefusedError) as caught:
        list(agent.compact(keep=2500))

    assert "about 2000 tokens, and the last 2500 are always kept" in str(caught.value)
    name = agent.session.header.id
    assert f"`agentsh compact {name} --keep 500`" in (caught.value.hint or "")
    assert [e for e in agent.compact(keep=500) if isinstance(e, Compacted)]  # as it was told
    assert len(provider.bodies) == 2


def test_a_stopped_one_changes_nothing_and_says_so(tmp_path: Path) -> None:
    def stopping(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        agent.abort()
        yield from provider.answering("half a summary")

    agent, provider = talked(tmp_path, stopping, "the summary")
    (event,) = [e for e in compacted(agent) if isinstance(e, Compacted)]
    assert (event.entry, event.error) == (None, "the summary was stopped")
    assert compactions(agent) == []
    compacted(agent)  # the abort was for the one before
    assert len(compactions(agent)) == 1


def test_the_focus_is_asked_for(tmp_path: Path) -> None:
    agent, provider = talked(tmp_path, "the summary")
    list(agent.compact("the database", keep=1))
    assert b"the database" in provider.bodies[-1]


def test_a_file_that_ends_in_mid_turn_is_compacted_by_entries_that_are_there(
    tmp_path: Path,
) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    script: list[Step] = ["x" * 4000, (Call("a", "echo", {"say": "z" * 4000}),), "end"]
    provider = ScriptedProvider(*script)
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])
    run(agent, "y" * 4000)
    for event in agent.prompt("go"):
        if type(event).__name__ == "ToolStart":
            data = (tmp_path / "session.jsonl").read_bytes()
            (copy / "session.jsonl").write_bytes(data)
    with reopen(copy) as session:
        again = make_agent(session, ScriptedProvider("the summary", "well"), copy, tools=[echo()])
        list(again.compact(keep=60))
        (body,) = compactions(again)
        assert body.first_kept in {e.id for e in path_of(session)}
        run(again, "next")
        assert list(check(session)) == []


def test_what_stands_before_an_entry_is_summarised_and_the_rest_goes_word_for_word(
    tmp_path: Path,
) -> None:
    agent, provider = talked(tmp_path, "b", "the summary", "after")
    run(agent, "second")
    second = next(e.id for e in path_of(agent.session) if text_at(e) == "second")
    (made,) = [e for e in agent.compact(until=second) if isinstance(e, Compacted)]
    (body,) = compactions(agent)
    assert body.first_kept == second
    run(agent, "next")
    sent = [text_of(m) for m in provider.requests[-1].messages]
    assert "the summary" in sent[0]
    assert sent[1:] == ["second", "b", "next"]
    assert made.entry is not None
    assert list(check(agent.session)) == []


def test_before_an_entry_of_another_branch_nothing_is_summarised_and_nothing_is_sent(
    tmp_path: Path,
) -> None:
    agent, provider = talked(tmp_path)
    left = agent.session.leaf
    agent.checkout(None)
    run(agent, "elsewhere")
    asked = len(provider.requests)
    with pytest.raises(RefusedError, match="not on the current path"):
        list(agent.compact(until=left))
    assert len(provider.requests) == asked


def text_at(entry: Entry) -> str:
    said = entry.body.message if isinstance(entry.body, MessageBody) else None
    return text_of(said) if isinstance(said, UserMessage) else ""


def test_a_stop_while_it_waits_for_the_network_stops_it(tmp_path: Path) -> None:
    error = ConnectionFailedError("lost")
    agent, provider = talked(tmp_path, error, "the summary")
    events: list[AgentEvent] = []
    for event in agent.compact(keep=1):
        events.append(event)
        if isinstance(event, Retry):
            agent.abort()
    assert isinstance(events[-1], Compacted)
    assert events[-1].error == "the summary was stopped"
    assert len(provider.requests) == 2


def cut_at_the_limit(request: Request, abort: Abort) -> Iterator[StreamEvent]:
    message = AssistantMessage(
        (Text("HALF of a summ"),), "openai-completions", "scripted", "m", Usage(), "length"
    )
    yield Finished(message)


def begun_and_called(request: Request, abort: Abort) -> Iterator[StreamEvent]:
    call = ToolCall(ToolCallId("c1"), "read", {"path": "a.txt"})
    content = (Text("HALF of a summ"), call)
    yield Finished(
        AssistantMessage(content, "openai-completions", "scripted", "m", Usage(), "toolUse")
    )


@pytest.mark.parametrize("half", [cut_at_the_limit, begun_and_called])
def test_a_summary_that_is_not_whole_is_asked_for_once_more_in_a_smaller_form(
    tmp_path: Path, half: Step
) -> None:
    agent, provider = talked(tmp_path, half, "the summary")
    compacted(agent)
    (made,) = compactions(agent)
    assert made.summary.startswith("the summary")
    assert len(provider.bodies[-1]) < len(provider.bodies[-2])


@pytest.mark.parametrize(
    ("half", "words"), [(cut_at_the_limit, "max-tokens"), (begun_and_called, "called a tool")]
)
def test_a_summary_that_is_not_whole_again_is_said_and_not_stored(
    tmp_path: Path, half: Step, words: str
) -> None:
    agent, provider = talked(tmp_path, half)
    with pytest.raises(UnfinishedAnswerError, match=words):
        compacted(agent)
    assert compactions(agent) == []
    assert len(provider.requests) == 3
