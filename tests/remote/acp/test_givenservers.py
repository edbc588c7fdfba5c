"""Servers that an editor hands over."""

from __future__ import annotations

from pathlib import Path

from acp import schema

from agentsh.remote.acp.givenservers import given_servers
from agentsh.settings import McpSettings
from agentsh.tools.mcp.definition import Server, define


def test_what_looks_like_a_variable_is_as_the_editor_gave_it() -> None:
    env = [schema.EnvVariable(name="WORD", value="a${HOME}b$${X}")]
    stdio = schema.McpServerStdio(name="birds", command="npx", args=["${NOT_SET}"], env=env)
    tables, left_out = given_servers([stdio])

    server = define(tables["birds"], McpSettings(), {"HOME": "/home/me"}, Path("/"))

    assert isinstance(server, Server)
    assert server.env["WORD"] == "a${HOME}b$${X}"
    assert server.argv == ("npx", "${NOT_SET}")
    assert left_out == ()


def test_a_transport_that_is_not_offered_is_left_out_by_name() -> None:
    sse = schema.SseMcpServer(type="sse", name="old", url="http://127.0.0.1/sse", headers=[])
    http = schema.HttpMcpServer(type="http", name="new", url="http://127.0.0.1/", headers=[])

    tables, left_out = given_servers([sse, http])

    assert list(tables) == ["new"]
    assert "old" in left_out[0]
