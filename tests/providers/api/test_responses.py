from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentsh.errors import (
    EmptyAnswerError,
    ProviderError,
    RateLimitedError,
    RequestRejectedError,
    ServerFailedError,
    StreamProtocolError,
)
from agentsh.jsontext import JsonObject, JsonValue, dumps_text, loads_object
from agentsh.messages import (
    AssistantMessage,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolCallId,
    ToolResultMessage,
    ToolSchema,
    Usage,
    UserMessage,
)
from agentsh.providers.api.responses import encode_responses
from agentsh.providers.api.responsestream import ResponsesAssembler
from agentsh.providers.base import (
    RESPONSES,
    Request,
    Shape,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from agentsh.providers.wire.failures import ErrorSource
from agentsh.providers.wire.sse import SseDecoder
from tests.providers.asking import ask, provider_for
from tests.providers.framing import splits
from tests.support import endpoint as ep

REASONING: JsonObject = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "I look."}],
    "encrypted_content": "gAAA",
}
CALL: JsonObject = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "read",
    "arguments": '{"path":"n"}',
}
MESSAGE: JsonObject = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Hello."}],
}
USAGE: JsonObject = {
    "input_tokens": 20,
    "input_tokens_details": {"cached_tokens": 5},
    "output_tokens": 9,
    "output_tokens_details": {"reasoning_tokens": 4},
    "total_tokens": 29,
}


def response(*output: JsonObject, status: str = "completed", **members: JsonValue) -> JsonObject:
    whole: JsonObject = {"id": "resp_1", "object": "response", "status": status}
    return {**whole, "output": list(output), "usage": USAGE, **members}


def added(place: int, item: JsonObject, **change: JsonValue) -> JsonObject:
    kind = "response.output_item.added"
    return {"type": kind, "output_index": place, "item": {**item, **change}}


def closed(place: int, item: JsonObject) -> JsonObject:
    return {"type": "response.output_item.done", "output_index": place, "item": item}


def grown(kind: str, place: int, delta: str) -> JsonObject:
    return {"type": f"response.{kind}.delta", "output_index": place, "delta": delta}


STREAM: list[JsonObject] = [
    {"type": "response.created", "response": response(status="in_progress")},
    added(0, REASONING, summary=[]),
    grown("reasoning_summary_text", 0, "I "),
    grown("reasoning_summary_text", 0, "look."),
    closed(0, REASONING),
    added(1, MESSAGE, content=[]),
    grown("output_text", 1, "Hel"),
    grown("output_text", 1, "lo."),
    closed(1, MESSAGE),
    added(2, CALL, arguments=""),
    grown("function_call_arguments", 2, '{"path"'),
    grown("function_call_arguments", 2, ':"n"}'),
    closed(2, CALL),
    {"type": "response.completed", "response": response(REASONING, MESSAGE, CALL)},
]

WHOLE = AssistantMessage(
    (
        Thinking("I look.", signature=dumps_text(REASONING)),
        Text("Hello."),
        ToolCall(ToolCallId("call_1|fc_1"), "read", {"path": "n"}),
    ),
    RESPONSES,
    "p",
    "m",
    Usage(input=15, output=9, cache_read=5, total_tokens=29, reasoning=4),
    "toolUse",
    response_id="resp_1",
    raw_stop_reason="completed",
)


def assemble(*events: JsonValue, done: bool = False) -> tuple[list[StreamEvent], AssistantMessage]:
    made = ResponsesAssembler(ErrorSource("host:1"), provider="p", model="m")
    for event in events:
        made.feed(event)
    return made.take(), made.finish(done=done).message


def test_a_stream_is_events_and_a_message() -> None:
    events, message = assemble(*STREAM)

    assert message == WHOLE
    assert events == [
        ThinkingDelta("I "),
        ThinkingDelta("look."),
        TextDelta("Hel"),
        TextDelta("lo."),
        ToolCallDelta(0, "read", ""),
        ToolCallDelta(0, "read", '{"path"'),
        ToolCallDelta(0, "read", ':"n"}'),
    ]


