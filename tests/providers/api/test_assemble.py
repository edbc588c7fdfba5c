from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.errors import (
    ContextOverflowError,
    EmptyAnswerError,
    ProviderError,
    RateLimitedError,
    RequestRejectedError,
    ServerFailedError,
    StreamProtocolError,
)
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import AssistantMessage, Text, Thinking, Usage
from agentsh.providers.api.assemble import ChatAssembler
from agentsh.providers.base import Finished, StreamEvent, TextDelta, ThinkingDelta, ToolCallDelta
from agentsh.providers.wire.failures import ErrorSource
from agentsh.providers.wire.sse import SseDecoder
from tests.providers.framing import splits
from tests.support.endpoint import chunk, fragment, usage_chunk

CAPTURED = Path(__file__).resolve().parents[4] / "shared" / "check" / "data"


def assembler() -> ChatAssembler:
    return ChatAssembler(ErrorSource("host:1"), provider="p", model="m")


def assemble(
    *chunks: JsonValue, done: bool = True
) -> tuple[list[StreamEvent], AssistantMessage, bool]:
    made = assembler()
    for one in chunks:
        made.feed(one)
    finished = made.finish(done=done)
    return made.take(), finished.message, finished.usage_known


def message(*chunks: JsonValue, done: bool = True) -> AssistantMessage:
    return assemble(*chunks, done=done)[1]


def test_text_is_joined_and_told_once() -> None:
    events, made, known = assemble(
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "a"}),
        chunk({"content": "b"}),
        chunk({}, "stop"),
        usage_chunk(14, 12),
    )

    assert events == [TextDelta("ab")]
    assert known
    assert made == AssistantMessage(
        (Text("ab"),),
        "openai-completions",
        "p",
        "m",
        Usage(input=14, output=12, total_tokens=26),
        "stop",
        response_id="chatcmpl-1",
        raw_stop_reason="stop",
    )


@pytest.mark.parametrize(
    "odd",
    [
        {"choices": [], "prompt_filter_results": [], "id": "", "model": ""},
        {"id": "x"},
        {"id": "x", "choices": None},
        chunk(None),
        {"choices": [{"index": 0}]},
        {"choices": [None]},
        {},
    ],
)
def test_a_chunk_may_lack_anything(odd: JsonObject) -> None:
    made = message(odd, chunk({"content": "hi"}), odd, chunk(None, "stop"), odd)

    assert made.text == "hi"


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", "stop"),
        ("eos", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("tool_calls", "stop"),
    ],
)
def test_a_finish_reason_of_text_says_how_it_stopped(finish: str, stop: str) -> None:
    made = message(chunk({"content": "a"}), chunk({}, finish), done=False)

    assert (made.stop_reason, made.raw_stop_reason) == (stop, finish)


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "function_call", None])
def test_calls_decide_that_tools_are_wanted_whatever_the_reason(finish: str | None) -> None:
    made = message(chunk(fragment("ls", "{}", index=0, id="a")), chunk({}, finish))

    assert made.stop_reason == "toolUse"
    assert [c.arguments_error for c in made.tool_calls] == [None]


def test_a_call_cut_by_the_limit_is_marked_and_kept_raw() -> None:
    half = '{"path":"x","content":"half'
    made = message(chunk(fragment("write", half, index=0, id="a")), chunk({}, "length"))
    call = made.tool_calls[0]

    assert made.stop_reason == "length"
    assert (call.arguments, call.raw_arguments) == ({}, half)
    assert "output limit" in str(call.arguments_error)


def test_neither_reason_nor_done_is_a_cut() -> None:
    made = assembler()
    made.feed(chunk({"content": "half"}))
    made.feed(chunk(fragment("write", "{}", index=0, id="a")))

    with pytest.raises(StreamProtocolError, match="broke off") as caught:
        made.finish(done=False)
    assert caught.value.retryable
    partial = made.partial("error", "cut")
    assert (partial.text, partial.stop_reason, partial.error_message) == ("half", "error", "cut")
    assert all(c.arguments_error for c in partial.tool_calls)


@pytest.mark.parametrize("chunks", [[], [chunk({"role": "assistant"})], [chunk({}, "stop")]])
def test_an_answer_of_nothing_is_an_error(chunks: list[JsonObject]) -> None:
    with pytest.raises(EmptyAnswerError):
        message(*chunks)


def test_usage_of_zero_is_no_measurement() -> None:
    zero = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    _, made, known = assemble(chunk({"content": "a"}, "stop"), {"choices": [], "usage": zero})

    assert not known
    assert made.usage == Usage()


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda u: {"choices": [], "usage": u},
        lambda u: {"choices": [], "x_groq": {"usage": u}},
        lambda u: chunk({}, "stop", usage=u),
        lambda u: {"choices": [{"index": 0, "delta": {}, "usage": u}]},
    ],
)
def test_usage_is_found_wherever_it_stands(wrapped: object) -> None:
    assert callable(wrapped)
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}

    assert message(chunk({"content": "a"}), wrapped(usage)).usage.total_tokens == 7


