"""What an answer is, and its events: the blocks of one HTTP answer → StreamEvents.

Its first byte decides, not its header (E08): `{` or `[` a completion or an error that was not
streamed, `<` somebody else's page, nothing an empty answer, anything else a stream. A stream is
whole once its assembler says so: after [DONE] or a finish reason the connection may end in any way
(E11), or not at all (E37): what is only formal is waited for a few seconds, whatever comes. Sans-IO
but for the clock; who reads blocks is wire.py, what chunks mean is assemble.py's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Protocol

from agentsh.errors import (
    ConnectionFailedError,
    EmptyAnswerError,
    ProviderError,
    ProviderTimeoutError,
    StreamProtocolError,
)
from agentsh.jsontext import JsonError, JsonValue, loads_foreign
from agentsh.messages import AssistantMessage, StopReason
from agentsh.providers.base import Finished, StreamEvent
from agentsh.providers.wire.failures import ErrorSource, error_in_stream
from agentsh.providers.wire.htmltext import is_html, text_of_html
from agentsh.providers.wire.sse import SseDecoder, SseEvent

_MOST_JSON: Final = 64 << 20
_MOST_EVENT: Final = 64 << 20
"""Bytes without a whole event: a line that never ends would fill the memory."""
_MOST_STREAM: Final = 1 << 28
"""Far beyond what any model says in one answer: such a stream does not end by itself."""
_EXCERPT: Final = 4096
_AFTER_DONE: Final = 0.25
_AFTER_USAGE: Final = 1.5
_AFTER_REASON: Final = 5.0
"""Seconds in all, from the last thing said on; what else may come is usage and [DONE]."""


class Assembler(Protocol):
    """One API's chunks → events and a message: assemble.ChatAssembler, responses.…"""

    @property
    def has_anything(self) -> bool: ...

    @property
    def has_reason(self) -> bool:
        """The server has said why it ended: all that follows is formal."""

    @property
    def has_usage(self) -> bool: ...

    def feed(self, chunk: JsonValue) -> None: ...

    def take(self) -> list[StreamEvent]: ...

    def finish(self, *, done: bool) -> Finished: ...

    def partial(self, stop: StopReason, error: str | None = None) -> AssistantMessage: ...


