"""The client where it waits: silence has an end, and a stop ends any wait at once."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from agentsh.abort import Abort
from agentsh.errors import ConnectionFailedError, ProviderError, ProviderTimeoutError
from agentsh.providers.wire.wire import Limits
from tests.providers.asking import ask, failure, provider_for
from tests.support import endpoint as ep


def test_silence_is_given_up_after_the_idle_limit() -> None:
    for reply in (ep.silence, ep.raw([ep.event(ep.chunk({"content": "One"})), 30.0])):
        with ep.serve(reply) as server:
            error = failure(provider_for(server.base_url, limits=Limits(idle=0.3)))

        assert type(error) is ProviderTimeoutError
        assert "silent for 0.3 s" in str(error)


def test_comments_are_life_but_not_for_ever() -> None:
    pings = [piece for _ in range(40) for piece in (b": ping\n\n", 0.05)]
    with ep.serve(ep.raw(pings)) as server:
        error = failure(provider_for(server.base_url, limits=Limits(idle=1.0, events=0.4)))

    assert type(error) is ProviderTimeoutError
    assert "signs of life" in str(error)


def test_no_limit_is_no_limit() -> None:
    with ep.serve(ep.raw([0.4, ep.event(ep.chunk({"content": "a"}, "stop"))])) as server:
        provider = provider_for(server.base_url, limits=Limits(idle=0.0, events=0.0))

        assert ask(provider)[1].text == "a"


def test_abort_ends_the_wait_for_a_list_of_models_at_once() -> None:
    abort = Abort()
    with ep.serve(ep.text("One")) as server:
        server.listing = ep.silence
        provider = provider_for(server.base_url)
        threading.Timer(0.3, abort.set).start()
        began = time.monotonic()

        assert provider.models(abort) == ()
        assert time.monotonic() - began < 3
        server.listing = None
        assert [each.id for each in provider.models()] == ["m"]


@pytest.mark.parametrize("before", ["head", "text", "end"])
def test_abort_ends_any_wait_at_once(before: str) -> None:
    replies = {
        "head": ep.silence,
        "text": ep.raw([0.0, 30.0]),
        "end": ep.raw([ep.event(ep.chunk({"content": "One"})), 30.0]),
    }
    abort = Abort()
    with ep.serve(replies[before]) as server:
        provider = provider_for(server.base_url, limits=Limits(idle=20.0))
        threading.Timer(0.3, abort.set).start()
        began = time.monotonic()
        _, message = ask(provider, abort=abort)

        assert message.stop_reason == "aborted"
        assert message.text == ("One" if before == "end" else "")
        assert time.monotonic() - began < 3


@pytest.mark.parametrize("before", [(), (ep.text("One"),)])
def test_an_abort_just_before_the_request_is_not_lost(before: tuple[ep.Reply, ...]) -> None:
    abort = Abort()
    abort.set()
    with ep.serve(*before, ep.silence) as server:
        provider = provider_for(server.base_url, limits=Limits(idle=20.0))
        for _ in before:  # the connection of an earlier request is kept, or there is none
            assert ask(provider)[1].text == "One"
        began = time.monotonic()

        _, message = ask(provider, abort=abort)

        assert message.stop_reason == "aborted"
        assert time.monotonic() - began < 3


def test_an_abort_is_not_meant_for_the_next_request() -> None:
    abort = Abort()
    abort.set()
    with ep.serve(ep.text("One")) as server:
        provider = provider_for(server.base_url)

        assert ask(provider, abort=abort)[1].stop_reason == "aborted"
        assert ask(provider)[1].text == "One"


def test_an_abort_while_connecting_ends_that_too() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        fillers = [socket.socket() for _ in range(3)]
        for filler in fillers:  # nobody accepts: the queue is full, the next one waits
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
        abort = Abort()
        threading.Timer(0.3, abort.set).start()
        began = time.monotonic()
        base_url = f"http://127.0.0.1:{full.getsockname()[1]}/v1"
        _, message = ask(provider_for(base_url, limits=Limits(connect=20.0)), abort=abort)
        for filler in fillers:
            filler.close()

    assert message.stop_reason == "aborted"
    assert time.monotonic() - began < 3


def test_after_an_abort_the_next_request_works() -> None:
    abort = Abort()
    abort.set()
    with ep.serve(ep.text("ok")) as server:
        provider = provider_for(server.base_url)

        assert ask(provider, abort=abort)[1].stop_reason == "aborted"
        assert ask(provider)[1].text == "ok"


def test_nobody_listens_is_said_with_host_and_port() -> None:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    error = failure(provider_for(f"http://127.0.0.1:{port}/v1"))

    assert type(error) is ConnectionFailedError
    assert error.retryable
    assert f"127.0.0.1:{port}" in str(error)


DRIP = [piece for _ in range(400) for piece in (b" ", 0.02)]


@pytest.mark.parametrize("status", [200, 400, 404, 503])
def test_l29_an_answer_that_only_drips_ends_whatever_it_is_about(status: int) -> None:
    """Bytes one by one: blanks before an answer, and the words of a refusal that never end."""
    with ep.serve(ep.raw(DRIP, status=status)) as server:
        limits = Limits(idle=5.0, events=0.4)
        began = time.monotonic()
        error = failure(provider_for(server.base_url, limits=limits))

    assert time.monotonic() - began < 4
    assert isinstance(error, ProviderError)
    assert ("signs of life" in str(error)) == (status == 200)
    assert (f"HTTP {status}" in str(error)) == (status != 200)


@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 102 Processing\r\n"])
def test_l29_a_head_that_only_drips_ends(start: bytes) -> None:
    def drip(handler: ep.Handler) -> None:
        handler.connection.sendall(start)
        for number in range(400):
            handler.connection.sendall(b"X-%d: a\r\n" % number)
            time.sleep(0.02)

    with ep.serve(drip) as server:
        limits = Limits(idle=5.0, events=0.4)
        began = time.monotonic()
        error = failure(provider_for(server.base_url, limits=limits))

    assert time.monotonic() - began < 4
    assert type(error) is ProviderTimeoutError
    assert "signs of life" in str(error)


def test_a_head_that_is_late_after_silence_has_the_idle_limit_alone() -> None:
    def late(handler: ep.Handler) -> None:
        time.sleep(0.6)
        ep.text("slow")(handler)

    with ep.serve(late) as server:
        provider = provider_for(server.base_url, limits=Limits(idle=5.0, events=0.3))

        assert ask(provider)[1].text == "slow"


def test_l29_blanks_without_an_answer_are_not_kept() -> None:
    blank = b"\n" * (1 << 20)
    with ep.serve(ep.raw([blank] * 70)) as server:
        error = failure(provider_for(server.base_url))

    assert "does not end" in str(error)
