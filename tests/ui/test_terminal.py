"""The terminal as a value, and themes for it."""

from __future__ import annotations

import io

import pytest

from agentsh.ui.terminal import Background, Colours, describe_terminal
from agentsh.ui.theme import THEMES, choose_theme
from tests.ui.screens import FakeTty, terminal


def colours(**environ: str) -> Colours:
    tty = FakeTty()
    return describe_terminal(tty, tty, tty, {"TERM": "xterm", **environ}).colours


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, Colours.ANSI),
        ({"TERM": "xterm-256color"}, Colours.EIGHT_BIT),
        ({"COLORTERM": "truecolor"}, Colours.TRUE),
        ({"COLORTERM": "truecolor", "NO_COLOR": "1"}, Colours.NONE),
        ({"NO_COLOR": ""}, Colours.ANSI),
        ({"TERM": "dumb"}, Colours.NONE),
    ],
)
def test_colours(environ: dict[str, str], expected: Colours) -> None:
    assert colours(**environ) is expected


@pytest.mark.parametrize(
    ("environ", "reflows"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "XTERM_VERSION": "XTerm(379)"}, False),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/x", "XTERM_VERSION": "XTerm(379)"}, True),
        ({"TERM": "screen", "STY": "1.pts"}, False),
        ({"TERM": "linux"}, False),
    ],
)
def test_which_terminals_wrap_anew(environ: dict[str, str], reflows: bool) -> None:
    tty = FakeTty()
    assert describe_terminal(tty, tty, tty, environ).reflows is reflows


def test_a_pipe_has_no_colours_and_nobody_types_at_it() -> None:
    pipe = io.StringIO()
    target = describe_terminal(pipe, pipe, pipe, {"TERM": "xterm"})

    assert (target.colours, target.is_interactive) == (Colours.NONE, False)


def test_a_dumb_terminal_is_not_for_an_editor() -> None:
    tty = FakeTty()

    assert not describe_terminal(tty, tty, tty, {"TERM": "dumb"}).is_interactive
    assert describe_terminal(tty, tty, tty, {"TERM": "xterm"}).is_interactive


@pytest.mark.parametrize(
    ("value", "background"),
    [("0;15", "light"), ("15;0", "dark"), ("0;default;7", "light"), ("", "unknown")],
)
def test_the_background(value: str, background: str) -> None:
    tty = FakeTty()

    assert (
        describe_terminal(tty, tty, tty, {"TERM": "xterm", "COLORFGBG": value}).background
        == background
    )


def test_the_size_of_what_is_no_terminal() -> None:
    pipe = io.StringIO()

    assert describe_terminal(pipe, pipe, pipe, {}).size == (80, 24)
    assert terminal(columns=100, rows=30).size == (100, 30)


def test_no_theme_uses_bright_yellow_or_white() -> None:
    backgrounds: tuple[Background, ...] = ("dark", "light", "unknown")
    for name in (*THEMES, "no such theme"):
        for background in backgrounds:
            theme = choose_theme(name, background, Colours.ANSI)
            words = " ".join(theme.styles.values()).split()
            assert not {"yellow", "white", "black", "bright_yellow"} & set(words)


def test_without_colours_no_style_names_one() -> None:
    theme = choose_theme("dark", "dark", Colours.NONE)

    assert not {"red", "green", "cyan", "blue"} & set(" ".join(theme.styles.values()).split())
    assert choose_theme("auto", "light", Colours.ANSI).rich("code") == "blue"
    assert choose_theme("auto", "dark", Colours.ANSI).toolkit("error") == "ansired"
