from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.tools.pattern import needs_python
from agentsh.tools.pattern_forms import case_variants, category, python_forms, ripgrep_form
from agentsh.tools.pattern_parser import PatternError, literal_pattern, parse_pattern


def found(pattern: str, line: str, *, ignore_case: bool = False) -> bool:
    ascii_form, wide = python_forms(parse_pattern(pattern, ignore_case=ignore_case))
    return (ascii_form.search(line) if line.isascii() else wide.search(line)) is not None


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (r"\bfoo\b", "a foo."),
        (r"^foo$", "foo\r"),
        (r"\<foo\>", "foo"),
        (r"\bÄrger\b", "der Ärger"),
        (r"^\w+$", "हिन्दी"),
        (r"(?i)straße", "STRAßE"),
        (r"(?i:K)elvin", "\u212aelvin"),
        (r"[[:alpha:]]+\d{2,}", "ab12"),
        (r"(?<name>a)(?P=name)", "aa"),
        (r"foo(?=bar)", "foobar"),
        (r"a{", "a{"),
        (r"[[]", "["),
        (r"[]a]", "]"),
        (r"\p{Lu}\P{Lu}", "Éa"),
        (r"interface{}", "interface{}"),
        (r"\x41\u0042\x{43}", "ABC"),
        (r"C++", "C"),
        (r"a|", "b"),
        (r"(?#words)a", "a"),
        (r"[a\-z]", "-"),
        (r"\.\/\"\ ", './" '),
        (r"(?i)a(?-i)b", "Ab"),
        (r"(a)|(?i)b", "B"),
        (r"[\t\x41]\t\0?", "A\t"),
        (r"(?i)[é-ü]", "É"),
        (r"(?i)(é)\1", "éÉ"),
        (r"[\p{Lu}\W]", "É"),
        (r"[^\p{Lu}]", "é"),
        (r"\p{^Lu}\pL", "éÉ"),
        (r"\x{e9}\u00E9", "éé"),
        (r"[\D\S]", "é"),
        (r"é\d\s", "é٣\u2003"),
        (r"a{,2}b{1,}", "b"),
        (r"(?-i:b)", "b"),
    ],
)
def test_what_models_write_means_what_ripgrep_means(pattern: str, line: str) -> None:
    assert found(pattern, line)


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (r"\bfoo\b", "foo_"),
        (r"foo\b", "foo\u0301"),
        (r"^.$", "\udcff"),
        (r"[^a]", "\udcff"),
        (r"\W", "\udcff"),
        (r"(?i)a(?-i)b", "AB"),
        (r"((?i)a)b", "AB"),
        (r"\s", "\x1c"),
        (r"[\n]", "a"),
        (r"(?i)[^k]", "\u212a"),
    ],
)
def test_what_ripgrep_does_not_match_is_not_matched(pattern: str, line: str) -> None:
    assert not found(pattern, line)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("", "empty"),
        ("a(", "not closed"),
        ("a)", r"\) without"),
        ("[a", "not closed"),
        ("*a", "nothing stands before"),
        (r"\q", r"\\q is not known"),
        (r"a\nb", "one line"),
        ("a\nb", "one line"),
        (r"a{3,1}", "m is less"),
        ("a{1,5000}", "more than 1000"),
        (r"\p{Greek}", "not supported"),
        (r"\2(a)", "no group 2"),
        ("[z-a]", "before its beginning"),
        ("[[:nope:]]", "no class"),
        ("[a&&b]", "not supported"),
        ("(?x)a", "not supported"),
        ("a\\", "stands at the end"),
        ("(" * 60, "too deep"),
        ("a" * 10_001, "longer"),
        ("a\ud800", "surrogate"),
        (r"\xzz", "hexadecimal"),
        (r"\x4", "too short"),
        (r"(?P=x)", "no group x"),
        (r"(?P<1>a)", "no good name"),
        (r"(?i", "not closed"),
        (r"[a-\d]", "no end of a range"),
        (r"\p", "needs a category"),
        ("[a\\", "not closed"),
        (r"\x{110000}", "no line holds"),
    ],
)
def test_what_is_no_pattern_says_what_is_wrong(pattern: str, words: str) -> None:
    with pytest.raises(PatternError, match=words):
        parse_pattern(pattern, ignore_case=False)


def test_a_literal_of_several_lines_is_refused() -> None:
    with pytest.raises(PatternError, match="one line"):
        literal_pattern("a\nb", ignore_case=False)


def test_the_place_of_a_mistake_is_named() -> None:
    with pytest.raises(PatternError, match="at character 3"):
        parse_pattern(r"a\q", ignore_case=False)


def test_lookaround_and_backreferences_are_known_to_need_python() -> None:
    for pattern in ("(?=a)", "(?<!a)b", r"(a)\1", "(?>a)", "(b(?!a))*|c"):
        assert needs_python(parse_pattern(pattern, ignore_case=False))
    assert not needs_python(parse_pattern(r"(a|b)*[c]\b(?:d)", ignore_case=False))


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), min_size=1))
def test_a_literal_finds_itself_and_is_one_line_of_ascii_for_ripgrep(text: str) -> None:
    for ignore_case in (False, True):
        node = literal_pattern(text, ignore_case=ignore_case)
        ascii_form, wide = python_forms(node)

        assert (ascii_form if text.isascii() else wide).search(text) is not None
        assert ripgrep_form(node).isascii()
        assert "\n" not in ripgrep_form(node)


PIECES = st.sampled_from([*"ab()[]{}|*+?^$.\\-,:<>=!&~#1dwsbpLiP", "é", "(?", "[^", "\\b"])


@given(st.lists(PIECES, max_size=12).map("".join), st.booleans())
def test_any_text_is_a_pattern_of_both_engines_or_is_refused(text: str, ignore_case: bool) -> None:
    try:
        node = parse_pattern(text, ignore_case=ignore_case)
    except PatternError:
        return

    assert ripgrep_form(node).isascii()
    try:
        python_forms(node)
    except re.error:
        assert needs_python(node)  # a lookbehind of no fixed width


def test_case_variants_hold_each_other() -> None:
    for char in "aKsé1Я":
        for code in case_variants(ord(char)):
            assert ord(char) in case_variants(code)


def test_the_tables_of_unicode_are_made_in_no_time() -> None:
    began = time.monotonic()

    assert (ord("É"), ord("É")) not in category("Ll")
    assert time.monotonic() - began < 5
