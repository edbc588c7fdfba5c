"""What each provider promises to the agent, whoever answers (agentsh/providers/base.py)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.errors import ProviderError, ServerFailedError, UsageError
from agentsh.jsontext import loads_object
from agentsh.messages import Text, ToolSchema, UserMessage
from agentsh.providers.base import Finished, ModelInfo, Provider, Request, Shape, TextDelta
from agentsh.providers.local.absent import AbsentProvider
from agentsh.providers.local.local import LocalProvider
from tests.providers.asking import provider_for
from tests.providers.local.test_local import HEAD, gguf
from tests.support import endpoint as ep
from tests.support.scripted import ScriptedProvider

TOOL = ToolSchema("look", "Looks.", {"type": "object", "properties": {}})
COMPLETED = ep.stream(
    {"type": "response.output_text.delta", "item_id": "m1", "output_index": 0, "delta": "Hello."},
    {
        "type": "response.completed",
        "response": {
            "id": "r1",
            "status": "completed",
            "output": [
                {
                    "type": "message",
                    "id": "m1",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Hello."}],
                }
            ],
            "usage": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12},
        },
    },
    done=False,
)


class Stand:
    """Where a provider is put up for a test: a folder, and servers that end with it."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self._stack = stack

    def server(self, *script: ep.Reply) -> ep.Endpoint:
        return self._stack.enter_context(ep.serve(*script))

    def serving(self, reply: ep.Reply, **members: object) -> Provider:
        return provider_for(self.server(reply).base_url, **members)


def chat(stand: Stand) -> Provider:
    return stand.serving(ep.text("Hello."))


def responses(stand: Stand) -> Provider:
    return stand.serving(COMPLETED, api="openai-responses")


def scripted(stand: Stand) -> Provider:
    return ScriptedProvider("Hello.")


def embedded(stand: Stand) -> Provider:
    weights = stand.folder / "Tiny.gguf"
    weights.write_bytes(gguf(*HEAD))
    return LocalProvider(weights, os.environ, print)


def absent(stand: Stand) -> Provider:
    return AbsentProvider("no endpoint is configured", "set one")


# the embedded one needs a model to answer, and absent never does
ANSWERING = [chat, responses, scripted]
ALL = [*ANSWERING, embedded, absent]

Make = Callable[[Stand], Provider]


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    with ExitStack() as stack:
        yield Stand(tmp_path, stack)


@pytest.fixture(params=ALL, ids=lambda make: make.__name__)
def provider(request: pytest.FixtureRequest, stand: Stand) -> Iterator[Provider]:
    made: Provider = request.param(stand)
    yield made
    made.close()


def asked(provider: Provider, text: str = "Hi.") -> Request:
    shape = Shape(api=provider.api)
    return Request("m", "Be good.", (UserMessage((Text(text),)),), (TOOL,), shape=shape)


def test_it_says_who_it_is_without_a_request(provider: Provider) -> None:
    assert [bool(word) for word in (provider.name, provider.endpoint, provider.api)] == [True] * 3


def test_a_body_depends_on_the_request_only(provider: Provider) -> None:
    request = asked(provider)
    body = provider.body(request)

    assert provider.body(asked(provider)) == body
    assert loads_object(body.decode())["model"] == "m"
    assert provider.body(asked(provider, "Bye.")) != body


def test_a_body_begins_the_next_one(provider: Provider) -> None:
    request = asked(provider)
    longer = replace(request, messages=(*request.messages, UserMessage((Text("More."),))))
    first, second = provider.body(request), provider.body(longer)
    text = "Hi."
    upto = first.index(text.encode()) + len(text)

    assert second[:upto] == first[:upto]


def test_what_a_failure_teaches_is_another_shape_or_none(provider: Provider) -> None:
    shape = Shape(api=provider.api)

    assert provider.learn("m", shape, ServerFailedError("it burns")) is None
    assert provider.learn("m", shape, ValueError("no matter")) is None


def test_a_model_is_known_by_the_id_that_was_asked_for(provider: Provider) -> None:
    info = provider.model_info("some-model")

    assert (info.id, isinstance(info, ModelInfo)) == ("some-model", True)


