"""A git store of agentsh's own beside the user's: one folder's states, kept outside that folder.

Plumbing for checkpoint.py and undo.py. Git runs with an explicit --git-dir and --work-tree, an
index of its own, no configuration of user or system, no hooks, no filters, no line-ending
conversion; the user's repository is never opened as one. Its ignore rules are carried over as
text, those of enclosing folders too. Without git on PATH everything here raises ToolFailedError
that says so.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from agentsh.abort import Abort
from agentsh.errors import GitRefusedError, ToolAbortedError, ToolFailedError
from agentsh.files import (
    create_private,
    is_folder,
    is_regular,
    is_there,
    open_regular,
    read_foreign,
)
from agentsh.programs import find_program, plain_environment
from agentsh.tools.shell.groups import seen
from agentsh.tools.undo.storefiles import (
    LOCK,
    is_hollow,
    keep_text,
    lay_out,
    objects_aside,
    set_aside,
)

_Result = TypeVar("_Result", bound=Struct)

TIMEOUT = 300.0
_QUIET = 3.0
"""Seconds in which git does nothing at all: it waits for what never comes, a pipe's other end."""
_MOST_RULES = 1 << 20
_MOST_NAME = 1024
"""Bytes of a file that holds the name of a commit."""
_WHO = "agentsh <agentsh@localhost>"
_STATE = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Head(Struct, frozen=True):
    """A commit of the store, its tree and what its message says."""

    commit: str
    tree: str
    words: str


_last_heads: dict[Path, Head] = {}
"""The newest commit of each store, as git described it."""


