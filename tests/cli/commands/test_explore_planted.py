"""What a folder brings along is not run by the processes of an exploration of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.endpoint import serve, text
from tests.support.exploring import REAL, git, repository, run

pytestmark = REAL


@pytest.mark.parametrize("name", ["json.py", "agentsh/__init__.py"])
def test_a_module_of_the_folder_is_not_run_by_a_branchs_process(tmp_path: Path, name: str) -> None:
    folder, marker = repository(tmp_path / "project"), tmp_path / "ran"
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(f"open({str(marker)!r}, 'w')\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "planted")

    with serve(text("done")) as endpoint:
        done = run(folder, endpoint, "-n", "2", "go")

    assert done.returncode == 0, done.stderr
    assert not marker.exists()


def test_what_an_exploration_keeps_is_its_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    folder = repository(tmp_path / "project")
    before = os.umask(0)
    try:
        with serve(text("done")) as endpoint:
            done = run(folder, endpoint, "-n", "1", "--setup", "echo x > made", "go")
    finally:
        os.umask(before)

    assert done.returncode == 0, done.stderr
    kept = [p for p in (tmp_path / "home").rglob("*") if not p.is_symlink()]
    assert any(p.name == "runner.log" for p in kept)
    assert [p for p in kept if p.stat().st_mode & 0o077] == []