def test_a_response_that_was_not_streamed_is_the_same_message() -> None:
    assert assemble(response(REASONING, MESSAGE, CALL))[1] == WHOLE


@given(st.sets(st.sampled_from([2, 3, 6, 7, 10, 11])))
def test_deltas_that_never_came_are_taken_from_the_closed_items(missing: set[int]) -> None:
    # a half of a pair of deltas cannot be told from the whole, so both are left out
    for first in (2, 6, 10):
        if missing & {first, first + 1}:
            missing |= {first, first + 1}

    assert assemble(*(e for i, e in enumerate(STREAM) if i not in missing))[1] == WHOLE


@given(st.data())
def test_any_split_gives_the_same_message(drawn: st.DataObject) -> None:
    raw = b"".join(ep.event(dict(e)) for e in STREAM)
    decoder = SseDecoder()
    found = [e for block in drawn.draw(splits(raw)) for e in decoder.feed(block)]

    assert assemble(*(json.loads(e.data) for e in found))[1] == WHOLE


def test_a_stream_without_its_end_is_cut() -> None:
    with pytest.raises(StreamProtocolError, match="broke off"):
        assemble(*STREAM[:-1])


def test_an_incomplete_response_was_cut_by_its_limit() -> None:
    half = {**CALL, "arguments": '{"pa'}
    why: JsonValue = {"reason": "max_output_tokens"}
    _, message = assemble(response(half, status="incomplete", incomplete_details=why))

    assert message.stop_reason == "length"
    assert "output limit" in str(message.tool_calls[0].arguments_error)


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "slow"}, RateLimitedError),
        ({"error": {"message": "bad", "code": 400}}, RequestRejectedError),
        (
            {
                "type": "response.failed",
                "response": {"error": {"code": "rate_limit_exceeded", "message": "slow"}},
            },
            RateLimitedError,
        ),
        (
            response(status="incomplete", incomplete_details={"reason": "content_filter"}),
            RequestRejectedError,
        ),
        (response(), EmptyAnswerError),
    ],
)
def test_errors_are_told_apart(event: JsonObject, kind: type[ProviderError]) -> None:
    with pytest.raises(kind):
        assemble(event)


# ---- the body --------------------------------------------------------------------------------


def body(*messages: object, **members: object) -> JsonObject:
    shape = members.pop("shape", Shape(api=RESPONSES, reasoning_effort=True))
    request = Request("m", "Be good.", messages, shape=shape, **members)  # type: ignore[arg-type]
    return loads_object(encode_responses(request))


@pytest.mark.parametrize("id_", [{"id": ""}, {"id": None}, {}])
def test_e42_an_item_of_reasoning_without_an_id_goes_back_without_one(id_: JsonObject) -> None:
    item = {k: v for k, v in REASONING.items() if k != "id"}
    message = replace(WHOLE, content=(Thinking("I look.", dumps_text({**item, **id_})),))

    assert body(message)["input"] == [item]


def test_the_conversation_goes_out_whole_and_nothing_is_stored_there() -> None:
    schema = ToolSchema("read", "Read.", {"type": "object"})
    result = ToolResultMessage(ToolCallId("call_1|fc_1"), "read", (Text("ok"),), is_error=False)
    user = UserMessage((Text("Hi."),))

    assert body(user, WHOLE, result, tools=(schema,), max_tokens=9, thinking="low") == {
        "model": "m",
        "instructions": "Be good.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Hi."}]},
            REASONING,
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Hello."}],
            },
            {k: v for k, v in CALL.items() if k != "id"},
            {"type": "function_call_output", "call_id": "call_1", "output": "ok"},
        ],
        "tools": [
            {
                "type": "function",
                "name": "read",
                "description": "Read.",
                "parameters": {"type": "object"},
                "strict": False,
            }
        ],
        "stream": True,
        "store": False,
        "max_output_tokens": 9,
        "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
    }


