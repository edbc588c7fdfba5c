"""UNIX sockets of the world outside a sandbox: a read-only mount does not stop a connect to them.

Found are those that the kernel lists as bound, those that were mounted alone (a container's
`docker.sock`), and those that the environment names. Not found: a socket that is bound by a
relative name, or in another network namespace, and not mounted or named; one that comes up while a
command runs already. It looks at /proc and at names, and opens nothing. Read next: sandbox.py.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from agentsh.files import real

_OCTAL: Final = re.compile(r"\\([0-7]{3})")
_ADDRESS: Final = "unix://"


def outside_sockets(environ: Mapping[str, str], proc: Path = Path("/proc")) -> tuple[Path, ...]:
    """Real paths of sockets that a command in the sandbox could see, to be covered one by one."""
    sockets: dict[Path, None] = {}
    for name in (*_bound(proc), *_mounted(proc), *_named(environ)):
        path = real(Path(name))
        if path not in sockets and _is_socket(path):
            sockets[path] = None
    return tuple(sockets)


def _bound(proc: Path) -> Iterator[str]:
    """The last column; a socket without a name has none, an abstract one begins with `@`."""
    for line in _lines(proc / "net/unix")[1:]:
        fields = line.split(None, 7)
        if len(fields) == 8 and fields[7].startswith("/"):
            yield fields[7]


def _mounted(proc: Path) -> Iterator[str]:
    for line in _lines(proc / "self/mountinfo"):
        fields = line.split(" ")
        if len(fields) > 4:
            yield _OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[4])


def _named(environ: Mapping[str, str]) -> Iterator[str]:
    for value in environ.values():
        if value.startswith(_ADDRESS):
            yield value.removeprefix(_ADDRESS)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_bytes().decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        return []  # no such table on this system


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False
