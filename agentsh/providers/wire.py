"""Bytes to an endpoint and back: sockets, TLS, proxies, time limits. The only home of httpcore.

What it adds to httpcore (httpx's own engine; docs/adr/0027): sockets of our own (sockets.py), so
that a wait of any kind, connecting included, ends at once when `shut` is called, and one read gives
all that has come; bodies that were packed unasked are unpacked. Nothing is taken from the
environment, no redirect is followed, no certificate is loaded before a TLS connection asks for it.
Whatever fails becomes a ProviderError here and nowhere else. It knows no JSON. Read next: http.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

import httpcore
from msgspec import Struct

from agentsh.errors import ConnectionFailedError, ProviderError, ProviderTimeoutError, UsageError
from agentsh.providers.failures import Source
from agentsh.providers.proxies import Proxy
from agentsh.providers.sockets import Sockets
from agentsh.providers.unpacking import unpacked

if TYPE_CHECKING:
    import ssl

_PLAIN: Final = "%/:=&?~#+!$,;'@()*[]|"
"""What a URL may hold as it is, besides letters and digits."""
_UNVERIFIED: Final = 0
"""ssl.CERT_NONE, without importing ssl before it is needed."""


class Limits(Struct, frozen=True):
    """Seconds; 0 is no limit. `idle`: without a byte. `events`: without an event (http.py)."""

    connect: float = 10.0
    idle: float = 90.0
    events: float = 600.0


class Answer(Struct, frozen=True):
    """A response whose head has come. `blocks` may be read once, inside the `send` that gave it."""

    status: int
    headers: Mapping[str, str]
    """Names in small letters."""
    blocks: Iterator[bytes]


class Wire:
    """One connection to one endpoint, under TLS kept between requests. One request at a time."""

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
        self._pool = _pool(self._sockets, proxy, context, kept=1 if tls else 0)

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
        connect = self._limits.connect or None
        timeout = {"connect": connect, "read": limit, "write": 60.0, "pool": 1.0}
        given = {"Accept": "*/*", "Accept-Encoding": "identity", **headers}
        self._sockets.begin()
        try:
            with self._pool.stream(
                method,
                _url(url),
                headers=[(name, value.encode("latin-1")) for name, value in given.items()],
                content=body,
                extensions={"timeout": timeout},
            ) as response:
                found = _headers(response.headers)
                packing = found.get("content-encoding", "")
                yield Answer(response.status, found, self._blocks(response, packing, limit))
        except _FAULTS as e:
            raise self._translated(e, limit) from e

    def _blocks(
        self, response: httpcore.Response, packing: str, limit: float | None
    ) -> Iterator[bytes]:
        try:
            yield from unpacked(response.iter_stream(), packing)
        except _FAULTS as e:
            raise self._translated(e, limit) from e

    def read_at_most(self, seconds: float) -> None:
        """From now on no read of this answer waits longer than this: its end is only formal."""
        self._sockets.patience = seconds

    def shut(self) -> None:
        """End whatever waits, at once and from anywhere; what was sent next works again."""
        self._sockets.shut()

    def close(self) -> None:
        self._pool.close()

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
            case httpcore.UnsupportedProtocol() | UnicodeError():
                return UsageError(f"the base URL cannot be used: {words}")
            case httpcore.ConnectError():
                untrusted = "CERTIFICATE_VERIFY_FAILED" in words
                return ConnectionFailedError(
                    f"{where}: cannot connect{self._proxied}: {words}",
                    endpoint=where,
                    retryable=not untrusted,
                    hint="A CA of your own: ca_file in the settings."
                    if untrusted
                    else "Is the server running there? `agentsh doctor` says what is configured.",
                )
            case _:
                return ConnectionFailedError(
                    f"{where}: the connection was lost: {words}", endpoint=where
                )


# ---- under httpcore --------------------------------------------------------------------------

_FAULTS: Final = (
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
    httpcore.ConnectionNotAvailable,
    OSError,
    UnicodeError,
)


def _url(url: str) -> httpcore.URL:
    """A URL as bytes: the host by IDNA, the rest of what is no ASCII percent-encoded."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port
    target = parts.path or "/"
    if parts.query:
        target += f"?{parts.query}"
    return httpcore.URL(
        scheme=parts.scheme.encode("ascii"),
        host=host.encode("ascii") if host.isascii() else host.encode("idna"),
        port=port,
        target=quote(target, safe=_PLAIN).encode("ascii"),
    )


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _context(ca_file: str | None, *, verify: bool) -> ssl.SSLContext | None:
    """None: httpcore makes one when a TLS connection is opened, and not before."""
    if verify and ca_file is None:
        return None
    context = httpcore.default_ssl_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = _UNVERIFIED  # type: ignore[assignment]
    elif ca_file is not None:
        try:
            context.load_verify_locations(ca_file)
        except OSError as e:
            raise UsageError(f"{ca_file}: not usable as a CA file: {e}") from e
    return context


def _pool(
    sockets: Sockets, proxy: Proxy | None, context: ssl.SSLContext | None, *, kept: int
) -> httpcore.ConnectionPool:
    """`kept`: connections at rest; none to a plain server, where a new one costs next to nothing.

    llama.cpp says that it keeps a connection and ends it with the stream: what is sent at once
    on that one is lost, and a request is not for sending twice unseen.
    """
    if proxy is None or proxy.trouble is not None:
        return httpcore.ConnectionPool(
            ssl_context=context,
            max_connections=1,
            max_keepalive_connections=kept,
            network_backend=sockets,
        )
    return httpcore.HTTPProxy(
        proxy.url,
        proxy_auth=proxy.auth,
        ssl_context=context,
        max_connections=1,
        max_keepalive_connections=kept,
        network_backend=sockets,
    )
