"""Shared by grep, find and ls: the root of a search, names of results, notes on omissions.

Names that hold control characters are shown escaped, so that a file's name cannot draw on a
terminal or end a line of a result. It looks at one path and reads no folder; walking.py does.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from agentsh.errors import ToolFailedError
from agentsh.files import real
from agentsh.jsontext import JsonObject
from agentsh.messages import Text
from agentsh.tools.base import ToolContext, ToolOutcome
from agentsh.tools.files.paths import failure, hidden_words, resolve_existing, shown, what_it_is
from agentsh.tools.files.truncate import MAX_BYTES, MAX_LINES, bytes_words, head
from agentsh.tools.search.walking import Tally, Walk


class SearchRoot(Struct, frozen=True):
    """Where a call looks. `prefix` stands before the names of what is in it, as results show it."""

    path: Path
    """Links resolved."""
    name: str
    prefix: str
    is_folder: bool
    spelled: str
    """The absolute path as it was named."""


def place_of(arguments: JsonObject, context: ToolContext) -> SearchRoot:
    """The folder or regular file that a call names, else the session's. Raises ToolError."""
    path = resolve_existing(str(arguments.get("path", ".")), context.cwd, context.home)
    name = escaped(shown(path, context.cwd)) or "."
    try:
        mode = path.stat().st_mode
    except OSError as e:
        raise failure(name, e) from e
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise ToolFailedError(f"{name} is {what_it_is(mode)}, neither a folder nor a regular file")
    judged = real(path)  # once: a folder of it may become a link meanwhile
    if context.hides(judged):
        raise ToolFailedError(hidden_words(name))
    prefix = "" if name == "." else name if name.endswith("/") else f"{name}/"
    return SearchRoot(judged, name, prefix, stat.S_ISDIR(mode), os.path.normpath(path))


def touched(arguments: JsonObject, cwd: Path, home: Path) -> tuple[Path, ...]:
    return (real(resolve_existing(str(arguments.get("path", ".")), cwd, home)),)


def escaped(name: str) -> str:
    """The name with all that is no visible character spelled out; it stays one line."""
    if name.isprintable():
        return name
    return "".join(char if char.isprintable() else _spelled(char) for char in name)


def _spelled(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8
        code -= 0xDC00
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def number(arguments: JsonObject, name: str, default: int) -> int:
    value = arguments.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def glob_below(pattern: str, root: SearchRoot, home: Path) -> str:
    """A glob that names the search's folder from the top, as one below it (T21)."""
    spelled = f"{home}{pattern[1:]}" if pattern.startswith("~/") else pattern
    for folder in dict.fromkeys((str(root.path), root.spelled)):
        if spelled.startswith(f"{folder.rstrip('/')}/"):
            return spelled[len(folder.rstrip("/")) :]
    return pattern


def elsewhere(pattern: str, root: SearchRoot) -> list[str]:
    """What to say of a glob that leads out of the folder, where it found nothing (T21)."""
    if not pattern.startswith(("/", "~/", "../")) or pattern.startswith(f"{root.spelled}/"):
        return []
    return [f"a glob is held against the paths below {root.name}; name another folder as path"]


def left_out(walk: Walk, root: SearchRoot) -> list[str]:
    """What a search did not look at, for one that found nothing."""
    named = f"{walk.left_out} path{'' if walk.left_out == 1 else 's'} named by .gitignore and "
    notes = [f"{named if walk.left_out else ''}.git left out; name one as path to search it"]
    behind = note_on(
        _below(walk.links, root),
        "link was not followed, name it as path",
        "links were not followed, name one as path",
    )
    return notes + behind


def _below(tally: Tally, root: SearchRoot) -> Tally:
    """The same with the names as results show them."""
    moved = Tally()
    moved.count = tally.count
    moved.first = [(root.prefix + name, why) for name, why in tally.first]
    return moved


def not_read(walk: Walk, root: SearchRoot) -> list[str]:
    """The notes on folders whose names could not be read, and on rules that were not followed."""
    folders, rules = _below(walk.unreadable, root), _below(walk.unread_rules, root)
    return [
        *note_on(folders, "folder could not be read", "folders could not be read"),
        *note_on(
            rules,
            "file of rules could not be read, and what it names is searched, too",
            "files of rules could not be read, and what they name is searched, too",
        ),
    ]


def note_on(tally: Tally, one: str, many: str) -> list[str]:
    """A note with the first names, as "2 files could not be read: a (Permission denied), b"."""
    if not tally.count:
        return []
    named = [escaped(name) + (f" ({why})" if why else "") for name, why in tally.first]
    more = tally.count - len(named)
    listed = ", ".join(named) + (f" and {more} more" if more else "")
    return [f"{tally.count} {one if tally.count == 1 else many}: {listed}"]


def result(lines: Sequence[str], notes: Sequence[str], how: str) -> ToolOutcome:
    """The lines as a result, cut to its limits. `how`: the way to the rest, in words."""
    text = "\n".join(lines)
    cut = head(text, max_lines=MAX_LINES, max_bytes=MAX_BYTES)
    remarks = list(notes)
    if not cut.is_whole:
        remarks.append(
            f"{cut.lines} of {cut.total} lines shown, {bytes_words(cut.total_bytes)} in all: {how}"
        )
    body = cut.text.removesuffix("\n")
    if remarks:
        body += "\n\n" + "\n".join(f"[{remark}]" for remark in remarks)
    details: JsonObject = {"truncation": {"truncated": True, "totalLines": cut.total}}
    return ToolOutcome((Text(body),), details=None if cut.is_whole else details)


def file_size(name: str) -> int | None:
    """The size of a regular file; None for what is none (any more). Raises OSError."""
    try:
        status = os.lstat(name)
    except FileNotFoundError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
