"""Themes: legible on each background, told from each other, and read from files."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.styles import Style as ToolkitStyle
from rich.color import Color, ColorSystem
from rich.style import Style

from agentsh.errors import SettingsError
from agentsh.ui.terminal import Background, Colours
from agentsh.ui.theme import ROLES, THEMES, Role, Theme, choose_theme, style_misfit
from agentsh.ui.themefile import read_theme

GROUNDS: dict[Background, tuple[str, ...]] = {
    "dark": ("#000000", "#1e1e1e", "#282c34", "#002b36"),
    "light": ("#ffffff", "#fafafa", "#fdf6e3"),
}
MANY = (Colours.EIGHT_BIT, Colours.TRUE)
CODE: tuple[Role, ...] = ("plain", "keyword", "string", "comment", "number", "name")


def luminance(colour: str) -> float:
    """WCAG 2: relative luminance of an #rrggbb."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def shown(colour: Color, colours: Colours) -> str:
    """What a terminal shows of it: of 256 colours the nearest."""
    if colours is Colours.EIGHT_BIT:
        colour = colour.downgrade(ColorSystem.EIGHT_BIT)
    return colour.get_truecolor().hex


@pytest.mark.parametrize("colours", MANY)
@pytest.mark.parametrize("background", ["dark", "light"])
@pytest.mark.parametrize(("name", "least"), [("auto", 4.5), ("contrast", 7.0)])
def test_each_role_can_be_read_on_each_background_of_its_kind(
    name: str, least: float, background: Background, colours: Colours
) -> None:
    theme = choose_theme(name, background, colours)
    for role in ROLES:
        style = Style.parse(theme.rich(role))
        if style.color is None or style.bgcolor is not None:
            continue
        for ground in GROUNDS[background]:
            found = ratio(shown(style.color, colours), ground)
            assert found >= least, (role, style.color.name, ground, round(found, 2))


@pytest.mark.parametrize("background", ["dark", "light"])
def test_code_can_be_read_on_the_tints_of_lines_that_differ(background: Background) -> None:
    theme = choose_theme("auto", background, Colours.TRUE)
    plain = "#d0d0d0" if background == "dark" else "#303030"
    for ground_role in ("added_line", "removed_line", "added_word", "removed_word"):
        ground = Style.parse(theme.rich(ground_role)).bgcolor
        assert ground is not None
        for role in (*CODE, "added", "removed"):
            colour = Style.parse(theme.rich(role)).color
            text = plain if colour is None else shown(colour, Colours.TRUE)
            found = ratio(text, shown(ground, Colours.TRUE))
            assert found >= 4.5, (role, ground_role, round(found, 2))


@pytest.mark.parametrize("colours", [Colours.ANSI, *MANY])
@pytest.mark.parametrize("background", ["dark", "light"])
def test_the_themes_differ(background: Background, colours: Colours) -> None:
    made = [choose_theme(name, background, colours) for name in ("dark", "light", "contrast")]

    assert all(one.styles != other.styles for one, other in combinations(made, 2))
    assert choose_theme("auto", background, colours) == choose_theme(background, "unknown", colours)


def test_where_nobody_knows_the_background_the_terminals_own_colours_are_used() -> None:
    for colours in MANY:
        for name in ("auto", "contrast"):
            styles = choose_theme(name, "unknown", colours).styles.values()
            assert "#" not in " ".join(styles)


def test_a_tint_is_for_24_bits_only() -> None:
    assert choose_theme("dark", "dark", Colours.TRUE).tints_lines
    assert not choose_theme("dark", "dark", Colours.EIGHT_BIT).tints_lines


@pytest.mark.parametrize("colours", list(Colours))
@pytest.mark.parametrize("name", THEMES)
def test_a_theme_is_spelled_for_both_libraries(name: str, colours: Colours) -> None:
    theme = choose_theme(name, "dark", colours)
    for role in ROLES:
        Style.parse(theme.rich(role))
        ToolkitStyle.from_dict({role: theme.toolkit(role)})


@pytest.mark.parametrize(
    ("style", "toolkit"),
    [
        ("bold red on white", "bold ansired bg:ansigray"),
        ("dim italic", "italic"),
        ("#ff8787 on #303030", "#ff8787 bg:#303030"),
        ("bright_black", "ansibrightblack"),
        ("on bright_blue", "bg:ansibrightblue"),
    ],
)
def test_a_style_for_prompt_toolkit(style: str, toolkit: str) -> None:
    assert style_misfit(style) is None
    theme = Theme({**choose_theme("dark", "dark", Colours.ANSI).styles, "user": style})
    assert theme.toolkit("user") == toolkit
    ToolkitStyle.from_dict({"user": toolkit})


@given(st.text(st.sampled_from("abdlnor #1f_"), max_size=12))
def test_a_style_that_is_let_through_is_one_for_rich(style: str) -> None:
    if style_misfit(style) is None:
        Style.parse(style or "none")


def test_a_theme_of_ones_own() -> None:
    text = 'base = "light"\n\n[roles]\nuser = "bold #87afff"\nkeyword = ""\n'
    theme = read_theme(text, "t", "dark", Colours.TRUE)

    assert theme.rich("user") == "bold #87afff"
    assert theme.rich("keyword") == "none"
    assert theme.rich("error") == choose_theme("light", "dark", Colours.TRUE).rich("error")
    assert read_theme(text, "t", "dark", Colours.NONE) == choose_theme("none", "dark", Colours.NONE)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[roles]\nuser = \n", 2, "Invalid value"),
        ('base = "pink"\n', 1, "base must be one of auto, dark"),
        ("bass = 1\n", 1, "a theme has no bass"),
        ("base = 'dark'\nroles = 1\n", 2, "roles must be a table"),
        ("[roles]\nok = 'red'\nusr = 'red'\n", 3, "there is no role usr"),
        ("[roles]\nok = 'red'\nuser = 'redd'\n", 3, "user must be a style; 'redd' is none"),
        ("[roles]\nuser = 'on'\n", 2, "user must be a style; 'on' is none"),
        ("[roles]\nuser = '#12345'\n", 2, "user must be a style; '#12345' is none"),
        ("[roles]\nuser = 1\n", 2, "user must be a text"),
    ],
)
def test_what_is_wrong_with_a_theme_is_said_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(words)) as caught:
        read_theme(text, "t.toml", "dark", Colours.TRUE)
    assert (caught.value.file, caught.value.line) == ("t.toml", line)


def test_the_page_names_each_role_and_its_example_is_a_theme() -> None:
    page = (Path(__file__).parents[2] / "docs/chat.md").read_text("utf-8")
    section = page.partition("## Themes")[2].partition("\n## ")[0]
    named = re.search(r"The roles are `([^`]*)`", section)
    example = re.search(r"```toml\n(.*?)```", section, re.DOTALL)

    assert named is not None
    assert tuple(named[1].split()) == ROLES
    assert example is not None
    assert read_theme(example[1], "t", "dark", Colours.TRUE).tints_lines
