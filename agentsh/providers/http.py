"""One endpoint over HTTP: the Provider that agentsh uses. Bodies, streams, models, learning.

Order of a stream: events as the reads bring them, then one Finished; or a ProviderError with
`partial` and `emitted`; on abort one Finished with stop reason "aborted". Nothing is repeated in
here. Which API, which spelling: chat.py and responses.py. Sockets and limits: wire.py. What is an
answer: answers.py. Which shape: dialects.py, then memory.py, then the settings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from re import Pattern
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from agentsh import __version__
from agentsh.abort import Abort
from agentsh.errors import (
    ContextOverflowError,
    ProviderError,
    StreamProtocolError,
    UsageError,
)
from agentsh.jsontext import JsonError, JsonValue, loads_foreign
from agentsh.messages import AssistantMessage, Image, Text, Thinking, ToolCall
from agentsh.providers import catalog, dialects
from agentsh.providers.answers import AnswerReader, Assembler
from agentsh.providers.assemble import ChatAssembler
from agentsh.providers.base import Finished, ModelInfo, Request, Shape, StreamEvent, Warned
from agentsh.providers.bodies import RESPONSES, encode_body
from agentsh.providers.failures import Source, error_of_status
from agentsh.providers.memory import Memory
from agentsh.providers.place import read_place
from agentsh.providers.proxies import find_proxy
from agentsh.providers.responsestream import ResponsesAssembler
from agentsh.providers.wire import Answer, Limits, Wire

CHAT: Final = "openai-completions"
_APIS: Final = {"chat": CHAT, "completions": CHAT, "responses": RESPONSES}
_MOST_ERROR: Final = 65_536
_LISTING: Final = 20.0
_MOST_LISTING: Final = 32 << 20
_NOTICED: Final = 8000
"""Tokens below which our own estimate is too rough to accuse a server by."""


class EndpointSettings(Struct, frozen=True):
    """All that is set for an endpoint. Nothing of it is looked up anywhere else."""

    base_url: str
    name: str = "openai-compatible"
    key: str | None = None
    api: str = CHAT
    headers: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    ca_file: str | None = None
    verify: bool = True
    environ: Mapping[str, str] = field(default_factory=dict)
    """For the proxy variables and SSL_CERT_FILE."""
    overflow: Pattern[str] | None = None
    """The user's own wording of an overflow (S33)."""
    shape: Mapping[str, JsonValue] = field(default_factory=dict)
    """Fields of Shape that win over table and memory."""
    model_shapes: Mapping[str, Mapping[str, JsonValue]] = field(default_factory=dict)
    """Fields of Shape that the settings name for one model; win over all else."""
    models: Mapping[str, ModelInfo] = field(default_factory=dict)
    """What the settings say of models; wins over all else."""
    memory: Path | None = None


