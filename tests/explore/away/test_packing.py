"""What a machine is handed is what stood here: bytes, times, modes, links, names."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from agentsh.explore.away.packing import PackPart, read_pack, write_pack

ODD = os.fsdecode(b"odd\xff")


def there_and_back(tmp_path: Path, *parts: PackPart) -> Path:
    write_pack(tmp_path / "pack", parts)
    target = tmp_path / "target"
    target.mkdir()
    read_pack(tmp_path / "pack", target)
    return target


def test_files_keep_bytes_times_modes_and_names_that_are_no_text(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "empty").mkdir(parents=True)
    (source / ODD).write_bytes(b"\0one")
    (source / ODD).chmod(0o750)
    os.utime(source / ODD, (5, 1_700_000_000))

    target = there_and_back(tmp_path, PackPart(source, "data/x"))

    status = (target / "data/x" / ODD).stat()
    assert (target / "data/x" / ODD).read_bytes() == b"\0one"
    assert (status.st_mode & 0o777, status.st_mtime) == (0o750, 1_700_000_000)
    assert (target / "data/x/empty").is_dir()


def test_links_are_links_and_nothing_is_followed(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("s")
    (source / "out").symlink_to(tmp_path / "outside")
    (source / "a").write_text("one")
    os.link(source / "a", source / "b")

    target = there_and_back(tmp_path, PackPart(source, "x"))

    assert (target / "x/out").readlink() == tmp_path / "outside"
    assert (target / "x/a").read_text() == (target / "x/b").read_text() == "one"
    assert (target / "x/a").stat().st_nlink == 1


def test_what_is_gone_a_socket_and_what_stays_here_are_left_out(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "info").mkdir(parents=True)
    (source / "info" / "alternates").write_text("/elsewhere\n")
    (source / "info" / "packs").write_text("p")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(source / "s"))

        target = there_and_back(
            tmp_path, PackPart(source, "x", "info/alternates"), PackPart(tmp_path / "gone", "y")
        )

    found = sorted(str(each.relative_to(target)) for each in target.rglob("*"))
    assert found == ["x", "x/info", "x/info/packs"]


def test_an_object_that_two_repositories_have_is_packed_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "o").write_text(name)
        (tmp_path / name / "o").chmod(0o444)

    target = there_and_back(
        tmp_path, PackPart(tmp_path / "one", "x"), PackPart(tmp_path / "two", "x")
    )

    assert (target / "x/o").read_text() == "one"
