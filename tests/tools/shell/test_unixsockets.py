"""Where sockets of the world outside are looked for."""

from __future__ import annotations

import socket
from pathlib import Path

from agentsh.tools.shell.unixsockets import outside_sockets


def test_sockets_are_found_that_are_bound_mounted_or_named_and_only_those(tmp_path: Path) -> None:
    names = ("bound with blank", "mounted \\x", "named", "unknown")
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
    mounted = f"{tmp_path}/mounted \\x".replace("\\", "\\134").replace(" ", "\\040")
    (proc / "self/mountinfo").write_text(f"1 2 0:3 / {mounted} rw - ext4 x rw\n")
    environ = {"DOCKER_HOST": f"unix://{tmp_path}/named", "X": "unix://"}

    found = outside_sockets(environ, proc)

    for server in servers:
        server.close()
    assert [path.name for path in found] == list(names[:3])
    assert outside_sockets({}, tmp_path / "none") == ()
