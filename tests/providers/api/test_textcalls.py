"""A call that was only written is told, in each of the spellings; what merely quotes one is not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.messages import ToolSchema
from agentsh.providers.api.textcalls import written_call
from agentsh.providers.base import Finished, Warned
from tests.providers.asking import provider_for, request_to
from tests.support.endpoint import serve, text

NAMES = ("read", "bash")
CALL = '{"name": "read", "arguments": {"path": "a"}}'


@pytest.mark.parametrize(
    "said",
    [
        CALL,
        f"I look.\n```json\n{CALL}\n```",
        f"```\n{CALL}\n```\n",
        f"```json\n[{CALL}]\n```",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"I look. <tool_call>{CALL}</tool_call> ",
        '{"name": "read", "parameters": {}}',
        '{"type": "function", "function": {"name": "read", "arguments": "{}"}}',
        "<function=read>\n<parameter=path>a</parameter>\n</function>",
        '[TOOL_CALLS][{"name": "read", "arguments": {}}]',
        '<function_calls><invoke name="read"></invoke></function_calls>',
        '<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path":"a"}<|call|>',
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant to=functions.read<|channel|>"
        'commentary<|message|>{"path":"a"}',
    ],
)
def test_a_call_that_ends_the_text_is_found(said: str) -> None:
    assert written_call(said, NAMES) == "read"


@pytest.mark.parametrize(
    "said",
    [
        "",
        "I read the file.",
        f"A call looks like this:\n```json\n{CALL}\n```\nNothing was called.",
        '```json\n{"name": "read"}\n```',
        '```json\n{"name": "other", "arguments": {}}\n```',
        '{"name": ["read"], "arguments": {}}',
        "<tool_call>already</tool_call>",
        "```python\nread()\n```",
        "{" * 30_000 + "}",
        "[" * 5000 + "]" * 5000,
    ],
)
def test_what_is_no_call_of_an_offered_tool_at_the_end_is_none(said: str) -> None:
    assert written_call(said, NAMES) is None


def test_a_call_written_as_text_is_told_once_and_never_run() -> None:
    tools = (ToolSchema("read", "Read a file.", {"type": "object"}),)
    with serve(text(f"```json\n{CALL}\n```")) as server:
        provider = provider_for(server.base_url)
        request = replace(request_to(provider), tools=tools)
        body = provider.body(request)
        first, second = (list(provider.stream(body, request, Abort())) for _ in range(2))

    (told,) = [e.text for e in first if isinstance(e, Warned)]
    assert "call of read as text" in told
    assert not [e for e in second if isinstance(e, Warned)]
    last = first[-1]
    assert isinstance(last, Finished)
    assert last.message.tool_calls == ()
    assert last.message.text.endswith("```")
