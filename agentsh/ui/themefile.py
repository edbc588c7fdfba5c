"""A theme of somebody's own: TOML text → theme. Pure; it stands alone, since few need tomllib.

    base = "dark"              # auto, dark, light, contrast, none: what is not named below

    [roles]
    user = "bold #87afff"      # attributes, a colour, `on` and a colour

Read next: theme.py, cli/assembly/themes.py.
"""

from __future__ import annotations

from agentsh.errors import SettingsError
from agentsh.settingstext import line_of, read_table
from agentsh.ui.palettes import ATTRIBUTES
from agentsh.ui.terminal import Background, Colours
from agentsh.ui.theme import ROLES, THEMES, Role, Theme, choose_theme, style_misfit, with_styles


def read_theme(text: str, file: str, background: Background, colours: Colours) -> Theme:
    """Raises SettingsError with file and line."""
    table = read_table(text, file)

    def wrong(message: str, *path: str, hint: str | None = None) -> SettingsError:
        return SettingsError(message, file=file, line=line_of(text, path), hint=hint)

    for key in table:
        if key not in ("base", "roles"):
            raise wrong(f"a theme has no {key}", key, hint="it has `base` and a table `[roles]`")
    base, given = table.get("base", "auto"), table.get("roles", {})
    if base not in THEMES:
        raise wrong(f"base must be one of {', '.join(THEMES)}", "base")
    if not isinstance(given, dict):
        raise wrong("roles must be a table", "roles")
    roles: dict[str, Role] = {role: role for role in ROLES}
    styles: dict[Role, str] = {}
    for name, style in given.items():
        if name not in roles:
            hint = f"the roles are {', '.join(ROLES)}"
            raise wrong(f"there is no role {name}", "roles", name, hint=hint)
        if not isinstance(style, str) or (misfit := style_misfit(style)) is not None:
            expected = "a text" if not isinstance(style, str) else f"a style; {misfit!r} is none"
            hint = f"{', '.join(ATTRIBUTES)}, red, bright_red, #ff8787, on #303030"
            raise wrong(f"{name} must be {expected}", "roles", name, hint=hint)
        styles[roles[name]] = style
    if colours is Colours.NONE:
        return choose_theme("none", background, colours)
    return with_styles(choose_theme(str(base), background, colours), styles)
