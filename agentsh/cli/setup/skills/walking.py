"""Walks folders for files called SKILL.md: groups are entered, what lies inside a skill is not.

Links to folders are followed and each real folder is entered once, so a circle ends; of a project
none is entered that leads out of it. Bounded in depth and in folders, and it says where it stopped.
Read next: finding.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from agentsh.cli.setup.skills.places import SearchFolder

SKILL_FILE: Final = "SKILL.md"
DEEPEST_GROUP: Final = 4
MOST_FOLDERS: Final = 2000
_SKIPPED: Final = frozenset((".git", "node_modules"))


def walk_skills(folder: SearchFolder, tell: Callable[[str], None]) -> Iterator[Path]:
    """The SKILL.md files below it, by name, those that lie higher first."""
    seen: set[tuple[int, int]] = set()
    level = [str(folder.path)]
    for depth in range(DEEPEST_GROUP + 1):
        below: list[str] = []
        for name in level:
            if (depth == 0 or Path(name).is_symlink()) and leads_out(name, folder.root):
                tell(f"{name} leads out of the project: left out")
                continue
            entries = _look(name, seen, tell)
            if len(seen) > MOST_FOLDERS:
                tell(f"{folder.path}: only the first {MOST_FOLDERS} folders were looked through")
                return
            if any(entry.name == SKILL_FILE for entry in entries):
                yield Path(name, SKILL_FILE)
            else:
                for entry in entries:
                    if entry.name.lower() == SKILL_FILE.lower():
                        tell(f"{entry.path} was left out: the file must be called {SKILL_FILE}")
                below += [entry.path for entry in entries if _is_group(entry)]
        level = below


def leads_out(path: Path | str, root: Path | None) -> bool:
    """Whether it lies outside of the project that it is of, links resolved."""
    if root is None:
        return False
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def _look(
    name: str, seen: set[tuple[int, int]], tell: Callable[[str], None]
) -> list[os.DirEntry[str]]:
    """What lies in a folder that was not seen before."""
    try:
        status = Path(name).stat()
        if (status.st_dev, status.st_ino) in seen:
            return []
        seen.add((status.st_dev, status.st_ino))
        with os.scandir(name) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as e:
        tell(f"{name} cannot be looked through: {e.strerror or e}")
    return []


def _is_group(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.name not in _SKIPPED and entry.is_dir()
    except OSError:
        return False
