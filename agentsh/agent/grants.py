"""Which rules a person agreed to on this machine: kept outside of the session's own file.

A session's file states on its path which rules are in force there (R20), but whoever can write the
file can write that. So a stated rule counts only if it is here too, for this session and this
folder: the file says where a rule holds, this says that somebody who sat here agreed to it. A file
that was sent, its fork, its repaired copy grant nothing. Each session has a file of its own, whose
name is a digest of the session's id. Read next: approvals.py.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from agentsh.files import read_foreign, write_private
from agentsh.jsontext import JsonError, JsonObject, dumps, loads

_MOST_BYTES = 1 << 20


class Grants:
    """The rules that were agreed to in one session and one folder. `file` None: of this process."""

    def __init__(self, file: Path | None = None, folder: str = "") -> None:
        self._file = file
        self._folder = folder
        self.trouble: str | None = None
        """Why what was agreed to earlier is not known, in words."""
        self._lines: list[JsonObject] = []
        try:
            self._lines = _read(file) if file is not None else []
        except (OSError, JsonError) as e:
            self.trouble = f"rules allowed earlier are not known, {file} cannot be read: {e}"

    def __contains__(self, rule: str) -> bool:
        return {"folder": self._folder, "rule": rule} in self._lines

    def add(self, rule: str) -> None:
        """A person has agreed; durable when this returns. Raises OSError: only this process knows.

        A file that could not be read is replaced: what it held was not in force any more.
        """
        if rule in self:
            return
        self._lines.append({"folder": self._folder, "rule": rule})
        if self._file is not None:
            _write(self._file, self._lines)


def grants_file(folder: Path, session_id: str) -> Path:
    """Where the grants of a session are; an id from a file becomes no path."""
    digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
    return folder / digest[:2] / f"{digest[2:34]}.jsonl"


def hand_on(folder: Path, parent: str, child: str) -> None:
    """A fork made here goes on with what was agreed to in its parent here. Raises OSError."""
    try:
        lines = _read(grants_file(folder, parent))
    except JsonError:  # told where the parent itself goes on
        return
    if lines:
        _write(grants_file(folder, child), lines)


def _read(file: Path) -> list[JsonObject]:
    try:
        data = read_foreign(file, _MOST_BYTES, follow=False)
    except FileNotFoundError:
        return []
    values = [loads(line) for line in data.split(b"\n") if line]
    return [value for value in values if isinstance(value, dict)]


def _write(file: Path, lines: list[JsonObject]) -> None:
    write_private(file, b"".join(dumps(line) + b"\n" for line in lines))
