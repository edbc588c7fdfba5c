from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.tools.diff import diff_texts

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
