"""A branch sees the paths of whoever explores, and nothing is made on the machine's own disk."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agentsh.explore.away.mounts import MachineView, mount_places
from agentsh.explore.workspace.view import find_view

BWRAP = find_view(os.environ, Path("/"))


def test_where_all_paths_exist_the_machine_is_seen_as_it_is(tmp_path: Path) -> None:
    assert mount_places([tmp_path]) == ["--dev-bind", "/", "/"]


def test_above_a_missing_path_all_that_was_there_is_seen(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to("other")

    words = mount_places([tmp_path / "home/alice/p", tmp_path / "home/data"])

    assert words[3:] == [
        "--tmpfs", str(tmp_path),
        "--symlink", "other", f"{tmp_path}/link",
        "--dev-bind", f"{tmp_path}/other", f"{tmp_path}/other",
    ]  # fmt: skip


def test_a_path_below_the_root_takes_each_of_its_entries() -> None:
    words = mount_places([Path("/agentsh-no-such-folder/p")])

    assert words[:3] != ["--dev-bind", "/", "/"]
    assert "/usr" in words
    assert "--tmpfs" not in words


@pytest.mark.skipif(BWRAP is None, reason="no bubblewrap that works")
@pytest.mark.parametrize("root", ["below", "/agentsh-no-such-folder/p"])
def test_folder_and_data_stand_where_they_do_elsewhere(root: str, tmp_path: Path) -> None:
    work, data = tmp_path / "place/work", tmp_path / "place/data"
    for folder in (work, data):
        folder.mkdir(parents=True)
        (folder / "f").write_text(f"{folder.name}\n")
    shown = tmp_path / "alice" / root  # an absolute one is itself
    before = sorted(Path("/").iterdir())
    mounts = ((work, shown, True), (data, tmp_path / "alice/data", False))
    view = MachineView(str(BWRAP), mounts)

    said = (
        f"pwd; cat f; echo new > g; cat {tmp_path}/alice/data/f; echo x > {tmp_path}/alice/data/g"
    )
    done = subprocess.run(view(["sh", "-c", said], shown), capture_output=True, text=True)

    assert done.stdout == f"{shown}\nwork\ndata\n"
    assert (work / "g").read_text() == "new\n"
    assert not (data / "g").exists()
    assert not (tmp_path / "alice").exists()
    assert sorted(Path("/").iterdir()) == before
