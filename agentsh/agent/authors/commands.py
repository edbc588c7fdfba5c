"""Whether a command cannot have changed a file: only of commands that are understood whole. Pure.

Understood is a chain (`&&`) of plain commands of literal words (tools/approval/shellparse.py) whose
programs change nothing but the files that they name, each maybe with one output to a literal place.
Whatever else there is may have changed anything. Links are not followed: a file is its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from posixpath import basename, normpath
from typing import Final

from agentsh.tools.approval.shellparse import Plain, parse_command

_OUTPUT: Final = re.compile(r"(.*[^>&0-9\s])\s*>{1,2}\s*([\w./-]+)", re.DOTALL)
# of sed's commands those that write no file and run nothing
_SCRIPT: Final = re.compile(
    r"(?:\d+|\$)?s([/|#,])(?:(?!\1)[^\\\n])*\1(?:(?!\1)[^\\\n])*\1g?|(?:/[^/\\\n]*/|\d+(?:,\d+)?)d"
)
_READING: Final = (
    *("cat", "cmp", "cut", "date", "diff", "echo", "file", "grep", "head", "ls", "printf"),
    *("pwd", "stat", "tail", "test", "true", "wc", "which"),
)
_NAMING: Final = ("chmod", "cp", "mkdir", "mv", "rm", "rmdir", "touch")
"""They change what they name, or something of the same name in it."""


@lru_cache(maxsize=1024)
def named_by(command: str) -> frozenset[str] | None:
    """The paths that the command may change, as it names them; None: it may change any."""
    named: set[str] = set()
    for part in command.split("&&"):
        output = _OUTPUT.fullmatch(part.strip())
        parsed = parse_command(output[1] if output else part.strip())
        if not isinstance(parsed, Plain) or not parsed.words:
            return None
        program, *arguments = parsed.words
        paths = _PROGRAMS.get(program, _unknown)(arguments)
        if paths is None:
            return None
        named.update(paths, [output[2]] if output else [])
    return frozenset(named)


def spares(command: str, name: str) -> bool:
    """Whether it cannot have changed the file of that name, relative to the folder it ran in."""
    named = named_by(command)
    return named is not None and not any(_reaches(path, name) for path in named)


def _reaches(path: str, name: str) -> bool:
    if path.startswith(("/", "~")) or name.startswith("/") or ".." in path.split("/"):
        return True  # it may be the same by another way
    normal = normpath(path)
    return (
        normal in (name, ".") or name.startswith(f"{normal}/") or basename(normal) == basename(name)
    )


def _unknown(_words: Sequence[str]) -> None:
    return None


def _nothing(_words: Sequence[str]) -> tuple[str, ...]:
    return ()


def _operands(arguments: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in arguments if not word.startswith("-"))


def _edited(arguments: Sequence[str]) -> tuple[str, ...] | None:
    """`sed -i SCRIPT FILE…`, or sed that prints."""
    if len(arguments) > 1 and arguments[0] in ("-i", "-n") and _SCRIPT.fullmatch(arguments[1]):
        return () if arguments[0] == "-n" else tuple(arguments[2:])
    return None


def _versioned(arguments: Sequence[str]) -> tuple[str, ...] | None:
    """`git checkout -- FILE…`, and what only shows."""
    match list(arguments):
        case ["checkout", "-q", "--", *files] | ["checkout", "--", *files]:
            return tuple(files)
        case ["status" | "log", *_]:
            return ()
        case _:
            return None


_PROGRAMS: Final[Mapping[str, Callable[[Sequence[str]], tuple[str, ...] | None]]] = {
    **dict.fromkeys(_READING, _nothing),
    **dict.fromkeys(_NAMING, _operands),
    "sed": _edited,
    "git": _versioned,
}
