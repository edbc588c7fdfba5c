"""Templates: arguments and places, by Pi's rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.context.templates import fill_template, split_arguments, split_call

TRICKY = st.text(alphabet="ab \"'\\\t\n\u00a0$@{}:-129", max_size=40)


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("", []),
        ("a b", ["a", "b"]),
        ('"a b" c', ["a b", "c"]),
        ("'$2' doesn't", ["$2", "doesn't"]),
        ('""', [""]),
        ('"a', ['"a']),
        ('"a b', ['"a', "b"]),
        (r'"say \"hi\"" x', ['say "hi"', "x"]),
        (r'"back\slash" x', [r"back\slash", "x"]),
        ('"a"b"c" d', ['ab"c"', "d"]),
        ("a\u00a0b\u3000c", ["a", "b", "c"]),
        ("  a  ", ["a"]),
        (r'"a\"', [r'"a\"']),
    ],
)
def test_arguments_are_split_as_pi_splits_them(words: str, arguments: list[str]) -> None:
    assert split_arguments(words) == arguments


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("$1-$2-$3", "a b-c-"),
        ("$@|$ARGUMENTS", "a b c|a b c"),
        ("${1:-x}${3:-x}${3:-}", "a bx"),
        ("${@:-x}${ARGUMENTS:-x}", "a b ca b c"),
        ("${@:2}|${@:0}|${@:1:1}|${@:9}", "c|a b c|a b|"),
        ("$0 ${0:-zero} $10", " zero "),
        ("$ $x ${1} ${@} $$1", "$ $x ${1} ${@} $a b"),
        ("$" + "9" * 5000, ""),
    ],
)
def test_places_are_filled(text: str, filled: str) -> None:
    assert fill_template(text, ["a b", "c"]) == filled


def test_a_default_counts_where_an_argument_is_empty() -> None:
    assert fill_template("${1:-x} ${@:-y}", [""]) == "x y"


@given(st.lists(st.sampled_from(["$1", "$@", "${2:-x}", "$ARGUMENTS"]), max_size=4))
def test_what_fills_a_place_is_never_filled(arguments: list[str]) -> None:
    assert fill_template("$@", arguments) == " ".join(arguments)


@given(TRICKY)
def test_arguments_hold_no_blank_but_within_marks_and_nothing_is_lost(words: str) -> None:
    letters = [c for c in words if c not in " \"'\\\t\n\u00a0"]

    assert [c for c in "".join(split_arguments(words)) if c not in " \"'\\\t\n\u00a0"] == letters


@given(TRICKY, st.lists(st.text(max_size=4), max_size=3))
def test_what_is_typed_behind_a_text_without_a_place_stands_behind_it(
    text: str, arguments: list[str]
) -> None:
    text = text.replace("$", "")
    behind = f"\n\n{' '.join(arguments)}" if arguments else ""

    assert fill_template(text, arguments) == text + behind


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("/t", ("t", "")),
        ("/t a  b ", ("t", "a  b ")),
        ("/t\na\nb", ("t", "a\nb")),
        ("/etc/hosts is odd", ("etc/hosts", "is odd")),
        (" /t", None),
        ("/", None),
        ("/ t", None),
        ("see /t", None),
    ],
)
def test_a_call_begins_with_a_slash_and_a_name(text: str, call: tuple[str, str] | None) -> None:
    assert split_call(text) == call
