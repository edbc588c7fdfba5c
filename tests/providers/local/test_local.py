from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from agentsh.abort import Abort
from agentsh.errors import ProviderError, UsageError
from agentsh.providers.local.gguf import GgufHead, read_head
from agentsh.providers.local.local import LocalProvider, find_model, start_local
from tests.providers.asking import ask, request_to

INSTALLED = find_spec("xllamacpp") is not None and find_model() is not None
needs_model = pytest.mark.skipif(not INSTALLED, reason="the extra [local] is not installed")


def gguf(*pairs: tuple[str, int, bytes]) -> bytes:
    """The head of a GGUF file: (key, kind, value as bytes)."""

    def text(value: str) -> bytes:
        raw = value.encode()
        return struct.pack("<Q", len(raw)) + raw

    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs))
    return head + b"".join(text(k) + struct.pack("<I", kind) + v for k, kind, v in pairs)


def string(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


HEAD = (
    ("general.name", 8, string("Tiny")),
    ("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 2) + string("a") + string("b")),
    ("tokenizer.ggml.scores", 9, struct.pack("<IQff", 6, 2, 0.5, 0.5)),
    ("llama.context_length", 4, struct.pack("<I", 2048)),
    ("llama.rope.base", 6, struct.pack("<f", 1.0)),
)


@pytest.mark.parametrize(
    ("template", "tools"), [(None, None), ("{{messages}}", False), ("{% if tools %}", True)]
)
def test_a_file_says_its_window_and_whether_it_knows_tools(
    tmp_path: Path, template: str | None, tools: bool | None
) -> None:
    more = [("tokenizer.chat_template", 8, string(template))] if template is not None else []
    file = tmp_path / "x.gguf"
    file.write_bytes(gguf(*HEAD, *more))

    assert read_head(file) == GgufHead("Tiny", 2048, tools)


@pytest.mark.parametrize(
    "damage", [b"", b"PK\x03\x04", b"GGUF", gguf(*HEAD)[:60], gguf(("x", 99, b""))]
)
def test_a_file_that_is_no_model_is_named(tmp_path: Path, damage: bytes) -> None:
    file = tmp_path / "x.gguf"
    file.write_bytes(damage)

    with pytest.raises(UsageError, match=r"x\.gguf"):
        read_head(file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        find_model(tmp_path / "x.gguf")


@pytest.mark.skipif(find_spec("xllamacpp") is not None, reason="it is installed")
def test_a_missing_server_is_one_message_with_the_command(tmp_path: Path) -> None:
    file = tmp_path / "x.gguf"
    file.write_bytes(gguf(*HEAD))

    with pytest.raises(UsageError, match="xllamacpp") as caught:
        start_local(file, os.environ, print)
    assert "agentsh[local]" in str(caught.value.hint)


def test_a_model_answers_what_it_is_without_being_started(tmp_path: Path) -> None:
    file = tmp_path / "Tiny-1.gguf"
    file.write_bytes(gguf(*HEAD))
    (info,) = LocalProvider(file, os.environ, print).models()

    assert (info.id, info.context_window, info.calls_tools) == ("tiny-1", 2048, False)


@pytest.mark.skipif(find_spec("xllamacpp") is not None, reason="it is installed")
def test_a_server_that_cannot_start_is_an_error_of_the_provider(tmp_path: Path) -> None:
    file = tmp_path / "tiny.gguf"
    file.write_bytes(gguf(*HEAD))

    with pytest.raises(ProviderError, match="could not start"):
        ask(LocalProvider(file, os.environ, lambda _: None))


# ---- with the real model ---------------------------------------------------------------------


@pytest.mark.interop
@needs_model
def test_the_embedded_model_answers_and_ends_with_its_provider() -> None:
    weights = find_model()
    assert weights is not None
    said: list[str] = []
    provider = start_local(weights, os.environ, said.append)
    _, message = ask(provider, "Say hi.")
    server = provider._server
    assert server is not None
    provider.close()

    assert message.text
    assert message.stop_reason in ("stop", "length")
    assert message.usage.total_tokens > 0
    assert not server.is_alive


@pytest.mark.interop
@needs_model
def test_an_abort_while_loading_leaves_nothing_behind() -> None:
    weights = find_model()
    assert weights is not None
    provider = start_local(weights, os.environ, lambda _: None)
    abort = Abort()
    abort.set()
    request = request_to(provider)
    events = list(provider.stream(provider.body(request), request, abort))

    assert len(events) == 1
    assert provider._server is None


PARENT = """
import os, sys
from agentsh.abort import Abort
from agentsh.providers.local.local import find_model, start_local
provider = start_local(find_model(), os.environ, lambda _: None)
provider._started(Abort())
print(provider._server._process.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.interop
@needs_model
def test_the_server_ends_with_a_parent_that_was_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)

    assert not Path(f"/proc/{child}").exists()
