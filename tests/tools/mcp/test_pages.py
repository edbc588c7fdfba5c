"""A list in pages is read to its end; where a cursor leads nowhere it ends without a word."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcpservers import opened_client
from tests.tools.mcp.test_http import Reply, answering, at, call, sent

Pages = dict[str | None, tuple[tuple[str, ...], str | None]]

WHOLE: Pages = {None: (("a", "b"), "2"), "2": (("c",), None)}
STUCK: Pages = {None: (("a", "b"), "2"), "2": (("a", "b"), "2")}
ROUND: Pages = {None: (("a",), "2"), "2": (("b",), "3"), "3": (("a",), "2")}
EMPTY: Pages = {None: ((), "2"), "2": (("a",), None)}


def listing(pages: Pages) -> Reply:
    def reply(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        number = body.get("id")
        result: dict[str, Any] = {"content": []}
        match body["method"]:
            case "initialize":
                result = {
                    "protocolVersion": body["params"]["protocolVersion"],
                    "serverInfo": {"name": "birds", "version": "1"},
                    "capabilities": {"tools": {}},
                }
            case "tools/list":
                names, following = pages[(body.get("params") or {}).get("cursor")]
                tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
                result = {"tools": tools, **({"nextCursor": following} if following else {})}
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


@pytest.mark.parametrize(
    ("pages", "names"),
    [
        (WHOLE, ["a", "b", "c"]),
        (STUCK, ["a", "b"]),
        (ROUND, ["a", "b"]),
        (EMPTY, ["a"]),
    ],
)
def test_a_list_in_pages_has_each_tool_once(tmp_path: Path, pages: Pages, names: list[str]) -> None:
    with answering(listing(pages)) as (url, _), opened_client(tmp_path) as heard:
        call(heard, at(url), "a")

    [(_, read)] = heard.lists
    assert ([tool.name for tool in read.tools], read.odd) == (names, ())