class AnswerReader:
    """Reads one answer. `events` may be used once; then `finish`."""

    def __init__(
        self,
        source: ErrorSource,
        assembler: Assembler,
        *,
        patience: Callable[[float], None],
        clock: Callable[[], float],
        event_limit: float,
    ) -> None:
        self._source = source
        self.assembler = assembler
        self._patience = patience
        self._clock = clock
        self._event_limit = event_limit
        self._decoder = SseDecoder()
        self._done = False
        self._ended: float | None = None
        """When the answer was whole."""
        self._head = b""
        self.chunks = 0
        """How many a stream brought so far."""
        self.first: float | None = None
        """When the first of them came."""

    def events(self, blocks: Iterator[bytes]) -> Iterator[StreamEvent]:
        """The events, as the blocks bring them. Raises ProviderError."""
        first = self._first(blocks)
        if first in (b"{", b"["):
            self._one_value(blocks)
            yield from self.assembler.take()
        elif first == b"<":
            raise self._no_api(self._read_up_to(blocks, _EXCERPT * 16))
        elif first:
            yield from self._stream(blocks)
        else:
            raise EmptyAnswerError(
                f"{self._source.endpoint}: an empty response (no content at all)",
                endpoint=self._source.endpoint,
            )

    def finish(self) -> Finished:
        """The whole message. Raises ProviderError when it is none."""
        return self.assembler.finish(done=self._done)

    def _first(self, blocks: Iterator[bytes]) -> bytes:
        """The first byte that says something; blanks before it are signs of life, and go."""
        size = 0
        for block in self._within_limit(blocks):
            size += len(block)
            self._head = (self._head + block).lstrip(b" \t\r\n")
            if first_byte := self._head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]:
                return first_byte
            if size > _MOST_EVENT or len(self._head) > _EXCERPT:
                raise self._endless()
        return b""

    def _within_limit(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """As long as nothing of an answer may take. Raises ProviderTimeoutError."""
        began = self._clock()
        for block in blocks:
            yield block
            if self._event_limit and self._clock() - began > self._event_limit:
                raise self._no_event()

    @staticmethod
    def _rest(blocks: Iterator[bytes], most: int) -> Iterator[bytes]:
        size = 0
        for block in blocks:
            size += len(block)
            yield block
            if size > most:
                return

    def _read_up_to(self, blocks: Iterator[bytes], most: int) -> bytes:
        return b"".join([self._head, *self._rest(self._within_limit(blocks), most)])

    def _one_value(self, blocks: Iterator[bytes]) -> None:
        body = self._whole_value(blocks).removeprefix(b"\xef\xbb\xbf")
        try:
            value = loads_foreign(body)
        except JsonError as e:
            raise self._no_api(body) from e
        self.assembler.feed(value)
        self._done = True

    def _whole_value(self, blocks: Iterator[bytes]) -> bytes:
        """The body; once it is a value, its connection need not end."""
        body, is_whole = bytearray(), False
        try:
            for block in self._rest(self._within_limit(self._with_head(blocks)), _MOST_JSON):
                body += block
                if is_whole and not block.strip():
                    break
                is_whole = _is_answer(body)
                self._patience(_AFTER_USAGE if is_whole else float("inf"))
        except (ConnectionFailedError, ProviderTimeoutError):
            if not is_whole:
                raise
        return bytes(body)

    def _no_api(self, body: bytes) -> StreamProtocolError:
        text = body[: _EXCERPT * 16].decode("utf-8", "replace")
        beginning = self._source.scrub(text_of_html(text) if is_html(text) else text[:300])
        if "\ufffd" in text[:300]:
            return StreamProtocolError(
                f"{self._source.endpoint}: not an API answer, and no text: packed, perhaps",
                endpoint=self._source.endpoint,
                hint="A proxy between may pack answers (br, zstd) that were asked for plain.",
            )
        return StreamProtocolError(
            f"{self._source.endpoint}: not an API answer; it begins: {beginning}",
            endpoint=self._source.endpoint,
            words=beginning,
            hint="Does the base URL lead to the API (does it end in /v1)?",
        )

    # ---- streams ----------------------------------------------------------------------------

    def _stream(self, blocks: Iterator[bytes]) -> Iterator[StreamEvent]:
        assembler = self.assembler
        last = self._clock()
        seen = size = since = 0
        try:
            for block in self._with_head(blocks):
                size, since = size + len(block), since + len(block)
                if since > _MOST_EVENT or size > _MOST_STREAM:
                    raise self._endless()
                events = self._decoder.feed(block)
                new_events: list[StreamEvent] = []
                if events:
                    seen += len(events)
                    since = 0
                    self._take(events)
                    new_events = assembler.take()
                    yield from new_events
                if new_events or self._done:
                    last = self._clock()  # empty deltas are signs of life and no more
                elif self._event_limit and self._clock() - last > self._event_limit:
                    raise self._no_event()
                if self._is_over(said=bool(new_events)):
                    break
        except (ConnectionFailedError, ProviderTimeoutError) as e:
            if not (self._done or assembler.has_reason):
                raise self._cut(e) from e
        if not self._done and (unfinished := self._decoder.finish()) is not None:
            seen += self._take_rest(unfinished)
            yield from assembler.take()
        if not seen and not assembler.has_anything:
            raise self._no_api(self._head)

    def _with_head(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        yield self._head
        yield from blocks

    def _take(self, events: list[SseEvent]) -> None:
        assembler = self.assembler
        for event in events:
            data = event.data
            if data[:1] == b"{" and event.event != "error":
                try:
                    chunk = loads_foreign(data)
                except JsonError as e:
                    raise self._bad_chunk(event) from e
                if not self._done:
                    self.first = self._clock() if self.first is None else self.first
                    self.chunks += 1
                    assembler.feed(chunk)
            elif data.strip() == b"[DONE]":
                self._done, self._ended = True, None
            elif data.strip() and not self._done:
                self._odd(event)

    def _is_over(self, *, said: bool) -> bool:
        """Whether nothing more is waited for; else no read waits longer than what is left."""
        assembler = self.assembler
        if not (self._done or assembler.has_reason):
            if self._ended is not None:
                self._ended = None
                self._patience(float("inf"))
            return False
        now = self._clock()
        if self._ended is None or (said and not self._done):
            self._ended = now
        wait = _AFTER_USAGE if assembler.has_usage else _AFTER_REASON
        left = self._ended + (_AFTER_DONE if self._done else wait) - now
        self._patience(max(left, _AFTER_DONE))
        return left <= 0

    def _odd(self, event: SseEvent) -> None:
        """An error event, or data that are no object."""
        try:
            value = loads_foreign(event.data)
        except JsonError:
            value = event.text
        if event.event == "error" or not isinstance(value, dict):
            raise error_in_stream(self._source, value)
        self.assembler.feed(value)

    def _take_rest(self, unfinished: SseEvent) -> int:
        """An event without its blank line counts if it is whole; else the stream was cut in it."""
        if unfinished.data.strip() != b"[DONE]":
            try:
                loads_foreign(unfinished.data)
            except JsonError:
                return 0
        self._take([unfinished])
        return 1

    def _bad_chunk(self, event: SseEvent) -> StreamProtocolError:
        beginning = self._source.scrub(event.text[:200])
        return StreamProtocolError(
            f"{self._source.endpoint}: a piece of the answer is no JSON: {beginning}",
            endpoint=self._source.endpoint,
            words=beginning,
            retryable=True,
        )

    def _endless(self) -> StreamProtocolError:
        return StreamProtocolError(
            f"{self._source.endpoint}: the answer does not end: more than {_MOST_EVENT >> 20} MB "
            f"in one piece, or {_MOST_STREAM >> 20} MB in all",
            endpoint=self._source.endpoint,
        )

    def _no_event(self) -> ProviderTimeoutError:
        return ProviderTimeoutError(
            f"{self._source.endpoint}: signs of life but no answer for {self._event_limit:g} s",
            endpoint=self._source.endpoint,
        )

    def _cut(self, error: ProviderError) -> ProviderError:
        """A lost connection after something had come is a cut answer."""
        if isinstance(error, ProviderTimeoutError) or not self.assembler.has_anything:
            return error
        return StreamProtocolError(
            f"{self._source.endpoint}: the answer broke off before it was finished ({error})",
            endpoint=self._source.endpoint,
            retryable=True,
        )


def _is_answer(body: bytes | bytearray) -> bool:
    """Whether this is a whole completion or error; read only where it ends like one."""
    if body.rstrip()[-1:] != b"}":
        return False
    try:
        value = loads_foreign(bytes(body).removeprefix(b"\xef\xbb\xbf"))
    except JsonError:
        return False
    return isinstance(value, dict) and not value.keys().isdisjoint(("choices", "output", "error"))
