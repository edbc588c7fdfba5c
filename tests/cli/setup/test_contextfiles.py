"""Which context files are read, in which order, and what is not read."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.cli.setup.contextfiles import MAX_CONTEXT_FILE, find_context_files
from agentsh.cli.setup.paths import Paths, find_places
from tests.support.plain_user import plain_user

MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE)


@pytest.fixture
def places(tmp_path: Path) -> Paths:
    (tmp_path / "home").mkdir()
    return find_places({"AGENTSH_HOME": str(tmp_path / "home")})


def all_of(cwd: Path, places: Paths) -> tuple[list[str], list[str]]:
    told: list[str] = []
    found = find_context_files(cwd, places, told.append)
    return [file.text for file in found], told


def texts(cwd: Path, places: Paths) -> list[str]:
    return [file.text for file in find_context_files(cwd, places)]


def test_from_the_users_folder_and_the_repositorys_root_down_to_the_folder(
    tmp_path: Path, places: Paths
) -> None:
    root = tmp_path / "repo"
    cwd = root / "a/b"
    cwd.mkdir(parents=True)
    (root / ".git").mkdir()
    for folder, name in (
        (places.config, "AGENTS.md"),
        (tmp_path, "AGENTS.md"),
        (root, "CLAUDE.md"),
        (root / "a", "AGENTS.md"),
        (root / "a", "CLAUDE.md"),
        (cwd, "AGENTS.md"),
    ):
        (folder / name).write_text(f"{folder.name}/{name}")

    assert texts(cwd, places) == ["home/AGENTS.md", "repo/CLAUDE.md", "a/AGENTS.md", "b/AGENTS.md"]


def test_without_a_repository_only_the_folder_itself(tmp_path: Path, places: Paths) -> None:
    cwd = tmp_path / "plain"
    cwd.mkdir()
    (tmp_path / "AGENTS.md").write_text("above")
    (cwd / "AGENTS.md").write_text("here")

    assert texts(cwd, places) == ["here"]


def test_one_file_by_two_names_is_read_once(tmp_path: Path, places: Paths) -> None:
    (tmp_path / "AGENTS.md").write_text("once")
    (places.config / "AGENTS.md").symlink_to(tmp_path / "AGENTS.md")

    assert texts(tmp_path, places) == ["once"]


@pytest.mark.parametrize(
    ("second", "is_told"),
    [
        ("@AGENTS.md\nMore.\n", True),
        ("Else.", True),
        ("@./AGENTS.md\n", False),
        ("AGENTS.md", False),
        ("one\n", False),
        ("", False),
    ],
)
def test_a_second_file_of_a_folder_is_not_read_and_told_if_it_says_more(
    tmp_path: Path, places: Paths, second: str, is_told: bool
) -> None:
    (tmp_path / "AGENTS.md").write_text("one\n")
    (tmp_path / "CLAUDE.md").write_text(second)

    told = [f"{tmp_path / 'CLAUDE.md'} was left out: AGENTS.md of that folder is read"]
    assert all_of(tmp_path, places) == (["one\n"], told if is_told else [])


def test_a_projects_file_does_not_lead_to_the_readers_own(tmp_path: Path, places: Paths) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key")
    root = tmp_path / "repo"
    cwd = root / "a"
    cwd.mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "AGENTS.md").symlink_to(secret)
    (root / "CLAUDE.md").write_text("of the root")
    (cwd / "AGENTS.md").symlink_to("../CLAUDE.md")
    (places.config / "AGENTS.md").symlink_to(secret)
    told: list[str] = []

    found = find_context_files(cwd, places, told.append)

    assert [file.text for file in found] == ["key", "of the root"]
    assert told == [f"{root / 'AGENTS.md'} leads out of the project: left out"]


def test_what_is_no_regular_file_is_passed_over_at_once(tmp_path: Path, places: Paths) -> None:
    os.mkfifo(tmp_path / "AGENTS.md")
    (tmp_path / "CLAUDE.md").mkdir()

    found, told = all_of(tmp_path, places)

    assert found == []
    assert told == [
        f"{tmp_path / name} was left out: Not a regular file" for name in ("AGENTS.md", "CLAUDE.md")
    ]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_byte_order_mark_says_how_a_file_is_read_and_the_conversion_is_told(
    tmp_path: Path, places: Paths, encoding: str
) -> None:
    words = "Nur auf Größe achten 🌳\n"
    (tmp_path / "AGENTS.md").write_bytes(f"\ufeff{words}".encode(encoding))

    assert all_of(tmp_path, places) == (
        [words],
        [f"{tmp_path / 'AGENTS.md'} is {encoding.upper()}: it was converted"],
    )


def test_utf_8_is_read_as_it_is_with_and_without_a_mark(tmp_path: Path, places: Paths) -> None:
    for mark in (b"", b"\xef\xbb\xbf"):
        (tmp_path / "AGENTS.md").write_bytes(mark + "grün\r\n".encode())

        assert all_of(tmp_path, places) == (["grün\r\n"], [])


def test_bytes_of_another_encoding_are_replaced_and_told(tmp_path: Path, places: Paths) -> None:
    (tmp_path / "AGENTS.md").write_bytes("Prüfe Maße\n".encode("latin-1"))

    assert all_of(tmp_path, places) == (
        ["Pr\ufffdfe Ma\ufffde\n"],
        [f"{tmp_path / 'AGENTS.md'} has bytes that are no UTF-8: U+FFFD stands in their place"],
    )


@given(st.binary(max_size=60), st.sampled_from(["", *(mark.hex() for mark in MARKS)]))
def test_whatever_the_bytes_are_a_file_is_read_or_told(data: bytes, mark: str) -> None:
    with TemporaryDirectory() as folder:
        cwd = Path(folder)
        (cwd / "home").mkdir()
        (cwd / "AGENTS.md").write_bytes(bytes.fromhex(mark) + data)
        found, told = all_of(cwd, find_places({"AGENTSH_HOME": str(cwd / "home")}))

    whole = [*found, ""][0].encode("utf-8")
    assert len(found) == 1 or told
    assert told or whole == data.removeprefix(b"\xef\xbb\xbf")


def test_what_is_there_and_cannot_be_read_is_told_with_the_reason(
    tmp_path: Path, places: Paths
) -> None:
    place = tmp_path / "AGENTS.md"
    (tmp_path / "CLAUDE.md").write_text("instead")
    makers: dict[str, Callable[[], object]] = {
        "Too many levels of symbolic links": lambda: place.symlink_to("AGENTS.md"),
        "No such file or directory": lambda: place.symlink_to("nowhere"),
        "It holds NULs and no byte order mark, so it is no text": lambda: place.write_bytes(
            "ab".encode("utf-16-le")
        ),
    }
    for reason, make in makers.items():
        make()

        assert all_of(tmp_path, places) == (["instead"], [f"{place} was left out: {reason}"])
        place.unlink()

    place.write_text("closed")
    place.chmod(0)
    with plain_user(tmp_path):
        found = all_of(tmp_path, places)
    assert found == (["instead"], [f"{place} was left out: Permission denied"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("line", ["0123456789\n", "ö" * 9 + "\n", "🌳" * 200_000])
def test_a_huge_file_is_cut_at_a_line_and_says_so(
    tmp_path: Path, places: Paths, line: str, encoding: str
) -> None:
    data = (line * (MAX_CONTEXT_FILE * 4 // len(line))).encode(encoding)
    (tmp_path / "AGENTS.md").write_bytes(data)

    [text], told = all_of(tmp_path, places)

    kept, _, note = text.removesuffix("\n").rpartition("\n")
    assert note == f"(cut here: AGENTS.md has {len(data)} bytes)"
    assert kept.strip(line) == ""
    assert MAX_CONTEXT_FILE // 5 < len(kept) < MAX_CONTEXT_FILE
    assert told[-1] == (
        f"{tmp_path / 'AGENTS.md'} was cut: it has {len(data)} bytes, at most 131072 are read"
    )
