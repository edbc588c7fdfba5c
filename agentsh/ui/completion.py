"""Completion in the editor: `/` commands at the start, `@` files anywhere, both fuzzily.

The list of files is made once in a while by one bounded walk, on demand. Names of files are data:
those with control characters are offered in their safe form only for show. Read next: repl.py.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from agentsh.ui.commands import COMMANDS
from agentsh.ui.sanitize import safe_line

MAX_FILES = 20_000
MAX_SHOWN = 50
FRESH_SECONDS = 10.0
_AT = re.compile(r"(?:^|\s)@([^\s]*)$")
_SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"})


class ChatCompleter(Completer):
    """What may follow at the cursor."""

    def __init__(self, cwd: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._cwd = cwd
        self._clock = clock
        self._files: list[str] = []
        self._made = -FRESH_SECONDS

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        before = document.text_before_cursor
        if before.startswith("/") and "\n" not in before and " " not in before:
            yield from self._commands(before[1:])
            return
        # a paste may be long: only the word at the cursor matters
        at = _AT.search(before[-500:])
        if at is not None:
            yield from self._paths(at[1])

    def _commands(self, typed: str) -> Iterator[Completion]:
        for command in COMMANDS:
            if command.name.startswith(typed):
                yield Completion(
                    command.name,
                    start_position=-len(typed),
                    display=command.usage,
                    display_meta=command.help,
                )

    def _paths(self, typed: str) -> Iterator[Completion]:
        if self._clock() - self._made >= FRESH_SECONDS:
            self._files = list(walk_files(self._cwd, MAX_FILES))
            self._made = self._clock()
        for name in best_matches(typed, self._files, MAX_SHOWN):
            yield Completion(name, start_position=-len(typed), display=safe_line(name))


def walk_files(folder: Path, limit: int) -> Iterator[str]:
    """Paths below a folder, folders with a slash, near ones first. Stops at the limit."""
    queue = [""]
    given = 0
    for inside in queue:
        try:
            with os.scandir(folder / inside) as found:
                entries = sorted(found, key=lambda e: e.name)
        except OSError:
            continue
        for entry in entries:
            if not entry.name.isprintable() or " " in entry.name:
                continue
            path = f"{inside}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if entry.name in _SKIPPED:
                    continue
                path += "/"
                queue.append(path)
            yield path
            given += 1
            if given >= limit:
                return


def best_matches(typed: str, names: Iterable[str], limit: int) -> list[str]:
    """Names that contain the typed letters in order, the closest first. Pure."""
    wanted = typed.lower()
    scored: list[tuple[int, int, str]] = []
    for name in names:
        score = _score(wanted, name.lower())
        if score is not None:
            scored.append((score, len(name), name))
    return [name for _, _, name in sorted(scored)[:limit]]


def _score(wanted: str, name: str) -> int | None:
    """Smaller is closer; None: no match."""
    if not wanted:
        return name.count("/") * 10
    base = name.rstrip("/").rpartition("/")[2]
    if base.startswith(wanted):
        return 0
    if name.startswith(wanted):
        return 1
    if wanted in base:
        return 2
    if wanted in name:
        return 3
    at = -1
    for letter in wanted:
        at = name.find(letter, at + 1)
        if at < 0:
            return None
    return 10
