"""A scripted endpoint on loopback: replies from a list, every request kept. Standard library only.

A reply is a callable that writes the whole HTTP answer; the functions here make them. They are used
in order, one a POST, and the last one repeats. `requests` has what came, as bytes and parsed.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias

from msgspec import Struct

from agentsh.jsontext import JsonObject, JsonValue

Reply: TypeAlias = "Callable[[Handler], None]"
Piece: TypeAlias = bytes | float
"""Bytes to send, or seconds to wait."""


class Received(Struct, frozen=True):
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    raw: bytes
    at: float
    """Monotonic seconds."""

    @property
    def body(self) -> JsonObject:
        value = json.loads(self.raw)
        assert isinstance(value, dict)
        return value


# ---- replies ---------------------------------------------------------------------------------


def event(value: JsonValue, *, data: str = "data: ", end: str = "\n\n") -> bytes:
    """One server-sent event; a string goes out as it is."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{data}{text}{end}".encode()


def chunk(delta: JsonObject | None, finish: str | None = None, **members: JsonValue) -> JsonObject:
    """One chunk of a chat completion."""
    choice: JsonObject = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "model": "m",
        "choices": [choice],
        **members,
    }


def usage_chunk(prompt: int = 100, completion: int = 10) -> JsonObject:
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [], "usage": usage}


def fragment(
    name: str | None = None, arguments: JsonValue = None, **members: JsonValue
) -> JsonObject:
    """A delta with one fragment of a tool call; only what is given is in it."""
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    return {"tool_calls": [{**members, "function": function}]}


DONE = event("[DONE]")


def raw(
    pieces: Iterable[Piece],
    *,
    status: int = 200,
    content_type: str = "text/event-stream",
    chunked: bool = True,
    cut: bool = False,
) -> Reply:
    """These bytes as they are. `cut` ends the connection without the end of the message."""
    kept = list(pieces)

    def reply(handler: Handler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", content_type)
        if chunked:
            handler.send_header("Transfer-Encoding", "chunked")
        else:
            handler.send_header("Connection", "close")
        handler.end_headers()
        for piece in kept:
            if isinstance(piece, bytes):
                framed = b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece
                handler.wfile.write(framed)
                handler.wfile.flush()
            elif handler.scripted.closing.wait(piece):
                return
        if chunked and not cut:
            handler.wfile.write(b"0\r\n\r\n")
        handler.close_connection = handler.close_connection or cut or not chunked

    return reply


def stream(*chunks: JsonObject | Piece, done: bool = True, **how: object) -> Reply:
    """A streamed answer: chunks, deltas (anything that has no `choices`, `error`, …), pieces."""
    whole = ("choices", "error", "usage", "object", "id", "type")
    pieces: list[Piece] = []
    for part in chunks:
        if isinstance(part, dict):
            known = any(name in part for name in whole)
            pieces.append(event(part if known else chunk(part)))
        else:
            pieces.append(part)
    return raw([*pieces, DONE] if done else pieces, **how)  # type: ignore[arg-type]


def text(content: str, *, prompt: int = 100, completion: int = 10) -> Reply:
    """A good answer in three chunks, with usage."""
    half = len(content) // 2
    deltas: list[JsonObject] = [
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": content[:half]}),
        chunk({"content": content[half:]}),
        chunk({}, "stop"),
        usage_chunk(prompt, completion),
    ]
    return stream(*deltas)


def calls(*wanted: tuple[str, str, JsonObject]) -> Reply:
    """A streamed answer that asks for tools: (id, name, arguments)."""
    deltas: list[JsonObject] = [chunk({"role": "assistant", "content": None})]
    for i, (call_id, name, arguments) in enumerate(wanted):
        begin = fragment(name, "", index=i, id=call_id, type="function")
        deltas += [chunk(begin), chunk(fragment(arguments=json.dumps(arguments), index=i))]
    return stream(*deltas, chunk({}, "tool_calls"), usage_chunk())


def status(
    code: int,
    body: JsonValue | bytes,
    *,
    content_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """A plain HTTP answer; a string goes out as it is."""
    if isinstance(body, str):
        body = body.encode()
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    def reply(handler: Handler) -> None:
        handler.send_response(code)
        handler.send_header("Content-Type", content_type)
        handler.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)

    return reply


def hang_up(handler: Handler) -> None:
    """Close the connection without an answer."""
    handler.close_connection = True
    with suppress(OSError):
        handler.connection.shutdown(socket.SHUT_RDWR)


def silence(handler: Handler) -> None:
    """Take the request and never answer (until the endpoint is closed)."""
    handler.scripted.closing.wait()
    handler.close_connection = True


# ---- the server ------------------------------------------------------------------------------


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    scripted: Endpoint
    received: Received
    """The request that is answered; `scripted.requests` may have later ones by then."""

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._keep(b"")
        if self.path.partition("?")[0].endswith("/models"):
            listed: JsonObject = {"object": "list", "data": self.scripted.models}
            listing = self.scripted.listing
            (status(200, listed) if listing is None else listing)(self)
        else:
            status(404, {"error": {"message": "no such path"}})(self)

    def do_POST(self) -> None:
        number = self._keep(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        with suppress(BrokenPipeError, ConnectionResetError):
            self.scripted.reply_to(number)(self)
            return
        self.close_connection = True

    def _keep(self, data: bytes) -> int:
        headers = {k.lower(): v for k, v in self.headers.items()}
        self.received = Received(self.command, self.path, headers, data, time.monotonic())
        return self.scripted.keep(self.received)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that hangs up is no news here


class Endpoint:
    """A server with a script. `serve()` below makes one for the length of a block."""

    def __init__(
        self,
        *script: Reply,
        models: list[JsonValue] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.script = list(script)
        self.models: list[JsonValue] = models or [{"id": "m", "object": "model"}]
        self.listing: Reply | None = None
        """What is answered instead of the list of `models`."""
        self.requests: list[Received] = []
        """The POSTs, in order."""
        self.listings: list[Received] = []
        """The GETs, in order."""
        self.closing = threading.Event()
        self._lock = threading.Lock()
        handler = type("ScriptedHandler", (Handler,), {"scripted": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._scheme = "http"
        if tls is not None:
            self._scheme = "https"
            self._server.socket = tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def base_url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self.port}/v1"

    @property
    def bodies(self) -> list[JsonObject]:
        return [r.body for r in self.requests]

    def keep(self, received: Received) -> int:
        with self._lock:
            kept = self.requests if received.method == "POST" else self.listings
            kept.append(received)
            return len(kept) - 1

    def reply_to(self, number: int) -> Reply:
        return self.script[min(number, len(self.script) - 1)]

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def serve(
    *script: Reply, models: list[JsonValue] | None = None, tls: ssl.SSLContext | None = None
) -> Iterator[Endpoint]:
    """An endpoint for the length of the block."""
    endpoint = Endpoint(*script, models=models, tls=tls)
    try:
        yield endpoint
    finally:
        endpoint.close()
