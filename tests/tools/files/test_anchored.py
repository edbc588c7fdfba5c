"""What was judged is what is opened: no folder of a path becomes a link unseen."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from agentsh.errors import ToolFailedError
from agentsh.jsontext import JsonObject
from agentsh.tools.files import anchored, atomic
from agentsh.tools.files.write import WriteTool
from tests.support.tooling import Bench


def test_a_folder_that_became_a_link_is_not_followed(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (bench.cwd / "d").mkdir()
    judged = bench.cwd / "d/x"
    (bench.cwd / "d").rmdir()
    (bench.cwd / "d").symlink_to(outside)

    for make in (False, True):
        with pytest.raises(NotADirectoryError), anchored.parent_of(judged, make=make):
            pass
    with pytest.raises(ToolFailedError, match="nothing was written"):
        atomic.write_atomic(judged, b"x", "d/x", cwd=bench.cwd)
    assert not list(outside.iterdir())


def test_the_file_itself_is_no_link_either(bench: Bench, tmp_path: Path) -> None:
    outside = bench.file("../outside.txt", "theirs")
    (bench.cwd / "f").symlink_to(outside)

    with pytest.raises(ToolFailedError, match="a link"):
        atomic.write_atomic(bench.cwd / "f", b"x", "f", cwd=bench.cwd)
    assert outside.read_text() == "theirs"
    assert (bench.cwd / "f").is_symlink()


def test_writes_while_a_folder_flips_stay_inside(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (bench.cwd / "real").mkdir()
    (bench.cwd / "d").symlink_to("real")
    over = threading.Event()

    def flip() -> None:
        place = bench.cwd / "x"
        while not over.is_set():
            for target in (str(outside), "real"):
                place.symlink_to(target)
                place.replace(bench.cwd / "d")

    flipping = threading.Thread(target=flip)
    flipping.start()
    tool = WriteTool()
    written = 0
    try:
        for number in range(200):
            arguments: JsonObject = {"path": f"d/f{number}", "content": "x"}
            judged = tool.touches(arguments, bench.cwd, bench.home)
            if not judged[0].is_relative_to(bench.cwd.resolve()):
                continue  # the policy would have asked
            context = bench.context(judged=judged)
            tool.run(arguments, context)
            written += 1
    finally:
        over.set()
        flipping.join()
    assert written > 0
    assert not list(outside.iterdir())


def test_the_working_folder_is_never_made_anew(bench: Bench) -> None:
    context = bench.context()
    bench.cwd.rmdir()
    for path in ("new.txt", "a/b/new.txt", str(bench.home / "elsewhere.txt")):
        with pytest.raises(ToolFailedError, match="the working folder is gone"):
            WriteTool().run({"path": path, "content": "x"}, context)
    inside = anchored.parent_of(bench.cwd / "f", make=True, keep=bench.cwd)
    with pytest.raises(FileNotFoundError), inside:
        pass
    assert not bench.cwd.exists()
    assert not list(bench.home.iterdir())


def test_only_folders_without_files_are_removed_as_hollow(tmp_path: Path) -> None:
    (tmp_path / "hollow/a/b").mkdir(parents=True)
    (tmp_path / "full/a").mkdir(parents=True)
    (tmp_path / "full/a/f").write_text("x")
    with anchored.parent_of(tmp_path / "x") as folder:
        anchored.drop_hollow(folder, "hollow")
        with pytest.raises(OSError, match="not empty"):
            anchored.drop_hollow(folder, "full")
    assert not (tmp_path / "hollow").exists()
    assert (tmp_path / "full/a/f").exists()
