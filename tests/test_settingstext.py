"""Settings files: what is refused, with which line, and what is only warned of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.errors import SettingsError
from agentsh.settingstext import line_of, read


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("model = \n", 1, "Invalid value"),
        ("[approve]\npolicy = 7\n", 2, "approve.policy must be one of never, ask, edits, all"),
        ('[approve]\nallow = "echo\n', 2, "Illegal character"),
        ("\n[approve]\nallow = [1]\n", 3, "approve.allow must be a list of texts"),
        ("approve = 1\n", 1, "approve must be a table"),
        ('[tools]\n\n"timeout" = "5"\n', 3, "tools.timeout must be a number of seconds"),
        ("[endpoint]\nmax_retries = true\n", 2, "a whole number, 0 or more"),
        ("[endpoint]\nmax_tokens = 0\n", 2, "a whole number above 0"),
        ("[endpoint]\nheaders = { a = 1 }\n", 2, "a table of texts"),
        ("[sandbox]\nnetwork = 1\n", 2, "true or false"),
        ('[models."a.b"]\nprices = { gold = 1 }\n', 2, "a table of prices"),
        ("[endpoints.one]\nbase_url = 5\n", 2, "endpoints.one.base_url must be a text"),
        ("[endpoint]\nextra_body = []\n", 2, "must be a table"),
        ("[endpoint\n", 1, "Expected ']'"),
        ('x = """\n\n', 1, "Unterminated"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_line(text: str, line: int, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read(text, "config.toml")

    assert (caught.value.file, caught.value.line) == ("config.toml", line)
    assert words in str(caught.value)


def test_an_unknown_name_is_a_warning_with_its_place() -> None:
    layer = read('[approve]\npolicy = "ask"\nplicy = 1\n[colours]\nx = 1\n', "c")

    assert layer.values == {"approve.policy": "ask"}
    assert layer.warnings == (
        "c:3: unknown setting approve.plicy, ignored",
        "c:4: unknown setting colours, ignored",
    )


def test_a_dotted_key_and_an_inline_table_have_their_line() -> None:
    text = 'approve.policy = "ask"\nendpoint = { model = "m" }\n'

    layer = read(text, "c")

    assert layer.sources == {"approve.policy": "c:1", "endpoint.model": "c:2"}


def test_the_line_of_a_name_that_is_not_there_is_not_known() -> None:
    assert line_of("[a]\nb = 1\n", ("x", "y")) is None


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused_with_a_line(text: str) -> None:
    try:
        read(text, "c")
    except SettingsError as e:
        assert e.line is not None  # noqa: PT017  # either outcome is right; a third is not


def test_an_overflow_pattern_must_compile() -> None:
    assert read('[endpoint]\noverflow_pattern = "too (long|big)"\n', "f").endpoint == {
        "overflow_pattern": "too (long|big)"
    }
    with pytest.raises(SettingsError, match="regular expression") as caught:
        read('[endpoint]\n\noverflow_pattern = "(("\n', "f")
    assert caught.value.line == 3


@pytest.mark.parametrize("value", ["1979-05-27", "nan", "[1, inf]", "{ x = 07:32:00 }"])
def test_an_extra_body_holds_what_json_can_hold(value: str) -> None:
    with pytest.raises(SettingsError, match=r"extra_body must be a table of texts, finite") as e:
        read(f"[endpoint]\nextra_body = {{ d = {value} }}\n", "f")
    assert e.value.line == 2


@pytest.mark.parametrize("header", ['"a\\nb" = "c"', 'a = "c\\nX: d"', '"" = "x"', 'a = "☃"'])
def test_a_header_is_what_http_can_carry(header: str) -> None:
    with pytest.raises(SettingsError, match=r"endpoint.headers must be a table of texts that HTTP"):
        read(f"[endpoint]\nheaders = {{ {header} }}\n", "f")

    good = {"X-Title": "a b", "empty": ""}
    text = "".join(f'{name} = "{value}"\n' for name, value in good.items())
    assert read(f"[endpoint.headers]\n{text}", "f").endpoint == {"headers": good}
