from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.tools.files.truncate import MAX_BYTES
from agentsh.tools.shell.capture import Capture
from agentsh.tools.shell.controls import harmless, settled


@given(st.lists(st.sampled_from(["a", "é", "😀", "\n", "\r", "\r\n", "\x1b[m"])), st.data())
def test_any_split_of_the_bytes_gives_the_same_text_and_count(
    pieces: list[str], data: st.DataObject
) -> None:
    raw = "".join(pieces).encode()
    capture = Capture(Path("/nonexistent"), None)
    at = 0
    while at < len(raw):
        size = data.draw(st.integers(1, len(raw) - at))
        capture.feed(raw[at : at + size])
        at += size
    captured = capture.text()
    text = harmless(settled(raw.decode()))
    assert captured.text == text
    assert captured.lines >= text.count("\n")
    assert not captured.is_cut


def test_a_small_output_makes_no_file(tmp_path: Path) -> None:
    capture = Capture(tmp_path / "out", None)
    capture.feed(b"x" * 1000)
    capture.close()
    assert capture.path is None
    assert not (tmp_path / "out").exists()


def test_the_tail_begins_at_a_character_whatever_was_left_out(tmp_path: Path) -> None:
    for shift in range(4):
        capture = Capture(tmp_path, None)
        capture.feed(b"x" * shift)
        for _ in range(40):
            capture.feed("😀".encode() * 8192)
        captured = capture.text()
        assert set(captured.text) == {"😀"}
        assert len(captured.text.encode()) <= MAX_BYTES
        assert captured.is_cut
        capture.close()


@pytest.mark.parametrize("rows", [b"one\ntwo", b"one"])
def test_rows_that_are_drawn_again_are_their_last_state_however_many_there_were(
    tmp_path: Path, rows: bytes
) -> None:
    capture = Capture(tmp_path, None)
    capture.feed(b"begin\n")
    for number in range(20_000):
        capture.feed(b"\x1b[2K\x1b[1G" if rows == b"one" else b"\x1b[1A\x1b[2K\r" * (number > 0))
        capture.feed(rows.replace(b"\n", b" %d\n" % number) + b" %5d of 20000" % number)
    capture.feed(b"\nRESULT: ok\n")
    capture.close()

    shown = capture.text().text
    assert shown.startswith("begin\n")
    assert shown.endswith(" 19999 of 20000\nRESULT: ok\n")
    assert shown.count("one") == 1


def test_a_progress_bar_is_its_last_state_and_what_stood_before_stays(tmp_path: Path) -> None:
    capture = Capture(tmp_path, None)
    capture.feed(b"begin\n")
    for number in range(60_000):
        capture.feed(b"\r%6d of 60000 |#####      |" % number)
    capture.feed(b"\nRESULT: ok\n")
    capture.close()

    captured = capture.text()
    assert captured.text == "begin\n 59999 of 60000 |#####      |\nRESULT: ok\n"
    assert (
        captured.note
        == (
            "Lines 1-3 of 3 shown (1.8 MB in all)."
            " Lines that redraw themselves are shown as they ended."
        )
        or captured.note == "Lines that redraw themselves are shown as they ended."
    )
    assert capture.path is not None
    assert capture.path.read_bytes().count(b"\r") == 60_000


def test_a_spool_that_is_removed_leaves_the_kept_file_growing(tmp_path: Path) -> None:
    spool = tmp_path / "spools" / "s"
    capture = Capture(tmp_path / "out", spool)
    capture.feed(b"one\n")
    kept = capture.keep_file()
    assert kept is not None
    assert kept.parent == tmp_path / "out"
    spool.unlink()
    capture.feed(b"two\n")
    capture.close()
    assert kept.read_bytes() == b"one\ntwo\n"


@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_a_spool_is_a_regular_file_of_our_own_and_nothing_waits_for_another(
    tmp_path: Path, kind: str
) -> None:
    spool, other = tmp_path / "s", tmp_path / "other"
    other.write_bytes(b"theirs")
    if kind == "pipe":
        os.mkfifo(spool)
    else:
        spool.symlink_to(other)

    capture = Capture(tmp_path / "out", spool)
    capture.feed(b"one\n")

    assert capture.text().text == "one\n"
    assert "could not be kept: Not a regular file" in capture.where()
    assert other.read_bytes() == b"theirs"


def test_a_spool_of_an_earlier_run_begins_anew(tmp_path: Path) -> None:
    spool = tmp_path / "s"
    spool.write_bytes(b"of the first run, and longer")

    capture = Capture(tmp_path / "out", spool)
    capture.feed(b"one\n")
    capture.close()

    assert spool.read_bytes() == b"one\n"
