from __future__ import annotations

import hashlib
import os
import stat

import pytest

from agentsh.errors import ToolFailedError
from agentsh.jsontext import JsonObject
from agentsh.messages import Text
from agentsh.tools.files.edit import EditTool
from agentsh.tools.files.read import ReadTool
from agentsh.tools.files.write import WriteTool
from tests.support.tooling import Bench, text_of

EDIT, WRITE, READ = EditTool(), WriteTool(), ReadTool()


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"\xef\xbb\xbffirst\n", "first\n", "1st\n", b"\xef\xbb\xbf1st\n"),
        (b"caf\xe9 = 1\nplain = 2\n", "plain = 2", "plain = 3", b"caf\xe9 = 1\nplain = 3\n"),
        ("a\x0bb\u2028c\x85d\ntail".encode(), "tail", "end", "a\x0bb\u2028c\x85d\nend".encode()),
        (
            b"\xff\xfe" + "a\r\nb\r\n".encode("utf-16-le"),
            "b",
            "ü\n☃",
            b"\xff\xfe" + "a\r\nü\r\n☃\r\n".encode("utf-16-le"),
        ),
        (b"a\0b\n", "b", "c", b"a\0c\n"),
    ],
)
def test_all_other_bytes_stay(
    bench: Bench, before: bytes, old: str, new: str, after: bytes
) -> None:
    path = bench.file("f", before)
    bench.outcome(EDIT, path="f", edits=[{"oldText": old, "newText": new}])
    assert path.read_bytes() == after


def test_details_are_those_that_pi_stores(bench: Bench) -> None:
    path = bench.file("notes.txt", "alpha\nbeta\ngamma\n")
    outcome = bench.outcome(EDIT, path="notes.txt", oldText="beta", newText="BETA")
    assert outcome.details == {
        "diff": " 1 alpha\n-2 beta\n+2 BETA\n 3 gamma",
        "firstChangedLine": 2,
        "patch": "--- notes.txt\n+++ notes.txt\n@@ -1,3 +1,3 @@\n alpha\n-beta\n+BETA\n gamma\n",
        "ash": {
            "file": {
                "path": str(path),
                "sha256": hashlib.sha256(b"alpha\nBETA\ngamma\n").hexdigest(),
                "size": 17,
            }
        },
    }
    assert "+2 BETA" in text_of(outcome)


def test_a_failed_match_shows_the_nearest_region_and_the_difference(bench: Bench) -> None:
    filler = "".join(f"filler_{i} = {i}\n" for i in range(60))
    before = filler + "apology = 'it\\u2019s the flamingo line'\n" + filler.replace("f", "g")
    path = bench.file("f.py", before)
    with pytest.raises(ToolFailedError) as failed:
        bench.text(EDIT, path="f.py", oldText="apology = 'it’s the flamingo line'", newText="")
    said = str(failed.value)
    assert path.read_text() == before
    assert "61: apology = 'it\\u2019s the flamingo line'" in said
    assert "U+2019 RIGHT SINGLE QUOTATION MARK" in said
    assert len(said) < 1000


def test_wrong_indentation_is_named(bench: Bench) -> None:
    bench.file("f.py", "def a():\n\tif x:\n\t\treturn flamingo\n")
    with pytest.raises(ToolFailedError, match=r"2 × tab in the file, 8 × space in oldText"):
        bench.text(EDIT, path="f.py", oldText="        return flamingo", newText="return 1")


def test_nothing_alike_and_already_done_are_said(bench: Bench) -> None:
    bench.file("f", "the new text is here\n")
    with pytest.raises(ToolFailedError, match="Nothing in the file is like it"):
        bench.text(EDIT, path="f", oldText="@@@", newText="y")
    with pytest.raises(ToolFailedError, match="already stands at line 1"):
        bench.text(EDIT, path="f", oldText="old words", newText="the new text is here")


