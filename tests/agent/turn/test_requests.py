"""Bodies: each begins with the one before; a change of settings is an entry; nothing else is in."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.agent.agent import Agent
from agentsh.agent.summaries.requests import summary_request
from agentsh.agent.turn.requests import Target, step_request
from agentsh.context.projection import Context, Item
from agentsh.context.summaries.summaries import branch_instruction
from agentsh.jsontext import JsonObject, loads_object
from agentsh.messages import (
    AssistantMessage,
    Image,
    SystemMessage,
    Text,
    ToolCall,
    ToolCallId,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from agentsh.providers.base import Request, Shape, StreamEvent, TextDelta
from agentsh.session.format.entries import EntryId, MessageBody, ModelChange, ThinkingLevelChange
from agentsh.session.format.facts import RequestSent
from tests.agent.builders import facts, make_agent, path_of, reopen, run, set_model, start_session
from tests.agent.talks import LINEAR, Act, Say, Set, play
from tests.support.pictures import png
from tests.support.scripted import Call, ScriptedProvider
from tests.support.toys import echo


def messages_of(body: bytes) -> bytes:
    """The bytes of the messages, from the bracket on, without the closing one."""
    begin = body.index(b'"messages":[')
    value = loads_object(body)["messages"]
    assert isinstance(value, list)
    end, depth, quoted, escaped = begin + 11, 0, False, False
    for i in range(begin + 11, len(body)):
        byte = body[i : i + 1]
        if escaped:
            escaped = False
        elif quoted:
            escaped, quoted = byte == b"\\", byte != b'"'
        elif byte == b'"':
            quoted = True
        elif byte in b"[{":
            depth += 1
        elif byte in b"]}":
            depth -= 1
            if depth == 0:
                end = i
                break
    return body[begin:end]


def sent(agent: Agent) -> list[RequestSent]:
    return [f for f in facts(path_of(agent.session)) if isinstance(f, RequestSent)]


def no_model_switch(acts: list[Act]) -> list[Act]:
    """Reasoning goes back to its own model only, so with it a switch may change what was said."""
    return [a for a in acts if not (isinstance(a, Set) and a.what in ("section", "model"))]


@settings(max_examples=120)
@given(LINEAR)
def test_a_body_begins_with_the_messages_of_the_one_before(acts: list[Act]) -> None:
    played = play(None, no_model_switch(acts), Path("/nowhere"))
    facts_ = sent(played.agent)
    bodies = played.provider.bodies
    assert len(bodies) == len(facts_)
    for (was, before), (now, after) in pairwise(zip(bodies, facts_, strict=True)):
        if before.shape == after.shape and not any(f.kind == "compaction" for f in facts_):
            assert messages_of(now).startswith(messages_of(was))


def test_a_switch_of_models_keeps_the_messages_where_there_is_no_reasoning(tmp_path: Path) -> None:
    acts: list[Act] = [
        Say("1", ("one",), steer="x"),
        Set("model", "model-2"),
        Say("2", ("two",)),
        Set("model", "model-1"),
        Say("3", ("three",)),
    ]
    bodies = play(tmp_path, acts, tmp_path).provider.bodies
    for was, now in pairwise(bodies):
        assert messages_of(now).startswith(messages_of(was))


def test_a_resume_sends_the_same_prefix(tmp_path: Path) -> None:
    with start_session(tmp_path) as session:
        first = ScriptedProvider("one")
        run(make_agent(session, first, tmp_path))
    with reopen(tmp_path) as session:
        second = ScriptedProvider("two")
        run(make_agent(session, second, tmp_path))
    assert messages_of(second.bodies[0]).startswith(messages_of(first.bodies[0]))
    one, two = loads_object(first.bodies[0]), loads_object(second.bodies[0])
    assert {k: v for k, v in one.items() if k != "messages"} == {
        k: v for k, v in two.items() if k != "messages"
    }


def test_the_fact_holds_the_digest_and_length_of_what_was_sent(tmp_path: Path) -> None:
    provider = ScriptedProvider("one")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    run(agent)
    (fact,) = sent(agent)
    (body,) = provider.bodies
    assert (fact.body_sha256, fact.body_bytes) == (hashlib.sha256(body).hexdigest(), len(body))
    assert fact.messages == len(provider.requests[0].messages)


# ---- R04: what was in force ----------------------------------------------------------------------


def change_model(agent: Agent) -> None:
    agent.use(agent.provider, "model-2")


def change_thinking(agent: Agent) -> None:
    agent.set_thinking("high")


def change_section(agent: Agent) -> None:
    agent.config = replace(agent.config, sections={**agent.config.sections, "rules": "Be long."})


def change_tools(agent: Agent) -> None:
    agent.workbench.toolset = type(agent.workbench.toolset).of(echo())


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (change_model, ModelChange),
        (change_thinking, ThinkingLevelChange),
        (change_section, SystemMessage),
        (change_tools, SystemMessage),
    ],
)
def test_r04_each_change_alone_is_one_entry_and_a_request_for_a_reason(
    change: Callable[[Agent], None], kind: type, tmp_path: Path
) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)
    run(agent)
    before = len(path_of(agent.session))
    change(agent)
    run(agent)
    run(agent)
    bodies = [e.body for e in path_of(agent.session)[before:]]
    settings_ = [
        b.message if isinstance(b, MessageBody) else b
        for b in bodies
        if isinstance(b, ModelChange | ThinkingLevelChange)
        or (isinstance(b, MessageBody) and isinstance(b.message, SystemMessage))
    ]
    assert [type(b) for b in settings_] == [kind]
    first, second, third = sent(agent)
    assert [f.reason for f in (first, second, third)] == ["initial", "change", "resume"]
    assert (first.snapshot != second.snapshot) == (kind is SystemMessage)
    assert second.snapshot == third.snapshot


def test_r04_a_patch_holds_only_what_changed(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello"), tmp_path)
    run(agent)
    change_section(agent)
    run(agent)
    patches = [
        e.body.message
        for e in path_of(agent.session)
        if isinstance(e.body, MessageBody) and isinstance(e.body.message, SystemMessage)
    ]
    assert patches[1].sections == {"rules": "Be long."}
    assert (patches[1].tools_added, patches[1].tools_removed) == ((), ())


def test_r28_the_window_alone_is_no_change(tmp_path: Path) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("hello", window=100_000), tmp_path)
    run(agent)
    agent.config = replace(agent.config, context_window=50_000)
    run(agent)
    assert [f.reason for f in sent(agent)] == ["initial", "resume"]


# ---- R77: a running request is a snapshot --------------------------------------------------------


def test_r77_settings_changed_during_a_stream_reach_the_next_turn_only(tmp_path: Path) -> None:
    provider: ScriptedProvider

    def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        set_model(agent, "model-2")
        agent.set_thinking("high")
        change_section(agent)
        yield TextDelta("so")
        yield from provider.calling()

    def again(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        agent.steer("and")
        yield from provider.answering("one")

    provider = ScriptedProvider(again, doing, "three")
    agent = make_agent(start_session(tmp_path), provider, tmp_path)
    run(agent)
    stated = sent(agent)
    assert {f.model for f in stated} == {"model-1"}
    assert {f.thinking for f in stated} == {"off"}
    assert len({f.snapshot for f in stated}) == 1
    for fact, body in zip(stated, provider.bodies, strict=True):
        assert fact.body_sha256 == hashlib.sha256(body).hexdigest()
    run(agent)
    assert sent(agent)[-1].model == "model-2"


def test_a_compaction_within_a_turn_asks_the_turns_model(tmp_path: Path) -> None:
    def doing(request: Request, abort: Abort) -> Iterator[StreamEvent]:
        set_model(agent, "model-2")
        yield from provider.calling(Call("a", "echo", {"say": "x" * 12_000}))

    provider = ScriptedProvider(doing, "the summary", "end")
    agent = make_agent(
        start_session(tmp_path),
        provider,
        tmp_path,
        tools=[echo()],
        context_window=3500,
        keep=10,
    )
    run(agent)
    stated = [(f.kind, f.model) for f in sent(agent)]
    assert stated == [("step", "model-1"), ("compaction", "model-1"), ("step", "model-1")]


def test_what_an_older_builder_sent_is_rebuilt_as_it_was() -> None:
    asked = AssistantMessage(
        (ToolCall(ToolCallId("functions.read:0"), "read", {}),),
        "openai-completions",
        "other",
        "kimi",
        Usage(),
        "toolUse",
    )
    result = ToolResultMessage(ToolCallId("functions.read:0"), "read", (Text("x"),), False)
    context = Context(items=(Item(None, asked), Item(None, result)))
    now = Target("p", "m", "off", Shape())

    assert b'"functions_read_0"' in step_request(context, now).body
    assert b'"functions.read:0"' in step_request(context, replace(now, builder=1)).body


def test_a_summary_is_asked_for_in_the_persons_language_and_older_ones_are_rebuilt() -> None:
    assert "language" in branch_instruction("x", focus=None)
    assert "language" not in branch_instruction("x", focus=None, builder=1)


def test_a_summary_is_asked_for_without_pictures_and_older_ones_are_rebuilt() -> None:
    image = Image(base64.b64encode(png(5, 7)).decode(), "image/png")
    asked = UserMessage((Text("look"), image))
    context = Context(items=(Item(EntryId("00000001"), asked),))
    plan: JsonObject = {"form": "prefix", "firstKept": None}
    now = Target("p", "m", "off", Shape())

    assert image.data.encode() not in summary_request(context, now, "compaction", plan).body
    older = summary_request(context, replace(now, builder=2), "compaction", plan)
    assert image.data.encode() in older.body
    assert image.data.encode() in step_request(context, now).body
