"""Where skills and templates may lie, nearest first, and whether anything is there at all.

The project's folders, from the session's up to the repository's root, count only where they are
trusted; then come the user's, then those that `[skills] paths` names. Only names are made here, and
asked whether they are there: a start without skills pays for that and no more. Read next:
finding.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from agentsh.cli.setup.paths import Paths
from agentsh.files import from_home, is_folder

Source: TypeAlias = Literal["project", "user", "settings", "built-in"]
SKILL_FOLDERS: Final = (".agentsh/skills", ".agents/skills", ".claude/skills")
TEMPLATE_FOLDER: Final = ".agentsh/prompts"


class SearchFolder(Struct, frozen=True):
    """A folder to look in. `root`: what lies in it must not lead out of there."""

    path: Path
    source: Source
    root: Path | None = None


def project_text_folders(root: Path, cwd: Path, places: Paths) -> tuple[Path, ...]:
    """The project's own folders of skills and templates that are there; none of the user's."""
    folders = [
        folder
        for each in _upwards(root, cwd)
        for name in (*SKILL_FOLDERS, TEMPLATE_FOLDER)
        if is_folder(folder := each / name)
    ]
    if not folders:
        return ()
    own = {os.path.realpath(each.path) for each in (*_of_user(places), _templates_of_user(places))}
    return tuple(folder for folder in folders if os.path.realpath(folder) not in own)


def skill_folders(
    trusted: tuple[Path, ...], root: Path, places: Paths, named: tuple[str, ...], cwd: Path
) -> list[SearchFolder]:
    """Those that are there. `trusted`: of the project's; `named`: of the settings."""
    folders = [
        SearchFolder(folder, "project", root)
        for folder in trusted
        if not str(folder).endswith(TEMPLATE_FOLDER)
    ]
    folders += [each for each in _of_user(places) if is_folder(each.path)]
    paths = [Path(cwd, from_home(name)) for name in named]
    return folders + [SearchFolder(path, "settings") for path in paths]


def template_folders(trusted: tuple[Path, ...], root: Path, places: Paths) -> list[SearchFolder]:
    """Those that are there."""
    folders = [
        SearchFolder(folder, "project", root)
        for folder in trusted
        if str(folder).endswith(TEMPLATE_FOLDER)
    ]
    own = _templates_of_user(places)
    return [*folders, own] if is_folder(own.path) else folders


def _of_user(places: Paths) -> tuple[SearchFolder, ...]:
    home = Path.home()
    folders = (places.config / "skills", home / ".agents/skills", home / ".claude/skills")
    return tuple(SearchFolder(folder, "user") for folder in folders)


def _templates_of_user(places: Paths) -> SearchFolder:
    return SearchFolder(places.config / "prompts", "user")


def _upwards(root: Path, cwd: Path) -> Iterator[Path]:
    """From the session's folder to the root."""
    yield cwd
    if cwd != root:
        for folder in cwd.parents:
            yield folder
            if folder == root:
                return
