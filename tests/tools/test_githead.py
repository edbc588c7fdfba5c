"""HEAD is read as git itself says it; what is spelled otherwise is not known."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agentsh.tools.githead import GitHead, commits_logged, head_log_size, read_git_head

_ENVIRON = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    **{f"GIT_{who}_NAME": "a" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "a@localhost" for who in ("AUTHOR", "COMMITTER")},
}


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, env=_ENVIRON, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    return folder


def test_it_is_what_git_says(repository: Path, tmp_path: Path) -> None:
    first = git(repository, "rev-parse", "HEAD")
    assert read_git_head(repository) == GitHead(first, "main")
    git(repository, "pack-refs", "--all")
    assert read_git_head(repository) == GitHead(first, "main")
    git(repository, "checkout", "-q", "-b", "side/way")
    git(repository, "commit", "-q", "--allow-empty", "-m", "two")
    second = git(repository, "rev-parse", "HEAD")
    (repository / "below/it").mkdir(parents=True)
    assert read_git_head(repository / "below/it") == GitHead(second, "side/way")
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"), "main")
    assert read_git_head(tmp_path / "tree") == GitHead(first, "main")
    git(repository, "checkout", "-q", "--detach")
    assert read_git_head(repository) == GitHead(second)


def test_before_the_first_commit_there_is_a_branch_only(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    assert read_git_head(tmp_path) == GitHead(None, "main")


@pytest.mark.parametrize(
    "said",
    [
        *(b"", b"\xff\xfe", b"ref: refs/heads/.invalid\x00", b"ref: ../../etc/passwd\n"),
        *(b"ref: refs/heads/../../../secret\n", b"\x1b[31m", b"0" * 41, b"ref: refs/tags/v1\n"),
        b"ref: refs/heads/.invalid\n",  # as reftable has it
    ],
)
def test_what_git_does_not_spell_so_is_not_known(tmp_path: Path, said: bytes) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").write_bytes(said)
    assert read_git_head(tmp_path) == GitHead()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git/HEAD")
    assert read_git_head(tmp_path) == GitHead()
    assert read_git_head(Path("/")) == GitHead()


def test_what_head_went_through_stands_in_its_log(repository: Path) -> None:
    first, size = git(repository, "rev-parse", "HEAD"), head_log_size(repository)
    assert commits_logged(repository, size) == ()
    made = []
    for name in ("two", "three"):
        git(repository, "commit", "-q", "--allow-empty", "-m", name)
        made.append(git(repository, "rev-parse", "HEAD"))
    git(repository, "reset", "-q", "--hard", first)

    assert commits_logged(repository, size) == (*made, first)
    assert commits_logged(repository, head_log_size(repository) + 1) == ()


def test_without_a_log_nothing_is_said_of_the_way(tmp_path: Path) -> None:
    assert (head_log_size(tmp_path), commits_logged(tmp_path, 0)) == (0, ())
    (tmp_path / ".git/logs").mkdir(parents=True)
    (tmp_path / ".git/logs/HEAD").write_bytes(b"no log at all\n\xff \xfe\n")
    assert commits_logged(tmp_path, 0) == ()
