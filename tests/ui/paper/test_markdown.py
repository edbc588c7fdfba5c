"""Streamed Markdown → finished blocks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.ui.paper.markdown import MAX_CHARS, Block, BlockScanner

LINES = st.sampled_from(
    [
        "",
        "words in a line",
        "# title",
        "- item",
        "  - nested",
        "  continued",
        "1. one",
        "```python",
        "```",
        "    four",
        "> quoted",
        "a | b",
        "--|--",
        "1 | 2",
        "---",
        "===",
        "漢字",
    ]
)
TEXTS = st.lists(LINES, max_size=30).map("\n".join)


def scan(text: str, sizes: list[int] | None = None) -> list[Block]:
    scanner = BlockScanner()
    blocks: list[Block] = []
    at = 0
    for size in sizes or [len(text)]:
        blocks += scanner.feed(text[at : at + size])
        at += size
    blocks += scanner.feed(text[at:])
    return blocks + scanner.flush()


def letters(text: str) -> str:
    """What may not be lost: everything but blanks and the marks of fences."""
    kept = [line for line in text.split("\n") if not line.strip().startswith("```")]
    return "".join("".join(kept).split())


@given(TEXTS)
def test_every_word_is_in_exactly_one_block(text: str) -> None:
    assert letters("\n".join(block.text for block in scan(text))) == letters(text)


@given(TEXTS, st.integers(1, 7))
def test_what_is_finished_and_what_is_not_are_all_that_came(text: str, size: int) -> None:
    scanner = BlockScanner()
    done = ""
    for at in range(0, len(text), size):
        done += "".join(f"{block.text}\n" for block in scanner.feed(text[at : at + size]))
        assert letters(done + scanner.rest()) == letters(text[: at + size])


def test_each_kind_of_block() -> None:
    text = (
        "# T\nwords\nmore\n\n- one\n- two\n  - in\n\n```py\nx = 1\n```\na | b\n--|--\n1 | 2\n\n> q"
    )

    assert scan(text) == [
        Block("prose", "# T"),
        Block("prose", "words\nmore", gap=False),
        Block("item", "- one"),
        Block("item", "- two", gap=False),
        Block("item", "- in", gap=False, indent=2),
        Block("code", "x = 1", language="py"),
        Block("table", "a | b\n--|--\n1 | 2"),
        Block("quote", "> q"),
    ]


def test_code_in_a_list_keeps_its_place() -> None:
    blocks = scan("1. do\n   ```sh\n   ls -l\n   ```\n   then\n")

    assert blocks == [
        Block("item", "1. do"),
        Block("code", "ls -l", gap=False, indent=3, language="sh"),
        Block("prose", "then", indent=3),
    ]


def test_a_fence_is_closed_by_its_own_kind_only() -> None:
    assert [b.text for b in scan("````\n```\nx\n```\n````\nafter")] == ["```\nx\n```", "after"]


def test_a_line_is_given_when_it_ends_and_the_piece_of_code_goes_on() -> None:
    scanner = BlockScanner()
    assert scanner.feed("```py\nx = 1\ny") == [Block("code", "x = 1", language="py")]
    assert scanner.feed(" = 2\n\n") == [
        Block("code", "y = 2\n", gap=False, language="py", continues=True)
    ]
    assert scanner.feed("```\n\nwords\n") == [Block("prose", "words")]
    assert scanner.feed("more") == []
    assert scanner.flush() == [Block("prose", "more", gap=False, continues=True)]


def test_what_follows_in_an_item_stands_below_its_text() -> None:
    scanner = BlockScanner()
    assert scanner.feed("10. one\n") == [Block("item", "10. one")]
    assert scanner.feed("    two\nlazy\n") == [
        Block("prose", "two\nlazy", gap=False, indent=4, continues=True)
    ]


@pytest.mark.parametrize(
    ("held", "more", "given"),
    [
        ("**bold\n", "to here** and on\n", "**bold\nto here** and on"),
        ("`a\n", "b`\n", "`a\nb`"),
        ("see [the\n", "end](http://x.y)\n", "see [the\nend](http://x.y)"),
        ("a | b\n", "no table\n", "a | b\nno table"),
    ],
)
def test_a_line_waits_while_a_later_one_can_change_it(held: str, more: str, given: str) -> None:
    scanner = BlockScanner()
    assert scanner.feed(held) == []
    assert [block.text for block in scanner.feed(more)] == [given]


@pytest.mark.parametrize(
    "line", ["snake_case_name", "2 * 3 * 4", "a [b] c", r"\*no mark", "`*` and **b**", "x ~ y"]
)
def test_a_line_without_an_open_mark_does_not_wait(line: str) -> None:
    assert [block.text for block in BlockScanner().feed(f"{line}\n")] == [line]


def test_a_table_and_a_quote_are_given_whole() -> None:
    scanner = BlockScanner()
    assert scanner.feed("a|b\n-|-\n1|2\n") == []
    assert scanner.feed("\n> q\n") == [Block("table", "a|b\n-|-\n1|2")]
    assert scanner.feed("> r\n\n") == [Block("quote", "> q\n> r")]


def test_a_growing_line_is_cut_where_one_says_and_goes_on() -> None:
    scanner = BlockScanner()
    scanner.feed("- one two 3. four")
    assert scanner.growing() == "- one two 3. four"
    assert scanner.cut(len("- one two ")) == [Block("item", "- one two")]
    assert scanner.feed(" five\nsix\n") == [
        Block("prose", "3. four five\nsix", gap=False, indent=2, continues=True)
    ]


@pytest.mark.parametrize("text", ["# a title", "a | b", "> said", "```\ncode", "a|b\n-|-\n1"])
def test_what_is_no_prose_is_not_cut(text: str) -> None:
    scanner = BlockScanner()
    scanner.feed(text)
    assert scanner.growing() == ""


@given(TEXTS, st.integers(0, 300))
def test_a_preview_is_what_the_end_would_give_and_changes_nothing(text: str, at: int) -> None:
    scanner, twin = BlockScanner(), BlockScanner()
    first = scanner.feed(text[:at])
    twin.feed(text[:at])
    seen = scanner.preview()
    last = text[:at].rpartition("\n")[2]
    if last.strip(" #-*+`~>|=_"):
        assert seen == twin.flush()
    assert first + scanner.feed(text[at:]) + scanner.flush() == scan(text, [at])


def test_an_open_mark_is_closed_in_a_preview() -> None:
    scanner = BlockScanner()
    scanner.feed("some **bold wor")
    assert scanner.preview() == [Block("prose", "some **bold wor**")]


def test_the_rest_stays_small_whatever_comes() -> None:
    for piece in ("x", "word ", "word\n", "| a | b |\n", "- item\n", "> q\n"):
        scanner = BlockScanner()
        for _ in range(200):
            for _ in range(100):
                scanner.feed(piece)
            assert len(scanner.rest()) <= MAX_CHARS + len(piece)


def test_the_work_is_linear_in_the_answer() -> None:
    """Counted: every character goes into one block, and is looked at there once."""
    text = "word **bold** and more\n\n- item\n- item\n\n```\ncode\n```\n" * 500
    scanner = BlockScanner()
    given_out = 0
    for at in range(0, len(text), 4):
        given_out += sum(len(block.text) for block in scanner.feed(text[at : at + 4]))
    given_out += sum(len(block.text) for block in scanner.flush())

    assert given_out <= len(text)


def test_a_line_without_an_end_is_given_word_by_word() -> None:
    blocks = scan("word " * 5000, [100] * 250)

    assert len(blocks) > 3
    assert "".join(b.text for b in blocks).replace(" ", "") == "word" * 5000
