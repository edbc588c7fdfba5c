"""States that are written without a process: git's own objects, made here from the folder's files.

A history has ten states, and git is nine processes for each, and thirty for going back. What these
hold is what git's hold, name by name (test_histories.py compares them); git reads them.
"""

from __future__ import annotations

import hashlib
import os
import stat
import zlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from agentsh.abort import Abort
from agentsh.tools.base import PreImage
from agentsh.tools.undo.checkpoint import Checkpointed
from agentsh.tools.undo.checkpointer import Checkpointer
from agentsh.tools.undo.restoring import ChangeKind
from agentsh.tools.undo.statenotes import Modes, Notes, message_of, remember
from agentsh.tools.undo.storefiles import keep_racy
from agentsh.tools.undo.undo import Change, Preview, Restored

_NOTES = Notes(modes=Modes(0o644, 0o755, {}))
_NOTE = b"644 755\0"
"""How the note of those modes is spelled."""
_WHO = "a <a@localhost> 1767225600 +0000"


class QuickStates(Checkpointer, frozen=True):
    """Takes states of small folders: plain files and programs, nothing ignored."""

    def take(self, store: str, abort: Abort | None = None) -> Checkpointed:
        shadow = self._shadow(store, abort)
        head = shadow.store / "refs" / "heads" / "master"
        with shadow.locked():
            tree = _tree(shadow.store, shadow.tree)
            before = head.read_text().strip() if head.exists() else ""
            parent = f"parent {before}\n" if before else ""
            if before and _tree_of(shadow.store, before) == tree:
                return Checkpointed(before)
            who = f"author {_WHO}\ncommitter {_WHO}\n"
            _keep(shadow.store, b"blob", _NOTE)
            text = f"tree {tree}\n{parent}{who}\n{message_of(_NOTES)}\n"
            commit = _keep(shadow.store, b"commit", text.encode())
            head.write_text(f"{commit}\n")
        keep_racy(shadow.store, ())
        remember(shadow, commit, _NOTES)
        return Checkpointed(commit)

    def preview(
        self,
        store: str,
        commit: str,
        *,
        last: str | None,
        foreign: Collection[str],
        before: Sequence[PreImage],
    ) -> Preview:
        """Nobody's work is in the way: a history always goes back over everything."""
        now = self.take(store).commit
        place = self._shadow(store).store
        old, new = (dict(_files(place, _tree_of(place, each))) for each in (now, commit))
        kinds: dict[str, ChangeKind] = dict.fromkeys(new.keys() - old.keys(), "create")
        kinds |= dict.fromkeys(old.keys() - new.keys(), "delete")
        kinds |= {path: "change" for path in old.keys() & new.keys() if old[path] != new[path]}
        return Preview(now, tuple(Change(path, kind) for path, kind in sorted(kinds.items())), 0)

    def restore(
        self,
        store: str,
        commit: str,
        *,
        last: str | None,
        foreign: Collection[str],
        before: Sequence[PreImage],
        overwrite: bool,
    ) -> Restored:
        assert overwrite
        shown = self.preview(store, commit, last=last, foreign=foreign, before=before)
        place = self._shadow(store).store
        new = dict(_files(place, _tree_of(place, commit)))
        for change in shown.changes:
            file = self.tree / change.path
            if change.kind == "delete":
                file.unlink()
                if file.parent != self.tree and not any(file.parent.iterdir()):
                    file.parent.rmdir()
            else:
                file.parent.mkdir(exist_ok=True)
                file.write_bytes(_object(place, new[change.path]))
        return Restored(shown.now, shown.changes, ())


def _files(store: Path, tree: str, above: str = "") -> Iterator[tuple[str, str]]:
    """path → name of the content."""
    rows = _object(store, tree)
    while rows:
        head, _, rest = rows.partition(b"\0")
        mode, _, name = head.partition(b" ")
        path, inside, rows = above + os.fsdecode(name), rest[:20].hex(), rest[20:]
        if mode == b"40000":
            yield from _files(store, inside, f"{path}/")
        else:
            yield path, inside


def _object(store: Path, name: str) -> bytes:
    whole = zlib.decompress((store / "objects" / name[:2] / name[2:]).read_bytes())
    return whole.partition(b"\0")[2]


def _tree(store: Path, folder: Path) -> str:
    rows: list[tuple[bytes, bytes]] = []
    for item in folder.iterdir():
        name = os.fsencode(item.name)
        if item.name == ".git":
            continue
        if item.is_dir():
            inside = _tree(store, item)
            if inside != _NO_FILES:
                rows.append((name + b"/", b"40000 %s\0%s" % (name, bytes.fromhex(inside))))
            continue
        mode = b"100755" if item.stat().st_mode & stat.S_IXUSR else b"100644"
        blob = _keep(store, b"blob", item.read_bytes())
        rows.append((name, b"%s %s\0%s" % (mode, name, bytes.fromhex(blob))))
    return _keep(store, b"tree", b"".join(row for _, row in sorted(rows)))


def _keep(store: Path, kind: bytes, data: bytes) -> str:
    """The object in the store, as git keeps a loose one; its name."""
    whole = b"%s %d\0%s" % (kind, len(data), data)
    name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    place = store / "objects" / name[:2] / name[2:]
    if not place.exists():
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(zlib.compress(whole, 1))
    return name


_NO_FILES = hashlib.sha1(b"tree 0\0", usedforsecurity=False).hexdigest()


def _tree_of(store: Path, commit: str) -> str:
    return _object(store, commit)[5:45].decode()
