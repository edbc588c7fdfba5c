"""A project's own settings and .env: not used before a person agreed to what stands in them.

Trust is in contents, not in names: for each file the digest of what was agreed to is kept in the
user's config folder, and a file that is new or differs is asked about again, whoever wrote it (the
model can). So nothing in a folder can make the next start obey it. `--trust` uses what is there for
one run; a no is kept for the folder. Skills and templates are texts, and are trusted by their
folders: what they say may change, a new folder is asked about. Context files need no trust
(cli/setup/contextfiles.py). This module reads files, each once, and asks nobody: the asking is
handed in.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from agentsh.cli.setup.paths import Paths
from agentsh.cli.setup.skills.places import project_text_folders
from agentsh.errors import SettingsError, UsageError
from agentsh.files import NotRegularError, TooLargeError, is_there, read_foreign, write_private

MAX_TRUSTED_FILE = 1 << 20
_FOLDER = "folder"
"""What is agreed to of a folder of skills or templates: that what lies there counts."""

Contents: TypeAlias = Mapping[Path, bytes | OSError]
"""What each file holds, or why it cannot be read; read once, so that what is judged is used."""


class ProjectFiles(Struct, frozen=True):
    """What a project brings along. `settings` and `dotenv` are only names here."""

    root: Path
    settings: tuple[Path, ...]
    dotenv: tuple[Path, ...]
    folders: tuple[Path, ...] = ()
    """Those of skills and templates."""

    @property
    def all(self) -> tuple[Path, ...]:
        return self.settings + self.dotenv


def project_root(cwd: Path) -> Path:
    """The repository that holds this folder, else the folder itself."""
    return next((folder for folder in (cwd, *cwd.parents) if is_there(folder / ".git")), cwd)


def find_project_files(cwd: Path, places: Paths) -> ProjectFiles:
    """The project's settings and .env files that exist: the root's, then those of `cwd`."""
    root = project_root(cwd)
    folders = dict.fromkeys((root, cwd))
    own = places.settings  # AGENTSH_HOME may be the project's .agentsh folder
    return ProjectFiles(
        root,
        tuple(
            p
            for folder in folders
            if is_there(p := folder / ".agentsh" / "config.toml") and p != own
        ),
        tuple(p for folder in folders if is_there(p := folder / ".env")),
        project_text_folders(root, cwd, places),
    )


class Trust(Struct, frozen=True):
    """Whether the project's files count, and its skills; where not, `why` says it in words."""

    counts: bool
    skills: bool
    why: str = ""


def trust(
    project: ProjectFiles,
    contents: Contents,
    places: Paths,
    *,
    once: bool,
    ask: Callable[[str], bool] | None = None,
) -> Trust:
    """Whether these contents count. With `ask` (a terminal) the answer is kept."""
    if once or not (project.all or project.folders):
        return Trust(once, once)
    answers = _read_answers(places.trusted)
    root = str(project.root)
    why = f"{root} is not trusted"
    if root in answers.refused:
        return Trust(False, False, why)
    agreed = {str(path): content_digest(contents[path]) for path in project.all}
    new = {path for path, value in agreed.items() if answers.agreed.get(path) != value}
    named = {str(folder): _FOLDER for folder in project.folders}
    unseen = named.items() - answers.agreed.items()
    if not new and not unseen:
        return Trust(True, True)
    changed = _named(
        project, [path for path in project.all if str(path) in new and str(path) in answers.agreed]
    )
    if changed:
        why = f"{changed} changed since you agreed to it"
    if ask is None:
        return Trust(not new, not unseen, why)
    since = f" ({changed} changed since you agreed to it)" if changed else ""
    everything = _named(project, (*project.all, *project.folders))
    answer = ask(f"Use this project's own {everything} in {root}?{since}")
    if answer:
        answers = _Answers({**answers.agreed, **agreed, **named}, answers.refused)
    else:
        answers = _Answers(answers.agreed, answers.refused | {root})
    _keep(places.trusted, answers)
    return Trust(answer, answer, why)


def _keep(file: Path, answers: _Answers) -> None:
    """Raises UsageError: there is no room for the answer, or no right to write it."""
    try:
        write_private(file, _spelled(answers))
    except OSError as e:
        reason = f"the answer cannot be kept in {file}: {e.strerror or e}"
        raise UsageError(reason, hint="--trust uses the project's files for one run") from e


def _named(project: ProjectFiles, paths: Iterable[Path]) -> str:
    return ", ".join(str(path.relative_to(project.root)) for path in paths)


def read_contents(project: ProjectFiles) -> Contents:
    contents: dict[Path, bytes | OSError] = {}
    for path in project.all:
        try:
            contents[path] = read_foreign(path, MAX_TRUSTED_FILE)
        except OSError as e:
            contents[path] = e
    return contents


def content_digest(content: bytes | OSError) -> str:
    """What cannot be read has none that anybody agreed to."""
    return "unreadable" if isinstance(content, OSError) else hashlib.sha256(content).hexdigest()


def read_text(path: Path) -> str:
    """The text of a settings file. Raises SettingsError: not regular, too large, no UTF-8."""
    try:
        return as_text(path, read_foreign(path, MAX_TRUSTED_FILE))
    except OSError as e:
        return as_text(path, e)


def as_text(path: Path, content: bytes | OSError) -> str:
    """The text of what was read. Raises SettingsError as `read_text` does."""
    match content:
        case NotRegularError():
            raise SettingsError("not a regular file", file=str(path)) from content
        case TooLargeError():
            raise SettingsError("larger than 1 MiB", file=str(path)) from content
        case OSError():
            reason = f"cannot be read: {content.strerror}"
            raise SettingsError(reason, file=str(path)) from content
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = content.count(b"\n", 0, e.start) + 1
        raise SettingsError("not UTF-8", file=str(path), line=line) from e


def parse_dotenv(text: str) -> Mapping[str, str]:
    """NAME=value lines; quotes round a value are taken off, nothing is expanded."""
    variables = {}
    for line in text.split("\n"):
        if match := re.match(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$", line):
            name, value = match[1], match[2]
            if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
                value = value[1:-1]
            else:
                value = re.sub(r"\s+#.*$", "", value)
            variables[name] = value
    return variables


class _Answers(Struct, frozen=True):
    """What was said so far: digests of files that were agreed to, folders that were refused."""

    agreed: Mapping[str, str]
    refused: frozenset[str]


def _read_answers(file: Path) -> _Answers:
    """`+ DIGEST FILE` and `- FOLDER`, one a line; what cannot be read counts as no answer.

    An earlier version wrote `+ FOLDER`: it names no contents, so it is asked about once more.
    """
    try:
        text = read_foreign(file, MAX_TRUSTED_FILE).decode("utf-8", "surrogateescape")
    except OSError:
        return _Answers({}, frozenset())
    agreed: dict[str, str] = {}
    refused = set()
    for line in text.split("\n"):
        if line.startswith("- "):
            refused.add(line[2:])
        elif line.startswith("+ "):
            value, _, path = line[2:].partition(" ")
            agreed[path] = value
    return _Answers(agreed, frozenset(refused))


def _spelled(answers: _Answers) -> bytes:
    lines = [f"+ {value} {path}" for path, value in answers.agreed.items() if "\n" not in path]
    lines += [f"- {root}" for root in sorted(answers.refused) if "\n" not in root]
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
