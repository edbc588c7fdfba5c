"""What heads said, kept between starts, so that an unchanged file costs no YAML.

One JSON file in the state folder, by path, size, times and inode. Deleting it changes no answer; a
file that was changed in the moments before it was read is not kept, since a second change within
the clock's grain would not be seen. What cannot be read or written is as if it were not there.
Read next: finding.py.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from agentsh.files import read_foreign, write_private
from agentsh.jsontext import JsonError, JsonObject, JsonValue, dumps, loads

_VERSION: Final = 1
_MOST_BYTES: Final = 16 << 20
_MOST_FILES: Final = 4000
_GRAIN_NS: Final = 50_000_000


class FileHead(Struct, frozen=True):
    """What the head of one file says. `why_not`: why it does not count; "" if it does."""

    name: str = ""
    description: str = ""
    arguments: str = ""
    """What a template's `argument-hint` says."""
    is_hidden: bool = False
    """`disable-model-invocation`: works by name, and is not listed."""
    warnings: tuple[str, ...] = ()
    why_not: str = ""


class KeptHeads:
    """The heads of an earlier start, and those of this one."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._before = _read(file)
        self._now: dict[str, JsonValue] = {}
        self._is_changed = False

    def find(self, path: str, status: os.stat_result) -> FileHead | None:
        row = self._before.get(path)
        if not isinstance(row, list) or len(row) != 2 or row[0] != _stamp(status):
            return None
        head = _head(row[1])
        if head is not None:
            self._now[path] = row
        return head

    def add(self, path: str, status: os.stat_result, head: FileHead) -> None:
        """`status` is that of before the file was read."""
        self._is_changed = True
        if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _GRAIN_NS:
            self._now[path] = [_stamp(status), _row(head)]

    def save(self) -> None:
        """Those of other projects stay, the oldest go first."""
        if not self._is_changed:
            return
        others = {path: row for path, row in self._before.items() if path not in self._now}
        every = [*others.items(), *self._now.items()][-_MOST_FILES:]
        with suppress(OSError):
            write_private(self._file, dumps({"v": _VERSION, "heads": dict(every)}))


def _stamp(status: os.stat_result) -> list[JsonValue]:
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _read(file: Path) -> JsonObject:
    try:
        value = loads(read_foreign(file, _MOST_BYTES))
    except (OSError, JsonError):
        return {}
    heads = value.get("heads") if isinstance(value, dict) and value.get("v") == _VERSION else None
    return heads if isinstance(heads, dict) else {}


def _row(head: FileHead) -> list[JsonValue]:
    return [
        head.name,
        head.description,
        head.arguments,
        head.is_hidden,
        list(head.warnings),
        head.why_not,
    ]


def _head(row: JsonValue) -> FileHead | None:
    match row:
        case [str(name), str(description), str(arguments), bool(hidden), list(odd), str(why_not)]:
            warnings = tuple(each for each in odd if isinstance(each, str))
            return FileHead(name, description, arguments, hidden, warnings, why_not)
        case _:
            return None
