"""What git cannot keep of a state, in blobs that the state's message names.

Two notes: the paths that were there and are not recorded, and the modes of the recorded files. Of
modes, two are usual in a store (one of plain files, one of programs; those of most files when it
began), and the others are listed by path. States of an earlier version have no note of modes.
Pure, but for asking the store. Read next: checkpoint.py.
"""

from __future__ import annotations

import hashlib
import re
import stat
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from agentsh.tools.undo.shadow import Shadow

_LEFT_OUT = "left out"
_MODES = "modes"
_NOTE = re.compile(rf"^({_LEFT_OUT}|{_MODES}): ([0-9a-f]{{40,64}})$", re.MULTILINE)


class Modes(Struct, frozen=True):
    """The modes of one state's regular files."""

    plain: int
    program: int
    odd: Mapping[bytes, int]

    def of(self, path: bytes, *, is_program: bool) -> int:
        return self.odd.get(path, self.program if is_program else self.plain)

    def with_changes(self, seen: Mapping[bytes, int], gone: Iterable[bytes]) -> Modes:
        """With the modes that were seen now; `gone` are recorded no longer, or are links."""
        odd = dict(self.odd)
        for path in gone:
            odd.pop(path, None)
        for path, mode in seen.items():
            odd.pop(path, None)
            if mode != (self.program if mode & stat.S_IXUSR else self.plain):
                odd[path] = mode
        return self if odd == self.odd else Modes(self.plain, self.program, odd)


def first_modes(seen: Mapping[bytes, int]) -> Modes:
    """The modes of a store's first state; what most files have is usual."""
    programs = Counter(mode for mode in seen.values() if mode & stat.S_IXUSR)
    plain = Counter(mode for mode in seen.values() if not mode & stat.S_IXUSR)
    usual = [most.most_common(1)[0][0] if most else 0 for most in (plain, programs)]
    return Modes(usual[0] or 0o644, usual[1] or 0o755, {}).with_changes(seen, ())


class Notes(Struct, frozen=True):
    """The notes of one state. `left_out`: paths; those of folders end in a slash."""

    left_out: tuple[bytes, ...] = ()
    modes: Modes | None = None


_MOST_REMEMBERED = 8
_notes: dict[Path, dict[str, Notes]] = {}
"""Of each store the states that were asked about last, with their notes: reading them is two
processes, and a state never changes."""


def notes_of(shadow: Shadow, commit: str) -> Notes:
    """Raises ToolFailedError: the state, or a note of it, cannot be read."""
    remembered = _notes.get(shadow.store, {}).get(commit)
    if remembered is not None:
        return remembered
    message = shadow.look("log", "-1", "--no-decorate", "--format=%B", "--end-of-options", commit)
    named = dict(_NOTE.findall(message.decode("utf-8", "replace")))
    left_out, modes = ((_blob(shadow, named.get(name))) for name in (_LEFT_OUT, _MODES))
    notes = Notes(tuple(p for p in (left_out or b"").split(b"\0") if p), _decoded(modes))
    remember(shadow, commit, notes)
    return notes


def left_out_note(message: str) -> str | None:
    """git's name for the bytes that list what a state does not hold; None: it holds everything."""
    return dict(_NOTE.findall(message)).get(_LEFT_OUT)


def remember(shadow: Shadow, commit: str, notes: Notes) -> None:
    notes_by_commit = _notes.setdefault(shadow.store, {})
    notes_by_commit.pop(commit, None)
    notes_by_commit[commit] = notes
    if len(notes_by_commit) > _MOST_REMEMBERED:
        del notes_by_commit[next(iter(notes_by_commit))]


def message_of(notes: Notes) -> str:
    """A state's message: names each note by git's name for its bytes."""
    lines = [f"{name}: {_name_of(data)}" for name, data in _encoded(notes).items()]
    return "\n\n".join(["checkpoint", "\n".join(lines)] if lines else ["checkpoint"])


def write_notes(shadow: Shadow, notes: Notes) -> None:
    for data in _encoded(notes).values():
        shadow.git("hash-object", "-w", "--stdin", data=data)


def _encoded(notes: Notes) -> dict[str, bytes]:
    notes_by_name = {}
    if notes.left_out:
        notes_by_name[_LEFT_OUT] = b"\0".join(notes.left_out) + b"\0"
    if notes.modes is not None:
        modes = notes.modes
        rows = [b"%o %s" % (modes.odd[path], path) for path in sorted(modes.odd)]
        notes_by_name[_MODES] = b"\0".join([b"%o %o" % (modes.plain, modes.program), *rows]) + b"\0"
    return notes_by_name


def _decoded(data: bytes | None) -> Modes | None:
    if data is None:
        return None
    first, *rows = (row for row in data.split(b"\0") if row)
    plain, program = (int(word, 8) for word in first.split(b" "))
    pairs = (row.split(b" ", 1) for row in rows)
    return Modes(plain, program, {path: int(mode, 8) for mode, path in pairs})


def _blob(shadow: Shadow, name: str | None) -> bytes | None:
    return None if name is None else shadow.look("cat-file", "blob", name)


def _name_of(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
