"""httpx as it is used here: a client that does nothing by itself, over sockets of our own.

httpx's own transport loads certificates when it is made and opens its sockets where nobody can end
a wait. Ours hands httpcore's pool our network seam (sockets.py), and a TLS context is made only
where a scheme asks for one. What httpx would do by itself is off: nothing is taken from the
environment, no redirect is followed, no cookie is sent, no userinfo of a URL becomes a header.
Faults leave as httpcore's own; wire.py translates them. The only user of httpx. Read next:
libraries.py, wire.py, sockets.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from agentsh.errors import UsageError
from agentsh.providers.wire.libraries import httpcore, httpx
from agentsh.providers.wire.proxies import Proxy
from agentsh.providers.wire.sockets import Sockets

if TYPE_CHECKING:
    import ssl

_UNVERIFIED: Final = 0
"""ssl.CERT_NONE, without importing ssl before it is needed."""
_NO_AUTH: Final = httpx.Auth()

InvalidURL = httpx.InvalidURL
DecodingError = httpx.DecodingError


class Client:
    """Sends one request after another to one endpoint, exactly as given."""

    def __init__(
        self,
        sockets: Sockets,
        proxy: Proxy | None,
        context: ssl.SSLContext | None,
        *,
        idle_connections: int,
    ) -> None:
        """A plain server has no `idle_connections`: a new one costs next to none there.

        llama.cpp says that it keeps a connection and ends it with the stream: what is sent at once
        on that one is lost, and a request is not for sending twice unseen.
        """
        self._client = httpx.Client(
            transport=_Transport(_pool(sockets, proxy, context, idle_connections)),
            trust_env=False,
            follow_redirects=False,
        )

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        timeout: Mapping[str, float | None],
    ) -> httpx.Response:
        """The response once its head is there; its body is still to be read, and it to be closed.

        Raises InvalidURL, UnicodeError and what httpcore raises.
        """
        request = httpx.Request(
            method,
            url,
            headers=[(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
            content=body,
            extensions={"timeout": dict(timeout)},
        )
        return self._client.send(request, stream=True, auth=_NO_AUTH)

    def close(self) -> None:
        self._client.close()


class _Transport(httpx.BaseTransport):
    def __init__(self, pool: httpcore.ConnectionPool) -> None:
        self._pool = pool

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        response = self._pool.handle_request(
            httpcore.Request(
                request.method,
                httpcore.URL(
                    scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                ),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )

    def close(self) -> None:
        self._pool.close()


def _pool(
    sockets: Sockets, proxy: Proxy | None, context: ssl.SSLContext | None, idle_connections: int
) -> httpcore.ConnectionPool:
    if proxy is None or proxy.trouble is not None:
        return httpcore.ConnectionPool(
            ssl_context=context,
            max_connections=1,
            max_keepalive_connections=idle_connections,
            network_backend=sockets,
        )
    return httpcore.HTTPProxy(
        proxy.url,
        proxy_auth=proxy.auth,
        ssl_context=context,
        max_connections=1,
        max_keepalive_connections=idle_connections,
        network_backend=sockets,
    )


class _Body(httpx.SyncByteStream):
    """The blocks of one response as they come."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


def tls_context(ca_file: str | None, *, verify: bool) -> ssl.SSLContext | None:
    """None: httpcore makes one when a TLS connection is opened, and not before.

    Raises UsageError where `ca_file` cannot be used.
    """
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
