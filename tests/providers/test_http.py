from __future__ import annotations

import time
from itertools import count

import pytest

from agentsh.abort import Abort
from agentsh.errors import (
    AuthenticationError,
    ConnectionFailedError,
    EmptyAnswerError,
    ProviderError,
    RateLimitedError,
    RequestRejectedError,
    ServerFailedError,
    StreamProtocolError,
    UsageError,
)
from agentsh.jsontext import JsonObject
from agentsh.messages import AssistantMessage, Cost
from agentsh.providers.base import Finished, ModelInfo, TextDelta, Warned
from agentsh.providers.http import HttpProvider, ProviderSettings
from tests.providers.asking import ask, failure, provider_for, request_to
from tests.support import endpoint as ep

KEY = "sk-check-0123456789abcdef"


def test_an_answer_comes_as_events_and_a_message() -> None:
    with ep.serve(ep.text("Hello there.")) as server:
        events, message = ask(provider_for(server.base_url))

    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "Hello there."
    assert (message.text, message.stop_reason, message.provider) == ("Hello there.", "stop", "test")
    assert message.usage.total_tokens == 110


def test_the_request_is_one_post_with_the_key_as_bearer() -> None:
    with ep.serve(ep.text("ok")) as server:
        provider = provider_for(server.base_url, key=f" {KEY}\n", headers={"X-Team": "blue"})
        request = request_to(provider)
        list(provider.stream(provider.body(request), request, Abort()))
    sent = server.requests[0]

    assert (sent.path, sent.raw) == ("/v1/chat/completions", provider.body(request))
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers["content-type"] == "application/json"
    assert sent.headers["x-team"] == "blue"


def test_without_a_key_no_authorization_is_sent() -> None:
    with ep.serve(ep.text("ok")) as server:
        ask(provider_for(server.base_url))

    assert "authorization" not in server.requests[0].headers


def test_a_connection_that_the_server_closed_meanwhile_is_made_anew() -> None:
    closing = ep.stream(ep.chunk({"content": "a"}, "stop"), chunked=False)
    with ep.serve(closing) as server:
        provider = provider_for(server.base_url)

        assert [ask(provider)[1].text for _ in range(3)] == ["a"] * 3


# ---- what an answer is -----------------------------------------------------------------------

PAGE = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please log in</body></html>"


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (ep.status(200, {"error": {"message": "it burns"}}), ServerFailedError, "it burns"),
        (ep.status(200, PAGE, content_type="text/html"), StreamProtocolError, "Sign in Please log"),
        (ep.status(200, "", content_type="text/event-stream"), EmptyAnswerError, "empty"),
        (ep.status(200, "just words"), StreamProtocolError, "just words"),
        (ep.status(200, '{"half": '), StreamProtocolError, "half"),
        (ep.stream(ep.chunk({"role": "assistant"})), EmptyAnswerError, "empty"),
        (ep.stream(b"data: {broken\n\n"), StreamProtocolError, "no JSON"),
        (ep.stream(b"event: error\ndata: it burns\n\n"), ServerFailedError, "it burns"),
        (ep.stream({"error": {"message": "slow", "code": 429}}), RateLimitedError, "slow"),
        (ep.status(401, {"error": {"message": "bad key"}}), AuthenticationError, "bad key"),
        (ep.status(307, "", headers={"Location": "http://q/v1"}), RequestRejectedError, "http://q"),
        (ep.hang_up, ConnectionFailedError, "connection was lost"),
    ],
)  # fmt: skip
def test_each_fault_is_told_apart(reply: ep.Reply, kind: type[ProviderError], words: str) -> None:
    with ep.serve(reply) as server:
        error = failure(provider_for(server.base_url))

        assert (type(error), error.emitted) == (kind, False)
        assert words in str(error)
        assert str(error).startswith(f"127.0.0.1:{server.port}")
        assert len(server.requests) == 1


def test_a_completion_that_was_not_streamed_is_used() -> None:
    message: JsonObject = {"role": "assistant", "content": "Whole."}
    whole: JsonObject = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    for content_type in ("application/json", "text/event-stream"):
        with ep.serve(ep.status(200, whole, content_type=content_type)) as server:
            assert ask(provider_for(server.base_url))[1].text == "Whole."