class Shadow(Struct, frozen=True):
    """The store of one folder. `environ`: where git is found, and the user's home."""

    store: Path
    tree: Path
    environ: Mapping[str, str]
    apart: tuple[Path, ...] = ()
    """Folders inside the tree that are never recorded and never restored: agentsh's own."""
    abort: Abort | None = None
    """Ends a git that runs. Left out where a state must not be half done."""

    def git(self, *arguments: str, data: bytes = b"") -> bytes:
        """Run git on store and folder; what it wrote. Raises ToolFailedError."""
        argv, environ, cwd = self.command(*arguments)
        return run_git(argv, environ, data=data, cwd=cwd, abort=self.abort, umask=0o077)

    def look(self, *arguments: str, data: bytes = b"") -> bytes:
        """The same for what only reads: states that were set aside are found, too."""
        argv, environ, cwd = self.command(*arguments, aside=True)
        return run_git(argv, environ, data=data, cwd=cwd, abort=self.abort, umask=0o077)

    def command(
        self, *arguments: str, aside: bool = False
    ) -> tuple[list[str], dict[str, str], Path]:
        """The words, the environment and the folder of such a git. Raises ToolFailedError."""
        environ = plain_environment(self.environ, self.tree) | {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_LITERAL_PATHSPECS": "1",
            "LC_ALL": "C",
        }
        if aside and (folders := objects_aside(self.store)):
            # never where something is written: git would take a damaged object for written
            environ["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = os.pathsep.join(map(str, folders))
        program = git_program(self.environ, self.tree)
        places = [f"--git-dir={self.store}", f"--work-tree={self.tree}"]
        cwd = self.tree if is_folder(self.tree) else self.store
        return [program, *places, *arguments], environ, cwd

    def is_apart(self, path: str) -> bool:
        """Whether a path of the tree lies in what is left alone, whatever its ignore rules say."""
        path_in_full = f"{self.tree}/{path}".rstrip("/")
        return any(
            path_in_full == str(own) or path_in_full.startswith(f"{own}/") for own in self.apart
        )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the store if need be, and hold it alone. Raises ToolFailedError, the body's too."""
        try:
            for folder in (*reversed(self.store.parents), self.store):
                if not is_there(folder):
                    folder.mkdir(mode=0o700, exist_ok=True)
            lock = _open_lock(self.store / LOCK)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                lay_out(self.store)
                yield
            finally:
                os.close(lock)
        except OSError as e:
            raise ToolFailedError(f"{self.store}: {e.strerror or e}") from e

    def head(self) -> Head | None:
        """The newest commit; None: there is none yet. Raises ToolFailedError: it is damaged."""
        if not is_there(_ref(self.store)):
            return None
        last = _last_heads.get(self.store)
        if last is not None and last.commit == _named_by_head(self.store):
            return last  # a commit never changes, and asking git is a process for each step
        said = self.git("log", "-1", "--no-decorate", "--format=%H%x00%T%x00%B", "HEAD")
        parts = [part.strip() for part in said.decode("utf-8", "replace").split("\0")]
        if len(parts) != 3:
            raise GitRefusedError("git names no newest state")
        newest = Head(*parts)
        _last_heads[self.store] = newest
        return newest

    def commit(self, head: Head | None, message: str) -> str:
        """What is in the index, as a commit; the newest one if it holds the same."""
        tree = self.git("write-tree").decode("ascii").strip()
        if head is not None and (head.tree, head.words) == (tree, message):
            return head.commit
        name, _, mail = _WHO.partition(" <")
        identity = ["-c", f"user.name={name}", "-c", f"user.email={mail.rstrip('>')}"]
        parents = ["-p", head.commit] if head is not None else []
        made = self.git(*identity, "commit-tree", tree, *parents, "-m", message)
        commit = made.decode("ascii").strip()
        self.git("update-ref", "HEAD", commit)
        _last_heads[self.store] = Head(commit, tree, message)
        return commit

    def carry_ignore_rules(self) -> None:
        """Write the rules of the user's that lie outside the folder's own .gitignore files."""
        lines = [".agentsh-*.tmp", *_global_rules(self.environ, self.tree)]
        top = _enclosing(self.tree)
        if top is not None:
            inside = self.tree.relative_to(top).parts
            lines += carried(_rules(_info(top) / "exclude"), inside)
            for depth in range(len(inside)):
                folder = top.joinpath(*inside[:depth])
                lines += carried(_rules(folder / ".gitignore"), inside[depth:])
        for own in (self.store, *self.apart):
            if own.is_relative_to(self.tree) and own != self.tree:
                lines.append(f"/{_escaped(str(own.relative_to(self.tree)))}/")
        text = "\n".join(lines) + "\n"
        keep_text(self.store / "info" / "exclude", text)


def healed(shadow: Shadow, work: Callable[[], _Result]) -> _Result:
    """Do it. Where git fails and its part of the store is damaged: set that aside, and once more.

    The store is locked. The result says that the store was renewed. Raises ToolFailedError.
    """
    try:
        return work()
    except GitRefusedError:
        if not _is_damaged(shadow):
            raise
    set_aside(shadow.store)
    _last_heads.pop(shadow.store, None)
    lay_out(shadow.store)
    return replace(work(), renewed=True)


def _is_damaged(shadow: Shadow) -> bool:
    """Whether something that git wrote cannot be read; a full disk or a lock is no damage."""
    if any(is_hollow(object_file) for object_file in shadow.store.glob("objects/??/*")):
        return True
    try:
        shadow.git("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    except GitRefusedError:
        return True
    return False


def run_git(
    argv: Sequence[str],
    environ: Mapping[str, str],
    *,
    data: bytes = b"",
    cwd: Path,
    abort: Abort | None = None,
    umask: int = -1,
) -> bytes:
    """Run git once. Raises ToolFailedError, and ToolAbortedError where `abort` ended it."""
    try:
        with (
            subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env=dict(environ),
                start_new_session=True,
                umask=umask,
            ) as child,
            nullcontext() if abort is None else abort.calling(child.kill),
        ):
            try:
                output, errors = _communicate(child, data)
            except BaseException:
                child.kill()
                raise
    except OSError as e:
        raise ToolFailedError(f"git could not be run: {e}") from e
    if child.returncode and abort is not None and abort.is_set:
        raise ToolAbortedError("stopped by the user; the state of the files was not recorded")
    if child.returncode:
        said = errors.decode("utf-8", "replace").strip()
        kind = GitRefusedError if child.returncode > 0 else ToolFailedError
        raise kind(f"git {_asked(argv)} failed: {said or child.returncode}")
    return output


def _asked(argv: Sequence[str]) -> str:
    """The command among those words, without the options before it."""
    words = iter(argv[1:])
    for word in words:
        if word == "-c":
            next(words)
        elif not word.startswith("-"):
            return word
    return ""


def _communicate(child: subprocess.Popen[bytes], data: bytes) -> tuple[bytes, bytes]:
    """What git wrote. Raises ToolFailedError, after seconds where git sleeps without progress.

    A repository names files that git opens wherever they lead (.gitignore, .gitattributes): a pipe
    there would hold up the turn. A slow disk is another state than sleep.
    """
    last: tuple[str, int] | None = None
    given: bytes | None = data
    for _ in range(int(TIMEOUT / _QUIET)):
        try:
            return child.communicate(given, _QUIET)
        except subprocess.TimeoutExpired:
            given = None  # it is handed over once
            row = seen(child.pid)
            now = None if row is None else (row.state, row.ticks)
            if now is not None and now == last and now[0] == "S":
                break
            last = now
    reason = "git waits for something and was stopped; is a pipe in the place of a .gitignore?"
    raise ToolFailedError(reason)


def state_name(text: str) -> str:
    """A state's name, which may come from a file of a stranger's. Raises ToolFailedError."""
    if _STATE.fullmatch(text) is None:
        raise ToolFailedError("what is recorded as a state of the files is no state's name")
    return text


def git_program(environ: Mapping[str, str], project: Path) -> str:
    """Which git is run. Raises ToolFailedError: there is none but the project's own."""
    program = find_program("git", environ, project)
    if program is None:
        raise ToolFailedError("git is not installed, so there are no checkpoints")
    return program


def _escaped(path: str) -> str:
    """A path as an ignore rule that means only it."""
    return "".join(f"\\{c}" if c in "\\*?[ " else c for c in path)


def carried(rules: Sequence[str], inside: Sequence[str]) -> list[str]:
    """Ignore rules of a folder as they read in its descendant `inside` (its parts). Pure."""
    result = []
    for rule in rules:
        sign, body = ("!", rule[1:]) if rule.startswith("!") else ("", rule)
        parts = body.strip("/").split("/")
        if not body.startswith("/") and (len(parts) == 1 or parts[0] == "**"):
            result.append(rule)  # holds at any depth
            continue
        depth = len(inside)
        heads = zip(parts[:depth], inside, strict=False)
        if len(parts) > depth and all(fnmatch(part, pattern) for pattern, part in heads):
            slash = "/" if body.endswith("/") else ""
            result.append(f"{sign}/{'/'.join(parts[depth:])}{slash}")
    return result


def _rules(file: Path) -> list[str]:
    try:
        text = read_foreign(file, _MOST_RULES).decode("utf-8", "surrogateescape")
    except OSError:
        return []
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _global_rules(environ: Mapping[str, str], project: Path) -> list[str]:
    """The user's own ignore file: core.excludesFile, else git's default place."""
    home, config = environ.get("HOME", ""), environ.get("XDG_CONFIG_HOME", "")
    named = _excludes_file(home, config, git_program(environ, project))
    return _rules(Path(named) if named else Path(config or f"{home}/.config") / "git" / "ignore")


@cache
def _excludes_file(home: str, config: str, program: str) -> str:
    """What the user's own git settings name; asked once."""
    environ = {"HOME": home, "LC_ALL": "C"}
    if config:
        environ["XDG_CONFIG_HOME"] = config
    argv = [program, "config", "--global", "--type=path", "--get", "core.excludesFile"]
    try:
        return run_git(argv, environ, cwd=Path("/")).decode("utf-8", "surrogateescape").strip()
    except ToolFailedError:
        return ""


def _open_lock(path: Path) -> int:
    try:
        return create_private(path)
    except FileExistsError:
        return open_regular(path, os.O_RDWR, follow=False)


def _named_by_head(store: Path) -> str | None:
    """The commit of HEAD, read without git; None if it cannot be."""
    try:
        return read_foreign(_ref(store), _MOST_NAME, follow=False).decode("ascii").strip()
    except (OSError, ValueError):
        return None


def _ref(store: Path) -> Path:
    return store / "refs" / "heads" / "master"


def _enclosing(tree: Path) -> Path | None:
    """The top of the user's repository that the folder lies in."""
    return next((p for p in (tree, *tree.parents) if is_there(p / ".git")), None)


def _info(top: Path) -> Path:
    """The info folder of a repository, also of a linked work tree."""
    info = top / ".git"
    if is_regular(info):
        named = "".join(_rules(info)).removeprefix("gitdir:").strip()
        info = top / named
        common = _rules(info / "commondir")
        info = info / common[0] if common else info
    return info / "info"
