from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentsh.jsontext import JsonObject, JsonValue, loads_object
from agentsh.messages import (
    AssistantMessage,
    Image,
    SentMessage,
    Text,
    Thinking,
    ThinkingLevel,
    ToolCall,
    ToolCallId,
    ToolResultMessage,
    ToolSchema,
    Usage,
    UserMessage,
)
from agentsh.providers.api.chat import IMAGE_LEFT_OUT, RESULTS_SEEN, encode_chat, wire_messages
from agentsh.providers.base import Request, Shape

PICTURE = Image("aGk=", "image/png")
READ = ToolSchema("read", "Read a file.", {"type": "object", "properties": {}})


def user(*blocks: Text | Image | str) -> UserMessage:
    return UserMessage(tuple(Text(b) if isinstance(b, str) else b for b in blocks))


def assistant(*blocks: Text | Thinking | ToolCall) -> AssistantMessage:
    return AssistantMessage(blocks, "openai-completions", "p", "m", Usage(), "stop")


def call(call_id: str = "a", **members: object) -> ToolCall:
    return ToolCall(ToolCallId(call_id), "read", {"path": "né"}, **members)  # type: ignore[arg-type]


def result(*blocks: Text | Image, call_id: str = "a") -> ToolResultMessage:
    return ToolResultMessage(ToolCallId(call_id), "read", blocks, is_error=False)


def request(*messages: SentMessage, **members: object) -> Request:
    return Request("m", "Be good.", messages, **members)  # type: ignore[arg-type]


def wire(*messages: SentMessage, shape: Shape | None = None) -> list[JsonObject]:
    return wire_messages(request(*messages, shape=shape or Shape()))[1:]


def test_the_body_is_these_bytes() -> None:
    body = encode_chat(
        request(user("Hi."), assistant(call()), result(Text("ok")), tools=(READ,), max_tokens=5)
    )

    assert body.decode() == (
        '{"model":"m","messages":[{"role":"system","content":"Be good."},'
        '{"role":"user","content":"Hi."},'
        '{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function",'
        '"function":{"name":"read","arguments":"{\\"path\\":\\"né\\"}"}}]},'
        '{"role":"tool","tool_call_id":"a","content":"ok"}],'
        '"tools":[{"type":"function","function":{"name":"read","description":"Read a file.",'
        '"parameters":{"type":"object","properties":{}}}}],'
        '"stream":true,"stream_options":{"include_usage":true},"max_tokens":5}'
    )


def test_nothing_is_sent_that_nobody_asked_for() -> None:
    body = loads_object(encode_chat(Request("m", "", (user("Hi."),))))

    assert list(body) == ["model", "messages", "stream", "stream_options"]
    assert body["messages"] == [{"role": "user", "content": "Hi."}]


def test_a_schema_is_sent_where_the_shape_allows_it() -> None:
    schema: JsonObject = {"type": "object"}
    asked = Request("m", "", (user("Hi."),), schema=schema)
    without = replace(asked, shape=Shape(response_format=False))
    own = replace(asked, shape=Shape(extra_body={"response_format": {"type": "json_object"}}))

    assert loads_object(encode_chat(asked))["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema},
    }
    assert "response_format" not in loads_object(encode_chat(without))
    assert loads_object(encode_chat(own))["response_format"] == {"type": "json_object"}


def test_calls_among_the_messages_need_tools_where_the_server_says_so() -> None:
    shape = Shape(tools_with_calls=True)
    with_calls = request(user("Hi."), assistant(call()), result(), tools=(), shape=shape)
    without = request(user("Hi."), tools=(), shape=shape)

    assert loads_object(encode_chat(with_calls))["tools"] == []
    assert "tools" not in loads_object(encode_chat(without))


def test_the_shape_names_the_fields() -> None:
    shape = Shape(
        token_field="max_completion_tokens",
        stream_usage=False,
        system_role="developer",
        extra_body={"seed": 7},
    )
    body = loads_object(encode_chat(request(user("Hi."), shape=shape, max_tokens=9)))

    assert "stream_options" not in body
    assert (body["max_completion_tokens"], body["seed"]) == (9, 7)
    assert "max_tokens" not in body
    assert wire_messages(request(shape=shape)) == [{"role": "developer", "content": "Be good."}]


@pytest.mark.parametrize(
    ("style", "level", "members"),
    [
        ("effort", "high", {"reasoning_effort": "high"}),
        ("effort", "max", {"reasoning_effort": "high"}),
        ("effort", "minimal", {"reasoning_effort": "low"}),
        ("openrouter", "low", {"reasoning": {"effort": "low"}}),
        ("enabled", "low", {"thinking": {"type": "enabled"}}),
        ("qwen", "low", {"enable_thinking": True}),
        ("template", "low", {"chat_template_kwargs": {"enable_thinking": True}}),
        ("effort", "off", {}),
    ],
)
def test_a_thinking_level_is_spelled_as_the_dialect_wants(
    style: str, level: str, members: JsonObject
) -> None:
    shape = Shape(reasoning_effort=True, thinking_style=style)
    plain = loads_object(encode_chat(request(user("Hi."))))
    body = loads_object(encode_chat(request(user("Hi."), shape=shape, thinking=level)))

    assert body == {**plain, **members}


@pytest.mark.parametrize("level", get_args(ThinkingLevel))
def test_no_thinking_field_goes_to_a_server_that_is_not_known_to_take_one(level: str) -> None:
    assert encode_chat(request(thinking=level)) == encode_chat(request())


