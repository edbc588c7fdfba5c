"""Files of a project that are obeyed since something outside of them names them.

git's settings name some: a settings file that another one includes, a folder of hooks
(`core.hooksPath`), a program that a filter, an alias or `core.fsmonitor` names; and the person's
own settings may lie in the project (`~/.gitconfig` as a link into a repository of such files).
Variables name others: BASH_ENV, KUBECONFIG, LESSOPEN, the folders of PATH; links in the home others
still: `~/.bashrc`, `~/.ssh/config`. Whoever writes there makes the next `git status`, `ls` or shell
run something. It reads git's files, bounded and no pipe, and runs nothing; what a named program
runs in its turn is not known. Read first: agentsh/tools/approval/policy.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from agentsh.files import is_link, is_regular, is_there, read_foreign, real

_MOST: Final = 1 << 20
_MOST_FILES: Final = 40
_MOST_NAMES: Final = 5000
_SECTION: Final = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\](.*)', re.DOTALL)
_VALUE: Final = re.compile(r"\s*([A-Za-z][\w-]*)\s*=(.*)", re.DOTALL)
_SAID: Final = re.compile(r'(?:"(?:[^"\\]|\\.)*"|\\.|[^#;"\\])*')
_NO_ORDERS: Final = frozenset(
    (
        *("core.excludesfile", "core.attributesfile", "core.worktree", "commit.template"),
        *("blame.ignorerevsfile", "mailmap.file"),
    )
)
"""Settings whose file runs nothing, whatever stands in it."""
_LONGEST: Final = 1024
_WORDS_OF_VARIABLE: Final = re.compile(r"[\s'\"|:;,=]+")
_READ_BY_SHELLS: Final = ("BASH_ENV", "ENV")
"""A file that these name is obeyed also where it is yet to be made."""
_ABOUT_ITSELF: Final = ("npm_", "AGENTSH_")
"""What a program is told of the folder that it is started in; nobody obeys these."""
_WORDS: Final = re.compile(r"[\s'\"`|&;<>()=!]+")


def git_orders(cwd: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Real paths in the folder, there already or new; of a folder all below it. `cwd` is real."""
    top = next((each for each in (cwd, *cwd.parents) if is_there(each / ".git")), cwd)
    home = Path(environ.get("HOME", "/"))
    waiting = [*_settings_of(top), *_settings_of_person(home, environ)]
    orders: dict[Path, None] = {}
    seen: set[Path] = set()
    while waiting and len(seen) < _MOST_FILES:
        file = real(waiting.pop(0))
        if file in seen:
            continue
        seen.add(file)
        orders[file] = None
        for name, value in _values(file):
            if name.startswith("include") and name.endswith(".path"):
                waiting.append(file.parent / _at_home(value, home))
            elif name == "core.hookspath":
                orders |= {real(base / _at_home(value, home)): None for base in (top, cwd)}
            else:
                orders |= dict.fromkeys(_programs(name, value, (top, cwd), home))
    return tuple(path for path in orders if path.is_relative_to(cwd) and path != cwd)


def variable_orders(cwd: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Real paths of files that variables name, and of folders of PATH. `cwd` is real."""
    home = Path(environ.get("HOME", "/"))
    orders: dict[Path, None] = dict.fromkeys(folders_of_path(cwd, environ))
    for name, value in environ.items():
        if name.startswith(_ABOUT_ITSELF) or name == "PATH":
            continue
        for word in _WORDS_OF_VARIABLE.split(value):
            if not 0 < len(word) < _LONGEST or not re.search("[/.]", word):
                continue
            path = real(cwd / _at_home(word, home))
            if name in _READ_BY_SHELLS or is_regular(path):
                orders[path] = None
    return tuple(path for path in orders if path.is_relative_to(cwd) and path != cwd)


def linked_orders(cwd: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Settings of the person that lie in the project, by a link in their home. `cwd` is real."""
    home = Path(environ.get("HOME", "/"))
    folders = (home, Path(environ.get("XDG_CONFIG_HOME") or home / ".config"), home / ".ssh")
    targets: dict[Path, None] = {}
    for folder in folders:
        with suppress(OSError):
            for name in os.listdir(folder)[:_MOST_NAMES]:  # noqa: PTH208  names are enough
                if (folder != home or name.startswith(".")) and is_link(folder / name):
                    targets[real(folder / name)] = None
    return tuple(path for path in targets if path.is_relative_to(cwd) and path != cwd)


def folders_of_path(cwd: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Those of the project in which programs are looked for, there already or new."""
    parts = environ.get("PATH", "").split(":")
    folders = dict.fromkeys(real(cwd / part) for part in parts if len(part) < _LONGEST)
    return tuple(each for each in folders if each.is_relative_to(cwd) and each != cwd)


def _settings_of(top: Path) -> Iterator[Path]:
    folder = top / ".git"
    if is_regular(folder):  # a linked work tree, or a submodule
        folder = top / _text(folder).removeprefix("gitdir:").strip()
    common = folder / (_text(folder / "commondir").strip() or ".")
    yield from (common / "config", folder / "config.worktree")


def _settings_of_person(home: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    folder = environ.get("XDG_CONFIG_HOME") or home / ".config"
    yield from (Path(folder, "git/config"), home / ".gitconfig")
    named = environ.get("GIT_CONFIG_GLOBAL", "")
    if named.startswith("/"):
        yield Path(named)


def _values(file: Path) -> Iterator[tuple[str, str]]:
    """`section.key` in lower case, and its value, of each line that has one."""
    section = ""
    for line in re.sub(r"\\\r?\n", "", _text(file)).split("\n"):
        if match := _SECTION.fullmatch(line):
            section, line = match[1].lower(), match[2]
        if match := _VALUE.fullmatch(line):
            yield f"{section.split('.')[0]}.{match[1].lower()}", _plain(match[2])


def _plain(text: str) -> str:
    """A value without its quotes, and without a remark behind it."""
    said = _SAID.match(text)
    return re.sub(r'\\(.)|"', lambda match: match[1] or "", said[0] if said else text).strip()


def _programs(name: str, value: str, bases: tuple[Path, ...], home: Path) -> Iterator[Path]:
    """Files that a value names which is a command, or may be one."""
    if name in _NO_ORDERS or (name.startswith("alias.") and not value.startswith("!")):
        return
    for word in _WORDS.split(value):
        if 0 < len(word) < _LONGEST:
            paths = (real(base / _at_home(word, home)) for base in bases)
            yield from (path for path in paths if is_regular(path))


def _at_home(word: str, home: Path) -> Path:
    return home / word[2:] if word.startswith("~/") else Path(word)


def _text(file: Path) -> str:
    try:
        return read_foreign(file, _MOST).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
