"""Settings files: what is refused, with which line, and what is only warned of."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.errors import SettingsError
from agentsh.settings import SETTING_NAMES, EndpointSettings, ModelSettings, settable
from agentsh.settingstext import line_of, read_settings


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
        read_settings(text, "config.toml")

    assert (caught.value.file, caught.value.line) == ("config.toml", line)
    assert words in str(caught.value)


def test_an_unknown_name_is_a_warning_with_its_place() -> None:
    layer = read_settings('[approve]\npolicy = "ask"\nplicy = 1\n[colours]\nx = 1\n', "c")

    assert layer.tables == {("approve",): {"policy": "ask"}}
    assert layer.warnings == (
        "c:3: unknown setting approve.plicy, ignored",
        "c:4: unknown setting colours, ignored",
    )


def test_a_dotted_key_and_an_inline_table_have_their_line() -> None:
    text = 'approve.policy = "ask"\nendpoint = { model = "m" }\n'

    layer = read_settings(text, "c")

    assert layer.sources == {"approve.policy": "c:1", "endpoint.model": "c:2"}


def test_the_line_of_a_name_that_is_not_there_is_not_known() -> None:
    assert line_of("[a]\nb = 1\n", ("x", "y")) is None


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused_with_a_line(text: str) -> None:
    try:
        read_settings(text, "c")
    except SettingsError as e:
        assert e.line is not None  # noqa: PT017  # either outcome is right; a third is not


def test_an_overflow_pattern_must_compile() -> None:
    assert read_settings('[endpoint]\noverflow_pattern = "too (long|big)"\n', "f").tables == {
        ("endpoint",): {"overflow_pattern": "too (long|big)"}
    }
    with pytest.raises(SettingsError, match="regular expression") as caught:
        read_settings('[endpoint]\n\noverflow_pattern = "(("\n', "f")
    assert caught.value.line == 3


@pytest.mark.parametrize("value", ["1979-05-27", "nan", "[1, inf]", "{ x = 07:32:00 }"])
def test_an_extra_body_holds_what_json_can_hold(value: str) -> None:
    with pytest.raises(SettingsError, match=r"extra_body must be a table of texts, finite") as e:
        read_settings(f"[endpoint]\nextra_body = {{ d = {value} }}\n", "f")
    assert e.value.line == 2


@pytest.mark.parametrize("header", ['"a\\nb" = "c"', 'a = "c\\nX: d"', '"" = "x"', 'a = "☃"'])
def test_a_header_is_what_http_can_carry(header: str) -> None:
    with pytest.raises(SettingsError, match=r"endpoint.headers must be a table of texts that HTTP"):
        read_settings(f"[endpoint]\nheaders = {{ {header} }}\n", "f")

    good = {"X-Title": "a b", "empty": ""}
    text = "".join(f'{name} = "{value}"\n' for name, value in good.items())
    assert read_settings(f"[endpoint.headers]\n{text}", "f").tables[("endpoint",)] == {
        "headers": good
    }


@pytest.mark.parametrize(
    "name",
    [
        *SETTING_NAMES,
        "endpoint.use",
        *(f"endpoints.one.{key}" for key in settable(EndpointSettings)),
        *(f"models.m.{key}" for key in settable(ModelSettings)),
    ],
)
def test_a_date_is_refused_for_each_name_with_its_line(name: str) -> None:
    table, _, key = name.rpartition(".")

    with pytest.raises(SettingsError, match=rf"{name} must be (a|an|one|true) ") as caught:
        read_settings(f"[{table}]\n{key} = 1979-05-27\n", "c")

    assert (caught.value.file, caught.value.line) == ("c", 2)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[cost]\nwarn = nan\n", "cost.warn"),
        ('[endpoint]\nproxy = "a\\u0000b"\n', "endpoint.proxy"),
        ('[hooks]\nbefore_tool = "true a\\u0000b"\n', "hooks.before_tool"),
        ('[tools.command.x]\ndescription = "d"\nrun = "a\\u0000b"\n', "tools.command"),
        ('[tools.command]\nx = "ls"\n', "tools.command"),
        ('[ui]\ntheme = ""\n', "ui.theme"),
        ('[models.m.prices]\ninput = "1"\n', "models.m.prices"),
    ],
)
def test_a_value_of_the_right_kind_that_does_not_fit_is_refused(text: str, name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} must be "):
        read_settings(text, "c")


def test_one_hook_may_stand_without_a_list() -> None:
    assert read_settings(
        '[hooks]\nbefore_tool = "guard"\nafter_tool = ["a", "b"]\n', "c"
    ).tables == {("hooks",): {"before_tool": ("guard",), "after_tool": ("a", "b")}}


def test_the_name_of_an_endpoint_is_that_of_its_table() -> None:
    layer = read_settings('[endpoints.one]\nname = "two"\nuse = "three"\n', "c")

    assert layer.tables == {("endpoints", "one"): {}}
    assert layer.warnings == (
        "c:2: unknown setting endpoints.one.name, ignored",
        "c:3: unknown setting endpoints.one.use, ignored",
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("command = 5", "mcp.servers.x.command must be a text"),
        ('args = "b"', "mcp.servers.x.args must be a list of texts"),
        ("timeout = -1", "mcp.servers.x.timeout must be a number of seconds above 0"),
        ("env = { A = 1 }", "mcp.servers.x.env must be a table of texts"),
    ],
)
def test_a_server_of_wrong_type_is_named_with_its_line(line: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings(f"[mcp.servers.x]\n{line}\n", "c")
    assert str(caught.value) == f"c:2: {words}"


def test_an_unknown_name_of_a_server_is_a_warning() -> None:
    layer = read_settings('[mcp.servers.x]\ncommand = "a"\ntypo = 1\n', "c")

    assert layer.warnings == ("c:3: unknown setting mcp.servers.x.typo, ignored",)


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        "a = " + "{b = " * 50_000,
        "[" + "a." * 20_000 + "a]\n",
        "model = " + "9" * 500_000,
        "[endpoint.extra_body]\na = " + "[" * 150 + "]" * 150,
    ],
)
def test_l27_settings_of_a_stranger_are_refused_however_deep_or_long_they_are(text: str) -> None:
    with pytest.raises(SettingsError):
        read_settings(text, "c")


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"a{number} = 1\n" for number in range(30_000)),
        "".join(f"[models.m{number}]\ntools = true\n" for number in range(20_000)),
        'a = """\n' + " " * 200_000 + 'x"""\nb = 1\n',
        'a = """\n' + "'x' " * 50_000 + 'x"""\nb = 1\n',
    ],
)
def test_l29_settings_of_a_stranger_are_read_in_a_moment(text: str) -> None:
    began = time.monotonic()
    layer = read_settings(text, "c")

    assert time.monotonic() - began < 5
    assert len(layer.warnings) <= 21
