"""The editor's lines are broken between words, and every place of the text keeps its own."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.layout.controls import BufferControl
from prompt_toolkit.layout.processors import Transformation, TransformationInput
from prompt_toolkit.utils import get_cwidth

from agentsh.ui.cells import rows_of
from agentsh.ui.wordwrap import INDENT, WordWrap

TEXTS = st.text(st.sampled_from("ab  漢-"), max_size=60)


def laid(text: str, width: int, mark: str, line: int = 0) -> Transformation:
    control = BufferControl(Buffer(document=Document(text)))
    given_ = TransformationInput(
        control, Document(text), line, lambda i: i, [("", text)], width, 5, lambda _: []
    )
    return WordWrap(lambda: mark).apply_transformation(given_)


def rows(text: str, width: int, mark: str = "> ", line: int = 0) -> list[str]:
    """What prompt_toolkit makes of it: each row is filled up to the edge."""
    made, used = [""], len(mark) if line == 0 else INDENT
    for _, piece, *_ in laid(text, width, mark, line).fragments:
        for char in piece:
            if used + get_cwidth(char) > width:
                made.append("")
                used = INDENT
            made[-1] += char
            used += get_cwidth(char)
    return made


def test_q12_a_word_that_does_not_fit_stands_in_the_next_row() -> None:
    assert rows("the heron waits", 10) == ["the     ", "heron   ", "waits"]
    assert rows("the heron waits", 11) == ["the heron", "waits"]
    assert rows("the heron waits", 12, "$ is it> ") == ["the", "heron     ", "waits"]
    assert rows("the heron waits", 12, "$ is it> ", line=1) == ["the heron ", "waits"]


def test_a_word_longer_than_a_row_is_broken_at_the_edge() -> None:
    assert rows("a heronheronheron", 10) == ["a heronh", "eronhero", "n"]


def test_what_fits_stays_as_it_is() -> None:
    assert rows("the heron", 11) == ["the heron"]
    assert rows("", 11) == [""]


@given(TEXTS, st.integers(6, 30), st.sampled_from(["> ", "$ ", "why> "]), st.integers(0, 1))
def test_nothing_is_lost_and_no_short_word_is_broken(
    text: str, width: int, mark: str, line: int
) -> None:
    made = rows(text, width, mark, line)
    least = width - max(len(mark) if line == 0 else INDENT, INDENT)

    assert "".join(made).replace(" ", "") == text.replace(" ", "")
    shown = Counter(word for row in made for word in row.split(" "))
    short = Counter(word for word in text.split(" ") if word and get_cwidth(word) <= least)
    assert short <= shown


@given(TEXTS, st.integers(6, 30))
def test_each_place_of_the_text_is_shown_where_its_character_is(text: str, width: int) -> None:
    made = laid(text, width, "> ")
    shown = "".join(piece for _, piece, *_ in made.fragments)
    places = [made.source_to_display(index) for index in range(len(text) + 1)]

    assert places == sorted(places)
    assert places[-1] == len(shown)
    for index, char in enumerate(text):
        if char != " ":
            assert shown[places[index]] == char
            assert made.display_to_source(places[index]) == index


@given(TEXTS, st.integers(6, 30), st.sampled_from(["> ", "$ ", "why> "]), st.integers(0, 1))
def test_u24_the_rows_of_a_line_are_those_that_are_drawn(
    text: str, width: int, mark: str, line: int
) -> None:
    first = width - (len(mark) if line == 0 else INDENT)
    pieces = [text[start:stop] for start, stop in rows_of(text, first, width - INDENT)]
    drawn = rows(text, width, mark, line)

    assert [piece.rstrip() for piece in pieces] == [row.rstrip() for row in drawn[: len(pieces)]]
    assert not "".join(drawn[len(pieces) :]).strip()


def test_u24_a_line_that_nobody_typed_has_the_rows_of_the_edge() -> None:
    text = "ab 漢" * 4000

    made = rows_of(text, 9, 7)

    assert made[0] == (0, 7)
    assert "".join(text[start:stop] for start, stop in made) == text
    assert made[-1][1] == len(text)
