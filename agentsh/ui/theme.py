"""Looks by what they mean, for every background: a theme, spelled for rich and prompt_toolkit.

Body text has no colour of its own (U15b): it is the terminal's foreground. What a terminal can show
decides how a theme is made: of palettes.py where there are 256 colours or more and the background
is known or named; else of the sixteen colours of the terminal, which its owner has chosen to be
readable. Pure; imports neither library. Read next: palettes.py, themefile.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, get_args

from msgspec import Struct

from agentsh.ui.palettes import ANSI, ATTRIBUTES, BY_ATTRIBUTES, PALETTES, TINTS
from agentsh.ui.terminal import Background, Colours

THEMES = ("auto", "dark", "light", "contrast", "none")
Role: TypeAlias = Literal[
    "plain",
    "user",
    "tool",
    "quiet",
    "ok",
    "error",
    "warn",
    "code",
    "heading",
    "added",
    "removed",
    "added_line",
    "removed_line",
    "added_word",
    "removed_word",
    "mark",
    "keyword",
    "string",
    "comment",
    "number",
    "name",
    "thought",
]
ROLES: Final[tuple[Role, ...]] = get_args(Role)


class Theme(Struct, frozen=True):
    """A style for each role, such as `bold red on blue`. An empty one is plain text."""

    styles: dict[Role, str]

    def __hash__(self) -> int:
        return hash(tuple(self.styles.values()))

    @property
    def roles(self) -> tuple[Role, ...]:
        return tuple(self.styles)

    @property
    def tints_lines(self) -> bool:
        """The lines of a difference are told by their background: code keeps its own colours."""
        return bool(self.styles["added_line"] or self.styles["removed_line"])

    def rich(self, role: Role) -> str:
        return self.styles[role] or "none"

    def toolkit(self, role: Role) -> str:
        """The same for prompt_toolkit."""
        styles: list[str] = []
        ground = False
        for word in self.styles[role].split():
            if word == "on":
                ground = True
                continue
            # prompt_toolkit knows "dim" only from 3.0.50 on
            name = "" if word == "dim" else _toolkit_colour(word)
            styles.append(f"bg:{name}" if ground else name)
            ground = False
        return " ".join(word for word in styles if word)


def choose_theme(name: str, background: Background, colours: Colours) -> Theme:
    """The theme of that name, or of an unknown name or `auto` the one that fits the background."""
    if colours is Colours.NONE or name == "none":
        return _theme(BY_ATTRIBUTES["none"])
    ground = name if name in ("dark", "light") else background
    if name == "contrast":
        if colours < Colours.EIGHT_BIT or ground == "unknown":
            return _theme(BY_ATTRIBUTES["contrast"])
        return _theme(PALETTES[f"contrast {ground}"], colours, f"contrast {ground}")
    if colours < Colours.EIGHT_BIT or ground == "unknown":
        return _theme(ANSI["light" if ground == "light" else "dark"])
    return _theme(PALETTES[ground], colours, ground)


def with_styles(theme: Theme, styles: Mapping[Role, str]) -> Theme:
    """The theme with other styles for these roles."""
    return Theme({**theme.styles, **styles})


def style_misfit(style: str) -> str | None:
    """The word of a style that is none; None where all are."""
    words = style.split()
    for number, word in enumerate(words):
        if word == "on":
            if number + 1 == len(words) or not _is_colour(words[number + 1]):
                return word
        elif word not in ATTRIBUTES and not _is_colour(word):
            return word
    return None


def _theme(styles: Mapping[str, str], colours: Colours = Colours.ANSI, palette: str = "") -> Theme:
    if colours is Colours.TRUE:  # with 256 colours a tint would be too strong
        styles = {**styles, **TINTS[palette]}
    return Theme({role: styles.get(role, "") for role in ROLES})


def _is_colour(word: str) -> bool:
    if word.startswith("#"):
        return len(word) == 7 and all(char in "0123456789abcdefABCDEF" for char in word[1:])
    return word.removeprefix("bright_") in _NAMES


_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")


def _toolkit_colour(word: str) -> str:
    """Its names of the terminal's colours begin with "ansi"; white and black are greys of it."""
    special = {
        "white": "ansigray",
        "bright_black": "ansibrightblack",
        "bright_white": "ansiwhite",
    }
    if word in special:
        return special[word]
    return f"ansi{word.replace('_', '')}" if _is_colour(word) and word[0] != "#" else word