def test_it_can_be_closed_twice(provider: Provider) -> None:
    provider.close()
    provider.close()


@pytest.mark.parametrize("make", ANSWERING)
def test_a_shape_is_of_its_own_api_and_stays_while_nothing_is_learned(
    make: Make, stand: Stand
) -> None:
    provider = make(stand)

    assert provider.shape("m") == provider.shape("m")
    assert provider.shape("m").api == provider.api


@pytest.mark.parametrize("make", ANSWERING)
def test_a_stream_ends_with_the_one_finished_message(make: Make, stand: Stand) -> None:
    provider = make(stand)
    request = asked(provider)
    events = list(provider.stream(provider.body(request), request, Abort()))
    *before, last = events

    assert isinstance(last, Finished)
    assert [e for e in before if isinstance(e, Finished)] == []
    assert "".join(e.text for e in before if isinstance(e, TextDelta)) == last.message.text
    assert (last.message.text, last.message.stop_reason) == ("Hello.", "stop")


@pytest.mark.parametrize("make", ANSWERING)
def test_an_answer_says_who_gave_it_and_what_it_took(make: Make, stand: Stand) -> None:
    provider = make(stand)
    request = asked(provider)
    [last] = [
        e
        for e in provider.stream(provider.body(request), request, Abort())
        if isinstance(e, Finished)
    ]
    message = last.message

    assert (message.provider, message.model, message.api) == (provider.name, "m", provider.api)
    assert last.usage_known
    assert message.usage.total_tokens > 0


def stand_failing(stand: Stand) -> list[Provider]:
    error = ServerFailedError("the server burns")
    return [
        stand.serving(ep.status(500, {"error": {"message": "the server burns"}})),
        stand.serving(
            ep.status(500, {"error": {"message": "the server burns"}}), api="openai-responses"
        ),
        ScriptedProvider(error),
    ]


def test_a_failure_is_a_provider_error_with_the_servers_words(stand: Stand) -> None:
    for provider in stand_failing(stand):
        request = asked(provider)
        with pytest.raises(ProviderError, match="the server burns"):
            list(provider.stream(provider.body(request), request, Abort()))


@pytest.mark.parametrize("make", [chat, responses])
def test_an_abort_that_came_before_ends_as_aborted(make: Make, stand: Stand) -> None:
    provider = make(stand)
    request, abort = asked(provider), Abort()
    abort.set()
    events = list(provider.stream(provider.body(request), request, abort))

    assert [type(e) for e in events] == [Finished]
    assert isinstance(events[0], Finished)
    assert events[0].message.stop_reason == "aborted"


def test_where_nobody_answers_the_words_say_what_is_missing(stand: Stand) -> None:
    provider = absent(stand)

    with pytest.raises(UsageError, match="no endpoint is configured"):
        provider.shape("m")
    with pytest.raises(UsageError, match="no endpoint is configured"):
        list(provider.stream(b"", asked(provider), Abort()))


def test_what_is_asked_while_an_answer_comes_is_answered_and_stopped_by_itself(
    stand: Stand,
) -> None:
    """A side question beside a turn: it waits for nobody, and its end is not the turn's."""
    slow = ep.stream({"content": "Slow "}, 1.5, {"content": "words."}, ep.chunk({}, "stop"))
    server = stand.server(slow, ep.text("Aside."), ep.silence)
    provider = provider_for(server.base_url)
    request, stopped = asked(provider), Abort()
    turn = provider.stream(provider.body(request), request, Abort())
    assert next(turn) == TextDelta("Slow ")

    beside = list(provider.stream(provider.body(request), request, Abort()))
    threading.Timer(0.2, stopped.set).start()
    ended = list(provider.stream(provider.body(request), request, stopped))

    *_, last = turn
    messages = [e.message for e in (beside[-1], ended[-1], last) if isinstance(e, Finished)]
    assert [(m.text, m.stop_reason) for m in messages] == [
        ("Aside.", "stop"),
        ("", "aborted"),
        ("Slow words.", "stop"),
    ]
