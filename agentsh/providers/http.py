"""One endpoint over HTTP: the Provider that agentsh uses. Bodies, streams, models, learning.

Order of a stream: events as the reads bring them, then one Finished; or a ProviderError with
`partial` and `emitted`; on abort one Finished with stop reason "aborted". Nothing is repeated in
here. Which API, which spelling: chat.py and responses.py. Sockets and limits: wire.py. What is an
answer: answers.py. Which shape: dialects.py, then learned.py, then the settings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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
    ProviderTimeoutError,
    StreamProtocolError,
    UsageError,
)
from agentsh.jsontext import JsonError, JsonValue, loads_foreign
from agentsh.messages import AssistantMessage, Image
from agentsh.providers import catalog
from agentsh.providers.api import dialects
from agentsh.providers.api.answers import AnswerReader, Assembler
from agentsh.providers.api.assemble import ChatAssembler
from agentsh.providers.api.bodies import encode_body, text_size
from agentsh.providers.api.textcalls import not_made, written_call
from agentsh.providers.base import (
    RESPONSES,
    Finished,
    ModelInfo,
    Request,
    Shape,
    StreamEvent,
    Warned,
)
from agentsh.providers.endpoint import header_keys, read_endpoint
from agentsh.providers.learned import Lessons, Memory
from agentsh.providers.wire.failures import ErrorSource, Sent, error_of_status, error_source
from agentsh.providers.wire.proxies import find_proxy
from agentsh.providers.wire.wire import HttpResponse, Limits, Wire, Wires

CHAT: Final = "openai-completions"
_APIS: Final = {"chat": CHAT, "completions": CHAT, "responses": RESPONSES}
_MOST_ERROR: Final = 65_536
_EXPLAINING: Final = (5.0, 15.0)
"""Seconds that a refusal's words may take between two reads, and in all: some do not end them."""
_LISTING: Final = (20.0, 60.0)
_MOST_LISTING: Final = 32 << 20
_NOTICED: Final = 8000
"""Tokens below which our own estimate is too rough to accuse a server by."""


