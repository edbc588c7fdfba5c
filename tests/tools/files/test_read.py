from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.errors import InvalidArgumentsError, ToolAbortedError, ToolFailedError
from agentsh.messages import Image
from agentsh.tools.files.read import ReadTool
from agentsh.tools.files.truncate import MAX_BYTES
from tests.support.pictures import JPEG, png
from tests.support.tooling import Bench, make_bench, text_of

READ = ReadTool()


def _follow(bench: Bench, name: str) -> bytes:
    """Read a file as a model would: on and on by what the notes say."""
    whole = b""
    arguments: dict[str, int] = {}
    for _ in range(500):
        text = bench.text(READ, path=name, **arguments)
        text = re.sub(r"\n\n\[f is no UTF-8: [^]]*\](?=\n\[|\Z)\n?", "\n\n", text)
        body, _, note = text.rpartition("\n\n[")
        on = re.search(r"Go on(?: in it)? with offset=(\d+)(?: column=(\d+))?", note)
        if on is None:
            return whole + text.encode()
        arguments = {"offset": int(on[1])}
        if on[2]:
            arguments["column"] = int(on[2])
            whole += body.encode()
        else:
            whole += body.encode() + b"\n"
    raise AssertionError("no end")


def test_a_small_file_comes_as_it_is(bench: Bench) -> None:
    bench.file("f", "a\r\nb\n\n")
    assert bench.text(READ, path="f") == "a\r\nb\n\n"


def test_a_long_file_names_the_next_offset(bench: Bench) -> None:
    bench.file("f", "".join(f"line {i}\n" for i in range(1, 5001)))
    text = bench.text(READ, path="f")
    assert "line 2000\n" in text
    assert "line 2001" not in text
    assert "Lines 1-2000 of 5000" in text
    assert "offset=2001" in text


def test_offset_and_limit_choose_lines(bench: Bench) -> None:
    bench.file("f", "a\nb\nc\nd")
    assert bench.text(READ, path="f", offset=2, limit=2).startswith("b\nc\n\n[Lines 2-3 of 4")
    assert bench.text(READ, path="f", offset="4", limit="9") == "d"


def test_an_offset_past_the_end_is_an_error_that_says_how_many_lines(bench: Bench) -> None:
    bench.file("f", "a\nb\n")
    with pytest.raises(ToolFailedError, match="2 lines"):
        bench.text(READ, path="f", offset=3)
    bench.file("empty")
    with pytest.raises(ToolFailedError, match="empty"):
        bench.text(READ, path="empty", offset=2)
    with pytest.raises(InvalidArgumentsError):
        bench.text(READ, path="f", offset=0)


def test_an_empty_file_is_said_to_be_empty(bench: Bench) -> None:
    bench.file("f")
    assert bench.text(READ, path="f") == "(empty file)"


def test_every_byte_of_an_over_long_line_can_be_reached(bench: Bench) -> None:
    data = ("alpha " * 20_000 + "é😀" * 9_000 + "\nsecond\n" + "z" * 60_000).encode()
    bench.file("f", data)
    first = bench.text(READ, path="f")
    assert len(first.encode()) < MAX_BYTES + 400
    assert "too long" in first
    assert "after it with offset=2" in first
    assert _follow(bench, "f") == data


def test_a_column_beyond_the_line_is_an_error(bench: Bench) -> None:
    bench.file("f", "abc\nd\n")
    assert bench.text(READ, path="f", offset=1, column=3) == "c\nd\n"
    with pytest.raises(ToolFailedError, match="shorter than column"):
        bench.text(READ, path="f", offset=1, column=9)


_PIECES = ("é€".encode(), b"\xff", b"a", b"\n", b"\xe2\x82")


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(_PIECES), st.sampled_from((1, 2, 9_000, 60_000)))))
def test_following_the_notes_gives_the_whole_text(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[tuple[bytes, int]]
) -> None:
    bench = make_bench(tmp_path_factory.mktemp("read"))
    data = b"x" + b"".join(piece * count for piece, count in pieces[:6])
    bench.file("f", data)
    # replaced bytes may be grouped otherwise at a cut, so they are compared without
    want = data.decode("utf-8", "replace").replace("\ufffd", "").rstrip("\n")
    assert _follow(bench, "f").decode().replace("\ufffd", "").rstrip("\n") == want


