"""How git is run here: on the person's repository only to read, on our store to write.

No hook, filter, file-system monitor or setting of the person's or the project's takes part, no lock
is taken and nothing is refreshed in the person's index. Read next: listing.py, capture.py.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from agentsh.errors import ToolFailedError
from agentsh.programs import plain_environment
from agentsh.tools.undo.shadow import git_program, run_git

_QUIET = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}
_HARMLESS = (
    "-c", "core.fsmonitor=false",
    "-c", "core.untrackedCache=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.quotePath=false",
    "-c", "gc.auto=0",
    "-c", "maintenance.auto=false",
    "-c", "safe.directory=*",  # what a folder's owner could make git do is switched off above
)  # fmt: skip
_APART = ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL")
_WHO = {
    "GIT_AUTHOR_NAME": "agentsh",
    "GIT_AUTHOR_EMAIL": "agentsh@localhost",
    "GIT_COMMITTER_NAME": "agentsh",
    "GIT_COMMITTER_EMAIL": "agentsh@localhost",
}


class GitCalls(Struct, frozen=True):
    """One git, found once. `excludes`: the person's own file of ignore rules."""

    program: str
    environ: Mapping[str, str]
    excludes: str | None = None

    def read(self, folder: Path, *words: str, data: bytes = b"") -> bytes:
        """Ask about the repository that a folder lies in. Raises ToolFailedError."""
        own = ("-c", f"core.excludesFile={self.excludes}") if self.excludes else ()
        argv = [self.program, *_HARMLESS, *own, *words]
        return run_git(argv, self.environ, data=data, cwd=folder)

    def as_the_person(self, folder: Path, *words: str) -> bytes:
        """Ask with the person's own settings in force. Raises ToolFailedError."""
        own = {name: value for name, value in self.environ.items() if name not in _APART}
        return run_git([self.program, *_HARMLESS[:-2], *words], own, cwd=folder)

    def store(self, store: Path, tree: Path, index: Path, *words: str, data: bytes = b"") -> bytes:
        """Run on our store, with that folder and index. Raises ToolFailedError."""
        environ = {**self.environ, **_WHO, "GIT_INDEX_FILE": str(index)}
        argv = [self.program, *_HARMLESS, f"--git-dir={store}", f"--work-tree={tree}", *words]
        cwd = tree if os.path.isdir(tree) else store  # noqa: PTH112 - never raises
        return run_git(argv, environ, data=data, cwd=cwd, umask=0o077)


def find_git(environ: Mapping[str, str], project: Path, *, lists: bool = True) -> GitCalls:
    """`lists`: with the person's own ignore rules. Raises ToolFailedError: there is no git."""
    program = git_program(environ, project)
    plain = plain_environment(environ, project) | _QUIET
    excludes = _excludes(program, environ, project) if lists else None
    return GitCalls(program, plain, excludes)


def _excludes(program: str, environ: Mapping[str, str], project: Path) -> str | None:
    """Where the person's global ignore rules lie, as their own git says."""
    own = plain_environment(environ, project) | {"LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1"}
    asked = [program, "config", "--global", "--type=path", "--get", "core.excludesFile"]
    try:
        named = run_git(asked, own, cwd=Path("/")).decode("utf-8", "surrogateescape").strip()
    except ToolFailedError:
        named = ""
    if named:
        return named
    home = own.get("XDG_CONFIG_HOME") or os.path.join(own.get("HOME", "/"), ".config")  # noqa: PTH118
    return os.path.join(home, "git", "ignore")  # noqa: PTH118
