"""Two recorded states side by side: which files differ, in bytes, kind or mode. Asks the store.

A row says how one path of the first state becomes that of the second. Read next: undo.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentsh.tools.undo.restoring import LINK, PROGRAM, ChangeKind, Row
from agentsh.tools.undo.shadow import Shadow
from agentsh.tools.undo.statenotes import Modes, notes_of

_KINDS: dict[bytes, ChangeKind] = {b"A": "create", b"D": "delete"}


def rows_between(shadow: Shadow, old: str, new: str) -> list[Row]:
    """What makes the first state the second one. Raises ToolFailedError."""
    if old == new:
        return []
    listed = shadow.look(
        "diff-tree", "-r", "-z", "--no-renames", "--raw", "--end-of-options", old, new
    )
    before, after = notes_of(shadow, old).modes, notes_of(shadow, new).modes
    rows = [_row(head, path, after) for head, path in _pairs(listed)]
    seen = {row.path for row in rows}
    return [*rows, *(row for row in _modes_only(before, after) if row.path not in seen)]


def _pairs(listed: bytes) -> Iterator[tuple[bytes, bytes]]:
    fields = listed.split(b"\0")
    return zip(fields[0::2], fields[1::2], strict=False)


def _row(head: bytes, path: bytes, modes: Modes | None) -> Row:
    _, kind, _, blob, status = head.removeprefix(b":").split(b" ")
    mode = None
    if modes is not None and kind != LINK:
        mode = modes.of(path, is_program=kind == PROGRAM)
    change = _KINDS.get(status[:1], "change")
    return Row(path, change, kind, blob.decode("ascii"), mode)


def _modes_only(before: Modes | None, after: Modes | None) -> Iterator[Row]:
    """Files whose bytes are the same; a path that only one state has is in the other rows."""
    if before is None or after is None:
        return
    for path in sorted(before.odd.keys() | after.odd.keys()):
        old, new = before.odd.get(path), after.odd.get(path)
        if old != new:
            mode_before = old if new is None else new
            assert mode_before is not None
            mode = after.of(path, is_program=bool(mode_before & 0o100))
            yield Row(path, "change", b"", None, mode)


def patch_of(shadow: Shadow, old: str, new: str) -> str:
    """Raises ToolFailedError."""
    arguments = (
        "diff-tree",
        "-r",
        "-p",
        "--no-renames",
        "--no-ext-diff",
        "--end-of-options",
        old,
        new,
    )
    text = shadow.look(*arguments).decode("utf-8", "replace")
    before, after = notes_of(shadow, old).modes, notes_of(shadow, new).modes
    for row in rows_between(shadow, old, new):
        if row.blob is None and before is not None and after is not None:
            name = row.path.decode("utf-8", "replace")
            was = before.of(row.path, is_program=bool((row.mode or 0) & 0o100))
            text += f"diff --git a/{name} b/{name}\nold mode 100{was:o}\nnew mode 100{row.mode:o}\n"
    return text
