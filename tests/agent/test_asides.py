"""A side question leaves no trace on the path, wherever the file ends and whatever fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.asides import CALLS_REFUSED, MOST_ATTEMPTS, Asides
from agentsh.agent.config import Config
from agentsh.agent.events import AgentEvent, MessageDone, Notice, Retry, TextPart, ToolStart
from agentsh.agent.opening import Wanted
from agentsh.agent.replay import check
from agentsh.agent.turn.recorder import Recorder
from agentsh.agent.turn.requests import step_request, target_of
from agentsh.context.projection import project
from agentsh.errors import (
    AgentshError,
    EmptyAnswerError,
    RequestRejectedError,
    ServerFailedError,
)
from agentsh.messages import (
    AssistantMessage,
    ModelRef,
    StopReason,
    SystemMessage,
    Text,
    UserMessage,
)
from agentsh.providers.base import Finished, Request, Shape, StreamEvent, TextDelta
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import MessageBody, ModelChange
from agentsh.session.format.facts import AttemptEnded
from tests.agent.builders import (
    SECTIONS,
    during,
    ending,
    facts,
    make_agent,
    messages,
    path_of,
    quick,
    reopen,
    run,
    start_session,
    text_of,
    unpaired,
)
from tests.support.scripted import Call, ScriptedProvider
from tests.support.toys import echo

CONFIG = Config(ModelRef("scripted", "model-1"), "off", SECTIONS)
WANTED = Wanted.of(CONFIG, ())


def test_before_the_first_prompt_it_has_the_system_prompt_and_tools_of_that_one(
    tmp_path: Path,
) -> None:
    provider = ScriptedProvider("It is grey.", "hello")
    session = start_session(tmp_path)
    agent = make_agent(session, provider, tmp_path, tools=[echo()])

    list(agent.aside("Which colour?", Abort()))
    run(agent, "alpha")

    aside, first = provider.requests
    assert (aside.system, aside.tools) == (first.system, first.tools)
    assert SECTIONS["preamble"] in aside.system
    assert [text_of(m) for m in first.messages] == ["alpha"]
    assert sum(isinstance(e.body, ModelChange) for e in path_of(session)) == 1
    assert list(check(session)) == []


def test_killed_at_any_byte_the_next_request_is_as_if_nothing_had_been_asked(
    tmp_path: Path,
) -> None:
    provider = ScriptedProvider("answer", "It is grey.")
    session = start_session(tmp_path)
    agent = make_agent(session, provider, tmp_path)
    run(agent, "alpha")
    assert session.path is not None
    size = session.path.stat().st_size
    target = target_of(agent.config, provider)
    leaf, body = session.leaf, step_request(project(session.branch()), target).body

    recorder = Recorder(session, lambda: 1.0, lambda _: None)
    events = list(Asides(recorder, provider, 0, WANTED).ask("Which colour?", target, 1, Abort()))

    done = events[-1]
    assert isinstance(done, MessageDone)
    assert done.entry not in session.tree.path(session.leaf)
    assert step_request(project(session.branch()), target).body == body
    assert leaf in session.tree.path(session.leaf)
    assert list(check(session)) == []
    session.close()
    whole = session.path.read_bytes()
    cut = tmp_path / "cut.jsonl"
    for end in range(size, len(whole) + 1, 7):
        cut.write_bytes(whole[:end])
        with open_session(cut, write=False, around=quick()) as seen:
            assert step_request(project(seen.branch()), target).body == body
    with reopen(tmp_path) as again:
        assert step_request(project(again.branch()), target).body == body


def test_asked_while_a_tool_runs_the_turn_knows_nothing_of_it(tmp_path: Path) -> None:
    """By another thread, as the chat does."""
    provider = ScriptedProvider((Call("a", "echo", {"say": "one"}),), "It is grey.", "done")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])
    said: list[AgentEvent] = []

    def ask() -> None:
        asker = Thread(target=lambda: said.extend(agent.aside("Which colour?", Abort())))
        asker.start()
        asker.join()

    turn = during(agent, "go", ToolStart, ask)

    assert ending(turn).reason == "completed"
    assert isinstance(said[-1], MessageDone)
    assert said[-1].message.text == "It is grey."
    assert text_of(provider.requests[1].messages[-1]).startswith(
        "Which colour?\n\n(This is an aside"
    )
    assert [text_of(m) for m in provider.requests[2].messages] == ["go", "", "one"]
    assert said[-1].entry not in agent.session.tree.path(agent.session.leaf)
    assert unpaired(path_of(agent.session)) == []
    assert list(check(agent.session)) == []


# ---- where it fails ------------------------------------------------------------------------------


def asked(
    session: Session, provider: ScriptedProvider, *, retries: int = 0, abort: Abort | None = None
) -> list[AgentEvent]:
    recorder = Recorder(session, lambda: 1.0, lambda _: None)
    target = target_of(CONFIG, provider)
    asides = Asides(recorder, provider, retries, WANTED)
    return list(asides.ask("Why?", target, 1, abort or Abort()))


def said(session: Session) -> list[str]:
    return [text_of(m) for m in messages(session) if isinstance(m, UserMessage | AssistantMessage)]


def test_a_failure_that_may_pass_is_asked_again_and_told(tmp_path: Path) -> None:
    down = ServerFailedError("down", endpoint="e", status=503, retry_after=0.01)
    provider = ScriptedProvider(down, down, "It is grey.")
    session = start_session(tmp_path)

    events = asked(session, provider, retries=2)

    *repeats, part, done = events
    assert [(e.attempt, e.error) for e in repeats if isinstance(e, Retry)] == [
        (1, "down"),
        (2, "down"),
    ]
    assert (type(part), type(done)) == (TextPart, MessageDone)
    ended = [f for f in facts(session.entries()) if isinstance(f, AttemptEnded)]
    assert [(f.error, f.status) for f in ended] == [("down", 503)] * 2
    assert list(check(session)) == []


def test_a_failure_that_stands_is_raised_and_the_path_is_as_it_was(tmp_path: Path) -> None:
    refused = RequestRejectedError("no herons here", endpoint="e", status=400)
    session = start_session(tmp_path)

    with pytest.raises(RequestRejectedError, match="no herons here"):
        asked(session, ScriptedProvider(refused), retries=3)

    assert said(session) == []
    assert [f.status for f in facts(session.entries()) if isinstance(f, AttemptEnded)] == [400]


def test_what_was_shown_is_not_asked_for_again(tmp_path: Path) -> None:
    def breaks(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        yield TextDelta("It is")
        raise ServerFailedError("cut", endpoint="e", status=503)

    provider = ScriptedProvider(breaks, "never")

    with pytest.raises(ServerFailedError, match="cut"):
        asked(start_session(tmp_path), provider, retries=3)

    assert len(provider.requests) == 1


def test_what_the_endpoint_taught_is_minded_at_once_and_is_no_repeat(tmp_path: Path) -> None:
    provider = ScriptedProvider(RequestRejectedError("no", endpoint="e", status=400), "It is grey.")
    provider.learned.append(Shape(stream_usage=False))

    events = asked(start_session(tmp_path), provider)

    assert [type(e).__name__ for e in events] == ["TextPart", "MessageDone"]
    assert [request.shape.stream_usage for request in provider.requests] == [True, False]


def test_one_that_is_stopped_while_it_waits_for_a_repeat_ends_at_once(tmp_path: Path) -> None:
    down = ServerFailedError("down", endpoint="e", status=503, retry_after=60.0)
    abort = Abort()
    abort.set()

    with pytest.raises(AgentshError, match="the side question was stopped"):
        asked(start_session(tmp_path), ScriptedProvider(down, "late"), retries=3, abort=abort)


@pytest.mark.parametrize("stop", ["aborted", "stop"])
def test_an_answer_that_says_nothing_is_none_and_is_not_kept(
    stop: StopReason, tmp_path: Path
) -> None:
    def nothing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        content = (Text("half"),) if stop == "aborted" else ()
        yield Finished(replace(provider.message(*content), stop_reason=stop))

    provider = ScriptedProvider(nothing)
    session = start_session(tmp_path)

    with pytest.raises(EmptyAnswerError):
        asked(session, provider)

    assert said(session) == []


def test_calls_are_never_run_and_that_is_told_before_the_answer(tmp_path: Path) -> None:
    provider = ScriptedProvider((Call("a", "echo", {"say": "one"}),))
    session = start_session(tmp_path)

    notice, done = asked(session, provider)

    assert isinstance(notice, Notice)
    assert (notice.text, notice.level) == (CALLS_REFUSED, "warning")
    assert isinstance(done, MessageDone)
    bodies = [entry.body for entry in session.entries() if isinstance(entry.body, MessageBody)]
    said = [body.message for body in bodies if not isinstance(body.message, SystemMessage)]
    assert [type(message) for message in said] == [UserMessage, AssistantMessage]


def test_there_is_an_end_to_asking_whatever_is_learned(tmp_path: Path) -> None:
    refused = RequestRejectedError("no", endpoint="e", status=400)
    provider = ScriptedProvider(refused)
    provider.learned += [Shape()] * 20

    with pytest.raises(RequestRejectedError):
        asked(start_session(tmp_path), provider)

    assert len(provider.requests) == MOST_ATTEMPTS


def test_what_it_took_is_in_the_figures_also_after_a_compaction(tmp_path: Path) -> None:
    provider = ScriptedProvider("answer", "It is grey.", "more", "the summary", "on")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, keep=1)
    run(agent, "alpha")
    list(agent.aside("Which colour?", Abort()))

    assert agent.report().usage.input == 200
    run(agent, "beta")
    list(agent.compact())
    assert agent.report().usage.input == 400
    agent.session.close()
    with reopen(tmp_path) as again:
        assert make_agent(again, provider, tmp_path).report().usage.input == 400
