from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agentsh.errors import (
    ContextOverflowError,
    ImageLimitError,
    RequestRejectedError,
    ServerFailedError,
)
from agentsh.jsontext import dumps, loads_object
from agentsh.providers.api.dialects import (
    DIALECTS,
    changed,
    from_json,
    learn,
    shape_changes,
    table_shape,
    to_json,
)
from agentsh.providers.base import RESPONSES, Shape


def refused(words: str, status: int = 400) -> RequestRejectedError:
    return RequestRejectedError(words, words=words, status=status)


PLAIN = Shape()
OPENAI = (
    "Unsupported parameter: 'max_tokens' is not supported with this model."
    " Use 'max_completion_tokens' instead."
)


@pytest.mark.parametrize(
    ("shape", "words", "change"),
    [
        (PLAIN, OPENAI, {"token_field": "max_completion_tokens"}),
        (
            Shape(token_field="max_completion_tokens"),
            "Unrecognized request argument supplied: max_completion_tokens",
            {"token_field": "max_tokens"},
        ),
        (PLAIN, "Unsupported parameter: 'stream_options'", {"stream_usage": False}),
        (
            PLAIN,
            "body.stream_options.include_usage: extra fields not permitted",
            {"stream_usage": False},
        ),
        (
            Shape(reasoning_effort=True),
            "Unrecognized request argument supplied: reasoning_effort",
            {"reasoning_effort": False},
        ),
        (
            Shape(reasoning_effort=True, thinking_style="qwen"),
            "enable_thinking is not supported",
            {"reasoning_effort": False},
        ),
        (
            Shape(system_role="developer"),
            "developer is not one of ['system', 'assistant', 'user', 'tool'] - 'messages.[0].role'",
            {"system_role": "system"},
        ),
        (
            PLAIN,
            "Unsupported value: 'messages[0].role' does not support 'system' with this model,"
            " use 'developer'.",
            {"system_role": "developer"},
        ),
        (
            PLAIN,
            "messages.2.reasoning_content: the reasoning_content field is not allowed in input",
            {"reasoning_echo": "never"},
        ),
        (
            Shape(reasoning_echo="never"),
            "Missing `reasoning_content` field in the assistant message at message index 2.",
            {"reasoning_echo": "calls"},
        ),
        (
            Shape(reasoning_echo="calls"),
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
            {"reasoning_echo": "always"},
        ),
        (PLAIN, "Unexpected role 'user' after role 'tool'", {"bridge_after_tool": True}),
        (PLAIN, "Conversation roles must alternate user/assistant/…", {"merge_users": True}),
        (PLAIN, "image_url is only supported by certain models", {"accepts_images": False}),
        (PLAIN, "This model does not support image inputs", {"accepts_images": False}),
        (
            PLAIN,
            "litellm.UnsupportedParamsError: Anthropic doesn't support tool calling without"
            " `tools=` param specified.",
            {"tools_with_calls": True},
        ),
        (PLAIN, "The toolConfig field must be defined when …", {"tools_with_calls": True}),
        (PLAIN, "This response_format type is unavailable now", {"response_format": False}),
        (PLAIN, "Unknown name in 'generation_config.response_schema'", {"response_format": False}),
        (PLAIN, "Unsupported parameter: 'text.format'", {"response_format": False}),
        (
            Shape(extra_body={"seed": 1, "top_k": 2}),
            "Unrecognized request argument supplied: top_k",
            {"extra_body": {"seed": 1}},
        ),
    ],
)
def test_a_refusal_that_names_something_changes_that_and_nothing_else(
    shape: Shape, words: str, change: dict[str, object]
) -> None:
    assert learn(shape, refused(words)) == replace(shape, **change)


@pytest.mark.parametrize(
    "words",
    [
        "something about this request is odd",
        "Invalid schema for response_format 'answer': 'additionalProperties' is required",
        "Unrecognized request argument supplied: parallel_tool_calls",
        "Invalid API key",
        "The model `x` does not exist",
        "max_tokens must be at most 4096",
        "max_tokens is too large: 99999. This model supports at most 4096 completion tokens",
        "messages.0.content: input should be a valid string",
        "",
    ],
)
def test_other_refusals_teach_nothing(words: str) -> None:
    assert learn(PLAIN, refused(words)) is None


def test_only_a_refusal_teaches() -> None:
    assert learn(PLAIN, ServerFailedError(OPENAI, words=OPENAI, status=503)) is None
    assert learn(PLAIN, ContextOverflowError(OPENAI, words=OPENAI, status=400)) is None
    assert learn(PLAIN, refused(OPENAI, status=401)) is None
    assert learn(PLAIN, ValueError(OPENAI)) is None


def burnt(words: str, status: int = 500) -> ServerFailedError:
    return ServerFailedError(words, words=words, status=status)


LLAMA = (
    "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"
)


def test_a_500_that_speaks_of_the_request_is_a_refusal() -> None:
    learned = learn(PLAIN, burnt(LLAMA))
    assert learned is not None
    assert not learned.accepts_images
    turns = "Conversation roles must alternate user/assistant/user/assistant/..."
    assert learn(PLAIN, burnt(turns)) == replace(PLAIN, merge_users=True)


