"""Foreign text → safe text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.sanitize import SafeStream, exact_text, first_line, safe_line, safe_text

ANY = st.text(st.characters(codec=None), max_size=200) | st.text(
    st.sampled_from("a\x1b[]0;mP\\\x07\r\n\x9b\u202e8 ?"), max_size=60
)


def is_harmless(text: str) -> bool:
    return not any(
        (c < " " and c not in "\n\t")
        or "\x7f" <= c <= "\x9f"
        or "\ud800" <= c <= "\udfff"
        or c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029"
        for c in text
    )


@given(ANY)
def test_nothing_that_a_terminal_obeys_passes(text: str) -> None:
    assert is_harmless(safe_text(text))
    assert is_harmless(exact_text(text))


@given(ANY)
def test_safe_text_is_safe_text(text: str) -> None:
    assert safe_text(safe_text(text)) == safe_text(text)


@given(st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), max_size=100))
def test_clean_text_is_left_alone(text: str) -> None:
    assert safe_text(text) == text


@given(st.lists(ANY, max_size=8))
def test_chunks_are_as_safe_as_the_whole(chunks: list[str]) -> None:
    stream = SafeStream()
    shown = "".join(stream.feed(chunk) for chunk in chunks) + stream.flush()

    assert is_harmless(shown)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\x1b]52;c;ZXZpbA==\x07b", "ab"),
        ("a\x1b]0;title\x1b\\b", "ab"),
        ('\x1bP$q"p\x1b\\x', "x"),
        ("\x1b[2J\x1b[6nhi", "hi"),
        ("bell\x07", "bell␇"),
        ("half \x1b]52;c;", "half ␛]52;c;"),
        ("one\r\ntwo\rthree", "one\ntwo␍three"),
        ("\u202eevil", "<U+202E>evil"),
        ("\ud800", "\ufffd"),
        ("[/x] [red]", "[/x] [red]"),
        ("family 👩\u200d👩", "family 👩\u200d👩"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert safe_text(text) == shown


def test_a_sequence_that_is_cut_between_chunks_is_dropped_whole() -> None:
    stream = SafeStream()

    assert [stream.feed("a\x1b"), stream.feed("[3"), stream.feed("1mb"), stream.flush()] == [
        "a",
        "",
        "b",
        "",
    ]


def test_crlf_that_is_cut_between_chunks_is_one_line_end() -> None:
    stream = SafeStream()

    assert stream.feed("a\r") + stream.feed("\nb") + stream.flush() == "a\nb"


def test_what_a_person_agrees_to_hides_nothing() -> None:
    assert exact_text("rm\u00a0-rf\u200b \x1b[31m/") == "rm<U+00A0>-rf<U+200B> ␛[31m/"


def test_a_line_is_one_line() -> None:
    assert safe_line("a\n b\t c\x1b[1m") == "a b c"
    assert safe_line("abcdef", 4) == "abc…"
    assert first_line("\n\n  second\nthird") == "second"


def test_no_printable_character_is_unsafe_or_a_blank_but_the_space() -> None:
    """So `safe_line` may leave printable text alone."""
    printable = "".join(c for c in map(chr, range(0x110000)) if c.isprintable())

    assert safe_text(printable) == printable
    assert "".join(printable.split()) == printable.replace(" ", "")


@given(st.text(st.sampled_from("ab \t\n\x1b[m\u202e\xa0ä"), max_size=40), st.integers(1, 12))
def test_a_line_is_cut_after_all_else(text: str, limit: int) -> None:
    whole = " ".join(safe_text(text[: 8 * limit]).split())

    assert safe_line(text) == " ".join(safe_text(text).split())
    assert safe_line(text, limit) == (
        whole if len(whole) <= limit else whole[: max(1, limit - 1)] + "…"
    )


FLAG = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ខ្ញុំ\u200bចង់\u200bបាន", "ខ្ញុំចង់បាន"),
        ("שלום\u200f, world\u200e!", "שלום, world!"),
        (f"{FLAG} England", "\U0001f3f4 England"),
        ("hid\U000e0064\U000e006f\U000e007f", "hid<U+E0064><U+E006F><U+E007F>"),
        ("a\ufeffb\u2060c", "abc"),
    ],
)
def test_what_a_script_has_between_its_letters_is_no_noise(text: str, shown: str) -> None:
    assert safe_text(text) == shown
    assert safe_line(text) == shown
    assert "U+" in exact_text(text)
    for cut in range(len(text)):
        stream = SafeStream()
        assert stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.flush() == shown
