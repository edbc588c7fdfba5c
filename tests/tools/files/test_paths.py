from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from unicodedata import normalize

import pytest

from agentsh.errors import InvalidArgumentsError, ToolFailedError
from agentsh.files import real
from agentsh.tools.files import atomic, paths
from agentsh.tools.files.write import WriteTool
from tests.support.tooling import Bench


def test_home_at_sign_and_relative_paths_resolve(bench: Bench) -> None:
    assert paths.resolve("~/x", bench.cwd, bench.home) == bench.home / "x"
    assert paths.resolve("~", bench.cwd, bench.home) == bench.home
    assert paths.resolve("@a b", bench.cwd, bench.home) == bench.cwd / "a b"
    assert paths.resolve("@@a", bench.cwd, bench.home) == bench.cwd / "@a"
    assert paths.resolve("/etc/x", bench.cwd, bench.home) == Path("/etc/x")


def test_an_at_sign_behind_the_folder_is_dropped_too_where_nothing_has_that_name(
    bench: Bench,
) -> None:
    (bench.cwd / "birds.py").write_text("")
    (bench.cwd / "@types").mkdir()
    (bench.cwd / "types").mkdir()
    for text, found in (
        (f"{bench.cwd}/@birds.py", "birds.py"),
        ("./@birds.py", "birds.py"),
        ("./@types", "@types"),
        ("./@gone.py", "@gone.py"),
        ("./@.", "@."),
        ("./@..", "@.."),
    ):
        assert paths.resolve_existing(text, bench.cwd, bench.home) == bench.cwd / found


@pytest.mark.parametrize("text", ["", "  ", "a\0b", "@", "\ud800"])
def test_what_is_no_path_is_refused(bench: Bench, text: str) -> None:
    with pytest.raises(InvalidArgumentsError):
        paths.resolve(text, bench.cwd, bench.home)


def test_a_plain_space_finds_the_file_with_a_narrow_one(bench: Bench) -> None:
    there = bench.file("shot 1\u202fPM.png")
    assert paths.resolve_existing("shot 1 PM.png", bench.cwd, bench.home) == there


def test_two_look_alike_names_are_not_guessed_between(bench: Bench) -> None:
    bench.file("a\u202fb")
    bench.file("a\u00a0b")
    assert paths.resolve_existing("a b", bench.cwd, bench.home) == bench.cwd / "a b"


@pytest.mark.parametrize("resolved", [paths.resolve_existing, paths.resolve_target])
def test_t20_each_part_of_a_path_may_be_composed_or_decomposed(
    bench: Bench, resolved: Callable[[str, Path, Path], Path]
) -> None:
    name = "Übung/größe 1/é.md"
    there = bench.file(normalize("NFD", name))

    assert resolved(normalize("NFC", name), bench.cwd, bench.home) == there
    assert resolved(normalize("NFD", name), bench.cwd, bench.home) == there


def test_t20_what_is_new_goes_into_the_folder_that_looks_the_same(bench: Bench) -> None:
    there = bench.file(normalize("NFD", "Übung/a"))
    new = normalize("NFC", "Übung/weiter/Übung")

    target = paths.resolve_target(new, bench.cwd, bench.home)
    assert target == there.parent / normalize("NFC", "weiter/Übung")
    assert paths.resolve_existing(new, bench.cwd, bench.home) == bench.cwd / new

    bench.text(WriteTool(), path=normalize("NFC", "Übung/a"), content="x")
    assert [path.read_text() for path in bench.cwd.rglob("*") if path.is_file()] == ["x"]


def test_a_path_is_shown_as_it_is_named_from_the_folder(bench: Bench) -> None:
    assert paths.shown(bench.cwd / "a" / "b", bench.cwd) == "a/b"