class ProviderSettings(Struct, frozen=True):
    """All that is set for an endpoint. Nothing of it is looked up anywhere else."""

    base_url: str
    name: str = "openai-compatible"
    key: str | None = None
    key_again: Callable[[], str | None] = lambda: None
    """Asks once more where the key came from, when it is refused: keys expire."""
    key_hint: str = ""
    """Where it came from, or would come from, in words; never the key."""
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
    """See base.Provider."""

    def __init__(
        self, settings: ProviderSettings, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._api = _APIS.get(settings.api, settings.api)
        if self._api not in (CHAT, RESPONSES):
            raise UsageError(f"api = {settings.api!r}: only {CHAT!r} and {RESPONSES!r} are known")
        self._memory = Memory(settings.memory)
        endpoint = self._place = read_endpoint(settings.base_url)
        beside = self._api if self._api != CHAT else ""
        self._lessons = Lessons(self._memory, endpoint.shown, beside)
        self._use(settings.key or endpoint.password)
        self._wires = Wires(self._wire)
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

    def _wire(self) -> Wire:
        endpoint, settings = self._place, self._settings
        return Wire(
            self._source,
            proxy=find_proxy(endpoint.scheme, endpoint.host, endpoint.port, settings.environ),
            tls=endpoint.scheme == "https",
            ca_file=settings.ca_file or settings.environ.get("SSL_CERT_FILE") or None,
            verify=settings.verify,
            limits=settings.limits,
        )

    def _use(self, given: str) -> None:
        """A key from here on; what is said of the endpoint never shows it."""
        key, endpoint, headers = given.strip(), self._place, self._settings.headers
        if not key.isascii() or not key.isprintable():
            raise UsageError("the API key has characters that no key has (a line break, perhaps)")
        self._key = key
        words = self._settings.key_hint
        if key and key == endpoint.password.strip():
            words = "Is the key right? It is the password in the base URL."
        keys, overflow = (key, *endpoint.keys, *header_keys(headers)), self._settings.overflow
        self._source = error_source(endpoint.authority, keys, headers, overflow, words)

    @contextmanager
    def _post(self, wire: Wire, body: bytes) -> Iterator[HttpResponse]:
        """The answer; where the key is refused and another one is to be had, the answer to that."""
        with wire.send("POST", self._url(), headers=self._headers(), body=body) as answer:
            key = self._settings.key_again() if answer.status == 401 else None
            if not key or key.strip() == self._key:
                yield answer
                return
        self._use(key)
        with wire.send("POST", self._url(), headers=self._headers(), body=body) as answer:
            yield answer

    # ---- shapes -----------------------------------------------------------------------------

    def shape(self, model: str) -> Shape:
        shape = dialects.table_shape(self._place.host, model, self._api)
        shape = dialects.changed(shape, self._lessons.change(model))
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
        self._lessons.keep(model, dialects.shape_changes(shape, new))
        return new

    def body(self, request: Request) -> bytes:
        return encode_body(request)

    # ---- streams ----------------------------------------------------------------------------

    def stream(self, body: bytes, request: Request, abort: Abort) -> Iterator[StreamEvent]:
        with self._wires.one() as wire:
            yield from self._streamed(wire, body, request, abort)

    def _streamed(
        self, wire: Wire, body: bytes, request: Request, abort: Abort
    ) -> Iterator[StreamEvent]:
        began, asked = self._clock(), time.monotonic()
        source = replace(self._source, sent=_sent(body, request))
        reader = self._reader(wire, request, source)
        emitted = False
        try:
            with abort.calling(wire.shut), self._post(wire, body) as answer:
                if source != (own := replace(self._source, sent=source.sent)):
                    source = own  # another key: that one is masked, too
                    reader = self._reader(wire, request, source)
                self._check(wire, answer, source, f"POST {self.endpoint}{self._tail()}")
                for event in reader.events(answer.blocks):
                    if abort.is_set:
                        break
                    emitted = True
                    yield event
            aborted = abort.is_set
            finished = (
                reader.finish() if not aborted else Finished(reader.assembler.partial("aborted"))
            )
        except ProviderError as e:
            if not abort.is_set:
                e.partial = self._stamped(reader.assembler.partial("error", str(e)), request, began)
                e.emitted = emitted
                e.is_silence = _is_silence(e, reader.assembler)
                raise
            finished = Finished(reader.assembler.partial("aborted"))
        warnings = self._cut_prompt(body, request, finished), self._only_written(finished, request)
        yield from (warning for warning in warnings if warning is not None)
        message = self._stamped(finished.message, request, began)
        if reader.first is not None:
            first_ms = round((reader.first - asked) * 1000)
            message = replace(message, first_ms=first_ms, chunks=reader.chunks)
        yield replace(finished, message=message)

    def _assembler(self, request: Request, source: ErrorSource) -> Assembler:
        if request.shape.api == RESPONSES:
            from agentsh.providers.api.responsestream import ResponsesAssembler

            return ResponsesAssembler(source, provider=self.name, model=request.model)
        asked = request.shape.extra_body.get("n")
        return ChatAssembler(
            source,
            provider=self.name,
            model=request.model,
            asked=asked if isinstance(asked, int) else 1,
        )

    def _reader(self, wire: Wire, request: Request, source: ErrorSource) -> AnswerReader:
        return AnswerReader(
            source,
            self._assembler(request, source),
            patience=wire.read_at_most,
            clock=time.monotonic,
            event_limit=self._settings.limits.events,
        )

    def _url(self) -> str:
        return self._place.url(self._tail())

    def _tail(self) -> str:
        return "/responses" if self._api == RESPONSES else "/chat/completions"

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

    def _check(self, wire: Wire, answer: HttpResponse, source: ErrorSource, asked: str) -> None:
        """Raise what a status other than success means. `asked`: method and URL, to be shown."""
        if 200 <= answer.status < 300:
            return
        body = bytearray()
        wire.read_at_most(*_EXPLAINING)
        try:
            for block in answer.blocks:
                body += block
                if len(body) > _MOST_ERROR:
                    break
        except ProviderError:
            pass  # the status says enough, whatever became of the rest of the explanation
        words = bytes(body)
        error = error_of_status(source, answer.status, answer.headers, words, now=self._clock())
        if answer.status in (404, 405) and "model" not in error.words.lower():
            error.hint = self._place.doubt(asked)
        raise error

    def _stamped(
        self, message: AssistantMessage, request: Request, began: float
    ) -> AssistantMessage:
        """When, how long, and what it cost."""
        usage = catalog.priced(message.usage, self.model_info(request.model))
        spent = max(0, round((self._clock() - began) * 1000))
        return replace(message, usage=usage, timestamp=int(began * 1000), duration_ms=spent)

    def _cut_prompt(self, body: bytes, request: Request, finished: Finished) -> Warned | None:
        """Once a model: the server read far less than was sent (E31)."""
        usage = finished.message.usage
        read = usage.input + usage.cache_read + usage.cache_write
        if not finished.usage_known or request.model in self._warned:
            return None
        sent = text_size(request) // 4
        if sent < _NOTICED or read * 2.5 > sent:
            return None
        self._warned.add(request.model)
        return Warned(
            f"{self._source.endpoint} seems to truncate the prompt: it counted {read} tokens where "
            f"about {sent} were sent. For Ollama, raise num_ctx in a Modelfile or set "
            "OLLAMA_CONTEXT_LENGTH; for others, the context length the server was started with."
        )

    def _only_written(self, finished: Finished, request: Request) -> Warned | None:
        """Once a model: it writes calls as text, which is data and is not run."""
        message, key = finished.message, f"text of {request.model}"
        if not request.tools or message.stop_reason != "stop" or key in self._warned:
            return None
        name = written_call(message.text, [tool.name for tool in request.tools])
        if name is None:
            return None
        self._warned.add(key)
        return Warned(not_made(request.model, name, self._source.endpoint))

    # ---- models -----------------------------------------------------------------------------

    def models(self, abort: Abort | None = None) -> tuple[ModelInfo, ...]:
        abort = abort or Abort()
        try:
            with self._wires.one() as wire, abort.calling(wire.shut):
                body = self._listing(wire)
        except ProviderError:
            if abort.is_set:
                return ()
            raise
        try:
            listed = catalog.read_models(loads_foreign(body))
        except JsonError as e:
            raise StreamProtocolError(
                f"{self._source.endpoint}: the list of models is no JSON",
                endpoint=self.endpoint,
                hint=self._place.doubt(f"GET {self.endpoint}/models"),
            ) from e
        self._listed = {m.id: m for m in listed}
        if self._place.is_near:
            self._memory.learn_listed(self.endpoint, {m.id: m.context_window for m in listed})
        return tuple(self.model_info(m.id) for m in listed)

    def _listing(self, wire: Wire) -> bytes:
        url, headers, listing = self._place.url("/models"), self._headers(), bytearray()
        with wire.send("GET", url, headers=headers, idle=_LISTING[0]) as answer:
            self._check(wire, answer, self._source, f"GET {self.endpoint}/models")
            wire.read_at_most(*_LISTING)
            for block in answer.blocks:
                listing += block
                if len(listing) > _MOST_LISTING:
                    raise StreamProtocolError(
                        f"{self._source.endpoint}: the list of models does not end",
                        endpoint=self.endpoint,
                    )
        return bytes(listing)

    def model_info(self, model: str) -> ModelInfo:
        return catalog.known_model(
            model,
            self._settings.models.get(model),
            self._listed.get(model),
            self._memory.window(self.endpoint, model),
            near=self._place.is_near,
        )

    def close(self) -> None:
        self._wires.close()


def _sent(body: bytes, request: Request) -> Sent:
    """What the request held, for the judgement of a refusal; pictures are no text."""
    blocks = (block for message in request.messages for block in message.content)
    pictures = tuple(len(block.data) for block in blocks if isinstance(block, Image))
    size = max(0, len(body) - sum(pictures))
    return Sent(size // 4, size, request.max_tokens, pictures)


def _is_silence(error: ProviderError, assembler: Assembler) -> bool:
    """Not a byte of an answer came: the server may only be slow."""
    is_ours = isinstance(error, ProviderTimeoutError) and error.status is None
    return is_ours and not assembler.has_anything
