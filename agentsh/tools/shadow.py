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
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from msgspec import Struct

from agentsh.abort import Abort
from agentsh.errors import ToolAbortedError, ToolFailedError

TIMEOUT = 300.0
_WHO = "agentsh <agentsh@localhost>"
_ATTRIBUTES = "* -text -ident !eol !filter !working-tree-encoding !diff !merge\n"
_SETTINGS = {
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.quotePath": "false",
    "core.logAllRefUpdates": "false",
    "core.looseCompression": "1",
    "gc.auto": "0",
    "index.threads": "true",
}


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

    def git(self, *words: str, data: bytes = b"", index: Path | None = None) -> bytes:
        """Run git on store and folder; what it wrote. Raises ToolFailedError."""
        environ = {k: v for k, v in self.environ.items() if not k.startswith("GIT_")}
        environ |= {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_LITERAL_PATHSPECS": "1",
            "LC_ALL": "C",
        }
        if index is not None:
            environ["GIT_INDEX_FILE"] = str(index)
        places = [f"--git-dir={self.store}", f"--work-tree={self.tree}"]
        # what the store holds is the user's alone; only files of the tree get the usual mode
        umask = -1 if words[0] == "checkout-index" else 0o077
        cwd = self.tree if self.tree.is_dir() else self.store
        return run_git(
            [*places, *words], environ, data=data, cwd=cwd, abort=self.abort, umask=umask
        )

    def is_apart(self, path: str) -> bool:
        """Whether a path of the tree lies in what is left alone, whatever its ignore rules say."""
        place = f"{self.tree}/{path}".rstrip("/")
        return any(place == str(own) or place.startswith(f"{own}/") for own in self.apart)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the store if need be, and hold it alone. Raises ToolFailedError, the body's too."""
        try:
            for folder in (*reversed(self.store.parents), self.store):
                if not folder.exists():
                    folder.mkdir(mode=0o700, exist_ok=True)
            name = self.store / "agentsh.lock"
            lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self._drop_left_locks()
                if not (self.store / "info" / "attributes").exists():  # written last
                    self._create()
                yield
            finally:
                os.close(lock)
        except OSError as e:
            raise ToolFailedError(f"{self.store}: {e.strerror or e}") from e

    def _drop_left_locks(self) -> None:
        """Whoever held the store before us is gone, and so is the owner of each of git's locks."""
        for left in (*self.store.glob("*.lock"), *self.store.glob("refs/heads/*.lock")):
            if left.name != "agentsh.lock":
                left.unlink(missing_ok=True)

    def _create(self) -> None:
        self.git("init", "-q", "--template=")
        for name, value in _SETTINGS.items():
            self.git("config", name, value)
        info = self.store / "info"
        info.mkdir(mode=0o700, exist_ok=True)
        write_private(info / "attributes", _ATTRIBUTES)

    def head(self) -> Head | None:
        """The newest commit."""
        known = _last_heads.get(self.store)
        if known is not None and known.commit == _named_by_head(self.store):
            return known  # a commit never changes, and asking git is a process for each step
        try:
            said = self.git("log", "-1", "--no-decorate", "--format=%H%x00%T%x00%B", "HEAD")
        except ToolAbortedError:
            raise
        except ToolFailedError:
            return None
        found = Head(*(part.strip() for part in said.decode("utf-8").split("\0")))
        _last_heads[self.store] = found
        return found

    def commit(self, head: Head | None, words: str) -> str:
        """What is in the index, as a commit; the newest one if it holds the same."""
        tree = self.git("write-tree").decode("ascii").strip()
        if head is not None and (head.tree, head.words) == (tree, words):
            return head.commit
        name, _, mail = _WHO.partition(" <")
        identity = ["-c", f"user.name={name}", "-c", f"user.email={mail.rstrip('>')}"]
        parents = ["-p", head.commit] if head is not None else []
        made = self.git(*identity, "commit-tree", tree, *parents, "-m", words)
        commit = made.decode("ascii").strip()
        self.git("update-ref", "HEAD", commit)
        return commit

    def carry_ignore_rules(self) -> None:
        """Write the rules of the user's that lie outside the folder's own .gitignore files."""
        lines = [".agentsh-*.tmp", *_global_rules(self.environ)]
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
        place = self.store / "info" / "exclude"
        if not place.exists() or place.read_text("utf-8", "surrogateescape") != text:
            write_private(place, text)


def write_private(place: Path, text: str) -> None:
    """A small file of the store, 0600."""
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)


def run_git(
    words: Sequence[str],
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
                ["git", *words],
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
                output, errors = child.communicate(data, TIMEOUT)
            except BaseException:
                child.kill()
                raise
    except FileNotFoundError as e:
        raise ToolFailedError("git is not installed, so there are no checkpoints") from e
    except (OSError, subprocess.TimeoutExpired) as e:
        raise ToolFailedError(f"git could not be run: {e}") from e
    if child.returncode and abort is not None and abort.is_set:
        raise ToolAbortedError("stopped by the user; the state of the files was not recorded")
    if child.returncode:
        said = errors.decode("utf-8", "replace").strip()
        raise ToolFailedError(f"git {' '.join(words[2:4])} failed: {said or child.returncode}")
    return output


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
        text = file.read_text("utf-8", "surrogateescape")
    except OSError:
        return []
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _global_rules(environ: Mapping[str, str]) -> list[str]:
    """The user's own ignore file: core.excludesFile, else git's default place."""
    home, config = environ.get("HOME", ""), environ.get("XDG_CONFIG_HOME", "")
    named = _excludes_file(home, config, environ.get("PATH", ""))
    return _rules(Path(named) if named else Path(config or f"{home}/.config") / "git" / "ignore")


@cache
def _excludes_file(home: str, config: str, path: str) -> str:
    """What the user's own git settings name; asked once."""
    environ = {"HOME": home, "PATH": path, "LC_ALL": "C"}
    if config:
        environ["XDG_CONFIG_HOME"] = config
    words = ["config", "--global", "--type=path", "--get", "core.excludesFile"]
    try:
        return run_git(words, environ, cwd=Path("/")).decode("utf-8", "surrogateescape").strip()
    except ToolFailedError:
        return ""


def _named_by_head(store: Path) -> str | None:
    """The commit that HEAD leads to, where that is plain to see."""
    try:
        said = (store / "HEAD").read_text("ascii").strip()
        if said.startswith("ref: "):
            said = (store / said.removeprefix("ref: ")).read_text("ascii").strip()
    except (OSError, ValueError):
        return None
    return said


def _enclosing(tree: Path) -> Path | None:
    """The top of the user's repository that the folder lies in."""
    return next((p for p in (tree, *tree.parents) if (p / ".git").exists()), None)


def _info(top: Path) -> Path:
    """The info folder of a repository, also of a linked work tree."""
    place = top / ".git"
    if place.is_file():
        words = "".join(_rules(place)).removeprefix("gitdir:").strip()
        place = top / words
        common = _rules(place / "commondir")
        place = place / common[0] if common else place
    return place / "info"
