"""Writes docs/settings.md from the code: `python -m tests.support.settingsdoc`."""

from __future__ import annotations

from pathlib import Path

from agentsh.cli.setup.explaining import every_setting

PAGE = Path(__file__).resolve().parents[2] / "docs" / "settings.md"
_HEAD = """\
# Settings

Made from the code by `python -m tests.support.settingsdoc`: edit `agentsh/cli/setup/explaining.py`,
not this page. They stand in `config.toml` (`agentsh config` says where that is, and where every
value comes from; `agentsh config --explain NAME` shows one; `/settings` in a chat changes them,
after it has shown what differs; `/reload` reads them anew). A project's `.agentsh/config.toml` has
the same names and counts once you trusted it. The environment (`OPENAI_BASE_URL`, `AGENTSH_MODEL`)
wins over files, options win over all.

An `[endpoints.NAME]` has what `[endpoint]` has, but for `use`; `-m NAME/ID` asks it.
"""


def settings_page() -> str:
    """The page as it must be."""
    parts = [_HEAD]
    table = ""
    for each in every_setting():
        section = each.name.rpartition(".")[0]
        if section == "endpoints.NAME":
            continue
        if section != table:
            table = section
            parts.append(f"\n## [{section}]\n\n| setting | for | type | default | example |\n")
            parts.append("|---|---|---|---|---|\n")
        key = each.name.rpartition(".")[2]
        example = each.example.split("\n")[1]
        parts.append(f"| `{key}` | {each.what} | {each.type} | `{each.default}` | `{example}` |\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(settings_page(), "utf-8")