class HttpProvider:
    """See base.Provider. One stream at a time; `abort` may come from anywhere."""

    def __init__(
        self, settings: EndpointSettings, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._api = _APIS.get(settings.api, settings.api)
        if self._api not in (CHAT, RESPONSES):
            raise UsageError(f"api = {settings.api!r}: only {CHAT!r} and {RESPONSES!r} are known")
        self._memory = Memory(settings.memory)
        place = self._place = read_place(settings.base_url)
        key = (settings.key or place.password or "").strip()
        if not key.isascii() or not key.isprintable():
            raise UsageError("the API key has characters that no key has (a line break, perhaps)")
        self._key = key
        secrets = tuple(s for s in (key, place.password, *settings.headers.values()) if s)
        self._source = Source(place.authority, _secret(secrets), settings.overflow)
        self._wire = Wire(
            self._source,
            proxy=find_proxy(place.scheme, place.host, place.port, settings.environ),
            tls=place.scheme == "https",
            ca_file=settings.ca_file or settings.environ.get("SSL_CERT_FILE") or None,
            verify=settings.verify,
            limits=settings.limits,
        )
        self._refused: set[tuple[str, str]] = set()
        self._warned: set[str] = set()
        self._listed: dict[str, ModelInfo] = {}

    @property
    def name(self) -> str:
        return self._settings.name

    @property
    def endpoint(self) -> str:
        return self._place.shown

    @property
    def api(self) -> str:
        return self._api

    @property
    def trouble(self) -> str | None:
        """Why what was learned could not be kept, if so."""
        return self._memory.trouble

    # ---- shapes -----------------------------------------------------------------------------

    def shape(self, model: str) -> Shape:
        shape = dialects.table_shape(self._place.host, model)
        shape = dialects.changed(shape, self._memory.shape_change(self.endpoint, model))
        shape = dialects.changed(shape, self._settings.shape)
        shape = dialects.changed(shape, self._settings.model_shapes.get(model, {}))
        info = self._settings.models.get(model)
        if info is not None and info.accepts_images is not None:
            shape = replace(shape, accepts_images=info.accepts_images)
        return replace(shape, api=self._api)

    def learn(self, model: str, shape: Shape, error: Exception) -> Shape | None:
        if isinstance(error, ContextOverflowError) and error.window:
            self._memory.learn_window(self.endpoint, model, error.window)
        new = dialects.learn(shape, error)
        if new is None:
            return None
        self._refused.add((model, str(dialects.to_json(shape))))
        if (model, str(dialects.to_json(new))) in self._refused:
            return None
        self._memory.learn_shape(self.endpoint, model, dialects.difference(shape, new))
        return new

    def body(self, request: Request) -> bytes:
        return encode_body(request)

    # ---- streams ----------------------------------------------------------------------------

    def stream(self, body: bytes, request: Request, abort: Abort) -> Iterator[StreamEvent]:
        began = self._clock()
        assembler = self._assembler(request)
        emitted = False
        try:
            with (
                abort.calling(self._wire.shut),
                self._wire.send("POST", self._url(), headers=self._headers(), body=body) as answer,
            ):
                self._check(answer)
                reader = self._reader(assembler)
                for event in reader.events(answer.blocks):
                    if abort.is_set:
                        break
                    emitted = True
                    yield event
            aborted = abort.is_set
            finished = reader.finish() if not aborted else Finished(assembler.partial("aborted"))
        except ProviderError as e:
            if not abort.is_set:
                e.partial = self._stamped(assembler.partial("error", str(e)), request, began)
                e.emitted = emitted
                raise
            finished = Finished(assembler.partial("aborted"))
        if (warning := self._cut_prompt(body, request, finished)) is not None:
            yield warning
        yield replace(finished, message=self._stamped(finished.message, request, began))

    def _assembler(self, request: Request) -> Assembler:
        if request.shape.api == RESPONSES:
            return ResponsesAssembler(self._source, provider=self.name, model=request.model)
        return ChatAssembler(self._source, provider=self.name, model=request.model)

    def _reader(self, assembler: Assembler) -> AnswerReader:
        return AnswerReader(
            self._source,
            assembler,
            patience=self._wire.read_at_most,
            clock=time.monotonic,
            event_limit=self._settings.limits.events,
        )

    def _url(self) -> str:
        tail = "/responses" if self._api == RESPONSES else "/chat/completions"
        return self._place.url(tail)

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream, application/json",
            "Accept-Encoding": "identity",
            "User-Agent": f"agentsh/{__version__}",
        }
        if self._key and self._place.host.endswith(".azure.com"):
            headers["api-key"] = self._key
        elif self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        return headers | dict(self._settings.headers)

    def _check(self, answer: Answer) -> None:
        """Raise what a status other than success means."""
        if 200 <= answer.status < 300:
            return
        kept: list[bytes] = []
        try:
            for block in answer.blocks:
                kept.append(block)
                if sum(map(len, kept)) > _MOST_ERROR:
                    break
        except ProviderError:
            pass  # the status says enough, whatever became of the rest of the explanation
        body = b"".join(kept)
        raise error_of_status(self._source, answer.status, answer.headers, body, now=self._clock())

    def _stamped(
        self, message: AssistantMessage, request: Request, began: float
    ) -> AssistantMessage:
        """When, how long, and what it cost."""
        usage = catalog.priced(message.usage, self.model_info(request.model).prices)
        spent = max(0, round((self._clock() - began) * 1000))
        return replace(message, usage=usage, timestamp=int(began * 1000), duration_ms=spent)

    def _cut_prompt(self, body: bytes, request: Request, finished: Finished) -> Warned | None:
        """Once a model: the server read far less than was sent (E31)."""
        usage = finished.message.usage
        read = usage.input + usage.cache_read + usage.cache_write
        if not finished.usage_known or request.model in self._warned:
            return None
        sent = _text_size(request) // 4
        if sent < _NOTICED or read * 2.5 > sent:
            return None
        self._warned.add(request.model)
        return Warned(
            f"{self._source.endpoint} seems to truncate the prompt: it counted {read} tokens where "
            f"about {sent} were sent. For Ollama, raise num_ctx in a Modelfile or set "
            "OLLAMA_CONTEXT_LENGTH; for others, the context length the server was started with."
        )

    # ---- models -----------------------------------------------------------------------------

    def models(self) -> tuple[ModelInfo, ...]:
        with self._wire.send(
            "GET", self._place.url("/models"), headers=self._headers(), idle=_LISTING
        ) as answer:
            self._check(answer)
            body = self._listing(answer.blocks)
        try:
            listed = catalog.read_models(loads_foreign(body))
        except JsonError as e:
            raise StreamProtocolError(
                f"{self._source.endpoint}: the list of models is no JSON", endpoint=self.endpoint
            ) from e
        self._listed = {m.id: m for m in listed}
        return tuple(self.model_info(m.id) for m in listed)

    def _listing(self, blocks: Iterator[bytes]) -> bytes:
        kept = bytearray()
        for block in blocks:
            kept += block
            if len(kept) > _MOST_LISTING:
                raise StreamProtocolError(
                    f"{self._source.endpoint}: the list of models does not end",
                    endpoint=self.endpoint,
                )
        return bytes(kept)

    def model_info(self, model: str) -> ModelInfo:
        window = self._memory.window(self.endpoint, model)
        learned = ModelInfo(model, context_window=window, source="learned") if window else None
        table = catalog.built_in(model)
        if (
            learned is not None
            and table is not None
            and (table.context_window or 0) > (window or 0)
        ):
            table = replace(table, context_window=None)  # it holds less than it could
        return catalog.choose(
            model, self._settings.models.get(model), self._listed.get(model), table, learned
        )

    def close(self) -> None:
        self._wire.close()


def _secret(values: tuple[str, ...]) -> tuple[str, ...]:
    """What must not be shown: keys, and header values that are long enough to be one."""
    return tuple(v for v in values if len(v) >= 8)


def _text_size(request: Request) -> int:
    """Characters of text that the model is to read; images are no characters."""
    size = len(request.system)
    for message in request.messages:
        for block in message.content:
            match block:
                case Text():
                    size += len(block.text)
                case Thinking() | Image():
                    pass
                case ToolCall():
                    size += len(block.name) + len(str(block.arguments))
    return size