def test_only_regular_files_are_opened_and_nothing_blocks(bench: Bench) -> None:
    os.mkfifo(bench.cwd / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(bench.cwd / "sock"))
        for name, words in [
            ("pipe", "named pipe"),
            ("sock", "socket"),
            (".", "directory"),
            ("/dev/zero", "character device"),
        ]:
            with pytest.raises(ToolFailedError, match=words):
                paths.open_for_tool(bench.cwd / name, name)


def test_a_loop_of_links_is_an_error(bench: Bench) -> None:
    (bench.cwd / "a").symlink_to("b")
    (bench.cwd / "b").symlink_to("a")
    with pytest.raises(ToolFailedError):
        paths.open_for_tool(bench.cwd / "a", "a")


def put(
    bench: Bench, path: Path, data: bytes, name: str, unchanged: os.stat_result | None = None
) -> atomic.Written:
    return atomic.write_atomic(real(path), data, name, cwd=bench.cwd, unchanged=unchanged)


def test_a_write_keeps_link_and_mode_and_leaves_nothing_behind(bench: Bench) -> None:
    target = bench.file("real.txt", "old")
    target.chmod(0o741)
    (bench.cwd / "link").symlink_to("real.txt")
    put(bench, bench.cwd / "link", b"new", "link")
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o741
    assert sorted(p.name for p in bench.cwd.iterdir()) == ["link", "real.txt"]


def test_a_link_to_nothing_is_written_through(bench: Bench) -> None:
    (bench.cwd / "link").symlink_to("sub/new.txt")
    put(bench, bench.cwd / "link", b"x", "link")
    assert (bench.cwd / "sub/new.txt").read_bytes() == b"x"
    assert (bench.cwd / "link").is_symlink()


def test_a_new_file_gets_the_mode_that_umask_says(bench: Bench) -> None:
    old = os.umask(0o027)
    try:
        put(bench, bench.cwd / "f", b"", "f")
    finally:
        os.umask(old)
    assert stat.S_IMODE((bench.cwd / "f").stat().st_mode) == 0o640


def test_extended_attributes_stay(bench: Bench) -> None:
    target = bench.file("f", "old")
    try:
        os.setxattr(target, "user.note", b"kept")
    except OSError:
        pytest.skip("no extended attributes on this file system")
    put(bench, target, b"new", "f")
    assert os.getxattr(target, "user.note") == b"kept"


def test_other_hard_links_keep_the_old_bytes_and_are_counted(bench: Bench) -> None:
    target = bench.file("f", "old")
    os.link(target, bench.cwd / "other")
    assert put(bench, target, b"new", "f").other_names == 1
    assert (bench.cwd / "other").read_bytes() == b"old"


def test_a_file_exchanged_during_the_call_is_not_overwritten(bench: Bench) -> None:
    target = bench.file("f", "old")
    seen = target.stat()
    target.write_bytes(b"somebody's")
    with pytest.raises(ToolFailedError, match="changed"):
        put(bench, target, b"new", "f", unchanged=seen)
    assert target.read_bytes() == b"somebody's"


def test_a_write_that_cannot_be_leaves_the_file_and_no_temporary(bench: Bench) -> None:
    bench.file("file", "x")
    with pytest.raises(ToolFailedError, match="nothing was written"):
        put(bench, bench.cwd / "file" / "below", b"new", "file/below")
    with pytest.raises(ToolFailedError):
        put(bench, bench.cwd / ("n" * 300), b"new", "n")
    assert [p.name for p in bench.cwd.iterdir()] == ["file"]


def test_a_name_as_long_as_the_system_allows_can_be_replaced(bench: Bench) -> None:
    target = bench.file("n" * 255, "old")
    put(bench, target, b"new", "n")
    assert target.read_bytes() == b"new"


def test_pre_images_tell_absent_from_present(bench: Bench) -> None:
    path = bench.file("f", "")
    assert paths.pre_image(path).sha256 is not None
    assert paths.pre_image(bench.cwd / "none").sha256 is None
    assert paths.pre_image(bench.cwd).sha256 is None
