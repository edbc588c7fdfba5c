from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.tools.files.diff import diff_texts

LINES = st.lists(st.sampled_from("abcdefgh"), max_size=30)


@settings(max_examples=30)
@given(LINES, LINES, st.booleans(), st.booleans())
def test_the_patch_makes_the_new_text_of_the_old_one(
    tmp_path_factory: pytest.TempPathFactory,
    old: list[str],
    new: list[str],
    old_ends: bool,
    new_ends: bool,
) -> None:
    before = "\n".join(old) + ("\n" if old_ends and old else "")
    after = "\n".join(new) + ("\n" if new_ends and new else "")
    made = diff_texts(before, after, "f")
    if before == after:
        assert made.numbered == ""
        return
    folder: Path = tmp_path_factory.mktemp("patch")
    (folder / "f").write_text(before)
    patch = made.patch.replace("--- f", "--- a/f").replace("+++ f", "+++ b/f")
    words = ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-"]
    done = subprocess.run(
        words, input=patch, cwd=folder, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, (done.stderr, patch)
    assert (folder / "f").read_text() == after


def test_far_changes_are_two_places_and_numbers_are_aligned() -> None:
    old = "".join(f"l{i}\n" for i in range(1, 41))
    made = diff_texts(old, old.replace("l5\n", "five\n").replace("l30\n", ""), "f")
    rows = made.numbered.split("\n")
    assert "- 5 l5" in rows
    assert "+ 5 five" in rows
    assert "-30 l30" in rows
    assert "    ..." in rows
    assert (made.added, made.removed, made.first_line) == (1, 2, 5)


def test_a_huge_difference_is_cut_and_says_so() -> None:
    made = diff_texts("", "".join(f"{i}\n" for i in range(5000)), "f")
    assert "4600 more lines" in made.numbered
    assert made.patch == ""


def numbers(word: str, count: int) -> list[str]:
    return [f"{word} {number}\n" for number in range(count)]


@pytest.mark.parametrize(("lines", "changed"), [(1500, 1499), (1501, 1501)])
def test_a_change_of_over_1500_lines_is_shown_as_replaced_whole(lines: int, changed: int) -> None:
    old, new = numbers("old", lines), numbers("new", lines)
    old[700] = new[700] = "the same\n"
    made = diff_texts("".join(old), "".join(new), "f")

    assert (made.added, made.removed) == (changed, changed)


def test_one_large_side_is_enough_to_replace_whole() -> None:
    small, large = ["x\n", "the same\n", "y\n"], numbers("new", 1501)
    large[700] = "the same\n"

    made = diff_texts("".join(small), "".join(large), "f")
    assert (made.added, made.removed) == (1501, 3)
    back = diff_texts("".join(large), "".join(small), "f")
    assert (back.added, back.removed) == (3, 1501)


def test_what_is_equal_before_and_behind_does_not_count_as_large() -> None:
    same = numbers("same", 5000)
    made = diff_texts("".join([*same, "a\n", *same]), "".join([*same, "b\n", *same]), "f")

    assert (made.added, made.removed, made.first_line) == (1, 1, 5001)


def test_a_line_of_over_500_characters_is_cut_for_people_and_whole_in_the_patch() -> None:
    made = diff_texts("", "a" * 500 + "\n" + "b" * 501 + "\n", "f")

    assert made.numbered == "+1 " + "a" * 500 + "\n+2 " + "b" * 500 + "…"
    assert made.patch == "--- f\n+++ f\n@@ -0,0 +1,2 @@\n+" + "a" * 500 + "\n+" + "b" * 501 + "\n"


@pytest.mark.parametrize(
    ("lines", "last"),
    [(400, "+400 line 399"), (401, "… 1 more lines of this difference")],
)
def test_400_lines_of_a_difference_are_shown(lines: int, last: str) -> None:
    made = diff_texts("", "".join(numbers("line", lines)), "f")

    assert made.numbered.split("\n")[-1] == last


@pytest.mark.parametrize(("lines", "whole"), [(397, True), (398, False)])
def test_a_patch_has_at_most_400_lines_or_is_none(lines: int, whole: bool) -> None:
    made = diff_texts("", "".join(numbers("line", lines)), "f")

    assert (made.patch.count("\n") == lines + 3) == whole
    assert (made.patch == "") == (not whole)


def test_20_000_characters_of_a_difference_are_shown() -> None:
    # a row is sign, number of two digits, blank, text, line end: 500 characters
    rows = ["x" * 495 + "\n"] * 41
    fits, over = diff_texts("", "".join(rows[:40]), "f"), diff_texts("", "".join(rows), "f")

    assert fits.numbered.count("\n") == 39
    assert over.numbered.split("\n")[-1] == "… 1 more lines of this difference"
    assert over.patch == ""
