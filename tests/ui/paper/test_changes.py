"""Differences in colour: signs, words that differ, the language of the file."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentsh.ui.paper.changes import LONGEST_COMPARED, changed_lines, page_lines
from agentsh.ui.paper.pages import PageLine
from agentsh.ui.paper.rows import text_of

DIFF = """ 1 def heron(x):
-2     return x + 1
+2     return x + 22
 3 """


def words(diff: str, look: str, *, tinted: bool = False) -> list[str]:
    return [
        text
        for spans, _ in changed_lines(diff, "a.py", tinted=tinted)
        for text, own in spans
        if look in own.split()
    ]


def test_the_words_that_differ_are_marked() -> None:
    assert words(DIFF, "removed_word") == ["1"]
    assert words(DIFF, "added_word") == ["22"]


def test_lines_with_little_in_common_are_not_compared() -> None:
    assert words("-1 the heron\n+1 some badger", "added_word") == []
    assert words("-1 a\n-2 b\n+1 a b", "added_word") == []
    long = "x " * LONGEST_COMPARED
    assert words(f"-1 {long}a\n+1 {long}b", "added_word") == []


def test_code_has_its_colours_where_lines_are_tinted() -> None:
    assert words(DIFF, "keyword", tinted=True) == ["def", "return", "return"]
    assert words(DIFF, "added_line", tinted=True) == ["+2 ", "    ", "return", " x + ", "22"]
    assert words(DIFF, "keyword") == []
    assert words(DIFF, "added") == ["+2 ", "    return x + ", "22"]


def test_a_plain_difference_whose_lines_begin_with_numbers_has_signs_only() -> None:
    lines = [spans for spans, _ in changed_lines("-12 herons\n+13 herons\n no number")]

    assert [spans[1][0] for spans in lines[:2]] == ["-", "+"]
    assert words("-12 herons\n+13 herons\n no number", "added_word") == ["13"]


def test_lines_of_a_page_are_compared_within_their_file_and_the_others_keep_their_look() -> None:
    page = [
        PageLine("files:", "heading"),
        PageLine("-x = 1", file="a.py"),
        PageLine("+x = 22", file="a.py"),
        PageLine("@@", "quiet"),
        PageLine("-y = 1", file="a.py"),
    ]
    laid = list(page_lines(page, tinted=True))

    assert [text_of(spans) for spans, _ in laid] == [line.text for line in page]
    assert laid[0] == ([("files:", "heading")], 0)
    marked = [text for spans, _ in laid for text, look in spans if "_word" in look]
    assert marked == ["1", "22"], "the line in the next hunk stands in for nothing"
    assert ("22", "number added_line added_word") in laid[2][0]


def test_q12_what_is_broken_goes_on_below_its_text() -> None:
    assert [hang for _, hang in changed_lines(DIFF)] == [5, 5, 5, 5]
    assert [hang for _, hang in changed_lines("+added\n  plain")] == [3, 4]


@given(st.text(st.sampled_from("+- 12ab\n\t\x1b漢'"), max_size=80))
def test_nothing_of_a_difference_is_lost(diff: str) -> None:
    for tinted in (True, False):
        lines = [text_of(spans) for spans, _ in changed_lines(diff, "a.py", tinted=tinted)]
        shown = diff.replace("\x1b", "␛")
        assert "".join(lines).replace(" ", "") == "".join(shown.split()) or "\x1b" in diff
        assert all(line.startswith("  ") for line in lines)
