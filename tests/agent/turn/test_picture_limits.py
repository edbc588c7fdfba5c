"""Pictures past an endpoint's limit: the sent copy gets fewer, the session keeps them all."""

from __future__ import annotations

import base64
from itertools import pairwise
from pathlib import Path

import pytest

from agentsh.agent.agent import Agent
from agentsh.agent.events import AgentEvent, Notice
from agentsh.agent.replay import check
from agentsh.jsontext import JsonObject, JsonValue, loads_object
from agentsh.messages import Image, UserMessage
from agentsh.session.format.facts import AttemptEnded, RequestSent
from tests.agent.builders import ending, facts, make_agent, messages, path_of, run, start_session
from tests.providers.asking import provider_for
from tests.support.endpoint import Handler, Reply, serve, status, text
from tests.support.pictures import png
from tests.support.scripted import ScriptedProvider


def picture(number: int) -> Image:
    return Image(base64.b64encode(png(8 + number, 8, padding=9000)).decode(), "image/png")


def sent_pictures(body: JsonValue) -> list[str]:
    """The base64 of each picture in a body, in order."""
    match body:
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            return [url.partition("base64,")[2]]
        case dict():
            return [p for value in body.values() for p in sent_pictures(value)]
        case list():
            return [p for value in body for p in sent_pictures(value)]
        case _:
            return []


def gateway(most: int, words: str, code: int = 400) -> Reply:
    """Refuses requests with more than so many pictures."""

    def reply(handler: Handler) -> None:
        held = len(sent_pictures(handler.scripted.requests[-1].body))
        good = text("seen")
        (good if held <= most else status(code, {"error": {"message": words}}))(handler)

    return reply


def ask(agent: Agent, count: int, start: int = 0) -> list[AgentEvent]:
    pictures = tuple(picture(start + i) for i in range(count))
    return list(agent.prompt("look", pictures))


def requests(agent: Agent) -> list[RequestSent]:
    return [f for f in facts(path_of(agent.session)) if isinstance(f, RequestSent)]


@pytest.mark.parametrize(
    ("code", "words", "repeats"),
    [
        (400, "Too many images in request: 6, maximum is 3", 1),
        (413, "Request Entity Too Large", 1),
        (400, "request entity too large", 1),
        (422, "最多允许 3 张图片", 1),
        (500, "too many images", 1),
    ],
)
def test_pictures_past_a_limit_are_left_out_and_the_turn_goes_on(
    code: int, words: str, repeats: int, tmp_path: Path
) -> None:
    with serve(gateway(3, words, code)) as server:
        agent = make_agent(start_session(tmp_path), provider_for(server.base_url), tmp_path)
        events = ask(agent, 6)

        assert ending(events).reason == "completed"
        first, *others = [sent_pictures(body) for body in server.bodies]
        assert len(others) == repeats
        # the newest are those that are kept
        assert others[-1] == first[-len(others[-1]) :]
        assert 0 < len(others[-1]) <= 3
        assert "image left out: the endpoint takes" in str(server.bodies[-1])
        assert any(isinstance(e, Notice) and words in e.text for e in events)
        # each on record, and rebuilt from it
        assert [f.reason for f in requests(agent)] == ["initial", *["retry"] * repeats]
        failed = [f for f in facts(path_of(agent.session)) if isinstance(f, AttemptEnded)]
        assert [f.status for f in failed] == [code] * repeats
        assert list(check(agent.session)) == []
        stored = next(m for m in messages(agent.session) if isinstance(m, UserMessage))
        assert sum(isinstance(b, Image) for b in stored.content) == 6


@pytest.mark.parametrize("code", [400, 500])
def test_a_model_without_eyes_is_asked_without_the_pictures_from_then_on(
    code: int, tmp_path: Path
) -> None:
    words = "image input is not supported - hint: you may need to provide the mmproj"
    with serve(gateway(0, words, code)) as server:
        agent = make_agent(start_session(tmp_path), provider_for(server.base_url), tmp_path)
        events = ask(agent, 1)

        assert ending(events).reason == "completed"
        assert [len(sent_pictures(body)) for body in server.bodies] == [1, 0]
        assert [e.text for e in events if isinstance(e, Notice)] == [
            "model-1 takes no pictures: it is asked without them from here on;"
            " the session keeps them"
        ]
        assert ending(list(agent.prompt("never mind"))).reason == "completed"
        assert len(server.bodies) == 3


def test_a_picture_for_a_model_that_is_known_to_take_none_is_told_to_the_person(
    tmp_path: Path,
) -> None:
    words = "image input is not supported - hint: you may need to provide the mmproj"
    with serve(gateway(0, words)) as server:
        agent = make_agent(start_session(tmp_path), provider_for(server.base_url), tmp_path)
        ask(agent, 1)
        events = ask(agent, 1, start=1)

        assert ending(events).reason == "completed"
        assert len(server.bodies) == 3
        assert [(e.level, e.text) for e in events if isinstance(e, Notice)] == [
            (
                "warning",
                "model-1 takes no pictures: it is asked without what is attached;"
                " the session keeps it",
            )
        ]
        assert not [e for e in agent.prompt("never mind") if isinstance(e, Notice)]


def test_the_limit_is_remembered_for_the_endpoint(tmp_path: Path) -> None:
    memory = tmp_path / "learned.json"
    with serve(gateway(3, "at most 3 images are allowed")) as server:
        one = provider_for(server.base_url, memory=memory)
        ask(make_agent(start_session(tmp_path), one, tmp_path), 5)
        two = provider_for(server.base_url, memory=memory)
        ask(make_agent(start_session(None), two, tmp_path), 5)

        assert len(server.requests) == 3


def test_later_pictures_cost_no_refusal_and_the_beginning_stays_for_the_cache(
    tmp_path: Path,
) -> None:
    with serve(gateway(8, "at most 8 images are allowed")) as server:
        agent = make_agent(start_session(tmp_path), provider_for(server.base_url), tmp_path)
        ask(agent, 9)
        refused = len(server.requests) - 1
        for i in range(8):
            ask(agent, 1, 10 + i)

        assert (refused, len(server.requests)) == (1, 10)
        said = [list(m) for b in server.bodies[1:] if isinstance(m := b["messages"], list)]
        same = [b[: len(a)] == a for a, b in pairwise(said)]
        # a quarter of the limit is freed at once: every second picture changes the beginning
        assert same.count(True) >= 4
        assert list(check(agent.session)) == []


def test_a_refusal_that_no_fewer_pictures_help_is_told_with_the_way_out(tmp_path: Path) -> None:
    words = {"error": {"message": "too many images"}}
    with serve(status(400, words)) as server:
        agent = make_agent(start_session(tmp_path), provider_for(server.base_url), tmp_path)
        end = ending(ask(agent, 4))

        assert end.reason == "error"
        # halved until there was none, and then no more
        assert [len(sent_pictures(b)) for b in server.bodies] == [4, 2, 1, 0]


def test_a_summary_is_asked_for_without_pictures(tmp_path: Path) -> None:
    provider = ScriptedProvider("seen", "again", "a summary", "on")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, keep=1)
    ask(agent, 2)
    run(agent, "and now? " + "word " * 400)
    list(agent.compact())

    bodies: list[JsonObject] = [loads_object(body) for body in provider.bodies]
    assert [len(sent_pictures(body)) for body in bodies[:3]] == [2, 2, 0]
    assert b"a summary is made of words" in provider.bodies[2]
    assert list(check(agent.session)) == []