def test_a_binary_file_is_named_not_shown(bench: Bench) -> None:
    bench.file("f", bytes(range(256)) * 40)
    text = bench.text(READ, path="f")
    assert "binary" in text
    assert len(text) < 300


def test_bytes_that_are_no_utf8_are_replaced_and_it_is_said(bench: Bench) -> None:
    bench.file("f", b"caf\xe9\n")
    text, _, note = bench.text(READ, path="f").partition("\n\n")
    assert text == "caf\ufffd"
    assert "no UTF-8" in note
    assert "iconv" in note


def test_a_replacement_character_of_the_file_and_a_cut_one_are_utf8(bench: Bench) -> None:
    bench.file("f", "was \ufffd here\n" + "€" * 40_000)
    assert "no UTF-8" not in bench.text(READ, path="f")
    assert "no UTF-8" not in bench.text(READ, path="f", offset=2, column=3)


def test_a_mark_at_the_beginning_is_not_text(bench: Bench) -> None:
    bench.file("f", b"\xef\xbb\xbfone\n")
    assert bench.text(READ, path="f") == "one\n"


def test_utf16_with_a_mark_is_shown_as_text(bench: Bench) -> None:
    bench.file("f", b"\xff\xfe" + "grüße\n".encode("utf-16-le"))
    assert "grüße" in bench.text(READ, path="f")


def test_a_picture_comes_as_one_whatever_its_name(bench: Bench) -> None:
    bench.file("p.png", JPEG)
    outcome = bench.outcome(READ, path="p.png")
    assert outcome.content[1] == Image(base64.b64encode(JPEG).decode(), "image/jpeg")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (png(9000, 3), "9000 x 3 pixels"),
        (b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + bytes(range(200)), "damaged"),
        (png(20, 20) + b"", None),
        (png(20, 20)[:-20], "damaged"),
        (png(4, 4) + b"x" * 4_000_000, "at most"),
    ],
)
def test_a_picture_that_cannot_be_sent_is_named_in_words(
    bench: Bench, data: bytes, words: str | None
) -> None:
    bench.file("p.png", data)
    outcome = bench.outcome(READ, path="p.png")
    assert not outcome.is_error
    assert any(isinstance(block, Image) for block in outcome.content) == (words is None)
    assert words is None or words in text_of(outcome)


def test_of_a_picture_that_is_too_large_the_true_size_and_the_bound_are_told(bench: Bench) -> None:
    data = png(4, 4) + b"x" * 6_000_000
    bench.file("p.png", data)

    assert bench.text(READ, path="p.png") == (
        f"[p.png is an image (image/png) that cannot be sent: it has {len(data)} bytes,"
        " at most 3932160 can be sent.]"
    )


def test_reading_tells_the_ledger_and_a_later_process(bench: Bench) -> None:
    path = bench.file("f", "one\n")
    details = bench.outcome(READ, path="f", limit=1).details
    assert bench.ledger.change(str(path)) == "same"
    path.write_text("two\n")
    assert bench.ledger.change(str(path)) == "changed"
    bench.ledger.forget(str(path))
    bench.ledger.learn(details)
    assert bench.ledger.change(str(path)) == "changed"


@pytest.mark.parametrize(("text", "limit", "lines"), [("", 9, 0), ("a\nb", 9, 2), ("a\nb\n", 1, 1)])
def test_a_result_says_how_many_lines_are_the_files(
    bench: Bench, text: str, limit: int, lines: int
) -> None:
    bench.file("f", text)
    details = bench.outcome(READ, path="f", limit=limit).details
    assert isinstance(details, dict)
    assert isinstance(details["ash"], dict)
    assert details["ash"]["lines"] == lines


def test_missing_files_and_folders_are_errors(bench: Bench) -> None:
    for name in ("missing.txt", ".", "/dev/null"):
        with pytest.raises(ToolFailedError, match=re.escape(name)):
            bench.text(READ, path=name)


def test_an_abort_stops_a_long_scan(bench: Bench) -> None:
    bench.file("f", "x\n" * 10)
    bench.abort.set()
    with pytest.raises(ToolAbortedError):
        bench.text(READ, path="f")


def test_what_is_touched_is_the_real_path(bench: Bench, tmp_path: Path) -> None:
    bench.file("f", "x")
    (bench.cwd / "l").symlink_to("f")
    assert READ.touches({"path": "l"}, bench.cwd, bench.home) == (bench.cwd.resolve() / "f",)