@pytest.mark.parametrize("chunked", [True, False])
def test_an_answer_with_a_reason_needs_no_done_and_no_good_end(chunked: bool) -> None:
    reply = ep.stream(ep.chunk({"content": "a"}, "stop"), done=False, chunked=chunked, cut=chunked)
    with ep.serve(reply) as server:
        assert ask(provider_for(server.base_url))[1].text == "a"


def test_a_server_that_keeps_the_line_open_after_done_is_not_waited_for() -> None:
    reply = ep.raw([ep.event(ep.chunk({"content": "a"}, "stop")), ep.DONE, 30.0])
    with ep.serve(reply) as server:
        began = time.monotonic()

        assert ask(provider_for(server.base_url))[1].text == "a"
        assert time.monotonic() - began < 3


@pytest.mark.parametrize("chunked", [True, False])
def test_a_cut_keeps_what_came_and_nothing_of_it_is_whole(chunked: bool) -> None:
    call = ep.fragment("write", '{"path":"x"}', index=0, id="w")
    reply = ep.stream(
        {"content": "The river"}, ep.chunk(call), b'data: {"choi', done=False, chunked=chunked,
        cut=True,
    )  # fmt: skip
    with ep.serve(reply) as server:
        error = failure(provider_for(server.base_url))

    assert type(error) is StreamProtocolError
    assert error.emitted
    assert isinstance(error.partial, AssistantMessage)
    assert (error.partial.text, error.partial.stop_reason) == ("The river", "error")
    assert all(c.arguments_error for c in error.partial.tool_calls)


def test_a_cut_before_anything_may_be_repeated() -> None:
    reply = ep.stream(ep.chunk({"role": "assistant", "content": ""}), done=False, cut=True)
    with ep.serve(reply) as server:
        error = failure(provider_for(server.base_url))

    assert error.retryable
    assert not error.emitted


# ---- keys, proxies, addresses ----------------------------------------------------------------


def test_a_key_in_the_servers_words_is_not_repeated() -> None:
    reply = ep.status(401, {"error": {"message": f"Incorrect API key provided: {KEY}."}})
    with ep.serve(reply) as server:
        error = failure(provider_for(server.base_url, key=KEY))

    assert "Incorrect API key provided" in str(error)
    assert KEY not in f"{error} {error.words} {error.partial}"


def test_a_key_that_no_header_can_carry_is_a_mistake_of_the_user() -> None:
    with pytest.raises(UsageError, match="key"):
        provider_for("http://127.0.0.1:1/v1", key="two\nlines")


def test_loopback_is_reached_whatever_proxy_is_set() -> None:
    for proxy in ("socks5://127.0.0.1:1", "socks://127.0.0.1:1", "no scheme at all"):
        with ep.serve(ep.text("ok")) as server:
            provider = provider_for(server.base_url, environ={"ALL_PROXY": proxy})

            assert ask(provider)[1].text == "ok"


def test_a_proxy_that_cannot_be_used_is_one_clear_error() -> None:
    provider = provider_for("http://api.example/v1", environ={"ALL_PROXY": "socks5://h:1"})
    error = failure(provider)

    assert "SOCKS" in str(error)
    assert not error.retryable


def test_an_http_proxy_gets_the_whole_address_and_its_password() -> None:
    with ep.serve(ep.text("ok")) as server:
        proxy = f"http://me:p%40ss@127.0.0.1:{server.port}"
        provider = provider_for("http://api.example/v1", environ={"http_proxy": proxy})

        assert ask(provider)[1].text == "ok"
    assert server.requests[0].path == "http://api.example/v1/chat/completions"
    assert server.requests[0].headers["proxy-authorization"] == "Basic bWU6cEBzcw=="


def test_the_endpoint_is_shown_without_userinfo_and_query() -> None:
    provider = provider_for("https://me:secret@h.example:444/v1/chat/completions?api-version=1")

    assert provider.endpoint == "https://h.example:444/v1"


@pytest.mark.parametrize("bad", ["", "ftp://x/v1", "127.0.0.1:8080/v1", "http://", "http://[x/v1"])
def test_a_base_url_that_is_none_is_a_mistake_of_the_user(bad: str) -> None:
    with pytest.raises(UsageError, match="base URL"):
        provider_for(bad)


# ---- models, money, warnings -----------------------------------------------------------------


