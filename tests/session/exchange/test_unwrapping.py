"""A compressed session file is told by its first bytes; a file of another kind is named."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from agentsh.errors import RefusedError, SessionNotFoundError
from agentsh.filekinds import foreign_kind
from agentsh.session.exchange.importing import import_file
from agentsh.session.exchange.unwrapping import unwrapped
from agentsh.session.store.archive import archive_session
from agentsh.session.store.store import Store
from tests.cli.program import agentsh

DATA = Path(__file__).parent.parent.parent / "data"


@pytest.mark.parametrize("name", ["codex.jsonl", "claude-code.jsonl", "oh-my-pi.jsonl"])
@pytest.mark.parametrize("way", ["zstd", "gzip"])
def test_a_compressed_file_under_any_name_brings_the_same_as_the_plain_one(
    tmp_path: Path, name: str, way: str
) -> None:
    plain = (DATA / name).read_bytes()
    source = tmp_path / "whatever.txt"
    if way == "gzip":
        source.write_bytes(gzip.compress(plain))
    else:
        session = tmp_path / "x.jsonl"
        session.write_bytes(plain)
        archive_session(session, now="2026-01-01T00:00:00.000Z").path.rename(source)
    before = source.read_bytes()

    given = import_file(source, Store(tmp_path / "a"), "/x", dry_run=True)

    expected = import_file(DATA / name, Store(tmp_path / "b"), "/x", dry_run=True)
    assert given == expected
    assert source.read_bytes() == before


def test_what_unpacks_to_more_than_the_limit_is_refused_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    bomb = tmp_path / "bomb"
    bomb.write_bytes(gzip.compress(b"\0" * (3 << 20)))

    with pytest.raises(RefusedError, match="more than 2 MiB"), unwrapped(bomb, limit=2 << 20):
        pass

    assert [path.name for path in tmp_path.iterdir()] == ["bomb"]


@pytest.mark.parametrize("cut", [3, 12, -9])
def test_a_damaged_one_is_refused(tmp_path: Path, cut: int) -> None:
    source = tmp_path / "cut.gz"
    source.write_bytes(gzip.compress(b"x" * 1000)[:cut])

    with pytest.raises(RefusedError, match="damaged"), unwrapped(source):
        pass


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"PK\x03\x04rest", "a zip archive"),
        (b"SQLite format 3\x00", "an SQLite database"),
        (b"\n <!DOCTYPE html>", "a web page"),
        (b"", "an empty file"),
        (b'{"type":"session"}', None),
    ],
)
def test_a_kind_is_told_by_the_first_bytes(start: bytes, kind: str | None) -> None:
    assert foreign_kind(start) == kind


def test_a_file_of_another_kind_is_named_as_what_it_is(tmp_path: Path) -> None:
    source = tmp_path / "talk.jsonl"
    source.write_bytes(b"SQLite format 3\x00" + bytes(100))

    with pytest.raises(SessionNotFoundError, match="but an SQLite database"):
        import_file(source, Store(tmp_path), "/x", dry_run=True)


def test_a_compressed_file_in_a_sessions_place_names_the_way_in(tmp_path: Path) -> None:
    source = tmp_path / "talk.jsonl.gz"
    source.write_bytes(gzip.compress(b"{}"))

    ended = agentsh("show", str(source), cwd=tmp_path)

    assert ended.code == 3
    assert "not a session file" in ended.err
    assert "a file compressed with gzip" in ended.err
    assert "`agentsh import FILE` brings in what is in it" in ended.err
