"""Requests that run beside each other at one endpoint: a side question, a list, while one comes."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from agentsh.abort import Abort
from agentsh.providers.base import Finished, StreamEvent, TextDelta
from agentsh.providers.http import HttpProvider
from tests.providers.asking import ask, provider_for, request_to
from tests.support import endpoint as ep


class Held:
    """An answer that has begun, and goes on when it is let."""

    def __init__(self) -> None:
        self.go_on = threading.Event()

    def reply(self, handler: ep.Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(ep.event(ep.chunk({"content": "slow "})))
        handler.wfile.flush()
        self.go_on.wait(20)
        handler.wfile.write(ep.event(ep.chunk({"content": "end"}, "stop")) + ep.DONE)
        handler.close_connection = True


@pytest.fixture
def held() -> Iterator[Held]:
    holding = Held()
    yield holding
    holding.go_on.set()


def begun(provider: HttpProvider, abort: Abort) -> Iterator[StreamEvent]:
    """A stream whose first piece has come."""
    request = request_to(provider)
    events = provider.stream(provider.body(request), request, abort)
    assert next(events) == TextDelta("slow ")
    return events


def end_of(events: Iterator[StreamEvent]) -> tuple[str, str]:
    """(text, stop reason)."""
    *_, last = events
    assert isinstance(last, Finished)
    return last.message.text, last.message.stop_reason


def test_the_list_is_asked_for_while_an_answer_comes(held: Held) -> None:
    with ep.serve(held.reply) as server:
        provider = provider_for(server.base_url)
        events = begun(provider, Abort())

        assert [model.id for model in provider.models()] == ["m"]

        held.go_on.set()
        assert end_of(events) == ("slow end", "stop")


def test_an_abort_reaches_an_answer_whatever_was_asked_beside_it(held: Held) -> None:
    abort = Abort()
    with ep.serve(held.reply, ep.text("beside")) as server:
        provider = provider_for(server.base_url)
        events = begun(provider, abort)
        ask(provider)

        waiting = threading.Timer(0.2, abort.set)
        waiting.start()

        assert end_of(events) == ("slow ", "aborted")
        waiting.join()
