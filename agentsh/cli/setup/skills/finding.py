"""Finds skills and templates: looks through the folders, reads heads, settles who has which name.

The nearest of one name wins and that is said; one real file counts once, silently. What cannot be
read costs itself only, and is named. A project's files must lie in the project, links resolved.
Read next: walking.py, heads.py, kept.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from agentsh.cli.setup.skills.heads import one_line, read_fields, split_head
from agentsh.cli.setup.skills.kept import FileHead, KeptHeads
from agentsh.cli.setup.skills.places import SearchFolder, Source
from agentsh.cli.setup.skills.walking import leads_out, walk_skills
from agentsh.context.scrub import scrub
from agentsh.files import NotRegularError, open_foreign

MOST_SKILL_BYTES: Final = 128 * 1024
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LONGEST_NAME: Final = 64


class FoundFile(Struct, frozen=True):
    """A skill or a template that counts, and what is odd about it."""

    name: str
    description: str
    path: str
    source: Source
    arguments: str = ""
    is_hidden: bool = False
    warnings: tuple[str, ...] = ()


class Findings(Struct, frozen=True):
    """`left_out`: what does not count, and why; a sentence each."""

    files: tuple[FoundFile, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def notices(self) -> tuple[str, ...]:
        """All that is odd, for a person."""
        return (*(text for file in self.files for text in file.warnings), *self.left_out)


def find_skills(folders: Iterable[SearchFolder], heads: KeptHeads) -> Findings:
    """Every skill below these folders, the nearest first."""
    gathering = _Gathering(heads, "skill")
    for folder in folders:
        for path in walk_skills(folder, gathering.left_out.append):
            gathering.take(path, folder)
    heads.save()
    return gathering.findings()


def find_templates(folders: Iterable[SearchFolder], heads: KeptHeads) -> Findings:
    """The templates in these folders: files NAME.md, direct children only."""
    gathering = _Gathering(heads, "template")
    for folder in folders:
        for path in template_files(folder.path, gathering.left_out.append):
            gathering.take(path, folder)
    heads.save()
    return gathering.findings()


def find_template(name: str, folders: Iterable[SearchFolder]) -> Path | None:
    """The nearest template of that name."""
    for folder in folders:
        path = folder.path / f"{name}.md"
        if os.path.lexists(path) and not leads_out(path, folder.root):
            return path
    return None


def template_files(folder: Path, tell: Callable[[str], None]) -> list[Path]:
    """What may be templates, by name."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208  names are all that is needed
    except OSError as e:
        tell(f"{folder} cannot be looked through: {e.strerror or e}")
        return []
    return [folder / name for name in names if name.endswith(".md") and len(name) > len(".md")]


def read_text_behind_head(path: Path) -> str:
    """The text behind the head, as far as it is read, without what nobody sees. Raises OSError."""
    with open_foreign(path) as file:
        data = file.read(MOST_SKILL_BYTES)
    return scrub(split_head(data.decode("utf-8-sig", "replace"))[1])[0]


class _Gathering:
    """Takes one file after another."""

    def __init__(self, heads: KeptHeads, kind: str) -> None:
        self.left_out: list[str] = []
        self._heads = heads
        self._kind = kind
        self._files: dict[str, FoundFile] = {}
        self._real: set[tuple[int, int]] = set()

    def findings(self) -> Findings:
        return Findings(tuple(self._files.values()), tuple(self.left_out))

    def take(self, path: Path, folder: SearchFolder) -> None:
        """The next one; nearer ones were taken before."""
        if leads_out(path, folder.root):
            self.left_out.append(f"{path} leads out of the project: left out")
            return
        try:
            status = path.stat()
            if (status.st_dev, status.st_ino) in self._real:
                return
            self._real.add((status.st_dev, status.st_ino))
            head = self._heads.find(str(path), status)
            if head is None:
                head = self._read(path)
                self._heads.add(str(path), status, head)
        except OSError as e:
            why = "it is no regular file" if isinstance(e, NotRegularError) else e.strerror or e
            self.left_out.append(f"{path} was left out: {why}")
            return
        if head.why_not:
            self.left_out.append(f"{path} was left out: {head.why_not}")
            return
        self._settle(path, folder.source, head)

    def _settle(self, path: Path, source: Source, head: FileHead) -> None:
        nearer = self._files.get(head.name)
        if nearer is not None:
            self.left_out.append(
                f"{path} was left out: the {self._kind} {head.name} is that of {nearer.path}"
            )
            return
        odd = tuple(f"{path}: {words}" for words in head.warnings)
        self._files[head.name] = FoundFile(
            head.name, head.description, str(path), source, head.arguments, head.is_hidden, odd
        )

    def _read(self, path: Path) -> FileHead:
        """Raises OSError."""
        with open_foreign(path) as file:
            data = file.read(MOST_SKILL_BYTES)
        head, body = split_head(data.decode("utf-8-sig", "replace"))
        fields: Mapping[str, str] = {} if not head else read_fields(head, _read_yaml)
        if self._kind == "template":
            return template_head(path.stem, fields, body)
        return skill_head(path.parent.name, fields)


def _read_yaml(text: str) -> object:
    from agentsh.cli.setup.skills.yamltext import read_yaml  # only where a head has changed

    return read_yaml(text)


def skill_head(folder: str, fields: Mapping[str, str]) -> FileHead:
    """What the fields of a SKILL.md in that folder say. Pure."""
    if not fields:
        why = "it has no head: lines `name:` and `description:` between two lines of three dashes"
        return FileHead(folder, why_not=why)
    name, unseen = scrub(one_line(fields.get("name", "")) or folder)
    description, more = scrub(one_line(fields.get("description", "")))
    if not description:
        return FileHead(name, why_not="it has no description, so nobody could know when to use it")
    warnings = []
    if unseen + more:
        warnings.append(f"{unseen + more} invisible characters were taken out")
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        warnings.append(
            f"{name!r} is no name by the rules (a-z, 0-9 and single hyphens, at most"
            f" {_LONGEST_NAME}); it counts all the same"
        )
    hidden = fields.get("disable-model-invocation", "").strip().lower() == "true"
    return FileHead(name, description, is_hidden=hidden, warnings=tuple(warnings))


def template_head(name: str, fields: Mapping[str, str], body: str) -> FileHead:
    """What a template's fields say; without a description its first line is one. Pure."""
    if not name.isprintable() or any(map(str.isspace, name)):
        return FileHead(name, why_not="nobody could type its name behind a slash")
    first = next((line for line in body.split("\n") if line.strip()), "")
    description = one_line(fields.get("description", "")) or one_line(first)[:60]
    return FileHead(name, scrub(description)[0], one_line(fields.get("argument-hint", "")))
