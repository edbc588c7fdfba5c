"""UNIX sockets and named pipes of the world outside a sandbox: a read-only mount stops neither.

Found are sockets that the kernel lists as bound, and those beside them, since some are renamed once
they are bound (ssh's); those that were mounted alone (a container's `docker.sock`); those that the
environment names; and what processes of ours hold: sockets bound by a relative name, named pipes.
Not found: a socket in another network namespace that is not mounted or named, or that was moved to
another folder; a pipe that nobody has open yet; what comes up while a command runs already. It
looks at /proc and at names, and opens nothing. Read next: sandbox.py.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from agentsh.files import real

_OCTAL: Final = re.compile(r"\\([0-7]{3})")
_ADDRESS: Final = "unix://"
_MOST_NAMES: Final = 5000
"""Of one folder."""
_MOST_HELD: Final = 100_000
"""Descriptors of all processes that are looked at."""


def outside_sockets(environ: Mapping[str, str], proc: Path = Path("/proc")) -> tuple[Path, ...]:
    """Real paths that a command in the sandbox could speak to, to be covered one by one."""
    bound = dict(_bound(proc))
    relative = {inode: name for name, inode in bound.items() if not name.startswith("/")}
    held = islice(_held(proc, relative), _MOST_HELD)
    in_use = [real(Path(name)) for name in (*bound, *held) if name.startswith("/")]
    others = [real(Path(name)) for name in (*_mounted(proc), *_named(environ))]
    speaking = dict.fromkeys(path for path in (*in_use, *others) if _speaks(path))
    for folder in dict.fromkeys(path.parent for path in in_use):
        speaking |= dict.fromkeys(_sockets_in(folder))
    return tuple(speaking)


def _bound(proc: Path) -> Iterator[tuple[str, str]]:
    """Name and inode; a socket without a name has none, an abstract one begins with `@`."""
    for line in _lines(proc / "net/unix")[1:]:
        fields = line.split(None, 7)
        if len(fields) == 8 and not fields[7].startswith("@"):
            yield fields[7], fields[6]


def _sockets_in(folder: Path) -> Iterator[Path]:
    for name in _names(folder)[:_MOST_NAMES]:
        if stat.S_ISSOCK(_mode(folder / name)):
            yield folder / name


def _held(proc: Path, relative: Mapping[str, str]) -> Iterator[str]:
    """What processes have open that see the same files as we do: those of a sandbox do not."""
    ours = _link(proc / "self/ns/mnt")
    seen: set[str] = set()
    for process in _names(proc):
        if not process.isdigit() or _link(proc / process / "ns/mnt") != ours:
            continue
        for descriptor in _names(proc / process / "fd"):
            target = _link(proc / process / "fd" / descriptor)
            if target in seen:
                continue
            seen.add(target)
            if target.startswith("/"):
                if stat.S_ISFIFO(_mode(target)):
                    yield target
            elif target.startswith("socket:") and (name := relative.get(target[8:-1])):
                yield f"{_link(proc / process / 'cwd')}/{name}"


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208  names are all that is needed
    except OSError:
        return []


def _link(path: Path) -> str:
    try:
        return os.readlink(path)  # noqa: PTH115  what it says need be no path
    except OSError:
        return ""


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


def _speaks(path: Path) -> bool:
    mode = _mode(path)
    return stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode)


def _mode(path: Path | str) -> int:
    try:
        return os.lstat(path).st_mode
    except (OSError, ValueError):
        return 0
