"""The index answers what the files say, whatever happened to it or to them (R11-R13)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from agentsh.session.file.session import open_session
from agentsh.session.format.facts import Titled
from agentsh.session.store.catalog import Index
from agentsh.session.store.store import summarize_each
from tests.session.sealed import SESSION, lines_of, write_lines, write_session


def session(tmp_path: Path, file: str = "s", *, name: str | None = None) -> Path:
    return write_session(tmp_path / "sessions" / f"{file}.jsonl", name=name)


def test_the_same_answers_with_a_new_a_warm_and_no_index(tmp_path: Path) -> None:
    files = [session(tmp_path, "a"), session(tmp_path, "b", name="x")]
    (tmp_path / "sessions" / "junk.jsonl").write_bytes(b"dear diary\n")
    files.append(tmp_path / "sessions" / "junk.jsonl")
    index = Index(tmp_path / "cache" / "deep" / "index.db")

    first = index.summaries(files)
    second = index.summaries(files)

    assert first == second == summarize_each(files)
    assert len(first) == 2


def test_only_what_came_in_is_read(tmp_path: Path) -> None:
    path = session(tmp_path)
    lines = lines_of(path)
    index = Index(tmp_path / "index.db")
    write_lines(path, lines[:-4])
    before = index.summaries([path])[path]
    with path.open("ab") as file:
        file.write(b"".join(line + b"\n" for line in lines[-4:]))
    # were the old part read again, this would be seen: same size, before the last block
    data = bytearray(path.read_bytes())
    at = data.index(b"alpha")
    data[at : at + 5] = b"ALPHA"
    with path.open("r+b") as file:
        file.write(data)

    after = index.summaries([path])[path]

    assert after.prompt == before.prompt == "alpha"
    assert after.lines == len(lines)


@pytest.mark.parametrize("change", ["shrunk", "replaced", "rewritten", "other tail"])
def test_at_any_doubt_the_file_is_read_anew(tmp_path: Path, change: str) -> None:
    path = session(tmp_path)
    index = Index(tmp_path / "index.db")
    index.summaries([path])
    lines = lines_of(path)
    match change:
        case "shrunk":
            write_lines(path, lines[:8])
        case "replaced":
            path.unlink()
            write_session(path, prompts=("gamma", "delta", "epsilon", "zeta"))
        case "rewritten":
            write_lines(path, lines + lines)
        case _:
            other = [*lines[:-1], lines[-1].replace(b"mark beta", b"mark betx"), lines[-1]]
            write_lines(path, other)

    assert index.summaries([path]) == summarize_each([path])


def test_a_last_line_that_goes_on_is_not_counted_twice(tmp_path: Path) -> None:
    path = session(tmp_path)
    whole = path.read_bytes()
    index = Index(tmp_path / "index.db")
    for cut in (len(whole) - 30, len(whole) - 1, len(whole)):
        path.write_bytes(whole[:cut])

        assert index.summaries([path]) == summarize_each([path])


@pytest.mark.parametrize(
    "data", [b"", b"no database at all" * 100, b"SQLite format 3\0" + b"x" * 4096]
)
def test_a_damaged_database_is_made_again(tmp_path: Path, data: bytes) -> None:
    path = session(tmp_path)
    database = tmp_path / "index.db"
    database.write_bytes(data)

    assert Index(database).summaries([path]) == summarize_each([path])
    assert database.read_bytes().startswith(b"SQLite format 3\0")


def test_a_row_that_says_nonsense_is_no_matter(tmp_path: Path) -> None:
    import sqlite3

    path = session(tmp_path)
    index = Index(tmp_path / "index.db")
    index.summaries([path])
    with sqlite3.connect(tmp_path / "index.db") as database:
        database.execute("UPDATE file SET messages = 'many'")
    database.close()

    assert index.summaries([path]) == summarize_each([path])


def test_where_no_database_can_be_the_answers_are_the_same(tmp_path: Path) -> None:
    path = session(tmp_path)
    (tmp_path / "index.db").mkdir()

    assert Index(tmp_path / "index.db").summaries([path]) == summarize_each([path])


def test_it_is_private_whatever_the_umask(tmp_path: Path) -> None:
    path = session(tmp_path)
    old = os.umask(0)
    try:
        Index(tmp_path / "home" / "cache" / "index.db").summaries([path])
    finally:
        os.umask(old)

    assert stat.S_IMODE((tmp_path / "home/cache/index.db").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "home/cache").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


def test_a_file_that_is_gone_has_no_summary(tmp_path: Path) -> None:
    path = session(tmp_path)
    index = Index(tmp_path / "index.db")
    index.summaries([path])
    path.unlink()

    assert index.summaries([path]) == {}


def test_a_title_that_came_in_is_caught_up_with(tmp_path: Path) -> None:
    path = session(tmp_path)
    index = Index(tmp_path / "index.db")
    assert index.summaries([path])[path].title is None
    with open_session(path, write=True) as writing:
        assert writing.leaf is not None
        writing.append(Titled("Herons", writing.leaf))

    assert index.summaries([path])[path].title == "Herons"
    assert index.summaries([path]) == summarize_each([path])


def test_a_pipe_or_a_link_in_the_place_of_the_database_is_not_opened(tmp_path: Path) -> None:
    path = session(tmp_path)
    other = tmp_path / "other"
    other.write_bytes(b"theirs")
    makers: tuple[Callable[[Path], None], ...] = (os.mkfifo, lambda p: p.symlink_to(other))
    for make in makers:
        make(tmp_path / "index.db")

        assert Index(tmp_path / "index.db").summaries([path]) == summarize_each([path])
        (tmp_path / "index.db").unlink()
    assert other.read_bytes() == b"theirs"


def test_it_knows_how_long_a_file_was_and_makes_nothing_to_tell(tmp_path: Path) -> None:
    path = session(tmp_path)
    index = Index(tmp_path / "index.db")
    assert index.known_size(path, SESSION) is None
    assert not (tmp_path / "index.db").exists()

    index.summaries([path])
    size = path.stat().st_size
    write_lines(path, lines_of(path)[:-4])

    assert index.known_size(path, SESSION) == size
    assert index.known_size(path, "another session in its place") is None
    assert index.known_size(tmp_path / "other", SESSION) is None
    (tmp_path / "index.db").write_bytes(b"no database at all")
    assert index.known_size(path, SESSION) is None
