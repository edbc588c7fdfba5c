"""What one answer over HTTP may be: a body that never ends, and one that unpacks to a flood."""

from __future__ import annotations

import contextlib
import gzip
import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from agentsh.errors import ToolFailedError
from tests.support.mcpservers import opened_client
from tests.tools.mcp.test_http import Reply, answering, at, call, sent

MIB = 1 << 20


def birds(flood: Reply) -> Reply:
    """A server of the older era: `much` is answered by `flood`, all else as it should be."""

    def reply(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        number = body.get("id")
        result: dict[str, Any] = {"content": [{"type": "text", "text": "4"}]}
        match body["method"]:
            case "initialize":
                result = {
                    "protocolVersion": body["params"]["protocolVersion"],
                    "serverInfo": {"name": "birds", "version": "1"},
                    "capabilities": {"tools": {}},
                }
            case "tools/list":
                names = ("count", "much")
                tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
                result = {"tools": tools}
            case "tools/call" if body["params"]["name"] == "much":
                flood(handler, body)
                return
            case "tools/call":
                pass
            case _ if number is None:
                sent(handler, 202, {})
                return
            case _:
                error = {"code": -32601, "message": "Method not found"}
                sent(handler, 200, {"jsonrpc": "2.0", "id": number, "error": error})
                return
        sent(handler, 200, {"jsonrpc": "2.0", "id": number, "result": result})

    return reply


def endless(handler: BaseHTTPRequestHandler, _body: dict[str, Any]) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.close_connection = True
    with contextlib.suppress(OSError):  # it is hung up on
        while True:
            handler.wfile.write(b"x" * MIB)


def packed(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    sent_packed(handler, body, 65 * MIB)


def sent_packed(handler: BaseHTTPRequestHandler, body: dict[str, Any], size: int) -> None:
    content = [{"type": "text", "text": "x" * size}]
    answer = {"jsonrpc": "2.0", "id": body["id"], "result": {"content": content}}
    data = gzip.compress(json.dumps(answer).encode(), 1)
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Encoding", "gzip")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    with contextlib.suppress(OSError):
        handler.wfile.write(data)


@pytest.mark.parametrize("flood", [endless, packed])
def test_a_body_is_read_up_to_64_mib_and_the_next_call_works(tmp_path: Path, flood: Reply) -> None:
    with answering(birds(flood)) as (url, _), opened_client(tmp_path) as heard:
        server = at(url)
        with pytest.raises(ToolFailedError, match="a message of over 64 MiB"):
            call(heard, server, "much")

        assert call(heard, server, "count").result["content"] == [{"type": "text", "text": "4"}]
        assert len(heard.lists) == 1


def test_a_packed_body_comes_whole(tmp_path: Path) -> None:
    def some(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        sent_packed(handler, body, MIB)

    with answering(birds(some)) as (url, _), opened_client(tmp_path) as heard:
        content: Any = call(heard, at(url), "much").result["content"]

    assert len(content[0]["text"]) == MIB
