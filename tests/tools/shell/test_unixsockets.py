"""Where sockets of the world outside are looked for."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from agentsh.tools.shell.unixsockets import outside_sockets


def test_sockets_are_found_that_are_bound_mounted_or_named_and_only_those(tmp_path: Path) -> None:
    names = ("bound with blank", "other/mounted \\x", "other/named", "other/unknown")
    (tmp_path / "other").mkdir()
    servers = []
    for name in names:
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(tmp_path / name))
        servers.append(server)
    (tmp_path / "file").write_text("")
    proc = tmp_path / "proc"
    (proc / "net").mkdir(parents=True)
    (proc / "self").mkdir()
    row = "0000: 00000002 00000000 00010000 0001 01 1"
    rows = [f"{row} {tmp_path}/bound with blank", f"{row} @abstract", f"{row} {tmp_path}/gone"]
    rows += [f"{row} {tmp_path}/file", f"{row} relative", row]
    (proc / "net/unix").write_text("\n".join(["Num RefCount", *rows, ""]))
    mounted = f"{tmp_path}/other/mounted \\x".replace("\\", "\\134").replace(" ", "\\040")
    (proc / "self/mountinfo").write_text(f"1 2 0:3 / {mounted} rw - ext4 x rw\n")
    environ = {"DOCKER_HOST": f"unix://{tmp_path}/other/named", "X": "unix://"}

    found = outside_sockets(environ, proc)

    for server in servers:
        server.close()
    assert [str(path.relative_to(tmp_path)) for path in found] == list(names[:3])
    assert outside_sockets({}, tmp_path / "none") == ()


def test_a_socket_is_found_that_was_renamed_or_linked_or_bound_by_a_relative_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("absolute", "relative"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "relative")
    with socket.socket(socket.AF_UNIX) as renamed, socket.socket(socket.AF_UNIX) as relative:
        renamed.bind(str(tmp_path / "absolute/mux.XYZ"))
        renamed.listen()
        (tmp_path / "absolute/mux.XYZ").rename(tmp_path / "absolute/mux")
        os.link(tmp_path / "absolute/mux", tmp_path / "absolute/linked")
        relative.bind("own")
        relative.listen()

        sockets = set(outside_sockets({}))

    assert sockets >= {tmp_path / name for name in ("absolute/mux", "absolute/linked")}
    assert tmp_path / "relative/own" in sockets


def test_a_named_pipe_is_found_that_a_process_has_open(tmp_path: Path) -> None:
    for name in ("open", "nobody's"):
        os.mkfifo(tmp_path / name)
    reader = os.open(tmp_path / "open", os.O_RDONLY | os.O_NONBLOCK)
    try:
        ways = set(outside_sockets({}))
    finally:
        os.close(reader)

    assert {path for path in ways if path.parent == tmp_path} == {tmp_path / "open"}
