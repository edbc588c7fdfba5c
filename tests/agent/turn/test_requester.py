"""One request to its answer: retries, changes of shape, one compaction, and what is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.events import (
    AgentEvent,
    CallPart,
    Compacted,
    MessageDone,
    Notice,
    Restarted,
    Retry,
    StepStart,
    TextPart,
    ThinkingPart,
)
from agentsh.errors import (
    AnswerLimitError,
    AuthenticationError,
    ConnectionFailedError,
    ContextOverflowError,
    ProviderError,
    RateLimitedError,
    RequestRejectedError,
    StreamProtocolError,
)
from agentsh.messages import AssistantMessage, Text, Usage
from agentsh.providers.base import (
    Finished,
    Request,
    Shape,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    Warned,
)
from agentsh.session.format.entries import Entry
from agentsh.session.format.facts import AttemptEnded, RequestSent
from tests.agent.builders import (
    during,
    ending,
    facts,
    make_agent,
    messages,
    path_of,
    run,
    start_session,
)
from tests.agent.order import faults
from tests.support.scripted import Call, Doing, ScriptedProvider


class LostError(ConnectionFailedError):
    """Tried again at once."""

    def __init__(self) -> None:
        super().__init__("the connection was lost")
        self.retry_after = 0.0


def then(error: ProviderError, *before: StreamEvent) -> Doing:
    def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        yield from before
        raise error

    return doing


def sent(path: Iterable[Entry]) -> list[RequestSent]:
    return [f for f in facts(path) if isinstance(f, RequestSent)]


def test_what_can_succeed_is_tried_again_and_every_attempt_is_a_fact(tmp_path: Path) -> None:
    provider = ScriptedProvider(LostError(), LostError(), "well")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    events = run(agent)
    assert ending(events).reason == "completed"
    stated = sent(path_of(agent.session))
    assert [(f.attempt, f.reason) for f in stated] == [(1, "initial"), (2, "retry"), (3, "retry")]
    failed = [f for f in facts(path_of(agent.session)) if isinstance(f, AttemptEnded)]
    assert [f.error for f in failed] == ["the connection was lost"] * 2
    assert [e.attempt for e in events if isinstance(e, Retry)] == [1, 2]
    assert len([e for e in events if isinstance(e, StepStart)]) == 1
    assert faults(events) == []


def test_a_repeated_request_is_the_same_byte_for_byte(tmp_path: Path) -> None:
    provider = ScriptedProvider(LostError(), "well")
    run(make_agent(start_session(tmp_path), provider, tmp_path))
    assert provider.bodies[0] == provider.bodies[1]


def test_repeats_come_to_an_end(tmp_path: Path) -> None:
    provider = ScriptedProvider(LostError())
    agent = make_agent(start_session(tmp_path), provider, tmp_path, max_retries=2)
    end = ending(run(agent))
    assert (end.reason, len(provider.requests)) == ("error", 3)


@pytest.mark.parametrize("error", [RequestRejectedError("no"), AuthenticationError("who?")])
def test_what_cannot_succeed_is_not_repeated(error: ProviderError, tmp_path: Path) -> None:
    provider = ScriptedProvider(error)
    run(make_agent(start_session(tmp_path), provider, tmp_path))
    assert len(provider.requests) == 1


def test_a_wait_that_the_server_names_is_kept(tmp_path: Path) -> None:
    provider = ScriptedProvider(RateLimitedError("slow down", retry_after=0.2), "well")
    events = run(make_agent(start_session(tmp_path), provider, tmp_path))
    (retry,) = [e for e in events if isinstance(e, Retry)]
    assert 0.2 <= retry.seconds <= 0.5


def test_an_abort_ends_the_wait_for_a_repeat(tmp_path: Path) -> None:
    provider = ScriptedProvider(RateLimitedError("slow down", retry_after=60.0), "well")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    events = during(agent, "go", Retry, agent.abort)
    assert ending(events).reason == "aborted"
    assert len(provider.requests) == 1
    assert [m for m in messages(agent.session) if isinstance(m, AssistantMessage)] == []


# ---- what was shown ------------------------------------------------------------------------------


def test_text_that_was_shown_is_never_asked_for_again(tmp_path: Path) -> None:
    provider = ScriptedProvider(then(LostError(), TextDelta("half")), "well")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    events = run(agent)
    assert ending(events).reason == "error"
    assert len(provider.requests) == 1
    (kept,) = [m for m in messages(agent.session) if isinstance(m, AssistantMessage)]
    assert (kept.text, kept.stop_reason) == ("half", "error")
    assert kept.error_message == "the connection was lost"
    assert faults(events) == []


def test_what_failed_is_never_sent(tmp_path: Path) -> None:
    provider = ScriptedProvider(then(LostError(), TextDelta("half")), "well")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    run(agent, "one")
    run(agent, "two")
    assert b"half" not in provider.bodies[-1]


@pytest.mark.parametrize("shown", [ThinkingDelta("hm"), ToolCallDelta(0, "bash", "{")])
def test_reasoning_and_half_calls_are_taken_back_before_a_repeat(
    shown: StreamEvent, tmp_path: Path
) -> None:
    provider = ScriptedProvider(then(LostError(), shown), "well")
    events = run(make_agent(start_session(tmp_path), provider, tmp_path))
    names = [type(e).__name__ for e in events]
    assert names.index("Restarted") < names.index("TextPart")
    assert names.count("Restarted") == 1
    assert ending(events).reason == "completed"
    assert faults(events) == []


def test_nothing_shown_nothing_taken_back(tmp_path: Path) -> None:
    events = run(
        make_agent(start_session(tmp_path), ScriptedProvider(LostError(), "well"), tmp_path)
    )
    assert not any(isinstance(e, Restarted) for e in events)


def test_the_partial_that_a_provider_gives_is_kept_whole(tmp_path: Path) -> None:
    error = StreamProtocolError("cut", retryable=False)
    error.partial = AssistantMessage(
        (Text("more than was shown"),),
        "openai-completions",
        "scripted",
        "model-1",
        Usage(),
        "error",
    )
    provider = ScriptedProvider(then(error, TextDelta("more")))
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    run(agent)
    (kept,) = [m for m in messages(agent.session) if isinstance(m, AssistantMessage)]
    assert kept.text == "more than was shown"


def test_a_stream_that_just_ends_is_a_failure(tmp_path: Path) -> None:
    def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        yield ThinkingDelta("hm")

    agent = make_agent(start_session(tmp_path), ScriptedProvider(doing), tmp_path)
    end = ending(run(agent))
    assert end.reason == "error"
    assert "without an end" in (end.error or "")


# ---- another shape, a compaction -----------------------------------------------------------------


def test_a_400_that_names_a_field_changes_the_shape_once_and_is_no_repeat(tmp_path: Path) -> None:
    provider = ScriptedProvider(RequestRejectedError("no such field"), "well")
    provider.learned = [Shape(stream_usage=False)]
    agent = make_agent(start_session(tmp_path), provider, tmp_path, max_retries=0)
    events = run(agent)
    assert ending(events).reason == "completed"
    assert not any(isinstance(e, Retry) for e in events)
    shapes = [f.shape for f in sent(path_of(agent.session))]
    assert shapes[0] != shapes[1]
    assert b"include_usage" in provider.bodies[0]
    assert b"include_usage" not in provider.bodies[1]


def test_changes_of_shape_come_to_an_end(tmp_path: Path) -> None:
    provider = ScriptedProvider(RequestRejectedError("no"))
    provider.learned = [Shape(token_field=f"f{i}") for i in range(50)]
    agent = make_agent(start_session(tmp_path), provider, tmp_path, max_retries=0)
    assert ending(run(agent)).reason == "error"
    assert len(provider.requests) == 9


def test_a_request_that_does_not_fit_is_compacted_once_and_sent_again(tmp_path: Path) -> None:
    overflow = ContextOverflowError("too long")
    provider = ScriptedProvider("x" * 4000, overflow, "the summary", "well")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, keep=10)
    run(agent, "first " * 500)
    events = run(agent, "second")
    assert ending(events).reason == "completed"
    (made,) = [e for e in events if isinstance(e, Compacted)]
    assert made.entry is not None
    assert "the summary" in str(provider.bodies[-1])
    kinds = [(f.kind, f.reason) for f in sent(path_of(agent.session))]
    assert kinds[1:] == [("step", "resume"), ("compaction", "compaction"), ("step", "retry")]
    assert faults(events) == []


def test_one_that_still_does_not_fit_ends_the_turn(tmp_path: Path) -> None:
    overflow = ContextOverflowError("too long")
    provider = ScriptedProvider("x" * 4000, overflow, "the summary", overflow, "never")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, keep=10)
    run(agent, "first " * 500)
    end = ending(run(agent, "second"))
    assert (end.reason, end.error) == ("error", "too long")
    assert len(provider.requests) == 4


def test_where_nothing_can_be_compacted_the_overflow_is_the_error(tmp_path: Path) -> None:
    provider = ScriptedProvider(ContextOverflowError("too long"))
    end = ending(run(make_agent(start_session(tmp_path), provider, tmp_path)))
    assert end.error == "too long"
    assert "shows what fills the window" in (end.hint or "")
    assert len(provider.requests) == 1


# ---- the answer ----------------------------------------------------------------------------------


def test_an_answer_names_its_request_and_the_level_it_was_asked_at(tmp_path: Path) -> None:
    agent = make_agent(
        start_session(tmp_path), ScriptedProvider("hello"), tmp_path, thinking="high"
    )
    events = run(agent)
    step = next(e for e in events if isinstance(e, StepStart))
    done = next(e for e in events if isinstance(e, MessageDone))
    stamp = agent.session.entry(done.entry).stamp
    assert stamp is not None
    assert stamp.request == step.entry
    assert done.message.thinking_level == "high"


def test_parts_come_as_they_come(tmp_path: Path) -> None:
    def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        yield ThinkingDelta("hm, ")
        yield TextDelta("well ")
        yield TextDelta("then")
        yield Finished(provider.message(Text("well then")))

    provider = ScriptedProvider(doing)
    events: list[AgentEvent] = run(make_agent(start_session(tmp_path), provider, tmp_path))
    shown = [e for e in events if isinstance(e, TextPart | ThinkingPart)]
    assert shown == [ThinkingPart("hm, "), TextPart("well "), TextPart("then")]


def test_what_an_endpoint_does_oddly_is_told(tmp_path: Path) -> None:
    def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        yield Warned("the server cuts prompts")
        yield from provider.answering("well")

    provider = ScriptedProvider(doing)
    events = run(make_agent(start_session(tmp_path), provider, tmp_path))
    assert Notice("the server cuts prompts", "warning") in events
    assert faults(events) == []


def test_an_answer_that_was_stopped_before_its_first_word_is_none(tmp_path: Path) -> None:
    def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        agent.abort()
        yield Finished(replace(provider.message(), stop_reason="aborted"))

    provider = ScriptedProvider(doing)
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    assert ending(run(agent)).reason == "aborted"
    assert not any(isinstance(m, AssistantMessage) for m in messages(agent.session))


def test_whoever_leaves_before_the_first_word_leaves_no_answer(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider((Call("a", "x", {}),)), tmp_path)
    events = agent.prompt("go")
    while not isinstance(next(events), CallPart):
        pass
    events.close()
    assert not any(isinstance(m, AssistantMessage) for m in messages(agent.session))


# ---- the limit of the answer ---------------------------------------------------------------------


def too_much(room: int) -> AnswerLimitError:
    error = AnswerLimitError("max_tokens is too large")
    error.room = room
    return error


def test_a_limit_nobody_asked_for_is_lowered_once_and_nothing_is_folded(tmp_path: Path) -> None:
    provider = ScriptedProvider(too_much(500), "one", "two")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)

    assert ending(run(agent, "first")).reason == "completed"
    assert ending(run(agent, "second")).reason == "completed"
    assert [r.max_tokens for r in provider.requests] == [None, 500, 500]
    assert [f.kind for f in sent(path_of(agent.session))] == ["step"] * 3


def test_a_limit_that_a_person_set_is_theirs_to_lower(tmp_path: Path) -> None:
    provider = ScriptedProvider(too_much(500), "never")
    events = run(make_agent(start_session(tmp_path), provider, tmp_path, max_tokens=900))

    assert ending(events).error == "max_tokens is too large"
    assert len(provider.requests) == 1


def test_a_limit_that_is_refused_again_ends_the_step(tmp_path: Path) -> None:
    provider = ScriptedProvider(too_much(500), too_much(400), "never")
    events = run(make_agent(start_session(tmp_path), provider, tmp_path))

    assert ending(events).reason == "error"
    assert len(provider.requests) == 2
