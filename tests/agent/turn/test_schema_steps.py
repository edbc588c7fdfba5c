"""A turn whose last answer must fit a schema: what is asked, how often, and what is on record."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from agentsh.agent.agent import Agent
from agentsh.agent.events import Steered, StepStart
from agentsh.agent.replay import check
from agentsh.agent.structured.answers import AnswerSchema
from agentsh.agent.structured.validator import answer_schema
from agentsh.errors import ContextOverflowError, RequestRejectedError
from agentsh.jsontext import JsonObject, loads_object
from agentsh.messages import ToolResultMessage
from agentsh.providers.base import Shape
from agentsh.session.format.facts import RequestSent, TurnEnded
from tests.agent.builders import ending, facts, make_agent, messages, path_of, start_session
from tests.support.scripted import Call, ScriptedProvider, Step
from tests.support.toys import echo

BIRDS: JsonObject = {
    "type": "object",
    "required": ["birds"],
    "properties": {"birds": {"minimum": 1}},
}
CALL = (Call("a", "echo", {}),)


def schema() -> AnswerSchema:
    return answer_schema(BIRDS, "birds.json")


def agent_of(tmp_path: Path, *script: Step) -> tuple[Agent, ScriptedProvider]:
    provider = ScriptedProvider(*script)
    return make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()]), provider


def test_an_answer_that_fits_is_the_value_and_costs_no_request_more(tmp_path: Path) -> None:
    agent, provider = agent_of(tmp_path, CALL, '{"birds":4}')

    end = ending(agent.prompt("how many?", (), schema()))

    assert (end.status, end.data) == ("completed", {"birds": 4})
    assert [bool(r.tools) for r in provider.requests] == [True, True]
    assert [r.schema for r in provider.requests] == [None, None]


def test_one_that_does_not_is_asked_for_again_without_tools_twice(tmp_path: Path) -> None:
    agent, provider = agent_of(tmp_path, "four", '{"birds":0}', "[]", "never")

    events = list(agent.prompt("how many?", (), schema()))

    end = ending(events)
    assert (end.reason, end.status, end.data) == ("error", "schema_mismatch", UNSET)
    assert end.error == "the answer does not fit the JSON Schema: data must be object"
    assert [(bool(r.tools), r.schema) for r in provider.requests] == [
        (True, None),
        (False, BIRDS),
        (False, BIRDS),
    ]
    said = [e.message.content[0] for e in events if isinstance(e, Steered)]
    assert ["birds" in str(text) or "no JSON" in str(text) for text in said] == [True, True]
    stored = [f for f in facts(path_of(agent.session)) if isinstance(f, TurnEnded)]
    assert [(f.reason, f.cause) for f in stored] == [("error", "schema_mismatch")]
    assert list(check(agent.session)) == []


def test_the_next_turn_has_its_tools_and_no_schema(tmp_path: Path) -> None:
    agent, provider = agent_of(tmp_path, "four", '{"birds":4}', "thanks")

    list(agent.prompt("how many?", (), schema()))
    end = ending(agent.prompt("thank you"))

    assert (end.status, end.data) == ("completed", UNSET)
    assert (bool(provider.requests[2].tools), provider.requests[2].schema) == (True, None)


def test_a_call_where_no_tool_is_offered_is_not_run_and_counts_as_a_try(tmp_path: Path) -> None:
    again = [(Call(name, "echo", {"say": name}),) for name in "abcdef"]
    agent, provider = agent_of(tmp_path, "four", *again)

    end = ending(agent.prompt("how many?", (), schema()))

    assert (end.status, len(provider.requests)) == ("schema_mismatch", 3)
    results = [m for m in messages(agent.session) if isinstance(m, ToolResultMessage)]
    assert [r.is_error for r in results] == [True, True]


def test_a_person_who_says_something_meanwhile_is_answered_with_tools(tmp_path: Path) -> None:
    agent, provider = agent_of(tmp_path, "four", '{"birds":0}', '{"birds":4}')
    for event in agent.prompt("how many?", (), schema()):
        if isinstance(event, StepStart) and event.number == 2:
            agent.steer("look again")

    assert [bool(r.tools) for r in provider.requests] == [True, False, True]


def refused(words: str, status: int = 400) -> RequestRejectedError:
    return RequestRejectedError(words, words=words, status=status)


def test_a_server_that_does_not_know_the_field_is_asked_without_it_and_that_is_learned(
    tmp_path: Path,
) -> None:
    agent, provider = agent_of(tmp_path, "four", refused("what?"), '{"birds":4}')
    provider.learned.append(replace(Shape(), response_format=False))

    assert ending(agent.prompt("how many?", (), schema())).data == {"birds": 4}
    assert ["response_format" in loads_object(body) for body in provider.bodies] == [
        False,
        True,
        False,
    ]
    assert list(check(agent.session)) == []


@pytest.mark.parametrize("words", ["grammar: unsupported feature", "bad JSON schema"])
def test_a_refusal_that_may_be_of_this_schema_is_tried_without_it_once(
    tmp_path: Path, words: str
) -> None:
    agent, provider = agent_of(tmp_path, "four", refused(words), refused("and now?"), "never")

    end = ending(agent.prompt("how many?", (), schema()))

    assert (end.reason, len(provider.requests)) == ("error", 3)
    sent = [f.shape for f in facts(path_of(agent.session)) if isinstance(f, RequestSent)]
    assert sent == [{}, {}, {"response_format": False}]


def test_where_calls_need_tools_they_are_named_again_and_not_run(tmp_path: Path) -> None:
    agent, provider = agent_of(tmp_path, CALL, "four", refused("tools!"), CALL, '{"birds":4}')
    provider.learned.append(Shape(tools_with_calls=True))

    assert ending(agent.prompt("how many?", (), schema())).data == {"birds": 4}
    assert [bool(r.tools) for r in provider.requests] == [True, True, False, True, False]
    assert list(check(agent.session)) == []


def test_a_request_that_is_too_long_is_not_taken_for_a_refused_schema(tmp_path: Path) -> None:
    long = ContextOverflowError("too long", words="too long", status=400)
    agent, provider = agent_of(tmp_path, "four", long, "never")

    ending(agent.prompt("how many?", (), schema()))

    assert all(r.shape.response_format for r in provider.requests)
