"""What recorded states hold of a path: names and bytes of its contents. Reads the store only.

Many states are asked about at once: git is one process for each question, however many states it
is about. Names of contents are git's (sha1 of their bytes), so equal names are equal bytes, in
whatever store. Read next: statenotes.py, agent/authors/statefiles.py.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, TypeAlias

from msgspec import Struct

from agentsh.tools.undo.shadow import Shadow, state_name
from agentsh.tools.undo.statenotes import left_out_note

NONE: Final = ""
"""The name of no content: the state has no such file."""
_AT_ONCE: Final = 32 * 1024 * 1024

Named: TypeAlias = tuple[str, str]
"""A path, and the name of its content."""


class Blob(Struct, frozen=True):
    """A content's name and size in bytes."""

    name: str
    size: int


def blob_name(data: bytes) -> str:
    """git's name for these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


class StoreContents:
    """One store's. Every method raises ToolFailedError where git cannot be asked."""

    def __init__(self, shadow: Shadow) -> None:
        self._shadow = shadow

    def of_path(self, commits: Sequence[str], path: str) -> dict[str, Blob]:
        """commit → what it holds there (NONE: nothing is there).

        Left out are states that are lost, and those that do not say: the path is ignored or too
        large. A path with a line end is not looked for.
        """
        if "\n" in path:
            return {}
        path_bytes = os.fsencode(path)
        asked = [state_name(commit).encode() for commit in dict.fromkeys(commits)]
        lines = b"".join(b"%s^{tree}\n%s:%s\n" % (commit, commit, path_bytes) for commit in asked)
        form = "--batch-check=%(objecttype) %(objectname) %(objectsize)"
        rows = self._shadow.look("cat-file", form, data=lines).split(b"\n")
        blobs: dict[str, Blob] = {}
        absent = []
        for number, commit in enumerate(asked):
            if not rows[2 * number].startswith(b"tree "):
                continue
            kind, _, name_and_size = rows[2 * number + 1].partition(b" ")
            if kind == b"blob":
                name, size = name_and_size.decode("ascii").split(" ")
                blobs[commit.decode()] = Blob(name, int(size))
            else:
                absent.append(commit.decode())
        hidden = self._hiding(absent, path)
        return blobs | {commit: Blob(NONE, 0) for commit in absent if commit not in hidden}

    def _hiding(self, commits: Sequence[str], path: str) -> set[str]:
        """Those of the states that leave the path out."""
        parents = [str(parent) for parent in PurePosixPath(path).parents][:-1]
        names = {os.fsencode(path), *(os.fsencode(f"{parent}/") for parent in parents)}
        notes = {
            commit: left_out_note(said.decode("utf-8", "replace"))
            for commit, said in self._read(commits)
        }
        lists = dict(self._read({note for note in notes.values() if note is not None}))
        hiding = {note for note, paths in lists.items() if names.intersection(paths.split(b"\0"))}
        return {commit for commit, note in notes.items() if note in hiding}

    def read(self, blobs: Sequence[Blob]) -> Iterator[tuple[str, bytes]]:
        """(name, bytes) of each, in the order asked for, some at a time; lost ones are left out."""
        group: list[str] = []
        size = 0
        for blob in dict.fromkeys(blobs):
            if group and size + blob.size > _AT_ONCE:
                yield from self._read(group)
                group, size = [], 0
            group.append(blob.name)
            size += blob.size
        yield from self._read(group)

    def _read(self, names: Collection[str]) -> Iterator[tuple[str, bytes]]:
        if not names:
            return
        asked = "".join(f"{name}\n" for name in names).encode()
        said = self._shadow.look("cat-file", "--batch", data=asked)
        offset = 0
        for name in names:
            end = said.index(b"\n", offset)
            fields = said[offset:end].split(b" ")
            offset = end + 1
            if len(fields) == 3 and fields[1] != b"missing":
                size = int(fields[2])
                yield name, said[offset : offset + size]
                offset += size + 1

    def gone(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[Named]]:
        """(old, new) → what the old state holds and the new one does not; each new one once."""
        if not pairs:
            return {}
        asked = "".join(f"{state_name(new)} {state_name(old)}\n" for old, new in pairs)
        arguments = ("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--diff-filter=D")
        rows = self._shadow.look(*arguments, data=asked.encode()).split(b"\0")
        vanished: dict[tuple[str, str], list[Named]] = {pair: [] for pair in pairs}
        keys = {new.encode(): (old, new) for old, new in pairs}
        rows_left: Iterator[bytes] = iter(rows)
        now: list[Named] = []
        for row in rows_left:
            if row.startswith(b":"):
                now.append((os.fsdecode(next(rows_left)), row.split(b" ")[2].decode("ascii")))
            elif row in keys:
                now = vanished[keys[row]]
        return vanished

    def all_of(self, commit: str) -> Mapping[str, str]:
        """path → name of the content, of all that the state holds."""
        arguments = ("ls-tree", "-r", "-z", "--full-tree", state_name(commit))
        names = {}
        for row in self._shadow.look(*arguments).split(b"\0"):
            head, tab, path = row.partition(b"\t")
            if tab and head.split(b" ")[1] == b"blob":
                names[os.fsdecode(path)] = head.split(b" ")[2].decode("ascii")
        return names
