"""The four views are pure functions that say of old files what they always said (R03, R07)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.golden import FOLDER, kept, pairs, said


@pytest.mark.parametrize(("file", "view"), list(pairs()), ids=lambda p: getattr(p, "stem", p))
def test_r07_a_view_says_of_an_old_file_what_it_always_said(file: Path, view: str) -> None:
    before = file.read_bytes()
    shown = said(file, view)

    assert shown == kept(file, view).read_text("utf-8")
    assert said(file, view) == shown  # R03: the same answer twice
    assert file.read_bytes() == before


def test_r07_nothing_is_kept_that_no_file_is_there_for() -> None:
    assert sorted(FOLDER.iterdir()) == sorted(kept(file, view) for file, view in pairs())
