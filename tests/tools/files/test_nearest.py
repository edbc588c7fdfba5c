"""The place that an edit's text was probably meant for, and in words what is different there."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from agentsh.tools.files.nearest import nearest

TEXT = (
    "import os\n\n\ndef first_heron(lake):\n    return lake.herons[0]\n\n\ndef other():\n    pass\n"
)


def differences(old: str, text: str = TEXT) -> tuple[str, ...]:
    found = nearest(text, old)
    assert found is not None
    return found.differences


@pytest.mark.parametrize(
    ("old", "words"),
    [
        (
            "def first_heron(lake):\n\treturn lake.herons[0]",
            "line 5: indentation is 4 × space in the file, 1 × tab in oldText",
        ),
        (
            "def first_heron(lake):\nreturn lake.herons[0]",
            "line 5: indentation is 4 × space in the file, none in oldText",
        ),
        (
            "def first_heron(lake):  \n    return lake.herons[0]",
            "line 4: blanks at the end of the line differ",
        ),
        (
            "def first_heron(lake):\n    return lake.herons[1]",
            'line 5: from column 24 on the file has "0", oldText has "1"',
        ),
        (
            "def first_heron(lake):\n    return lake.herons",
            'line 5: from column 23 on the file has "[0]", oldText has nothing',
        ),
        (
            "def first_heron(lаke):\n    return lake.herons[0]",
            'line 4: from column 18 on the file has "a", oldText has "а"'
            " (U+0430 CYRILLIC SMALL LETTER A)",
        ),
        (
            "def first_heron(l\udce4ke):\n    return lake.herons[0]",
            'line 4: from column 18 on the file has "a", oldText has "\ufffd"'
            " (the byte E4, which is not UTF-8)",
        ),
    ],
)
def test_a_difference_is_named(old: str, words: str) -> None:
    assert differences(old) == (words,)


def test_text_that_goes_on_where_the_file_ends_says_so() -> None:
    assert differences("def other():\n    pass\n    more()", TEXT.rstrip("\n")) == (
        "the file ends before line 3 of oldText",
    )


def test_of_many_lines_the_first_are_shown_and_the_rest_is_counted() -> None:
    text = "".join(f"heron number {n} eats\n" for n in range(100))
    found = nearest(text, text.replace("number 0", "number X"))

    assert found is not None
    rows = found.shown.split("\n")
    assert (found.first, rows[0]) == (1, "1: heron number 0 eats")
    assert rows[-1].endswith("more lines")
    assert len(rows) < 50


@pytest.mark.parametrize("old", ["", "nothing of this sort 漢字", "\n\n", "---"])
def test_what_is_like_nothing_has_no_place(old: str) -> None:
    assert nearest(TEXT, old) is None


def test_t20_decomposed_letters_hide_no_likeness_and_are_no_difference() -> None:
    text = normalize("NFD", "Größe: Café\nänderte Übung\n")

    assert differences("änderte Übungen", text) == (
        'line 2: from column 14 on the file has nothing, oldText has "en"',
    )
