"""Streamable HTTP: the official server, refusals with their status, redirects, large events."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agentsh.abort import Abort
from agentsh.errors import ToolFailedError
from agentsh.tools.mcp.definition import Server
from agentsh.tools.mcp.tool import ServerAnswer
from tests.support.mcpservers import Heard, opened_client, until

OFFICIAL = """
import sys
from mcp.server.mcpserver import MCPServer
server = MCPServer("official")
@server.tool()
def count(bird: str, times: int = 1) -> str:
    "Count a bird."
    return f"{bird}: {4 * times}"
@server.tool()
def much(size: int) -> str:
    "Says much."
    return "x" * size
server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
"""


def at(url: str, **headers: str) -> Server:
    return Server(
        "web", "d" * 64, Path("/"), url=url, headers=headers, start_timeout=20, timeout=20
    )


def call(heard: Heard, server: Server, tool: str, **arguments: Any) -> ServerAnswer:
    return heard.client.call(server, None, tool, arguments, Abort(), lambda _text: None)


@pytest.fixture(scope="module")
def official() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", OFFICIAL, str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert until(lambda: listens(port), 30)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def test_an_official_server_is_listed_and_called(official: str, tmp_path: Path) -> None:
    with opened_client(tmp_path) as heard:
        answer = call(heard, at(official), "count", bird="owl", times=3)

    assert answer.result["content"] == [{"type": "text", "text": "owl: 12"}]
    [(name, listing)] = heard.lists
    assert (name, [tool.name for tool in listing.tools]) == ("web", ["count", "much"])


def test_an_answer_of_more_than_a_megabyte_comes_whole(official: str, tmp_path: Path) -> None:
    with opened_client(tmp_path) as heard:
        answer = call(heard, at(official), "much", size=3_000_000)

    content: Any = answer.result["content"]
    assert len(content[0]["text"]) == 3_000_000


Reply = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


@contextlib.contextmanager
def answering(reply: Reply) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """An address whose POSTs are answered so, and the headers that came."""
    came: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            came.append(dict(self.headers))
            reply(self, body)

        def do_GET(self) -> None:
            self.send_error(404 if "Mcp-Session-Id" in self.headers else 405)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp", came
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def sent(handler: BaseHTTPRequestHandler, status: int, body: object, **headers: str) -> None:
    data = json.dumps(body).encode()
    handler.send_response(status)
    for name, value in {"Content-Type": "application/json", **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "401 Unauthorized: `headers` must carry a token"),
        (403, "403 Forbidden: `headers` must carry a token"),
        (405, "HTTP status 405: its `url` takes no streamable HTTP"),
        (500, "HTTP status 500"),
    ],
)
def test_a_refusal_is_said_with_its_status(tmp_path: Path, status: int, words: str) -> None:
    with (
        answering(lambda handler, _: sent(handler, status, {"error": "who are you"})) as (
            url,
            came,
        ),
        opened_client(tmp_path) as heard,
        pytest.raises(ToolFailedError, match=words),
    ):
        call(heard, at(url, Authorization="Bearer t-1"), "count")

    assert {headers["Authorization"] for headers in came} == {"Bearer t-1"}


def test_no_redirect_is_followed_to_another_origin(tmp_path: Path) -> None:
    with answering(lambda handler, _: sent(handler, 200, {})) as (elsewhere, stolen):
        with (
            answering(lambda handler, _: sent(handler, 307, {}, Location=elsewhere)) as (url, _),
            opened_client(tmp_path) as heard,
            pytest.raises(ToolFailedError, match=r"Redirect to .* not followed"),
        ):
            call(heard, at(url, Authorization="Bearer t-1"), "count")

        assert stolen == []


def test_where_nobody_listens_it_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with opened_client(tmp_path) as heard, pytest.raises(ToolFailedError, match="web: "):
        call(heard, at(f"http://127.0.0.1:{port}/mcp"), "count")


FORGOTTEN = {"jsonrpc": "2.0", "error": {"code": -32001, "message": "no session"}, "id": None}


@pytest.mark.parametrize("words", [{"error": "no such session"}, FORGOTTEN])
def test_a_session_that_its_server_forgot_is_begun_anew_and_the_call_made_there(
    tmp_path: Path, words: object
) -> None:
    greeted = 0

    def reply(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        nonlocal greeted
        number = body.get("id")
        match body["method"]:
            case "initialize":
                greeted += 1
                info = {"name": "old", "version": "1"}
                version = body["params"]["protocolVersion"]
                result: object = {
                    "protocolVersion": version,
                    "serverInfo": info,
                    "capabilities": {"tools": {}},
                }
                answer = {"jsonrpc": "2.0", "id": number, "result": result}
                sent(handler, 200, answer, Mcp_Session_Id=f"s-{greeted}")
            case "tools/list":
                tool = {"name": "count", "inputSchema": {"type": "object"}}
                sent(handler, 200, {"jsonrpc": "2.0", "id": number, "result": {"tools": [tool]}})
            case "tools/call" if handler.headers["Mcp-Session-Id"] == "s-1":
                sent(handler, 404, words)
            case "tools/call":
                content = [{"type": "text", "text": "4"}]
                answer = {"jsonrpc": "2.0", "id": number, "result": {"content": content}}
                sent(handler, 200, answer)
            case _ if number is None:
                sent(handler, 202, {})
            case _:
                error = {"code": -32601, "message": "Method not found"}
                sent(handler, 200, {"jsonrpc": "2.0", "id": number, "error": error})

    with answering(reply) as (url, _), opened_client(tmp_path) as heard:
        answer = call(heard, at(url), "count")

    assert answer.result["content"] == [{"type": "text", "text": "4"}]
    assert greeted == 2


def test_a_call_that_was_done_is_not_made_again_whatever_the_other_stream_says(
    tmp_path: Path,
) -> None:
    """A server that offers no stream besides answers 404 there, and refuses the call itself."""
    made = []

    def reply(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        number = body.get("id")
        match body["method"]:
            case "initialize":
                version = body["params"]["protocolVersion"]
                info = {"name": "old", "version": "1"}
                result = {"protocolVersion": version, "serverInfo": info, "capabilities": {}}
                answer = {"jsonrpc": "2.0", "id": number, "result": result}
                sent(handler, 200, answer, Mcp_Session_Id="s-1")
            case "tools/call":
                made.append(number)
                time.sleep(1.5)  # the other stream is tried again meanwhile
                error = {"code": -32602, "message": "no such bird"}
                sent(handler, 200, {"jsonrpc": "2.0", "id": number, "error": error})
            case _ if number is None:
                sent(handler, 202, {})
            case _:
                error = {"code": -32601, "message": "Method not found"}
                sent(handler, 200, {"jsonrpc": "2.0", "id": number, "error": error})

    with (
        answering(reply) as (url, _),
        opened_client(tmp_path) as heard,
        pytest.raises(ToolFailedError, match="no such bird"),
    ):
        call(heard, at(url), "count")

    assert len(made) == 1


def test_l17_a_server_on_this_machine_is_reached_without_a_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy would get its token; endpoints are reached so, too."""
    proxied: list[dict[str, str]] = []

    def refused(handler: BaseHTTPRequestHandler, _body: dict[str, Any]) -> None:
        proxied.append(dict(handler.headers))
        sent(handler, 404, {})

    def greeted(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        sent(handler, 404, {"jsonrpc": "2.0", "id": body.get("id"), "error": {}})

    with answering(refused) as (proxy, _), answering(greeted) as (url, came):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.removesuffix("/mcp"))
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        for host in ("127.0.0.1", "localhost"):
            there = url.replace("127.0.0.1", host)
            with opened_client(tmp_path) as heard, pytest.raises(ToolFailedError):
                call(heard, at(there, Authorization="Bearer precious"), "count")

    assert proxied == []
    assert came