def test_models_come_with_what_the_endpoint_and_the_settings_say() -> None:
    listed: list[object] = [{"id": "a", "context_length": 4096}, {"id": "b"}, {"id": "gpt-4o"}]
    said = {"b": ModelInfo("b", context_window=7, source="settings")}
    with ep.serve(ep.text("ok"), models=listed) as server:  # type: ignore[arg-type]
        provider = provider_for(server.base_url, models=said)
        models = provider.models()

    assert [(m.id, m.context_window) for m in models] == [("a", 4096), ("b", 7), ("gpt-4o", 128000)]
    assert [m.source for m in models[:2]] == ["endpoint", "settings"]
    assert models[2].source.startswith("built-in")


def test_usage_costs_what_the_prices_say() -> None:
    info = ModelInfo("m", prices={"input": 1.0, "output": 10.0}, source="settings")
    with ep.serve(ep.text("ok", prompt=1_000_000, completion=100_000)) as server:
        _, message = ask(provider_for(server.base_url, models={"m": info}))

    assert message.usage.cost == Cost(input=1.0, output=1.0, total=2.0)


def test_a_server_that_cuts_the_prompt_is_named_once() -> None:
    long = "words " * 20_000
    with ep.serve(ep.text("ok", prompt=4086)) as server:
        provider = provider_for(server.base_url)
        warned = [[e for e in ask(provider, long)[0] if isinstance(e, Warned)] for _ in range(2)]

    assert [len(w) for w in warned] == [1, 0]
    assert "num_ctx" in warned[0][0].text


def test_a_stream_says_how_many_chunks_it_had_and_when_the_first_came() -> None:
    whole: JsonObject = {"choices": [{"message": {"content": "at once"}, "finish_reason": "stop"}]}
    slowly = ep.stream(0.2, {"content": "one"}, {"content": "two"}, ep.chunk({}, "stop"))
    with ep.serve(slowly, ep.status(200, whole)) as server:
        provider = provider_for(server.base_url)
        _, message = ask(provider)
        _, at_once = ask(provider)

    assert message.first_ms is not None
    assert message.duration_ms is not None
    assert 150 <= message.first_ms <= message.duration_ms
    assert message.chunks == 3
    assert (at_once.first_ms, at_once.chunks) == (None, None)


def test_time_and_duration_are_the_clocks() -> None:
    ticks = count(1000.0, 0.5)
    with ep.serve(ep.text("ok")) as server:
        provider = HttpProvider(ProviderSettings(server.base_url), clock=lambda: next(ticks))
        _, message = ask(provider)
        provider.close()

    assert (message.timestamp, message.duration_ms) == (1_000_000, 500)


# ---- speed, counted and not timed ------------------------------------------------------------


def test_many_small_chunks_of_one_read_are_one_event() -> None:
    chunks = b"".join(ep.event(ep.chunk({"content": "x"})) for _ in range(2000))
    with ep.serve(ep.raw([chunks, ep.event(ep.chunk({}, "stop")), ep.DONE])) as server:
        events, message = ask(provider_for(server.base_url))

    assert len(message.text) == 2000
    assert len(events) < 50


def test_a_finished_stream_ends_with_exactly_one_finished() -> None:
    with ep.serve(ep.text("ok")) as server:
        events, _ = ask(provider_for(server.base_url))

    assert [isinstance(e, Finished) for e in events].count(True) == 1


def test_a_refused_key_is_asked_for_once_more_and_another_one_is_used_and_masked() -> None:
    refused = ep.status(401, {"error": {"message": "token expired"}})
    new = KEY[::-1]
    with ep.serve(refused, ep.text(f"not {new}"), ep.text("ok")) as server:
        provider = provider_for(server.base_url, key=KEY, key_again=lambda: new)
        _, message = ask(provider)
        ask(provider)

    sent = [request.headers["authorization"] for request in server.requests]
    assert sent == [f"Bearer {KEY}", f"Bearer {new}", f"Bearer {new}"]
    assert new not in message.text


@pytest.mark.parametrize("again", [None, KEY])
def test_a_refused_key_without_another_one_is_a_refusal(again: str | None) -> None:
    with ep.serve(ep.status(401, {"error": {"message": "token expired"}})) as server:
        error = failure(provider_for(server.base_url, key=KEY, key_again=lambda: again))

    assert isinstance(error, AuthenticationError)
    assert len(server.requests) == 1
