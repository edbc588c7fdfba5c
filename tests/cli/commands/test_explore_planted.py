"""What a folder brings along is not run by the processes of an exploration of it."""

from __future__ import annotations

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
