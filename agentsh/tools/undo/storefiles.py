"""What a store of states consists of, laid out by us and believed in nothing that can be made anew.

Settings, attributes and HEAD are the same in each store: whatever else stands there, after a power
cut or by somebody's hand, is written anew before git is asked. What git itself wrote is believed
until git fails on it and finds damage: then all of it is set aside in a folder of the store, where
older states are still read as far as they can be, and never built upon. Git is told to sync what it
writes. This module runs no git. Read next: shadow.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from agentsh.files import NotRegularError, is_there, open_foreign, read_foreign, write_private

LOCK = "agentsh.lock"
_ASIDE = "damaged-"
_RACY = "racy"
_MOST_RACY = 1 << 28
_LAID_OUT = {
    "HEAD": "ref: refs/heads/master\n",
    "config": """[core]
	repositoryformatversion = 0
	bare = false
	filemode = true
	autocrlf = false
	safecrlf = false
	fsmonitor = false
	hooksPath = /dev/null
	quotePath = false
	logAllRefUpdates = false
	looseCompression = 1
	protectNTFS = false
	protectHFS = false
	fsync = all
	fsyncMethod = batch
[gc]
	auto = 0
[index]
	threads = true
""",
    "info/attributes": "* -text -ident !eol !filter !working-tree-encoding !diff !merge\n",
}
_FOLDERS = ("objects", "refs", "refs/heads", "info")


def lay_out(store: Path) -> None:
    """Make a folder a store, or a store what it must be. Its lock is held. Raises OSError."""
    for left in (*store.glob("*.lock"), *store.glob("refs/heads/*.lock")):
        if left.name != LOCK:  # whoever held the store before us is gone, and so is git's process
            left.unlink(missing_ok=True)
    for folder in _FOLDERS:
        (store / folder).mkdir(mode=0o700, exist_ok=True)
    for name, text in _LAID_OUT.items():
        keep_text(store / name, text)


def keep_text(path: Path, text: str) -> None:
    """A small file of the store, whole or not at all; not touched where it is right."""
    _keep(path, text.encode("utf-8", "surrogateescape"))


def keep_racy(store: Path, paths: Iterable[bytes]) -> None:
    """Which files were changed in the very second in which they were recorded.

    git compares times by the second, and so does not tell that their mode is another one now.
    """
    _keep(store / _RACY, b"\0".join(sorted(paths)))


def racy_of(store: Path) -> list[bytes] | None:
    """Those of the last state; None: nobody knows."""
    try:
        listed = read_foreign(store / _RACY, _MOST_RACY, follow=False)
    except OSError:
        return None
    return [path for path in listed.split(b"\0") if path]


def _keep(path: Path, data: bytes) -> None:
    with suppress(OSError):
        if read_foreign(path, len(data), follow=False) == data:
            return
    write_private(path, data)


def set_aside(store: Path) -> Path:
    """Move all that git wrote into a new folder of the store; which one. Raises OSError."""
    numbers = itertools.count(1)
    aside = next(p for n in numbers if not is_there(p := store / f"{_ASIDE}{n}"))
    aside.mkdir(mode=0o700)
    for each in list(store.iterdir()):
        if each.name != LOCK and not each.name.startswith(_ASIDE):
            each.rename(aside / each.name)
    return aside


def objects_aside(store: Path) -> list[Path]:
    """Where the objects of stores lie that were set aside."""
    return sorted(store.glob(f"{_ASIDE}*/objects"))


def is_hollow(object_file: Path) -> bool:
    """Whether an object's file has a name and no content, as a power cut leaves it, or is none."""
    try:
        with open_foreign(object_file, follow=False, buffering=0) as file:
            return file.read(1) in (b"", b"\0")
    except NotRegularError:
        return True
