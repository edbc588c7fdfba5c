"""Context files: AGENTS.md, else CLAUDE.md, of the user's folder and of the project's folders.

From the user's config folder first, then from the repository's root down to the session's folder;
without a repository only the session's own folder. They are text for the model and need no trust;
so a project's must lie in the project, links resolved: a repository can hold a link to any file of
its reader's, and what is read here is sent before anything is asked.
Read as bytes of regular files, up to a bound: a pipe or a huge file costs nothing. Taking invisible
characters out of them is context/scrub.py's.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from agentsh.cli.places import Places
from agentsh.cli.trust import project_root
from agentsh.context.prompt import ContextFile

NAMES = ("AGENTS.md", "CLAUDE.md")
MOST_BYTES = 128 * 1024


def find_context_files(
    cwd: Path, places: Places, tell: Callable[[str], None] = lambda _words: None
) -> tuple[ContextFile, ...]:
    """Those that exist, the most general one first; one a folder, each file once.

    `tell` is given a sentence for each that was left out.
    """
    root = os.path.realpath(project_root(cwd))
    found: list[ContextFile] = []
    seen: set[tuple[int, int]] = set()
    for folder in _folders(cwd, places):
        for name in NAMES:
            if folder != places.config and not _lies_in(root, folder / name):
                tell(f"{folder / name} leads out of the project: left out")
                continue
            read = _read(folder / name)
            if read is None:
                continue
            identity, text = read
            if identity not in seen:
                seen.add(identity)
                found.append(ContextFile(str(folder / name), text))
            break
    return tuple(found)


def _folders(cwd: Path, places: Places) -> Iterator[Path]:
    yield places.config
    root = project_root(cwd)
    inner = cwd.relative_to(root).parts
    for depth in range(len(inner) + 1):
        yield root.joinpath(*inner[:depth])


def _lies_in(root: str, path: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(root)


def _read(path: Path) -> tuple[tuple[int, int], str] | None:
    """(which file it is, its text); None where there is no such regular file to read."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY), "rb") as f:
            status = os.fstat(f.fileno())
            if not stat.S_ISREG(status.st_mode):
                return None
            data = f.read(MOST_BYTES + 1)
    except OSError:
        return None
    text = data[:MOST_BYTES].decode("utf-8-sig", "replace")
    if len(data) > MOST_BYTES:
        text = text.rpartition("\n")[0] + f"\n(cut here: {path.name} has {status.st_size} bytes)\n"
    return (status.st_dev, status.st_ino), text