@pytest.mark.parametrize(
    ("words", "status"),
    [(LLAMA, 503), ("fetching image_url timed out", 500), ("the server burns", 500), ("", 500)],
)
def test_a_server_that_failed_teaches_nothing(words: str, status: int) -> None:
    assert learn(PLAIN, burnt(words, status)) is None


def test_what_was_learned_is_not_learned_again() -> None:
    learned = learn(PLAIN, refused(OPENAI))
    assert learned is not None

    assert learn(learned, refused(OPENAI)) is None


@pytest.mark.parametrize(
    ("host", "model", "change"),
    [
        ("api.openai.com", "gpt-5-mini", {"token_field": "max_completion_tokens",
            "reasoning_effort": True, "reasoning_echo": "never"}),
        ("api.openai.com", "gpt-4o", {"token_field": "max_completion_tokens",
            "reasoning_echo": "never"}),
        ("api.mistral.ai", "devstral", {"reasoning_echo": "never", "merge_users": True,
            "bridge_after_tool": True, "stream_usage": False, "short_call_ids": True}),
        ("api.deepseek.com", "deepseek-chat", {"reasoning_effort": True,
            "thinking_style": "enabled", "reasoning_echo": "calls", "accepts_images": False}),
        ("openrouter.ai", "any/thing", {"reasoning_effort": True,
            "thinking_style": "openrouter", "reasoning_echo": "always"}),
        ("127.0.0.1", "qwen", {}),
        ("notopenai.com.evil.example", "gpt-4o", {}),
    ],
)  # fmt: skip
def test_the_table_knows_a_host_by_its_name(
    host: str, model: str, change: dict[str, object]
) -> None:
    assert table_shape(host, model) == replace(PLAIN, **change)


@pytest.mark.parametrize("host", ["api.openai.com", "x.openai.azure.com", "api.groq.com", "h"])
def test_e42_reasoning_goes_back_over_the_responses_api_whatever_chat_completions_take(
    host: str,
) -> None:
    shape = table_shape(host, "gpt-5", RESPONSES)

    assert (shape.api, shape.reasoning_echo) == (RESPONSES, "auto")


@pytest.mark.parametrize(
    "words",
    [
        "The encrypted content gAAA could not be verified. Reason: Encrypted content could not be"
        " decrypted or parsed.",
        "Item with id 'rs_03e' not found. Items are not persisted when `store` is set to false.",
        "Item 'rs_684' of type 'reasoning' was provided without its required following item.",
        "Invalid 'input[2].id': ''. Expected an ID that begins with 'rs'.",
        "Invalid value: 'reasoning'. Supported values are: 'message', … (input[1].type)",
        "item['content'] is not an array",
    ],
)
def test_e42_an_item_of_reasoning_that_is_refused_is_left_out(words: str) -> None:
    shape = Shape(api=RESPONSES, reasoning_effort=True)

    assert learn(shape, refused(words)) == replace(shape, reasoning_echo="never")


def test_e42_what_stays_refused_without_items_is_about_the_effort() -> None:
    error = refused("Encrypted content is not supported with this model.")
    shape = Shape(api=RESPONSES, reasoning_effort=True, reasoning_echo="never")

    assert learn(shape, error) == replace(shape, reasoning_effort=False)


def test_every_row_changes_fields_that_there_are() -> None:
    for row in DIALECTS:
        assert to_json(changed(PLAIN, row.change)) == dict(row.change)


shapes = st.builds(
    Shape,
    token_field=st.sampled_from(["max_tokens", "max_completion_tokens"]),
    stream_usage=st.booleans(),
    reasoning_effort=st.booleans(),
    reasoning_echo=st.sampled_from(["auto", "never", "calls", "always"]),
    merge_users=st.booleans(),
    max_images=st.integers(0, 50),
    extra_body=st.dictionaries(st.text(max_size=4), st.integers(-9, 9), max_size=2),
)


@given(shapes)
def test_a_shape_survives_the_log(shape: Shape) -> None:
    assert from_json(loads_object(dumps(to_json(shape)))) == shape


@given(shapes, shapes)
def test_a_difference_makes_one_shape_of_the_other(one: Shape, other: Shape) -> None:
    assert changed(one, shape_changes(one, other)) == other


def test_what_is_no_field_of_a_shape_is_passed_over() -> None:
    assert from_json({"token_field": 7, "new_in_2031": True, "merge_users": True}) == Shape(
        merge_users=True
    )


def test_the_default_is_written_as_nothing() -> None:
    assert to_json(PLAIN) == {}


def test_a_server_that_wants_short_call_ids_is_given_them() -> None:
    words = "Tool call id was call_abc_1 but must be a-z, A-Z, 0-9, with a length of 9."
    error = RequestRejectedError("400", status=400, words=words)

    learned = learn(Shape(), error)

    assert learned == Shape(short_call_ids=True)
    assert from_json(to_json(learned)) == learned


def test_a_refusal_of_pictures_teaches_the_first_bound_that_leaves_out_more() -> None:
    error = ImageLimitError("too many", status=413)
    error.limits = (("max_image_side", 2000), ("unknown", 1), ("max_images_size", 90_000))

    one = learn(PLAIN, error)
    assert one == replace(PLAIN, max_image_side=2000)
    two = learn(one, error)
    assert two == replace(one, max_images_size=90_000)
    assert learn(two, error) is None
    assert from_json(loads_object(dumps(to_json(two)))) == two
