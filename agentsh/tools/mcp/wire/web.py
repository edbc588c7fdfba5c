"""The official session's streams over HTTP, with a bound on what one answer may be.

The library bounds an event of a stream, not a body that comes as plain JSON: here that ends at the
same size, counted as it is unpacked, and whoever waits for it gets an error. Everything else about
HTTP is the library's. Read next: connection.py.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from agentsh.tools.mcp.definition import Server
from agentsh.tools.mcp.wire.pipes import MOST_BYTES

_PIECE = 1 << 16


class BodyTooLongError(httpx2.StreamError):
    """As the library's own, so that it becomes an answer to the request."""


class BoundedBody(httpx2.AsyncByteStream):
    """The body of a response, unpacked."""

    def __init__(self, response: httpx2.Response, most: int) -> None:
        self._inner = httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=response.stream,
            request=response.request,
        )
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._inner.aiter_bytes(_PIECE):
            size += len(piece)
            if size > self._most:
                raise BodyTooLongError(f"a message of over {self._most >> 20} MiB")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


async def bound(response: httpx2.Response) -> None:
    """A hook: its body is one message at most. An event stream is bounded where it is read."""
    if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        return
    response.stream = BoundedBody(response, MOST_BYTES)
    for name in ("content-encoding", "content-length"):
        response.headers.pop(name, None)


def _directly(url: str) -> dict[str, None]:
    """A server on this machine is reached without a proxy, which would get its token."""
    host = httpx2.URL(url).host
    is_here = host == "localhost" or host.endswith(".localhost") or _is_loopback(host)
    return {f"all://[{host}]" if ":" in host else f"all://{host}": None} if is_here else {}


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@asynccontextmanager
async def over_http(
    server: Server, answered: Callable[[int], None]
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams; `answered` is told the status of each message that was sent.

    The stream that a server may open besides (GET) says nothing of them: many answer 404.
    """

    async def saw(response: httpx2.Response) -> None:
        if response.request.method == "POST":
            answered(response.status_code)

    async with (
        httpx2.AsyncClient(
            headers=dict(server.headers),
            timeout=httpx2.Timeout(30.0, read=None),
            event_hooks={"response": [saw, bound]},
            mounts=_directly(server.url),
        ) as http,
        streamable_http_client(
            server.url, http_client=http, max_sse_event_size=MOST_BYTES
        ) as streams,
    ):
        yield streams
