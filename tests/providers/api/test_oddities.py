"""Rare spellings that some server was seen to use, one each."""

from __future__ import annotations

from contextlib import suppress

import pytest

from agentsh.errors import ProviderError, RequestRejectedError, ServerFailedError
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import AssistantMessage, Thinking
from agentsh.providers.api.assemble import ChatAssembler
from agentsh.providers.catalog import read_models
from agentsh.providers.wire.failures import ErrorSource
from agentsh.providers.wire.sse import SseDecoder
from tests.providers.asking import ask, failure, provider_for
from tests.support import endpoint as ep
from tests.support.endpoint import chunk, fragment


def message(*chunks: JsonValue) -> AssistantMessage:
    made = ChatAssembler(ErrorSource("host:1"), provider="p", model="m")
    for one in chunks:
        made.feed(one)
    return made.finish(done=True).message


@pytest.mark.parametrize(
    "whole",
    [
        chunk({"role": "assistant", "refusal": "I will not."}, "stop"),
        {"choices": [{"index": 0, "text": "I will not.", "finish_reason": "stop"}]},
        chunk({"content": [{"type": "text", "text": "I will not."}, None, 7]}, "stop"),
    ],
)
def test_text_has_other_names(whole: JsonObject) -> None:
    assert message(whole).text == "I will not."


def test_a_call_may_be_the_old_function_call_or_stand_without_its_list() -> None:
    function = {"name": "ls", "arguments": "{}"}

    call: JsonObject = {"id": "a", "function": function}
    deltas: list[JsonObject] = [{"function_call": function}, {"tool_calls": call}]
    for delta in deltas:
        made = message(chunk(delta, "stop"))
        assert [c.name for c in made.tool_calls] == ["ls"]


def test_thinking_may_be_a_part_of_the_content() -> None:
    parts: list[JsonValue] = [{"type": "thinking", "thinking": "hm"}, {"text": "a"}]

    assert message(chunk({"content": parts}, "stop")).content[0] == Thinking(
        "hm", signature="thinking_parts"
    )


def test_encrypted_reasoning_without_text_is_kept() -> None:
    details: list[JsonValue] = [{"type": "reasoning.encrypted", "data": "x"}, "odd"]
    made = message(chunk({"reasoning_details": details}), chunk({"content": "a"}, "stop"))

    assert made.content[0] == Thinking(
        "",
        signature="reasoning_details",
        extra={"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]},
    )


def test_a_name_may_come_in_pieces() -> None:
    made = message(
        chunk(fragment("re", index=0, id="a")),
        chunk(fragment("ad", "{}", index=0)),
        chunk({}, "stop"),
    )

    assert [c.name for c in made.tool_calls] == ["read"]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("permission_denied", RequestRejectedError),
        ("model_not_found", RequestRejectedError),
        ("overloaded_error", ServerFailedError),
    ],
)
def test_an_error_without_a_number_is_judged_by_its_code(
    code: str, kind: type[ProviderError]
) -> None:
    with pytest.raises(kind):
        message({"error": {"message": "no", "code": code}})


def test_an_error_may_stand_beside_or_inside_a_choice() -> None:
    inside: JsonObject = {"index": 0, "error": {"message": "no"}}

    for odd in ({**chunk({}), "error": "no"}, {"choices": [inside]}):
        with pytest.raises(ServerFailedError, match="no"):
            message(odd)


def test_an_event_that_is_no_object_is_an_error_with_its_words() -> None:
    with ep.serve(ep.stream(b"data: Internal Server Error\n\n")) as server:
        assert "Internal Server Error" in str(failure(provider_for(server.base_url)))


def test_an_empty_event_is_a_keep_alive() -> None:
    with ep.serve(ep.stream(b"data:\n\n", ep.chunk({"content": "a"}, "stop"))) as server:
        assert ask(provider_for(server.base_url))[1].text == "a"


def test_a_number_that_json_lacks_or_a_bad_byte_does_not_cost_the_answer() -> None:
    odd = b'{"choices":[{"index":0,"delta":{"content":"caf\xc3!"},"logprobs":{"p":-Infinity}}]}'
    end = (
        b'{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"total_tokens":NaN}}'
    )
    reply = ep.raw([b"data: " + odd + b"\n\n", b"data: " + end + b"\n\n", b"data: [DONE]\n\n"])
    with ep.serve(reply) as server:
        assert ask(provider_for(server.base_url))[1].text == "caf\ufffd!"


def test_a_done_without_its_blank_line_is_one() -> None:
    reply = ep.raw([ep.event(ep.chunk({"content": "a"})), b"data: [DONE]"])
    with ep.serve(reply) as server:
        assert ask(provider_for(server.base_url))[1].text == "a"


def test_blank_lines_before_a_completion_that_was_not_streamed_do_no_harm() -> None:
    body = b'\r\n\r\n{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}'
    with ep.serve(ep.status(200, body)) as server:
        assert ask(provider_for(server.base_url))[1].text == "a"


def test_an_explanation_without_end_is_not_read_to_its_end() -> None:
    def endless(handler: ep.Handler) -> None:
        handler.send_response(500)
        handler.send_header("Connection", "close")
        handler.end_headers()
        for _ in range(2000):
            handler.wfile.write(b"no " * 4096)
        handler.close_connection = True

    with ep.serve(endless) as server:
        error = failure(provider_for(server.base_url))

    assert error.status == 500
    assert len(str(error)) < 1000


def endless(*, head: bytes, again: bytes) -> ep.Reply:
    def reply(handler: ep.Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(head)
        with suppress(OSError):
            while not handler.scripted.closing.is_set():
                handler.wfile.write(again)
        handler.close_connection = True

    return reply


def test_a_line_without_end_is_not_kept_without_end() -> None:
    with ep.serve(endless(head=b"data: ", again=b"x" * 65_536)) as server:
        error = failure(provider_for(server.base_url))

    assert "the answer does not end" in str(error)
    assert not error.retryable


@pytest.mark.parametrize("member", ["context_length", "n_ctx"])
@pytest.mark.parametrize("digits", ["9" * 5000, "\u0664" * 5000])
def test_a_number_of_thousands_of_digits_is_none(member: str, digits: str) -> None:
    assert read_models([{"id": "m", member: digits}])[0].context_window is None

    made = message(chunk(fragment("ls", "{}", index=digits, id="a")), chunk({}, "stop"))
    assert [c.name for c in made.tool_calls] == ["ls"]
    assert SseDecoder().feed(f"retry: {'9' * 5000}\n\n".encode()) == []


def test_a_number_too_large_for_one_makes_arguments_invalid() -> None:
    made = message(chunk(fragment("bash", '{"timeout":1e400}', index=0, id="a")), chunk({}, "stop"))

    [call] = made.tool_calls
    assert call.arguments == {}
    assert "not valid JSON" in (call.arguments_error or "")
