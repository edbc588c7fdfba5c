"""Colours by what they mean, for every background: one table, spelled for rich and prompt_toolkit.

Body text has no colour of its own (U15b): it is the terminal's foreground. The sixteen colours of
the terminal are used, which its owner has chosen to be readable; never bright yellow or white, and
blue only on light, cyan only on dark. Pure; imports neither library.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from agentsh.ui.terminal import Background, Colours

NAMES = ("auto", "dark", "light", "contrast", "none")
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
    "mark",
]

_SHARED: dict[Role, str] = {
    "plain": "",
    "user": "bold",
    "tool": "bold",
    "quiet": "dim",
    "ok": "green",
    "error": "red",
    "warn": "magenta",
    "code": "cyan",
    "heading": "bold",
    "added": "green",
    "removed": "red",
    "mark": "reverse",
}
_LIGHT: dict[Role, str] = {**_SHARED, "code": "blue"}
_CONTRAST: dict[Role, str] = {
    **_SHARED,
    "quiet": "",
    "ok": "bold",
    "error": "bold reverse",
    "warn": "bold",
    "code": "bold",
    "added": "bold",
    "removed": "underline",
}
_NONE: dict[Role, str] = {
    **_CONTRAST,
    "quiet": "dim",
    "code": "bold",
    "error": "bold",
}


class Theme(Struct, frozen=True):
    """`code_theme` is the pygments theme for code; both use the terminal's own sixteen colours."""

    styles: dict[Role, str]
    code_theme: str

    def __hash__(self) -> int:
        return hash(tuple(self.styles.values()))

    @property
    def roles(self) -> tuple[Role, ...]:
        return tuple(self.styles)

    def rich(self, role: Role) -> str:
        return self.styles[role] or "none"

    def toolkit(self, role: Role) -> str:
        """The same for prompt_toolkit, whose names of the terminal's colours begin with "ansi"."""
        words = self.styles[role].split()
        return " ".join(_TOOLKIT.get(word, word) for word in words)


_TOOLKIT = {
    "red": "ansired",
    "green": "ansigreen",
    "cyan": "ansicyan",
    "blue": "ansiblue",
    "magenta": "ansimagenta",
    # prompt_toolkit knows "dim" only from 3.0.50 on
    "dim": "",
}


def choose(name: str, background: Background, colours: Colours) -> Theme:
    """The theme that was asked for; `auto`, and what is no name, follow the background."""
    if colours is Colours.NONE or name == "none":
        return Theme(_NONE, "ansi_dark")
    if name == "contrast":
        return Theme(_CONTRAST, "ansi_light" if background == "light" else "ansi_dark")
    if name == "light" or (name != "dark" and background == "light"):
        return Theme(_LIGHT, "ansi_light")
    return Theme(_SHARED, "ansi_dark")
