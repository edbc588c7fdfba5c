"""Bytes to an endpoint and back: requests, time limits, proxies, and what failed in our words.

A wait of any kind, connecting included, ends at once when `shut` is called, and one read gives all
that has come (sockets.py). What is asked while another answer comes has a connection of its own. A
body that was packed unasked is unpacked. How httpx is used stands in transport.py, docs/adr/0030.
Whatever fails becomes a ProviderError here and nowhere else. It knows no JSON. Read next: http.py.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agentsh.errors import ConnectionFailedError, ProviderError, ProviderTimeoutError, UsageError
from agentsh.providers.wire.failures import ErrorSource
from agentsh.providers.wire.libraries import httpcore
from agentsh.providers.wire.proxies import Proxy
from agentsh.providers.wire.sockets import DrippingError, Sockets
from agentsh.providers.wire.transport import Client, DecodingError, InvalidURL, tls_context

if TYPE_CHECKING:
    from httpx import Response


_GZIP: Final = b"\x1f\x8b"
_LARGEST_BLOCK: Final = 1 << 16
"""What is unpacked may be a thousand times what came: it is handed on in pieces of one read."""


class Limits(Struct, frozen=True):
    """Seconds; 0 is no limit. `idle`: without a byte. `events`: without an event (http.py)."""

    connect: float = 10.0
    idle: float = 90.0
    events: float = 600.0


class HttpResponse(Struct, frozen=True):
    """A response whose head has come. `blocks` may be read once, inside the `send` that gave it."""

    status: int
    headers: Mapping[str, str]
    """Names in small letters."""
    blocks: Iterator[bytes]


class Wire:
    """One connection to one endpoint, under TLS kept between requests. One request at a time."""

    def __init__(
        self,
        source: ErrorSource,
        *,
        proxy: Proxy | None = None,
        tls: bool = True,
        ca_file: str | None = None,
        verify: bool = True,
        limits: Limits | None = None,
    ) -> None:
        self._source = source
        self._limits = limits or Limits()
        self._trouble = proxy.trouble if proxy is not None else None
        self._proxied = f" through the proxy of {proxy.variable}" if proxy is not None else ""
        self._sockets = Sockets(self._limits.events or float("inf"))
        context = tls_context(ca_file, verify=verify) if tls else None  # 25 ms each bundle
        self._client = Client(self._sockets, proxy, context, idle_connections=1 if tls else 0)

    @contextmanager
    def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes = b"",
        idle: float | None = None,
    ) -> Iterator[HttpResponse]:
        """Send; gives the answer once its head is there. Raises ProviderError."""
        if self._trouble is not None:
            raise ConnectionFailedError(
                self._trouble, endpoint=self._source.endpoint, retryable=False
            )
        limit = (self._limits.idle if idle is None else idle) or None
        connect = self._limits.connect or None
        timeout = {"connect": connect, "read": limit, "write": 60.0, "pool": 1.0}
        given = {"Accept": "*/*", "Accept-Encoding": "identity", **headers}
        self._sockets.patience = float("inf")
        self._sockets.end_within(float("inf"))
        response: Response | None = None
        try:
            response = self._client.send(method, url, given, body, timeout)
            self._sockets.end_within(float("inf"))
            yield HttpResponse(
                response.status_code, dict(response.headers), self._blocks(response, limit)
            )
        except _FAULTS as e:
            raise self._translated(e, limit) from e
        finally:
            if response is not None:
                response.close()

    def _blocks(self, response: Response, limit: float | None) -> Iterator[bytes]:
        try:
            for block in _inflated(response.iter_bytes()):
                if len(block) <= _LARGEST_BLOCK:
                    yield block
                    continue
                for offset in range(0, len(block), _LARGEST_BLOCK):
                    yield block[offset : offset + _LARGEST_BLOCK]
        except _FAULTS as e:
            raise self._translated(e, limit) from e

    def read_at_most(self, seconds: float, in_all: float | None = None) -> None:
        """From now on no read of this answer waits longer than this: its end is only formal.

        `in_all`: and it ends within that, and within what signs of life may take, however small the
        pieces are in which it comes.
        """
        self._sockets.patience = seconds
        if in_all is not None:
            self._sockets.end_within(min(in_all, self._limits.events or in_all))

    def begin(self) -> None:
        """Somebody takes it: that it was shut before is not for them."""
        self._sockets.begin()

    def shut(self) -> None:
        """End whatever waits, at once and from anywhere, and what is sent until `begin`."""
        self._sockets.shut()

    def close(self) -> None:
        self._client.close()

    def _translated(self, error: BaseException, limit: float | None) -> ProviderError | UsageError:
        where = self._source.endpoint
        reason = self._source.scrub(str(error)) or type(error).__name__
        match error:
            case httpcore.ConnectTimeout():
                return ConnectionFailedError(
                    f"{where}: no connection{self._proxied} within {self._limits.connect:g} s",
                    endpoint=where,
                )
            case DrippingError(seconds=seconds):
                return ProviderTimeoutError(
                    f"{where}: signs of life but no answer for {seconds:g} s", endpoint=where
                )
            case httpcore.ReadTimeout() | httpcore.WriteTimeout() | httpcore.PoolTimeout():
                seconds = min(limit or self._sockets.patience, self._sockets.patience)
                return ProviderTimeoutError(
                    f"{where}: silent for {seconds:g} s, the idle limit (--idle-timeout, or"
                    " [endpoint] idle_timeout in the settings)",
                    endpoint=where,
                )
            case httpcore.UnsupportedProtocol() | InvalidURL() | UnicodeError():
                return UsageError(f"the base URL cannot be used: {reason}")
            case httpcore.ConnectError():
                untrusted = "CERTIFICATE_VERIFY_FAILED" in reason
                return ConnectionFailedError(
                    f"{where}: cannot connect{self._proxied}: {reason}",
                    endpoint=where,
                    retryable=not untrusted,
                    hint="A CA of your own: ca_file in the settings."
                    if untrusted
                    else "Is the server running there? `agentsh doctor` says what is configured.",
                )
            case _:
                return ConnectionFailedError(
                    f"{where}: the connection was lost: {reason}", endpoint=where
                )


class Wires:
    """The connections to one endpoint: one that is kept, and one more for what is asked meanwhile.

    Thread-safe: a side question neither waits for a turn's answer nor can end it.
    """

    def __init__(self, make: Callable[[], Wire]) -> None:
        self._make = make
        self._kept = make()
        self._in_use = threading.Lock()

    @contextmanager
    def one(self) -> Iterator[Wire]:
        """A connection that nobody else uses inside the block."""
        if self._in_use.acquire(blocking=False):
            try:
                self._kept.begin()
                yield self._kept
            finally:
                self._in_use.release()
            return
        wire = self._make()
        try:
            yield wire
        finally:
            wire.close()

    def close(self) -> None:
        self._kept.close()


_FAULTS: Final = (
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    zlib.error,
    httpcore.UnsupportedProtocol,
    httpcore.ConnectionNotAvailable,
    DecodingError,
    InvalidURL,
    OSError,
    UnicodeError,
)


def _inflated(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """What a gateway compressed without a word, plain (E44): no answer begins with gzip's mark."""
    head = b""
    for block in blocks:
        head += block
        if len(head) >= len(_GZIP):
            break
    if not head.startswith(_GZIP):
        yield head
        yield from blocks
        return
    inflater = zlib.decompressobj(wbits=31)
    for block in chain((head,), blocks):
        yield inflater.decompress(block)
    yield inflater.flush()
