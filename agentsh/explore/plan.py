"""What is to be run: a prompt or a file of tasks, times models, times branches. Pure.

It opens no file and asks nobody: a task file comes as its text, and whether a folder exists is
asked of whoever calls. Every wrong line is named with its file and number before anything is made.
Read next: facts.py (how a plan is stored), state.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from agentsh.errors import UsageError
from agentsh.jsontext import JsonError, JsonObject, loads_object

SINGLE = 3
"""How many branches one prompt with one model gets where nobody says."""
_OURS = ("id", "prompt", "folder", "base", "check", "model")


class ExploreTask(Struct, frozen=True):
    """A prompt with its folder and check. `folder` None: that of the exploration.

    `base`: a git revision instead of the folder as it is. `extra`: the members of its line that we
    do not know; they come back with the results.
    """

    id: str
    prompt: str
    folder: str | None = None
    base: str | None = None
    check: str | None = None
    model: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


class PlannedBranch(Struct, frozen=True):
    """One run of one task with one model. `n` and `nth` count from 1, `task` from 0."""

    n: int
    task: int
    model: str | None
    nth: int


class TaskPlaces(Protocol):
    """What a task may name on the disk."""

    def folder(self, word: str) -> str | None:
        """A folder's real name; None: there is none."""

    def has_revision(self, folder: str | None, word: str) -> bool:
        """Whether it is a revision in the repository of that folder (None: the exploration's)."""


def read_tasks(
    text: str,
    file: str,
    names: Mapping[str, str],
    places: TaskPlaces,
) -> tuple[ExploreTask, ...]:
    """The tasks of a file's text: one prompt a line, or JSON lines.

    `names`: our member → the file's (`--field`). Raises UsageError that names FILE:LINE.
    """
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise UsageError(f"{file} holds no task", hint="one prompt a line, or JSON lines")
    if not lines[0][1].lstrip("\ufeff").lstrip().startswith("{"):
        return tuple(
            ExploreTask(str(position), line.rstrip("\r").strip("\ufeff"))
            for position, (_, line) in enumerate(lines, 1)
        )
    tasks: list[ExploreTask] = []
    seen: dict[str, int] = {}
    for position, (number, line) in enumerate(lines, 1):
        where = f"{file}:{number}"
        task = _task(line, where, str(position), names, places)
        if task.id in seen:
            raise UsageError(f"{where}: the id {task.id!r} stands in line {seen[task.id]} already")
        seen[task.id] = number
        tasks.append(task)
    return tuple(tasks)


def _task(
    line: str,
    where: str,
    position: str,
    names: Mapping[str, str],
    places: TaskPlaces,
) -> ExploreTask:
    try:
        value = loads_object(line.strip("\ufeff \r"))
    except JsonError as e:
        raise UsageError(f"{where}: no JSON object: {e}") from e
    spelled = {ours: names.get(ours, ours) for ours in _OURS}
    words = {ours: _word(value, spelled[ours], where, spelled["prompt"]) for ours in _OURS}
    if not (words["prompt"] or "").strip():
        raise UsageError(
            f"{where}: no member {spelled['prompt']!r} with a prompt",
            hint="--field prompt=NAME names a member that is spelled differently",
        )
    folder = words["folder"]
    if folder is not None:
        real = places.folder(folder)
        if real is None:
            raise UsageError(f"{where}: there is no folder {folder}")
        folder = real
    base = words["base"]
    if base is not None and not places.has_revision(folder, base):
        raise UsageError(f"{where}: there is no revision {base!r} in {folder or 'this folder'}")
    extra = {name: each for name, each in value.items() if name not in spelled.values()}
    return ExploreTask(
        id=words["id"] or position,
        prompt=words["prompt"] or "",
        folder=folder,
        base=base,
        check=words["check"],
        model=words["model"],
        extra=extra,
    )


def _word(value: JsonObject, name: str, where: str, prompt: str) -> str | None:
    given = value.get(name)
    if given is None:
        return None
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return str(given)
    if not isinstance(given, str):
        raise UsageError(f"{where}: {name!r} is no text")
    if "\0" in given and name != prompt:
        raise UsageError(f"{where}: {name!r} holds a NUL, which no command or folder can")
    return given


def plan_branches(
    tasks: Sequence[ExploreTask], models: Sequence[str], each: int | None
) -> tuple[PlannedBranch, ...]:
    """Tasks in their order, in them models, in them the branches of one model.

    `each` None: SINGLE for a single prompt with a single model, else one.
    """
    if each is None:
        each = SINGLE if len(tasks) == 1 and len(models) <= 1 else 1
    return tuple(
        PlannedBranch(n, task, model, nth)
        for n, (task, model, nth) in enumerate(_runs(tasks, models, each), 1)
    )


def _runs(
    tasks: Sequence[ExploreTask], models: Sequence[str], each: int
) -> Iterator[tuple[int, str | None, int]]:
    for position, task in enumerate(tasks):
        asked: Sequence[str | None] = (task.model,) if task.model else models or (None,)
        for model in asked:
            for nth in range(1, each + 1):
                yield position, model, nth