# ---- errors in the stream --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kind", "retryable"),
    [
        ({"error": {"message": "quota exceeded", "code": 429}}, RateLimitedError, True),
        ({"error": {"message": "no such model", "code": 400}}, RequestRejectedError, False),
        ({"error": {"message": "it burns", "type": "server_error"}}, ServerFailedError, True),
        ({"error": "it burns"}, ServerFailedError, True),
        ({"object": "error", "message": "it burns", "code": 500}, ServerFailedError, True),
        ({"detail": "it burns"}, ServerFailedError, True),
        (
            {"error": {"message": "too much", "code": "context_length_exceeded"}},
            ContextOverflowError,
            False,
        ),
        (
            {"error": {"message": "no more money", "code": "insufficient_quota"}},
            RateLimitedError,
            False,
        ),
        (chunk({}, "error"), ServerFailedError, True),
        (chunk({}, "content_filter"), RequestRejectedError, False),
        ("it burns", ServerFailedError, True),
    ],
)
def test_an_error_in_the_stream_fails_the_answer(
    value: JsonValue, kind: type[ProviderError], retryable: bool
) -> None:
    with pytest.raises(kind) as caught:
        message(chunk({"content": "a"}), value)
    assert type(caught.value) is kind
    assert caught.value.retryable is retryable


def test_the_words_of_an_error_are_the_servers() -> None:
    with pytest.raises(ProviderError, match=r"host:1: quota exceeded for project 17"):
        message({"error": {"message": "quota exceeded for project 17", "code": 429}})


# ---- reasoning -------------------------------------------------------------------------------

DETAILS: list[JsonValue] = [
    {"type": "reasoning.text", "text": "I look.", "format": None, "index": 0}
]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "reasoning_text"])
def test_reasoning_is_read_under_each_name_and_signed_with_it(name: str) -> None:
    events, made, _ = assemble(
        chunk({name: "I ", "content": None}),
        chunk({name: "look."}),
        chunk({"content": "a"}, "stop"),
    )

    assert events == [ThinkingDelta("I look."), TextDelta("a")]
    assert made.content == (Thinking("I look.", signature=name), Text("a"))


def test_reasoning_under_two_names_at_once_is_taken_once() -> None:
    both = chunk({"reasoning": "I look.", "reasoning_content": "I look."})

    assert message(both, chunk({"content": "a"}, "stop")).content[0] == Thinking(
        "I look.", signature="reasoning_content"
    )


def test_details_alone_are_read_as_text_and_kept_whole() -> None:
    made = message(chunk({"reasoning_details": DETAILS}), chunk({"content": "a"}, "stop"))

    assert made.content[0] == Thinking(
        "I look.", signature="reasoning_details", extra={"reasoning_details": DETAILS}
    )


def test_details_in_pieces_become_one_detail() -> None:
    def piece(text: str) -> JsonObject:
        detail: JsonObject = {"type": "reasoning.text", "text": text, "index": 0}
        return chunk({"reasoning": text, "reasoning_details": [detail]})

    block = message(piece("I "), piece("look."), chunk({"content": "a"}, "stop")).content[0]

    assert block == Thinking(
        "I look.",
        signature="reasoning",
        extra={"reasoning_details": [{"type": "reasoning.text", "text": "I look.", "index": 0}]},
    )


def test_content_in_parts_is_text_and_thinking() -> None:
    parts: list[JsonValue] = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "a"},
    ]

    events, made, _ = assemble(chunk({"content": parts}, "stop"))

    assert events == [ThinkingDelta("hm"), TextDelta("a")]
    assert made.text == "a"


# ---- not streamed ----------------------------------------------------------------------------


def test_a_whole_completion_is_read_like_a_stream_of_one() -> None:
    function = {"name": "read", "arguments": '{"path":"n"}'}
    whole: JsonObject = {
        "id": "x",
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "p1", "type": "function", "function": function}],
                },
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    }
    events, made, _ = assemble(whole)

    assert [c.arguments for c in made.tool_calls] == [{"path": "n"}]
    assert events == [ToolCallDelta(0, "read", '{"path":"n"}')]
    assert made.usage.total_tokens == 2


def test_lone_surrogates_never_reach_the_message() -> None:
    assert message(chunk({"content": "a\ud83d"}, "stop")).text == "a\ufffd"


# ---- properties ------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.sampled_from(["content", "reasoning"]), st.text(max_size=4))))
def test_the_events_together_are_the_message(parts: list[tuple[str, str]]) -> None:
    chunks = [chunk({name: text}) for name, text in parts]
    events, made, _ = assemble(*chunks, chunk({"content": "."}, "stop"))
    told = "".join(e.text for e in events if isinstance(e, TextDelta))
    thought = "".join(e.text for e in events if isinstance(e, ThinkingDelta))

    assert told == made.text == "".join(t for n, t in parts if n == "content") + "."
    assert thought == "".join(t for n, t in parts if n == "reasoning")


def read_stream(blocks: list[bytes]) -> tuple[str, Finished]:
    decoder, made = SseDecoder(), assembler()
    told = ""
    done = False
    for block in blocks:
        for found in decoder.feed(block):
            if found.data == b"[DONE]":
                done = True
            else:
                made.feed(json.loads(found.data))
        told += "".join(e.text for e in made.take() if isinstance(e, TextDelta))
    return told, made.finish(done=done)


@pytest.mark.interop
@pytest.mark.skipif(not CAPTURED.is_dir(), reason="no captured streams here")
@given(st.data())
def test_captured_streams_give_the_same_message_for_every_split(drawn: st.DataObject) -> None:
    streams = sorted(p for p in CAPTURED.glob("*.raw") if b"data: [DONE]" in p.read_bytes())
    body = drawn.draw(st.sampled_from(streams)).read_bytes().partition(b"\r\n\r\n")[2]
    end = drawn.draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    framed = body.replace(b"\n", end)

    assert read_stream(drawn.draw(splits(framed))) == read_stream([body])
