"""Bytes to an endpoint and back: sockets, TLS, proxies, time limits. The only home of httpx.

What it adds to httpx: its sockets are ours (httpcore's NetworkBackend), so that a wait of any kind,
connecting included, ends at once when `shut` is called from a signal handler or another thread; and
so that one read gives all that has come (rechunk.py). Nothing is taken from the environment, no
redirect is followed, no certificate is loaded before a TLS connection asks for it.
Whatever fails becomes a ProviderError here and nowhere else. It knows no JSON. Read next: http.py.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import httpcore
import httpx

from agentsh.errors import ConnectionFailedError, ProviderError, ProviderTimeoutError, UsageError
from agentsh.providers.failures import Source
from agentsh.providers.proxies import Proxy
from agentsh.providers.rechunk import Rechunker

if TYPE_CHECKING:
    import ssl

_READ: Final = 262_144
_Options = Iterable[
    tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
]


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds; 0 is no limit. `idle`: without a byte. `events`: without an event (http.py)."""

    connect: float = 10.0
    idle: float = 90.0
    events: float = 600.0


@dataclass(frozen=True, slots=True)
class Answer:
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
        ca_file: str | None = None,
        verify: bool = True,
        limits: Limits | None = None,
    ) -> None:
        self._source = source
        self._limits = limits or Limits()
        self._trouble = proxy.trouble if proxy is not None else None
        self._proxied = f" through the proxy of {proxy.variable}" if proxy is not None else ""
        self._sockets = _Sockets()
        pool = _pool(self._sockets, proxy, _context(ca_file, verify=verify))
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
                return ConnectionFailedError(
                    f"{where}: cannot connect{self._proxied}: {words}", endpoint=where
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
    sockets: _Sockets, proxy: Proxy | None, context: ssl.SSLContext | None
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


class _Sockets(httpcore.NetworkBackend):
    """Makes the connections, and knows the one that is in use."""

    def __init__(self) -> None:
        self._current: socket.socket | None = None
        self._is_shut = False
        self.patience = float("inf")

    def begin(self) -> None:
        self._is_shut = False
        self.patience = float("inf")

    def shut(self) -> None:
        self._is_shut = True
        if (current := self._current) is not None:
            with suppress(OSError):
                # the plain socket's method: a TLS socket's own would first forget its session,
                # under the feet of a thread that is reading
                socket.socket.shutdown(current, socket.SHUT_RDWR)

    def use(self, sock: socket.socket) -> None:
        self._current = sock
        if self._is_shut:
            self.shut()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: _Options | None = None,
    ) -> httpcore.NetworkStream:
        error: OSError | None = None
        for family, kind, protocol, _, address in self._resolve(host, port, timeout):
            sock = socket.socket(family, kind, protocol)
            self.use(sock)
            try:
                sock.settimeout(timeout)
                sock.connect(address)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError as e:
                sock.close()
                error = e
                if self._is_shut:
                    break
                continue
            return _Stream(sock, self)
        if isinstance(error, TimeoutError):
            raise httpcore.ConnectTimeout(str(error)) from error
        raise httpcore.ConnectError(str(error or f"no address for {host}")) from error

    def _resolve(self, host: str, port: int, timeout: float | None) -> list[_Address]:
        """Addresses of a name; a slow name server is left behind when the user aborts."""
        found: list[_Address] = []
        trouble: list[OSError] = []

        def look_up(flags: int = 0) -> None:
            try:
                found.extend(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags))
            except OSError as e:
                trouble.append(e)

        look_up(socket.AI_NUMERICHOST)
        if found:
            return found
        trouble.clear()
        thread = threading.Thread(target=look_up, daemon=True)
        thread.start()
        began = time.monotonic()
        while thread.is_alive() and not self._is_shut:
            thread.join(0.05)
            if timeout is not None and time.monotonic() - began > timeout:
                raise httpcore.ConnectTimeout(f"the name {host} was not resolved")
        if trouble:
            raise httpcore.ConnectError(str(trouble[0])) from trouble[0]
        return list(found)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: _Options | None = None
    ) -> httpcore.NetworkStream:
        raise httpcore.UnsupportedProtocol("unix sockets are not used")

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


_Address = tuple[
    int, int, int, str, tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]
]


class _Stream(httpcore.NetworkStream):
    """One connection. A read takes all that is there."""

    def __init__(self, sock: socket.socket, sockets: _Sockets) -> None:
        self._sock = sock
        self._sockets = sockets
        self._rechunker = Rechunker()

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            self._sock.settimeout(min(timeout or float("inf"), self._sockets.patience, 1e9))
            while block := self._sock.recv(_READ):
                if coarse := self._rechunker.feed(block):
                    return coarse
        except TimeoutError as e:
            raise httpcore.ReadTimeout(str(e)) from e
        except OSError as e:
            raise httpcore.ReadError(str(e)) from e
        return b""

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._rechunker.reset()
        try:
            self._sock.settimeout(timeout)
            self._sock.sendall(buffer)
        except TimeoutError as e:
            raise httpcore.WriteTimeout(str(e)) from e
        except OSError as e:
            raise httpcore.WriteError(str(e)) from e

    def close(self) -> None:
        self._sock.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        try:
            self._sock.settimeout(timeout)
            wrapped = ssl_context.wrap_socket(
                self._sock, server_hostname=server_hostname, do_handshake_on_connect=False
            )
            self._sockets.use(wrapped)
            wrapped.do_handshake()
        except TimeoutError as e:
            self.close()
            raise httpcore.ConnectTimeout(str(e)) from e
        except OSError as e:
            self.close()
            raise httpcore.ConnectError(str(e)) from e
        return _Stream(wrapped, self._sockets)

    def get_extra_info(self, info: str) -> object:
        match info:
            case "socket":
                return self._sock
            case "is_readable":
                return _is_readable(self._sock)
            case _:
                return None


def _is_readable(sock: socket.socket) -> bool:
    """Whether something came while nobody asked: for a connection at rest, its end."""
    timeout = sock.gettimeout()
    try:
        sock.setblocking(False)
        socket.socket.recv(sock, 1, socket.MSG_PEEK)
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        with suppress(OSError):
            sock.settimeout(timeout)
