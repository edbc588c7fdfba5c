"""What a server gets of the settings and the environment, and what leaves it out."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.settings import McpSettings, ServerSettings
from agentsh.tools.mcp.definition import LeftOut, Server, define

HERE = Path("/proj")
ENVIRON = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "LC_ALL": "C",
    "https_proxy": "http://p:1",
    "SSL_CERT_FILE": "/ca.pem",
    "SECRET": "cheep",
    "TOKEN": "t-1",
}


def defined(table: ServerSettings, environ: dict[str, str] = ENVIRON) -> Server:
    server = define(table, McpSettings(), environ, HERE)
    assert isinstance(server, Server), server
    return server


def test_a_program_gets_a_small_environment_and_what_its_table_names() -> None:
    table = ServerSettings(
        "birds", command="npx", args=("-t", "${TOKEN}"), env={"T": "x${TOKEN}", "P": "a b"}
    )

    server = defined(table)

    assert server.argv == ("npx", "-t", "t-1")
    assert server.env == {
        "PATH": "/bin",
        "HOME": "/home/me",
        "LC_ALL": "C",
        "https_proxy": "http://p:1",
        "SSL_CERT_FILE": "/ca.pem",
        "T": "xt-1",
        "P": "a b",
    }
    assert (server.cwd, server.timeout, server.start_timeout) == (HERE, 60.0, 30.0)


def test_the_whole_environment_where_it_is_asked_for() -> None:
    assert defined(ServerSettings("b", command="x", inherit_env=True)).env == ENVIRON


def test_a_variable_that_is_not_set_leaves_the_server_out_by_name() -> None:
    for table in (
        ServerSettings("b", command="x", env={"T": "${NO_SUCH}"}),
        ServerSettings("b", command="x", args=("${NO_SUCH}",)),
        ServerSettings("b", url="http://h/${NO_SUCH}"),
        ServerSettings("b", url="http://h", headers={"A": "${NO_SUCH}"}),
    ):
        left_out = define(table, McpSettings(), ENVIRON, HERE)
        assert isinstance(left_out, LeftOut)
        assert "NO_SUCH" in left_out.why


def test_what_a_variable_makes_of_an_address_or_a_header_must_be_one() -> None:
    environ = {"URL": "file:///etc/passwd", "H": "a\r\nX: b"}
    for table in (
        ServerSettings("b", url="${URL}"),
        ServerSettings("b", url="http://h", headers={"A": "${H}"}),
    ):
        assert isinstance(define(table, McpSettings(), environ, HERE), LeftOut)


def test_a_path_begins_in_the_servers_folder_and_a_name_is_looked_for_on_its_path() -> None:
    assert defined(ServerSettings("b", command="./s.py", cwd="tools")).argv == ("/proj/tools/s.py",)
    assert defined(ServerSettings("b", command="s.py", cwd="tools")).argv == ("s.py",)
    assert defined(ServerSettings("b", command="/x/s.py")).argv == ("/x/s.py",)


def test_the_digest_is_of_the_settings_and_of_no_value() -> None:
    table = ServerSettings("b", command="x", env={"T": "${TOKEN}"})

    one = defined(table)
    other_value = defined(table, {**ENVIRON, "TOKEN": "t-2"})
    other_choice = defined(ServerSettings("c", command="x", env=table.env, exclude=("a",)))
    other_program = defined(ServerSettings("b", command="y", env=table.env))

    assert one.digest == other_value.digest == other_choice.digest
    assert one.digest != other_program.digest


def test_the_same_words_elsewhere_are_the_same_server_unless_they_name_files() -> None:
    def digest(table: ServerSettings, folder: str) -> str:
        server = define(table, McpSettings(), ENVIRON, Path(folder))
        assert isinstance(server, Server)
        return server.digest

    everywhere: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("npx", ("-y", "@birds/mcp")),
        ("python3", ("/x/s.py",)),
        ("uvx", ("birds",)),
    )
    local: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("./s.py", ()),
        ("python3", ("tools/s.py",)),
        ("node", ("--x", "./s")),
    )
    for command, args in everywhere:
        table = ServerSettings("b", command=command, args=args)
        assert digest(table, "/a") == digest(table, "/b")
    for command, args in local:
        table = ServerSettings("b", command=command, args=args)
        assert digest(table, "/a") != digest(table, "/b")


def test_a_word_that_begins_at_home_is_meant_as_in_a_shell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    server = defined(ServerSettings("b", command="~/s", args=("~/a.js", "x~/b"), cwd="~/work"))

    assert server.argv == ("/home/me/s", "/home/me/a.js", "x~/b")
    assert server.cwd == Path("/home/me/work")