def test_all_or_nothing(bench: Bench) -> None:
    path = bench.file("f", "a1\nb2\nc3\n")
    edits = [{"oldText": "c3", "newText": "a1"}, {"oldText": "a1", "newText": "zz"}]
    bench.text(EDIT, path="f", edits=edits)
    assert path.read_text() == "zz\nb2\na1\n"
    for bad in ("a1\nb2", "nowhere", "b2"):
        edits = [{"oldText": "b2", "newText": "x"}, {"oldText": bad, "newText": "y"}]
        with pytest.raises(ToolFailedError, match="nothing was written"):
            bench.text(EDIT, path="f", edits=edits)
    with pytest.raises(ToolFailedError, match="nothing would change"):
        bench.text(EDIT, path="f", oldText="b2", newText="b2")
    assert path.read_text() == "zz\nb2\na1\n"


def test_a_changed_file_is_edited_if_it_fits_and_the_result_says_so(bench: Bench) -> None:
    path = bench.file("f", "a\nb\n")
    bench.outcome(READ, path="f")
    path.write_text("a\nb\nc\n")
    assert "had been changed" in bench.text(EDIT, path="f", oldText="a", newText="A")
    assert "had been changed" not in bench.text(EDIT, path="f", oldText="b", newText="B")
    assert path.read_text() == "A\nB\nc\n"


def test_write_refuses_a_file_that_changed_since_it_was_read(bench: Bench) -> None:
    path = bench.file("f", "one")
    bench.outcome(READ, path="f")
    path.write_text("somebody else's work")
    with pytest.raises(ToolFailedError, match="changed since it was last read"):
        bench.outcome(WRITE, path="f", content="mine")
    assert path.read_text() == "somebody else's work"
    bench.outcome(READ, path="f")
    bench.outcome(WRITE, path="f", content="mine")
    bench.outcome(WRITE, path="f", content="mine again")
    assert path.read_text() == "mine again"


def test_a_file_removed_since_it_was_read_can_be_written(bench: Bench) -> None:
    path = bench.file("f", "one")
    bench.outcome(READ, path="f")
    path.unlink()
    bench.outcome(WRITE, path="f", content="two")
    assert path.read_text() == "two"


def test_write_makes_folders_and_keeps_the_bytes_of_the_content(bench: Bench) -> None:
    text = bench.text(WRITE, path="a/b/c.txt", content="x\r\ny é 😀\ud800")
    assert (bench.cwd / "a/b/c.txt").read_bytes() == "x\r\ny é 😀\ufffd".encode()
    assert "2 lines" in text


def test_a_write_over_a_text_keeps_what_differs_and_a_new_file_differs_from_nothing(
    bench: Bench,
) -> None:
    bench.file("f", "one\ntwo\n")
    over = bench.outcome(WRITE, path="f", content="one\nthree")
    assert isinstance(over.details, dict)
    assert over.details["diff"] == " 1 one\n-2 two\n+2 three"
    new = bench.outcome(WRITE, path="g", content="one\n")
    assert isinstance(new.details, dict)
    assert "diff" not in new.details
    assert isinstance(new.content[0], Text)
    assert new.content[0].text == "Created g: 4 bytes, 1 line"


def test_expected_digests_and_previews_tell_what_will_be(bench: Bench) -> None:
    path = bench.file("f", "one\n")
    context = bench.context()
    arguments: JsonObject = {"path": "f", "edits": [{"oldText": "one", "newText": "two"}]}
    will = {str(path): hashlib.sha256(b"two\n").hexdigest()}
    assert EDIT.expect(arguments, context) == will
    assert EDIT.preview(arguments, bench.cwd, bench.home) == "-1 one\n+1 two"
    content: JsonObject = {"path": "f", "content": "two\n"}
    assert WRITE.expect(content, context) == will
    assert WRITE.preview(content, bench.cwd, bench.home) == "-1 one\n+1 two"
    assert EDIT.expect({**arguments, "path": "none"}, context) is None
    assert path.read_text() == "one\n"


