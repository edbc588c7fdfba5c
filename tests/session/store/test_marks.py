"""Pins and tags: kept beside the sessions, damage costs the marks and nothing else."""

from __future__ import annotations

import stat
from pathlib import Path
from threading import Thread

from msgspec.structs import replace

from agentsh.session.store.folders import MARKS
from agentsh.session.store.marks import Mark, Marks


def test_marks_stay_until_they_are_taken_away(tmp_path: Path) -> None:
    marks = Marks(tmp_path)
    marks.change("s-1", lambda m: replace(m, pinned=True))
    marks.change("s-1", lambda m: replace(m, tags=("a", "b")))
    marks.change("s-2", lambda m: replace(m, tags=("b",)))

    assert Marks(tmp_path).all() == {"s-1": Mark(True, ("a", "b")), "s-2": Mark(False, ("b",))}
    assert stat.S_IMODE((tmp_path / MARKS).stat().st_mode) == 0o600

    marks.change("s-1", lambda _m: Mark())
    assert Marks(tmp_path).all() == {"s-2": Mark(False, ("b",))}


def test_a_damaged_file_counts_as_empty_and_is_made_anew(tmp_path: Path) -> None:
    for data in (b"", b"{", b"[]", b'{"sessions":[]}', b'{"sessions":{"s":[1]}}', b"\xff"):
        (tmp_path / MARKS).write_bytes(data)
        assert Marks(tmp_path).all() == {}

    Marks(tmp_path).change("s", lambda m: replace(m, pinned=True))
    assert Marks(tmp_path).all() == {"s": Mark(True)}


def test_changes_at_once_lose_none(tmp_path: Path) -> None:
    def mark(name: str) -> None:
        Marks(tmp_path).change(name, lambda m: replace(m, pinned=True))

    threads = [Thread(target=mark, args=(f"s-{n}",)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(Marks(tmp_path).all()) == 12