def test_reasoning_of_another_model_or_without_content_stays_here() -> None:
    bare = dumps_text({"type": "reasoning", "id": "rs_1", "summary": []})
    for thought, model in ((WHOLE.content[0], "other"), (Thinking("x", signature=bare), "m")):
        message = AssistantMessage((thought, Text("a")), RESPONSES, "p", model, Usage(), "stop")
        sent = body(message)["input"]

        assert isinstance(sent, list)
        assert [i["type"] for i in sent] == ["message"]


@pytest.mark.parametrize("signature", [None, "{", '{"type": "message"}'])
def test_thoughts_without_an_item_of_the_api_stay_here(signature: str | None) -> None:
    thought = Thinking("x", signature=signature)
    message = AssistantMessage((thought, Text("a")), RESPONSES, "p", "m", Usage(), "stop")
    sent = body(message)["input"]

    assert isinstance(sent, list)
    assert [i["type"] for i in sent] == ["message"]


def test_images_are_parts_of_prompts_and_of_results() -> None:
    picture = Image("aGk=", "image/png")
    part = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,aGk="}
    result = ToolResultMessage(ToolCallId("c"), "read", (Text("a"), picture), is_error=False)
    sent = body(UserMessage((picture,)), result)["input"]

    assert isinstance(sent, list)
    assert sent[0]["content"] == [part]
    assert sent[1]["output"] == [{"type": "input_text", "text": "a"}, part]


def test_an_endpoint_of_this_api_is_asked_at_its_own_address() -> None:
    reply = ep.raw([ep.event(dict(e)) for e in STREAM])
    with ep.serve(reply) as server:
        provider = provider_for(server.base_url, api="responses")
        _, message = ask(provider)

    assert server.requests[0].path == "/v1/responses"
    assert message.text == "Hello."
    assert provider.api == RESPONSES


def test_halves_of_a_character_and_a_repeated_key_are_judged_on_the_whole_text() -> None:
    key = "sk-0123456789abcdef"
    made = ResponsesAssembler(ErrorSource("host:1", keys=(key,)), provider="p", model="m")
    for part in ("the \ud834", "\udd1e is sk-01234", "56789abcdef."):
        made.feed({"type": "response.output_text.delta", "output_index": 0, "delta": part})
    made.feed({"type": "response.completed", "response": {"status": "completed"}})
    message = made.finish(done=False).message

    assert message.text == "the 𝄞 is [key]."
    assert [e.text for e in made.take() if isinstance(e, TextDelta)] == ["the ", "𝄞 is ", "[key]."]


@pytest.mark.parametrize(
    "ending",
    [
        {"status": "incomplete", "incomplete_details": {"reason": "engine_overloaded"}},
        {"status": "cancelled"},
    ],
)
def test_a_response_that_ends_with_a_fault_is_none(ending: JsonObject) -> None:
    with pytest.raises(ServerFailedError):
        assemble(
            {"type": "response.output_text.delta", "output_index": 0, "delta": "I will"},
            {"type": "response.completed", "response": ending},
        )


def test_a_response_of_thoughts_only_is_empty() -> None:
    with pytest.raises(EmptyAnswerError):
        assemble(response(REASONING))


def test_a_schema_is_the_format_of_the_text() -> None:
    schema: JsonObject = {"type": "object"}
    asked = Request("m", "", (UserMessage((Text("Hi."),)),), schema=schema)
    without = Request("m", "", asked.messages, schema=schema, shape=Shape(response_format=False))

    assert loads_object(encode_responses(asked))["text"] == {
        "format": {"type": "json_schema", "name": "answer", "strict": False, "schema": schema}
    }
    assert "text" not in loads_object(encode_responses(without))