def test_odd_files_are_refused_at_once(bench: Bench) -> None:
    os.mkfifo(bench.cwd / "pipe")
    for tool, more in ((WRITE, {"content": "x"}), (EDIT, {"oldText": "a", "newText": "b"})):
        with pytest.raises(ToolFailedError, match="named pipe"):
            tool.run(tool.check({"path": "pipe", **more}), bench.context())
        with pytest.raises(ToolFailedError, match="directory"):
            tool.run(tool.check({"path": ".", **more}), bench.context())
    assert stat.S_ISFIFO((bench.cwd / "pipe").stat().st_mode)


@pytest.mark.parametrize("path", ["x" * 300, "d/" * 3000 + "x"])
def test_a_path_that_no_file_can_have_is_said(bench: Bench, path: str) -> None:
    with pytest.raises(ToolFailedError, match=r"too (long|many)"):
        bench.outcome(WRITE, path=path, content="x")


def test_an_empty_old_text_is_told_how_long_the_file_is_and_what_to_give(bench: Bench) -> None:
    path = bench.file("birds.py", "a = 1\nb = 2\nc = 3")
    with pytest.raises(ToolFailedError) as caught:
        bench.outcome(EDIT, path="birds.py", edits=[{"oldText": "", "newText": "d = 4"}])
    words = str(caught.value)
    assert words.startswith("oldText is empty, but birds.py is not: it has 3 lines; nothing was")
    assert "the exact text to replace" in words
    assert path.read_text() == "a = 1\nb = 2\nc = 3"


def test_write_is_named_for_an_empty_and_for_a_new_file(bench: Bench) -> None:
    bench.file("empty.py", "")
    for name, words in (
        ("empty.py", "empty.py is empty, so there is nothing to replace; use write to fill it"),
        ("new.py", "no such file: new.py; use write to make it"),
    ):
        with pytest.raises(ToolFailedError) as caught:
            bench.outcome(EDIT, path=name, oldText="", newText="x")
        assert str(caught.value) == words


def test_an_old_text_that_stands_in_several_places_names_them(bench: Bench) -> None:
    path = bench.file("f", "x = 1\ny = 2\nx = 1\n")

    with pytest.raises(ToolFailedError, match="stands in 2 places of f: lines 1, 3"):
        bench.outcome(EDIT, path="f", oldText="x = 1", newText="x = 3")

    assert path.read_text() == "x = 1\ny = 2\nx = 1\n"


def test_look_alikes_in_several_places_are_no_hit(bench: Bench) -> None:
    bench.file("f", "say “yes”\nsay “yes”\n")

    with pytest.raises(ToolFailedError, match=r"has look-alikes .* in 2 places of f: lines 1, 2"):
        bench.outcome(EDIT, path="f", oldText='say "yes"', newText="no")


def test_other_hard_links_keep_the_old_content_and_that_is_said(bench: Bench) -> None:
    path = bench.file("f", "a\n")
    other = path.with_name("other")
    os.link(path, other)

    text = bench.text(EDIT, path="f", oldText="a", newText="b")

    assert "1 other hard links of this file keep the old content." in text
    assert (path.read_text(), other.read_text()) == ("b\n", "a\n")


def test_a_long_difference_is_cut_in_the_result_and_whole_in_the_details(bench: Bench) -> None:
    bench.file("f", "".join(f"line {number} {'x' * 60}\n" for number in range(2000)))
    new = "".join(f"other {number} {'y' * 60}\n" for number in range(2000))
    old = "".join(f"line {number} {'x' * 60}\n" for number in range(2000))

    outcome = bench.outcome(EDIT, path="f", oldText=old, newText=new)

    assert text_of(outcome).rstrip().endswith("… (cut)")
    assert isinstance(outcome.details, dict)
    assert len(str(outcome.details["diff"])) > len(text_of(outcome))
