"""Bytes to an endpoint and back: sockets, TLS, proxies, time limits. The only home of httpx.

What it adds to httpx: sockets of our own (sockets.py), so that a wait of any kind, connecting
included, ends at once when `shut` is called, and one read gives all that has come. Nothing is taken
from the environment, no redirect is followed, no certificate is loaded before a TLS connection asks
for it. Whatever fails becomes a ProviderError here and nowhere else. It knows no JSON. Read next:
http.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import httpcore
import httpx
from msgspec import Struct

from agentsh.errors import ConnectionFailedError, ProviderError, ProviderTimeoutError, UsageError
from agentsh.providers.failures import Source
from agentsh.providers.proxies import Proxy
from agentsh.providers.sockets import Sockets

if TYPE_CHECKING:
    import ssl


class Limits(Struct, frozen=True):
    """Seconds; 0 is no limit. `idle`: without a byte. `events`: without an event (http.py)."""

    connect: float = 10.0
    idle: float = 90.0
    events: float = 600.0


class Answer(Struct, frozen=True):
    """A response whose head has come. `blocks` may be read once, inside the `send` that gave it."""

    status: int
    headers: Mapping[str, str]
    blocks: Iterator[bytes]


class Wire:
    """One connection to one endpoint, kept open between requests. One request at a time."""

    def __init__(
        self,
        source: Source,
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
        self._sockets = Sockets()
        context = _context(ca_file, verify=verify) if tls else None  # 25 ms each bundle
        pool = _pool(self._sockets, proxy, context)
        self._client = httpx.Client(transport=_Transport(pool), trust_env=False, timeout=None)

    @contextmanager
    def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes = b"",
        idle: float | None = None,
    ) -> Iterator[Answer]:
        """Send; gives the answer once its head is there. Raises ProviderError."""
        if self._trouble is not None:
            raise ConnectionFailedError(
                self._trouble, endpoint=self._source.endpoint, retryable=False
            )
        limit = (self._limits.idle if idle is None else idle) or None
        timeout = httpx.Timeout(connect=self._limits.connect or None, read=limit, write=60, pool=1)
        self._sockets.begin()
        try:
            with self._client.stream(
                method, url, content=body, headers=dict(headers), timeout=timeout
            ) as response:
                blocks = self._blocks(response, limit)
                yield Answer(response.status_code, response.headers, blocks)
        except _FAULTS as e:
            raise self._translated(e, limit) from e

    def _blocks(self, response: httpx.Response, limit: float | None) -> Iterator[bytes]:
        try:
            yield from response.iter_bytes()
        except _FAULTS as e:
            raise self._translated(e, limit) from e

    def read_at_most(self, seconds: float) -> None:
        """From now on no read of this answer waits longer than this: its end is only formal."""
        self._sockets.patience = seconds

    def shut(self) -> None:
        """End whatever waits, at once and from anywhere; what was sent next works again."""
        self._sockets.shut()

    def close(self) -> None:
        self._client.close()

    def _translated(self, error: BaseException, limit: float | None) -> ProviderError | UsageError:
        where = self._source.endpoint
        words = self._source.scrub(str(error)) or type(error).__name__
        match error:
            case httpcore.ConnectTimeout():
                return ConnectionFailedError(
                    f"{where}: no connection{self._proxied} within {self._limits.connect:g} s",
                    endpoint=where,
                )
            case httpcore.ReadTimeout() | httpcore.WriteTimeout() | httpcore.PoolTimeout():
                seconds = min(limit or self._sockets.patience, self._sockets.patience)
                return ProviderTimeoutError(
                    f"{where}: silent for {seconds:g} s (idle limit)", endpoint=where
                )
            case httpx.InvalidURL() | httpx.UnsupportedProtocol() | httpcore.UnsupportedProtocol():
                return UsageError(f"the base URL cannot be used: {words}")
            case httpcore.ConnectError():
                untrusted = "CERTIFICATE_VERIFY_FAILED" in words
                return ConnectionFailedError(
                    f"{where}: cannot connect{self._proxied}: {words}",
                    endpoint=where,
                    retryable=not untrusted,
                    hint="A CA of your own: ca_file in the settings." if untrusted else None,
                )
            case _:
                return ConnectionFailedError(
                    f"{where}: the connection was lost: {words}", endpoint=where
                )


# ---- under httpx -----------------------------------------------------------------------------

_FAULTS: Final = (
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.StreamError,
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
    httpcore.ConnectionNotAvailable,
    OSError,
)


def _context(ca_file: str | None, *, verify: bool) -> ssl.SSLContext | None:
    """None: httpcore makes one when a TLS connection is opened, and not before."""
    if verify and ca_file is None:
        return None
    context = httpx.create_ssl_context(verify=verify)
    if verify and ca_file is not None:
        try:
            context.load_verify_locations(ca_file)
        except OSError as e:
            raise UsageError(f"{ca_file}: not usable as a CA file: {e}") from e
    return context


def _pool(
    sockets: Sockets, proxy: Proxy | None, context: ssl.SSLContext | None
) -> httpcore.ConnectionPool:
    if proxy is None or proxy.trouble is not None:
        return httpcore.ConnectionPool(
            ssl_context=context, max_connections=1, network_backend=sockets
        )
    return httpcore.HTTPProxy(
        proxy.url,
        proxy_auth=proxy.auth,
        ssl_context=context,
        max_connections=1,
        network_backend=sockets,
    )


class _Body(httpx.SyncByteStream):
    def __init__(self, stream: Iterable[bytes]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._stream)

    def close(self) -> None:
        if (close := getattr(self._stream, "close", None)) is not None:
            close()


class _Transport(httpx.BaseTransport):
    """httpx over a pool with our own sockets (httpx's own transport takes no backend)."""

    def __init__(self, pool: httpcore.ConnectionPool) -> None:
        self._pool = pool

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        answer = self._pool.handle_request(
            httpcore.Request(
                method=request.method,
                url=httpcore.URL(
                    scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                ),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        assert isinstance(answer.stream, Iterable)
        return httpx.Response(
            answer.status,
            headers=answer.headers,
            stream=_Body(answer.stream),
            extensions=answer.extensions,
        )

    def close(self) -> None:
        self._pool.close()
