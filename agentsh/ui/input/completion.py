"""Completion in the editor: `/` commands at the start, `@` files anywhere, both fuzzily.

The list of files is made once in a while by one bounded walk, on demand; a list that was cut says
so. A name with blanks is put in quotation marks. Names of files are data: one with control
characters or a quotation mark is not offered. Read next: repl.py.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from agentsh.agent.prompts.expansion import PromptCommand
from agentsh.messages import AssistantMessage
from agentsh.sanitize import safe_line
from agentsh.session.format.entries import Entry, MessageBody
from agentsh.ui.input.commands import SLASH_COMMANDS, slash_command

_MAX_FILES = 20_000
MAX_SHOWN = 50
FRESH_SECONDS = 10.0
_AT = re.compile(r"(?:^|\s)@(\"[^\"\n]*|[^\s\"]*)$")
_MODEL = "/model "
_SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"})


class ChatCompleter(Completer):
    """What may follow at the cursor."""

    def __init__(
        self,
        cwd: Path,
        clock: Callable[[], float] = time.monotonic,
        touched: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._cwd = cwd
        self._touched = touched
        self._first: Sequence[str] = ()
        self._clock = clock
        self._files: list[str] = []
        self._made = -FRESH_SECONDS
        self.models: Sequence[str] = ()
        """What may follow `/model`."""
        self.find_prompts: Callable[[], Sequence[PromptCommand]] = tuple
        """The skills and templates that can be called; asked for once in a while."""
        self._prompts: Sequence[PromptCommand] = ()
        self._prompts_made = -FRESH_SECONDS

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        before = document.text_before_cursor
        if before.startswith("/") and "\n" not in before and " " not in before:
            yield from self._commands(before[1:])
            return
        if before.startswith(_MODEL) and "\n" not in before:
            yield from self._names(before.removeprefix(_MODEL))
            return
        # a paste may be long: only the word at the cursor matters
        match = _AT.search(before[-500:])
        if match is not None:
            yield from self._paths(match[1])

    def _commands(self, typed: str) -> Iterator[Completion]:
        # a name that is typed whole stands first, whatever begins with it
        for command in sorted(SLASH_COMMANDS, key=lambda command: command.name != typed):
            if command.name.startswith(typed):
                yield Completion(
                    command.name,
                    start_position=-len(typed),
                    display=command.usage,
                    display_meta=command.help,
                )
        if self._clock() - self._prompts_made >= FRESH_SECONDS:
            self._prompts = self.find_prompts()
            self._prompts_made = self._clock()
        for prompt in sorted(self._prompts, key=lambda prompt: prompt.word != typed):
            is_free = prompt.word.isprintable() and slash_command(prompt.word) is None
            if is_free and prompt.word.startswith(typed):
                yield Completion(
                    prompt.word,
                    start_position=-len(typed),
                    display=safe_line(f"/{prompt.word} {prompt.arguments}", 60).rstrip(),
                    display_meta=safe_line(prompt.help, 80),
                )

    def _names(self, typed: str) -> Iterator[Completion]:
        for name in best_matches(typed, self.models, MAX_SHOWN):
            if name.isprintable() and name != typed:
                yield Completion(name, start_position=-len(typed), display=safe_line(name))

    def _paths(self, typed: str) -> Iterator[Completion]:
        if self._clock() - self._made >= FRESH_SECONDS:
            self._files = list(walk_files(self._cwd, _MAX_FILES))
            self._first = self._touched()
            self._made = self._clock()
        matches = best_matches(typed.removeprefix('"'), self._files, MAX_SHOWN + 1, self._first)
        for name in matches[:MAX_SHOWN]:
            yield Completion(
                quoted(name, opened=typed.startswith('"')),
                start_position=-len(typed),
                display=safe_line(name),
            )
        cut = f"only the nearest {_MAX_FILES} files" if len(self._files) >= _MAX_FILES else ""
        if len(matches) > MAX_SHOWN:
            cut = "there are more; type more of the name"
        if cut:
            yield Completion(typed, start_position=-len(typed), display="…", display_meta=cut)


def quoted(name: str, *, opened: bool = False) -> str:
    """In quotation marks where a blank would end it, or where one is there. Pure.

    A folder's are left open: what is in it may follow.
    """
    if not opened and " " not in name:
        return name
    return f'"{name}' if name.endswith("/") else f'"{name}"'


def walk_files(folder: Path, limit: int) -> Iterator[str]:
    """Paths below a folder, folders with a slash, near ones first. Stops at the limit."""
    queue = [""]
    given = 0
    for inside in queue:
        try:
            with os.scandir(folder / inside) as scan:
                entries = sorted(scan, key=lambda e: e.name)
        except OSError:
            continue
        for entry in entries:
            if not entry.name.isprintable() or '"' in entry.name:
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


def best_matches(
    typed: str, names: Iterable[str], limit: int, first: Sequence[str] = ()
) -> list[str]:
    """Names that contain the typed letters in order, the closest first. Pure.

    `first`: those that go before all others, in this order.
    """
    sought = typed.lower()
    ranks = {name: rank for rank, name in enumerate(first)}
    scored: list[tuple[int, int, int, str]] = []
    for name in names:
        score = _score(sought, name.lower())
        if score is not None:
            scored.append((ranks.get(name, len(ranks)), score, len(name), name))
    return [name for _, _, _, name in sorted(scored)[:limit]]


def touched_files(entries: Iterable[Entry], cwd: Path, most: int = 50) -> tuple[str, ...]:
    """The files below the folder that calls of a path named, the newest first. Pure."""
    files: dict[str, None] = {}
    for entry in entries:
        if not isinstance(entry.body, MessageBody):
            continue
        message = entry.body.message
        for call in message.tool_calls if isinstance(message, AssistantMessage) else ():
            path = call.arguments.get("path")
            if isinstance(path, str) and path:
                name = os.path.relpath(cwd / path, cwd)
                files.pop(name, None)
                files[name] = None
    return tuple(reversed(files))[:most]


def _score(sought: str, name: str) -> int | None:
    """Smaller is closer; None: no match."""
    if not sought:
        return name.count("/") * 10
    base = name.rstrip("/").rpartition("/")[2]
    if base.startswith(sought):
        return 0
    if name.startswith(sought):
        return 1
    if sought in base:
        return 2
    if sought in name:
        return 3
    position = -1
    for letter in sought:
        position = name.find(letter, position + 1)
        if position < 0:
            return None
    return 10
