"""The theme that the settings name: one of ours, a file of that name, or a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.cli.assembly.themes import theme_in_force, theme_path
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.setup.configuration import Configuration, configure
from agentsh.ui.terminal import Colours
from agentsh.ui.theme import choose_theme
from tests.ui.screens import terminal

TARGET = terminal(colours=Colours.TRUE)
AUTO = choose_theme("auto", "dark", Colours.TRUE)


def configured(home: Path, theme: str) -> Configuration:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(f"[ui]\ntheme = '{theme}'\n")
    return configure(ModelOptions(), {"AGENTSH_HOME": str(home), "HOME": str(home)}, home)


def test_a_name_of_ours_is_ours(tmp_path: Path) -> None:
    theme, notices = theme_in_force(configured(tmp_path, "contrast"), TARGET)

    assert theme == choose_theme("contrast", "dark", Colours.TRUE)
    assert notices == []


@pytest.mark.parametrize("name", ["marsh", "themes/marsh.toml"])
def test_a_name_or_a_path_is_a_file_beside_the_settings(tmp_path: Path, name: str) -> None:
    (tmp_path / "themes").mkdir()
    (tmp_path / "themes/marsh.toml").write_text('[roles]\nuser = "underline #87afff"\n')
    theme, notices = theme_in_force(configured(tmp_path, name), TARGET)

    assert theme.rich("user") == "underline #87afff"
    assert notices == []


def test_a_whole_path_is_that_file(tmp_path: Path) -> None:
    assert theme_path("/a/b.toml", tmp_path) == Path("/a/b.toml")
    assert theme_path("b.toml", tmp_path) == tmp_path / "b.toml"


def test_a_theme_that_is_wrong_or_missing_is_told_and_auto_is_used(tmp_path: Path) -> None:
    (tmp_path / "themes").mkdir()
    file = tmp_path / "themes/marsh.toml"
    file.write_text('[roles]\nuser = "bold"\nquite = "dim"\n')
    theme, (words, hint) = theme_in_force(configured(tmp_path, "marsh"), TARGET)
    assert theme == AUTO
    assert words == f"{file}:3: there is no role quite; the theme is auto"
    assert "quiet" in hint

    file.write_bytes(b"\xff")
    assert theme_in_force(configured(tmp_path, "marsh"), TARGET)[1] == [
        f"{file}: a theme is UTF-8 text; the theme is auto"
    ]

    theme, (words, hint) = theme_in_force(configured(tmp_path, "bog"), TARGET)
    assert theme == AUTO
    assert "bog.toml: no theme can be read: No such file" in words
    assert "themes/NAME.toml" in hint
