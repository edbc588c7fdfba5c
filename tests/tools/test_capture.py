from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agentsh.tools.capture import Capture
from agentsh.tools.controls import harmless
from agentsh.tools.truncate import MAX_BYTES


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
    text = harmless(raw.decode())
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
