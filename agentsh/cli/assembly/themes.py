"""The theme that the settings name: one of agentsh's own, or a file, read here and nowhere else.

A file that is missing or wrong is told, and no reason not to start. It reads one small file.
Read next: ui/theme.py, ui/themefile.py.
"""

from __future__ import annotations

from pathlib import Path

from agentsh.cli.setup.configuration import Configuration
from agentsh.errors import AgentshError, SettingsError
from agentsh.files import from_home, read_foreign
from agentsh.ui.terminal import Terminal
from agentsh.ui.theme import THEMES, Theme, choose_theme

_LARGEST = 1 << 16


def theme_in_force(configuration: Configuration, terminal: Terminal) -> tuple[Theme, list[str]]:
    """The theme, and what to say of it."""
    name = configuration.settings.ui.theme
    background, colours = terminal.background, terminal.colours
    if name in THEMES:
        return choose_theme(name, background, colours), []
    from agentsh.ui.themefile import read_theme

    file = theme_path(name, configuration.places.config)
    try:
        text = _text_of(file)
        return read_theme(text, str(file), background, colours), []
    except AgentshError as e:
        notices = [f"{e}; the theme is auto", *([e.hint] if e.hint else [])]
        return choose_theme("auto", background, colours), notices


def theme_path(name: str, folder: Path) -> Path:
    """A path counts from `folder`, where the settings are; a NAME is themes/NAME.toml there."""
    if "/" in name or name.endswith(".toml"):
        return folder / from_home(name)
    return folder / "themes" / f"{name}.toml"


def _text_of(file: Path) -> str:
    hint = f"[ui] theme is one of {', '.join(THEMES)}, a NAME of themes/NAME.toml, or a path"
    try:
        return read_foreign(file, _LARGEST).decode("utf-8")
    except OSError as e:
        reason = e.strerror or type(e).__name__
        raise SettingsError(f"no theme can be read: {reason}", file=str(file), hint=hint) from e
    except UnicodeDecodeError as e:
        raise SettingsError("a theme is UTF-8 text", file=str(file)) from e
