"""Lists that change at a server without a handshake: it tells those who listen, over both ways."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentsh.abort import Abort
from agentsh.errors import ToolFailedError
from agentsh.tools.mcp.definition import Server
from tests.support.mcpservers import Heard, opened_client, until
from tests.tools.mcp.test_http import at, listens

GROWING = """
import sys
from mcp.server.mcpserver import Context, MCPServer
server = MCPServer("growing")
@server.tool()
async def grow(name: str, ctx: Context) -> str:
    "One tool more."
    server.add_tool(lambda: "new", name=name, description="New.")
    await ctx.notify_tools_changed()
    return "grown"
if len(sys.argv) > 1:
    server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run()
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def running(port: int) -> Iterator[str]:
    """Its address."""
    process = subprocess.Popen(
        [sys.executable, "-c", GROWING, str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert until(lambda: listens(port), 30)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


@pytest.fixture(params=["stdio", "http"])
def growing(request: pytest.FixtureRequest) -> Iterator[Server]:
    argv = (sys.executable, "-c", GROWING)
    if request.param == "stdio":
        yield Server("grown", "d" * 64, Path("/"), argv=argv, start_timeout=20, timeout=20)
    else:
        with running(free_port()) as url:
            yield at(url)


def grow(heard: Heard, server: Server, name: str) -> None:
    answer = heard.client.call(server, None, "grow", {"name": name}, Abort(), lambda _text: None)
    assert answer.result["content"] == [{"type": "text", "text": "grown"}]


def newest(heard: Heard) -> list[str]:
    return [tool.name for tool in heard.lists[-1][1].tools] if heard.lists else []


def test_who_listens_is_told_of_each_change(growing: Server, tmp_path: Path) -> None:
    with opened_client(tmp_path) as heard:
        grow(heard, growing, "owls")
        assert until(lambda: newest(heard) == ["grow", "owls"])
        assert heard.lists[-1][1].era == "stateless"

        grow(heard, growing, "herons")
        assert until(lambda: newest(heard) == ["grow", "owls", "herons"])


def test_a_server_that_came_back_is_listened_to_again(tmp_path: Path) -> None:
    port = free_port()
    server = at(f"http://127.0.0.1:{port}/mcp")
    with opened_client(tmp_path) as heard:
        with running(port):
            grow(heard, server, "owls")
            assert until(lambda: newest(heard) == ["grow", "owls"])
        with running(port):
            assert until(lambda: grew(heard, server, "herons"))
            assert until(lambda: newest(heard) == ["grow", "herons"])
            grow(heard, server, "gulls")
            assert until(lambda: newest(heard) == ["grow", "herons", "gulls"])


def grew(heard: Heard, server: Server, name: str) -> bool:
    with contextlib.suppress(ToolFailedError):
        grow(heard, server, name)
        return True
    return False
