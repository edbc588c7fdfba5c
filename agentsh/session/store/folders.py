"""What lies in a store, by names and kinds: which files may be sessions; nothing is opened.

And which folder a file names, whose name need not be UTF-8 as a file is.

Both layouts are looked at, whichever new files follow: files in the root itself, and in a folder
for each project. What cannot be read is left out, and told to who hands in an `unread`: path → the
system's words. Read next: store.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from agentsh.files import is_absent, is_folder
from agentsh.jsontext import clean

SUFFIX = ".jsonl"
# beside them, what was said of them (marks.py, relinks.py)
MARKS = "marks.json"
RELINKED = "relinked.json"
EXPLORE = "explore"
"""Below a project's folder: explorations, each a folder with its log and its branches' sessions."""
EXPLORATION_LOG = "exploration.jsonl"


def session_files(folder: str, unread: dict[str, str] | None = None) -> list[os.DirEntry[str]]:
    """Those that lie in that folder."""
    try:
        with os.scandir(folder) as entries:
            return [
                entry
                for entry in entries
                if entry.name.endswith(SUFFIX) and _holds(entry.is_file, entry, unread)
            ]
    except OSError as e:
        note_unread(unread, folder, e)
        return []


def branch_files(folder: str) -> list[str]:
    """The sessions of branches of explorations that began in that project."""
    return [
        entry.path
        for exploration in project_folders(f"{folder}/{EXPLORE}")
        for entry in session_files(exploration)
        if entry.name != EXPLORATION_LOG
    ]


def project_folders(root: str, unread: dict[str, str] | None = None) -> list[str]:
    """The folders of projects, by whatever rule they are named."""
    try:
        with os.scandir(root) as entries:
            return [
                entry.path
                for entry in entries
                if not entry.name.startswith(".") and _holds(entry.is_dir, entry, unread)
            ]
    except OSError as e:
        note_unread(unread, root, e)
        return []


def _holds(
    question: Callable[[], bool], entry: os.DirEntry[str], unread: dict[str, str] | None
) -> bool:
    """What an entry says of itself; a link into what is closed to us hides none of the others."""
    try:
        return question()
    except OSError as e:
        note_unread(unread, entry.path, e)
        return False


def note_unread(unread: dict[str, str] | None, path: str, error: OSError) -> None:
    """Keep why a path could not be read. A path that is not there is not kept."""
    if unread is not None and not isinstance(error, FileNotFoundError | NotADirectoryError):
        unread[path] = error.strerror or str(error)


def note_unopened(unread: dict[str, str], path: Path, error: Exception) -> None:
    """Keep why a session could not be opened; one that is gone by now is no reason."""
    if is_absent(path, follow=False):
        return
    cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
    unread[str(path)] = str(getattr(cause, "strerror", None) or cause)


def real_folder(named: str) -> str:
    """The folder that a file names: a file is UTF-8, and the name of a folder need not be.

    Each byte that is none stands in the file as U+FFFD, so the one folder whose name reads so is
    meant; of several the one that we are in. Where none is there, the name as it is.
    """
    if "\ufffd" not in named or not named.startswith("/") or is_folder(named):
        return named
    places = ["/"]
    for part in named.split("/")[1:]:
        if "\ufffd" in part:
            places = [f"{prefix}{name}/" for prefix in places for name in _reading(prefix, part)]
        else:
            places = [f"{prefix}{part}/" for prefix in places]
    folders = [prefix.rstrip("/") for prefix in places if is_folder(prefix)]
    with suppress(OSError):
        if (here := os.getcwd()) in folders:  # noqa: PTH109 - a name
            return here
    return folders[0] if len(folders) == 1 else named


def _reading(folder: str, part: str) -> list[str]:
    """The names in a folder that read so in a file."""
    try:
        return [name for name in os.listdir(folder) if clean(name) == part]  # noqa: PTH208
    except OSError:
        return []
