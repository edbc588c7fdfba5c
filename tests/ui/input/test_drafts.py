"""The draft on disk: private, of one folder, and back after a chat that was killed."""

from __future__ import annotations

import stat
from pathlib import Path

from agentsh.ui.input.drafts import DraftFile

HERE, THERE = Path("/here"), Path("/there")


def left_behind(folder: Path, text: str, cwd: Path = HERE) -> None:
    """What a killed chat leaves: the file, and no lock (the process is gone)."""
    draft = DraftFile(folder, cwd)
    draft.keep(text)
    draft.close()


def test_a_draft_comes_back_once_and_in_its_own_folder_only(tmp_path: Path) -> None:
    left_behind(tmp_path / "drafts", "half a\nthought 漢")

    assert DraftFile(tmp_path / "drafts", THERE).take_left() is None
    taker = DraftFile(tmp_path / "drafts", HERE)
    assert taker.take_left() == "half a\nthought 漢"
    assert DraftFile(tmp_path / "drafts", HERE).take_left() is None  # it is the taker's now


def test_a_draft_that_was_taken_is_kept_until_it_is_sent(tmp_path: Path) -> None:
    left_behind(tmp_path, "half a thought")
    taker = DraftFile(tmp_path, HERE)
    taker.take_left()
    taker.close()  # killed at once

    assert DraftFile(tmp_path, HERE).take_left() == "half a thought"


def test_the_draft_of_a_chat_that_lives_is_its_own(tmp_path: Path) -> None:
    living = DraftFile(tmp_path, HERE)
    living.keep("mine")

    assert DraftFile(tmp_path, HERE).take_left() is None


def test_it_is_private_and_goes_with_an_empty_editor(tmp_path: Path) -> None:
    draft = DraftFile(tmp_path / "drafts", HERE)
    draft.keep("secret")
    (file,) = (tmp_path / "drafts").iterdir()

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    draft.keep("")
    draft.close()
    assert list((tmp_path / "drafts").iterdir()) == []


def test_a_shorter_draft_leaves_nothing_of_the_longer_one(tmp_path: Path) -> None:
    draft = DraftFile(tmp_path, HERE)
    draft.keep("a long draft that goes on and on")
    draft.keep("short")
    draft.close()

    assert DraftFile(tmp_path, HERE).take_left() == "short"


def test_rubbish_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "1-x.json").write_bytes(b'{"cwd": "/here", "te')
    (tmp_path / "2-x.json").write_bytes(b'[1]\n"tail')
    left_behind(tmp_path, "good")

    assert DraftFile(tmp_path, HERE).take_left() == "good"
    assert DraftFile(None, HERE).take_left() is None
    DraftFile(tmp_path / "1-x.json" / "below-a-file", HERE).keep("x")
