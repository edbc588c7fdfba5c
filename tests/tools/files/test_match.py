from __future__ import annotations

from typing import Literal
from unicodedata import normalize

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentsh.tools.files.match import Ambiguous, Edit, NotFound, Overlap, _Folded, apply, locate


def look_alike(text: str) -> str:
    """How a text looks: what two look-alikes have in common."""
    return _Folded(text, looks=True).text


def _edited(text: str, old: str, new: str) -> str:
    found = locate(text, [Edit(old, new)])
    assert isinstance(found, tuple), found
    return apply(text, found)


PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "a",
                "b",
                "“q”",
                '"q"',
                "—",
                "-",
                "\u00a0",
                " ",
                "  ",
                "\t",
                "\n",
                "\r\n",
                "é",
                "\u2028",
            ),
            *("e\u0301", "\u0301", "\u0320", "\u304b\u3099", "\u1100\u1161", "\u212b"),
        ]
    ),
    max_size=12,
).map("".join)


@given(PIECES, PIECES.filter(bool), PIECES, PIECES)
def test_bytes_outside_the_region_stay_whatever_it_was_found_as(
    before: str, middle: str, after: str, new: str
) -> None:
    """What is located is a region that looks like oldText, and nothing else changes."""
    text = before + middle + after
    for old in (middle, look_alike(middle)):
        found = locate(text, [Edit(old, new)])
        if not isinstance(found, tuple):
            continue
        region = found[0]
        assert look_alike(text[region.start : region.end]).strip() == look_alike(old).strip()
        result = apply(text, found)
        assert result.startswith(text[: region.start])
        assert result.endswith(text[region.end :])


@given(PIECES, PIECES, PIECES)
def test_a_unique_exact_hit_is_always_taken(before: str, after: str, new: str) -> None:
    assume("\n" not in new)
    assert _edited(f"{before}KEY{after}", "KEY", new) == before + new + after


@given(PIECES, st.lists(st.sampled_from(["ONE", "TWO", "THREE"]), unique=True, min_size=1))
def test_edits_of_a_call_do_not_depend_on_their_order(text: str, words: list[str]) -> None:
    whole = text.join(["ONE", "TWO", "THREE"])
    edits = [Edit(word, f"<{word[::-1]}>") for word in words]
    one, two = locate(whole, edits), locate(whole, edits[::-1])
    assert isinstance(one, tuple)
    assert isinstance(two, tuple)
    assert apply(whole, one) == apply(whole, two)


@given(PIECES, PIECES, st.sampled_from(["NFC", "NFD"]), st.sampled_from(["NFC", "NFD"]))
def test_t20_composed_and_decomposed_letters_are_the_same(
    before: str, after: str, there: Literal["NFC", "NFD"], asked: Literal["NFC", "NFD"]
) -> None:
    old, new = "«Große Café-Übung 가»", "«Große Café-Übung 가, weiter»"
    region = normalize(there, old)

    edited = _edited(f"{before}{region}{after}", normalize(asked, old), normalize(asked, new))

    assert edited == f"{before}{normalize(there, new)}{after}"


def test_a_part_of_a_letter_is_no_look_alike() -> None:
    assert locate("cafe\u0301\u0301", [Edit("café", "tea")]) == NotFound(0)


def test_exact_hits_are_not_spoilt_by_look_alikes() -> None:
    assert _edited('say "a"\nsay “a”\n', 'say "a"', 'say "b"') == 'say "b"\nsay “a”\n'


def test_line_endings_alone_do_not_make_a_look_alike_ambiguous() -> None:
    text = 'say "a"\r\nend\r\nsay “a”\r\nend\r\n'
    assert _edited(text, 'say "a"\nend', "x\ny") == "x\r\ny\r\nsay “a”\r\nend\r\n"


def test_several_hits_name_their_lines() -> None:
    assert locate("x\ny\nx\n", [Edit("x", "z")]) == Ambiguous(0, (1, 3), is_exact=True)
    assert locate("“x”\n„x“\n", [Edit('"x"', "z")]) == Ambiguous(0, (1, 2), is_exact=False)
    assert locate("aaa", [Edit("aa", "z")]) == Ambiguous(0, (1, 1), is_exact=True)


def test_no_hit_and_overlap_are_told() -> None:
    assert locate("abc", [Edit("a", "x"), Edit("z", "x")]) == NotFound(1)
    assert locate("one two three", [Edit("two three", "2"), Edit("one two", "1")]) == Overlap(0, 1)


@pytest.mark.parametrize(
    ("text", "old", "new", "want"),
    [
        ("one\r\ntwo\r\nthree\r\n", "two\nthree", "2\n2½\n3", "one\r\n2\r\n2½\r\n3\r\n"),
        ("one\ntwo\n", "one\r\ntwo", "1\r\n2", "1\n2\n"),
        ("a\r\nb\r\n", "\nb", "\nc\nd", "a\r\nc\r\nd\r\n"),
        ("a\r\nb", "b", "c\nd", "a\r\nc\r\nd"),
        ("a\nb\r\nc\n", "c", "d\ne", "a\nb\r\nd\ne\n"),
        ("a\rb\rc", "b", "x\ny", "a\rx\ry\rc"),
        ("1%\r2%\nend\n", "end", "a\nb", "1%\r2%\na\nb\n"),
        ("one line", "line", "a\nb", "one a\nb"),
    ],
)
def test_new_lines_take_the_ending_in_use_there(text: str, old: str, new: str, want: str) -> None:
    assert _edited(text, old, new) == want


def test_lines_that_old_and_new_share_stay_as_the_file_has_them() -> None:
    text = "def f():   \n    say(“x”)\n    return 1\t\n"
    old = 'def f():\n    say("x")\n    return 1\n'
    new = 'def f():\n    say("x")\n    return 2\n'
    assert _edited(text, old, new) == "def f():   \n    say(“x”)\n    return 2\n"


def test_blanks_at_the_end_of_old_text_ask_for_a_line_end() -> None:
    assert locate("foobar\n", [Edit("foo  ", "x")]) == NotFound(0)
    assert _edited("foo\t\nbar\n", "foo  ", "x") == "x\nbar\n"


def test_old_text_of_blanks_has_no_look_alikes() -> None:
    assert locate("a\u00a0b", [Edit(" ", "x")]) == NotFound(0)


def test_long_runs_of_blanks_cost_no_more_than_their_length() -> None:
    text = (" " * 200_000 + "x") * 3
    assert locate(text, [Edit("“no", "x")]) == NotFound(0)


@pytest.mark.parametrize(
    ("line", "old", "new", "want"),
    [
        ("say “Hello.” — now", 'say "Hello." - now', 'say "Hi." - then', "say “Hi.” — then"),
        ("in\u00a0a list", "in a list", "in the list", "in\u00a0the list"),
        ("‘a’ or ‘b’", "'a' or 'b'", "'a' and 'c'", "‘a’ and ‘c’"),
        ("“a”", '"a"', "plain", "plain"),
        ('"a"', '"a"', "“a”", "“a”"),
    ],
)
def test_what_an_edit_does_not_change_in_a_line_stays_as_the_file_has_it(
    line: str, old: str, new: str, want: str
) -> None:
    assert _edited(f"before\n{line}\nafter\n", old, new) == f"before\n{want}\nafter\n"
