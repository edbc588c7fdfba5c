"""One pack of all that branches elsewhere begin with: files with times and modes, links as links.

It holds what stands below two folders of this machine (agentsh's data, and its sessions), and is
laid out elsewhere below one; where a part comes from is given by whoever packs. Nothing is followed
out of a folder, a file that is gone meanwhile is left out. Read next: machine.py.
"""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from agentsh.explore.workspace.basing import FILES, LIST, TEMPLATE, FrozenBase
from agentsh.files import is_folder, is_regular, open_foreign, read_foreign

COMMON, SHARED = "common", "shared"
"""Beside what a base's folder holds here: the objects that workspaces borrow, lent paths."""
PIECE = 16 * 1024 * 1024

_MOST_LENT = 1 << 20
"""Bytes of a list of folders that objects are borrowed from."""


class PackPart(Struct, frozen=True):
    """A file, or a folder with all in it, and the name that it has in the pack.

    `left_out`: a path below it that stays here.
    """

    source: Path
    name: str
    left_out: str = ""


def write_pack(file: Path, parts: Iterable[PackPart]) -> None:
    """Raises OSError."""
    packed: set[str] = set()
    with tarfile.open(file, "w", format=tarfile.PAX_FORMAT, errors="surrogateescape") as pack:
        for part in parts:
            for path, name in _below(part):
                if name not in packed:  # two repositories that lend may have the same object
                    packed.add(name)
                    _add(pack, path, name)


def read_pack(file: Path, target: Path) -> None:
    """Lay a pack of our own out below a folder that nobody else writes. Raises OSError."""
    with tarfile.open(file, "r", errors="surrogateescape") as pack:
        pack.extractall(target, filter="fully_trusted")


def base_parts(base: FrozenBase, name: str, shared: Iterable[Path]) -> Iterator[PackPart]:
    """What a base's folder is elsewhere. `name`: what it is called in the pack.

    The objects that the private `.git` borrows go along, since the repository is here; those of
    other repositories that lend to it as well. Raises OSError.
    """
    for each in (FILES, LIST, "index"):
        yield PackPart(base.base_folder / each, f"{name}/{each}")
    for number, path in enumerate(shared):
        yield PackPart(path, f"{name}/{SHARED}/{number}")
    if base.common is None:
        return
    yield PackPart(base.template, f"{name}/{TEMPLATE}")
    for folder, _, _ in os.walk(base.template / ".git"):
        if folder.endswith("/objects"):
            inside = Path(folder).relative_to(base.template / ".git")
            for objects in _object_folders(base.common / inside):
                yield PackPart(objects, f"{name}/{COMMON}/{inside}", "info/alternates")


def _object_folders(objects: Path) -> list[Path]:
    """That folder, and those that it borrows from (objects/info/alternates)."""
    folders = [objects]
    for folder in folders:
        file = folder / "info" / "alternates"
        lines = read_foreign(file, _MOST_LENT).split(b"\n") if is_regular(file) else []
        for line in lines:
            other = Path(os.path.realpath(folder / os.fsdecode(line)))
            if line and other not in folders and is_folder(other):
                folders.append(other)
    return folders


def _below(part: PackPart) -> Iterator[tuple[str, str]]:
    """Folders before what is in them."""
    source = os.fspath(part.source)
    yield source, part.name
    if not is_folder(part.source, follow=False):
        return
    for folder, folders, files in os.walk(source):
        inside = os.path.relpath(folder, source)
        prefix = part.name if inside == "." else f"{part.name}/{inside}"
        for name in (*folders, *files):
            if not part.left_out or f"{prefix}/{name}" != f"{part.name}/{part.left_out}":
                yield f"{folder}/{name}", f"{prefix}/{name}"


def _add(pack: tarfile.TarFile, path: str, name: str) -> None:
    try:
        if stat.S_ISSOCK(os.lstat(path).st_mode):
            return
        member = pack.gettarinfo(path, name)
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        if member.islnk():  # each is a file of its own there
            member.type, member.linkname = tarfile.REGTYPE, ""
            member.size = os.lstat(path).st_size
        if not member.isreg():
            pack.addfile(member)
            return
        with open_foreign(path, follow=False) as data:
            member.size = os.fstat(data.fileno()).st_size
            pack.addfile(member, data)
    except FileNotFoundError:
        return