def test_arguments_that_did_not_parse_go_out_as_an_empty_object() -> None:
    broken = ToolCall(ToolCallId("a"), "read", {}, raw_arguments="{", arguments_error="bad")

    assert wire(assistant(broken))[0]["tool_calls"] == [
        {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    ]


def test_unknown_members_of_a_call_go_back() -> None:
    sent = wire(assistant(call(extra={"extra_content": {"google": 1}})))[0]["tool_calls"]

    assert isinstance(sent, list)
    assert sent[0]["extra_content"] == {"google": 1}


# ---- reasoning -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "with_calls", "without"),
    [
        ("auto", True, False),
        ("calls", True, False),
        ("always", True, True),
        ("never", False, False),
    ],
)
def test_reasoning_goes_back_as_the_policy_says(
    policy: str, with_calls: bool, without: bool
) -> None:
    thought = Thinking("hm", signature="reasoning_content")
    shape = Shape(reasoning_echo=policy)

    assert ("reasoning_content" in wire(assistant(thought, call()), shape=shape)[0]) is with_calls
    assert ("reasoning_content" in wire(assistant(thought, Text("a")), shape=shape)[0]) is without


def test_reasoning_goes_back_verbatim_under_its_own_name() -> None:
    sent = wire(assistant(Thinking("hm", signature="reasoning"), call()))[0]

    assert list(sent) == ["role", "content", "reasoning", "tool_calls"]
    assert (sent["content"], sent["reasoning"]) == ("", "hm")


def test_details_go_back_whole_and_alone() -> None:
    details: list[JsonValue] = [{"type": "reasoning.text", "text": "hm", "index": 0}]
    thought = Thinking("hm", signature="reasoning", extra={"reasoning_details": details})
    sent = wire(assistant(thought, call()))[0]

    assert sent["reasoning_details"] == details
    assert "reasoning" not in sent


def test_reasoning_of_an_unknown_kind_stays_here() -> None:
    assert list(wire(assistant(Thinking("hm", signature="{}"), call()))[0]) == [
        "role", "content", "tool_calls",
    ]  # fmt: skip


# ---- images ----------------------------------------------------------------------------------

URL = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}


def test_content_is_parts_only_where_there_is_an_image() -> None:
    assert wire(user("a", "b"), user("c", PICTURE)) == [
        {"role": "user", "content": "a\nb"},
        {"role": "user", "content": [{"type": "text", "text": "c"}, URL]},
    ]


def test_images_of_results_follow_the_run_of_results_as_one_user_message() -> None:
    sent = wire(
        assistant(call("a"), call("b")),
        result(Text("one"), PICTURE),
        result(PICTURE, call_id="b"),
        user("So?"),
    )

    assert [m["role"] for m in sent] == ["assistant", "tool", "tool", "user", "user"]
    assert all(isinstance(m["content"], str) for m in sent[:3])
    assert [p for p in sent[3]["content"] if p == URL] == [URL, URL]  # type: ignore[union-attr]


def test_a_model_without_eyes_gets_words_for_images() -> None:
    sent = wire(
        user("c", PICTURE), assistant(call()), result(PICTURE), shape=Shape(accepts_images=False)
    )

    assert sent[0]["content"] == f"c\n{IMAGE_LEFT_OUT}"
    assert sent[2]["content"] == IMAGE_LEFT_OUT


# ---- order -----------------------------------------------------------------------------------


def test_a_strict_server_gets_a_bridge_after_results_and_joined_prompts() -> None:
    shape = Shape(merge_users=True, bridge_after_tool=True)
    sent = wire(assistant(call()), result(Text("ok"), PICTURE), user("a"), user("b"), shape=shape)

    assert [m["role"] for m in sent] == ["assistant", "tool", "assistant", "user"]
    assert sent[2]["content"] == RESULTS_SEEN
    assert sent[3]["content"][-1] == {"type": "text", "text": "b"}  # type: ignore[index]


def test_joined_texts_stay_a_string() -> None:
    assert wire(user("a"), user("b"), shape=Shape(merge_users=True)) == [
        {"role": "user", "content": "a\n\nb"}
    ]


# ---- properties ------------------------------------------------------------------------------

blocks = st.lists(st.builds(Text, st.text(max_size=8)) | st.just(PICTURE), min_size=1, max_size=3)
messages = st.lists(
    st.builds(UserMessage, blocks.map(tuple))
    | st.builds(assistant, st.builds(Text, st.text(max_size=8)))
    | st.builds(lambda b: result(*b), blocks),
    max_size=6,
)
shapes = st.builds(
    Shape, merge_users=st.just(False), bridge_after_tool=st.booleans(), accepts_images=st.booleans()
)


def no_null(value: JsonValue) -> bool:
    match value:
        case None:
            return False
        case dict():
            return all(no_null(v) for v in value.values())
        case list():
            return all(no_null(v) for v in value)
        case _:
            return True


@given(messages, shapes)
def test_a_body_is_pure_and_has_no_null(sent: list[SentMessage], shape: Shape) -> None:
    asked = request(*sent, shape=shape)
    body = encode_chat(asked)

    assert encode_chat(asked) == body
    assert no_null(json.loads(body))


@given(messages, messages, shapes)
def test_a_longer_conversation_begins_with_the_shorter_one(
    first: list[SentMessage], more: list[SentMessage], shape: Shape
) -> None:
    # images of results wait for the end of the run, so the shorter one must not end within it
    first = [*first, user("Go on.")]
    before = wire_messages(request(*first, shape=shape))

    assert wire_messages(request(*first, *more, shape=shape))[: len(before)] == before
