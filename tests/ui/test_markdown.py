"""Streamed Markdown → finished blocks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentsh.ui.markdown import CODE_LINES, MAX_CHARS, Block, BlockScanner

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


@given(TEXTS, st.lists(st.integers(1, 20), max_size=40))
def test_any_split_of_the_text_gives_the_same_blocks(text: str, sizes: list[int]) -> None:
    assert scan(text, sizes) == scan(text)


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
        Block("item", "- two\n  - in", gap=False),
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


def test_long_code_is_given_in_pieces_and_none_is_lost() -> None:
    lines = [f"line {n}" for n in range(3 * CODE_LINES + 5)]
    blocks = scan("```\n" + "\n".join(lines) + "\n```\n")

    assert "\n".join(block.text for block in blocks).split("\n") == lines
    assert [block.gap for block in blocks] == [True, False, False, False]


def test_the_rest_stays_small_whatever_comes() -> None:
    for piece in ("x", "word ", "word\n", "| a | b |\n", "- item\n", "> q\n"):
        scanner = BlockScanner()
        for _ in range(200):
            for _ in range(100):
                scanner.feed(piece)
            assert len(scanner.rest(2 * MAX_CHARS)) <= MAX_CHARS + len(piece)


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
