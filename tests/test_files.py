"""What lies in a folder that others can fill is opened only if it is a plain file."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentsh import files
from tests.support.plain_user import plain_user


def _link(path: Path) -> None:
    target = path.with_name("elsewhere")
    target.write_bytes(b"theirs")
    path.symlink_to(target)


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


ODD: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "folder": Path.mkdir,
    "link": _link,
    "loop": _loop,
    "device": _device,
}


@pytest.mark.parametrize("kind", ODD)
def test_only_a_regular_file_that_is_no_link_is_opened(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "x"
    ODD[kind](place)

    for flags in (os.O_RDONLY, os.O_RDWR):
        with pytest.raises(files.NotRegularError):
            files.open_regular(place, flags, follow=False)
    for read in (files.read_foreign, files.read_end):
        with pytest.raises(OSError, match="x"):
            read(place, 10, follow=False)


@pytest.mark.parametrize("kind", ["pipe", "folder", "loop", "device"])
def test_a_link_is_followed_to_a_regular_file_only(tmp_path: Path, kind: str) -> None:
    _link(tmp_path / "good")
    ODD[kind](tmp_path / "bad")

    assert files.read_foreign(tmp_path / "good", 10) == b"theirs"
    with pytest.raises(OSError, match="bad"):
        files.read_foreign(tmp_path / "bad", 10)


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "/" + "y/" * 3000])
def test_a_name_that_no_file_can_have_is_an_error_of_the_system(tmp_path: Path, name: str) -> None:
    with pytest.raises(OSError, match=r"\[Errno"):
        files.read_foreign(f"{tmp_path}/{name}", 10)


def test_a_file_is_read_whole_or_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"0123456789")

    assert files.read_foreign(tmp_path / "x", 10) == b"0123456789"
    assert files.read_end(tmp_path / "x", 3) == b"789"
    with pytest.raises(files.TooLargeError, match="Larger than 9 bytes"):
        files.read_foreign(tmp_path / "x", 9)


def test_a_folder_that_is_a_link_is_not_gone_into(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    os.close(files.open_folder(tmp_path / "real"))
    with pytest.raises(NotADirectoryError):
        files.open_folder(tmp_path / "link")


def test_what_is_written_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        files.write_private(tmp_path / "a/b/private", b"1")
        files.append_private(tmp_path / "a/b/appended", b"2")
        files.write_new(tmp_path / "a/b/new", [b"3"])
    finally:
        os.umask(before)

    modes = {p.name: p.stat().st_mode & 0o777 for p in (tmp_path / "a").rglob("*")}
    assert modes == {"b": 0o700, "private": 0o600, "appended": 0o600, "new": 0o600}


def test_a_full_disk_leaves_the_old_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.write_private(tmp_path / "x", b"the old one")
    room = [4]

    def write(descriptor: int, data: memoryview) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = real(descriptor, data[: room[0]])
        room[0] -= done
        return done

    real = os.write
    monkeypatch.setattr(os, "write", write)
    with pytest.raises(OSError, match="No space"):
        files.write_private(tmp_path / "x", b"the new one")

    monkeypatch.undo()
    assert (tmp_path / "x").read_bytes() == b"the old one"
    assert _names(tmp_path) == ["x"]


@pytest.mark.parametrize("has_links", [True, False])
def test_a_name_that_is_taken_is_never_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    if not has_links:
        monkeypatch.setattr(os, "link", no_links)
    files.write_new(tmp_path / "x", [b"a", b"b"])
    with pytest.raises(FileExistsError):
        files.write_new(tmp_path / "x", [b"c"])

    assert ((tmp_path / "x").read_bytes(), _names(tmp_path)) == (b"ab", ["x"])


def test_without_links_and_without_a_rename_the_name_stays_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", fails)
    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(OSError, match="not permitted"):
        files.write_new(tmp_path / "x", [b"a"])

    assert _names(tmp_path) == []


@pytest.mark.parametrize("pid", [0, -1, 2**31, 10**30])
def test_a_number_that_no_process_can_have_is_not_alive(pid: int) -> None:
    assert not files.is_alive(pid)
    assert files.is_alive(os.getpid())


def test_what_a_closed_folder_holds_is_not_seen_and_not_called_gone(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "folder").mkdir(parents=True)
    (closed / "file").write_bytes(b"1")
    (closed / "link").symlink_to("file")
    seen = (files.is_there, files.is_taken, files.is_link, files.is_folder, files.is_regular)
    names = ("folder", "file", "link")

    with plain_user(tmp_path):
        open_ = [[question(closed / name) for question in seen] for name in names]
        closed.chmod(0)
        shut = [[question(closed / name) for question in seen] for name in names]
        gone = [
            files.is_absent(closed / name, follow=follow)
            for name in names
            for follow in (False, True)
        ]

    assert open_ == [
        [True, True, False, True, False],
        [True, True, False, False, True],
        [True, True, True, False, True],
    ]
    assert shut == [[False] * 5] * 3
    assert gone == [False] * 6


@pytest.mark.parametrize("name", ["nothing", "file/below", "a\0b"])
def test_what_nothing_can_be_called_is_gone(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(b"")

    assert files.is_absent(tmp_path / name)
    assert not files.is_there(tmp_path / name)


def test_a_link_that_leads_nowhere_takes_its_name(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nothing")

    assert (files.is_taken(tmp_path / "link"), files.is_there(tmp_path / "link")) == (True, False)
    assert (
        files.is_absent(tmp_path / "link"),
        files.is_absent(tmp_path / "link", follow=False),
    ) == (
        True,
        False,
    )


def test_what_is_exchanged_between_the_look_and_the_opening_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "x"
    place.write_bytes(b"1")
    opened: list[int] = []

    def exchanging(path: Path, flags: int, **more: int) -> int:
        place.unlink()
        place.mkdir()
        opened.append(real(path, flags, **more))
        return opened[0]

    real = os.open
    monkeypatch.setattr(os, "open", exchanging)
    with pytest.raises(files.NotRegularError):
        files.open_regular(place)

    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])


def test_a_folder_by_a_name_that_none_can_have_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Invalid argument"):
        files.open_folder(f"{tmp_path}/a\0b")


def test_a_name_that_somebody_fills_meanwhile_is_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft, target = tmp_path / "draft", tmp_path / "target"
    draft.write_bytes(b"ours")

    def no_links(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    def claiming(path: Path, **_: object) -> int:
        claim = create(path)
        path.write_bytes(b"theirs")
        return claim

    create = files.create_private
    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(files, "create_private", claiming)
    with pytest.raises(FileExistsError):
        files.give_name(draft, target)

    assert (draft.read_bytes(), target.read_bytes()) == (b"ours", b"theirs")


def test_a_process_of_somebody_else_lives(tmp_path: Path) -> None:
    with plain_user(tmp_path):
        assert files.is_alive(1)


def test_where_the_system_tells_no_boot_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_BOOT_ID", tmp_path / "nothing")

    assert files.boot_id() == ""


# ---- a person's home -----------------------------------------------------------------------------


def test_a_tilde_is_a_home_and_a_name_that_nobody_has_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/home/heron")

    assert files.from_home("~/a.txt") == Path("/home/heron/a.txt")
    assert files.from_home("~nobody-has-this-name/a.txt") == Path("~nobody-has-this-name/a.txt")
    assert files.from_home("a/~/b") == Path("a/~/b")


def test_every_tilde_is_read_in_one_place() -> None:
    root = Path(files.__file__).parent
    readers = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if "expanduser" in path.read_text("utf-8")
    }

    assert readers == {"files.py"}
