"""A setting of config.toml is changed, and nothing else in the file (`/settings`)."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.cli.setup.changing import SettingsChange, with_setting, with_table
from agentsh.cli.setup.explaining import every_setting
from agentsh.errors import RefusedError, SettingsError

FILE = Path("config.toml")
OLD = """\
# mine
[ui]
bell = false  # quiet "here" # yes
status = [
  "model",
]

[models."a.b"]
"""


@pytest.mark.parametrize(
    ("name", "typed", "old", "new"),
    [
        ("ui.bell", "true", "bell = false  #", "bell = true  #"),
        ("ui.theme", "dark", "[ui]\n", '[ui]\ntheme = "dark"\n'),
        ("ui.theme", '"dark"', "[ui]\n", '[ui]\ntheme = "dark"\n'),
        ("ui.status", '["cost"]', '[\n  "model",\n]', '["cost"]'),
        ("ui.status", "", 'status = [\n  "model",\n]\n', ""),
        ("models.a.b.images", "true", '[models."a.b"]\n', '[models."a.b"]\nimages = true\n'),
        ("models.c/d.tools", "false", "", '\n[models."c/d"]\ntools = false\n'),
        ("cost.stop", "5", "", "\n[cost]\nstop = 5\n"),
    ],
)
def test_one_setting_changes_and_the_rest_stays(name: str, typed: str, old: str, new: str) -> None:
    after = with_setting(FILE, OLD, name, typed).after

    assert after == (OLD.replace(old, new, 1) if old else OLD + new)


def test_what_is_no_setting_or_of_another_type_is_refused_with_words() -> None:
    for name, typed in [("ui.nosuch", "1"), ("ui.bell", "maybe"), ("nosuch.x", "1"), ("ui", "1")]:
        with pytest.raises(SettingsError):
            with_setting(FILE, OLD, name, typed)
    with pytest.raises(SettingsError, match="is written in a way"):
        with_setting(FILE, "ui = { bell = true }\n", "ui.theme", "dark")


OTHERS = st.lists(
    st.sampled_from(
        [
            "# words = 1",
            "",
            "[ui]",
            "[cost]\nwarn = 1.5 # [ui]",
            "[endpoint]\nmodel = '''\n[ui]\n'''",
        ]
    ),
    unique=True,
)


@given(OTHERS, st.sampled_from(["auto", "dark", "a#b", "a'\"b", "[x]"]), st.booleans())
def test_a_value_reads_back_and_each_other_line_is_there(
    parts: list[str], theme: str, closed: bool
) -> None:
    before = "\n".join(parts) + ("\n" if closed and parts else "")
    after = with_setting(FILE, before, "ui.theme", theme).after
    again = with_setting(FILE, after, "ui.theme", "light").after

    assert tomllib.loads(after)["ui"]["theme"] in (theme, "light" if theme == "light" else theme)
    assert [line for line in before.split("\n") if line and line not in after.split("\n")] == []
    assert tomllib.loads(again)["ui"] == {"theme": "light"}


@pytest.mark.parametrize("each", every_setting(), ids=lambda each: each.name)
def test_each_setting_takes_its_example(each: object) -> None:
    name = getattr(each, "name").replace("NAME", "far").replace("ID", "m")  # noqa: B009
    value = getattr(each, "example").partition(" = ")[2]  # noqa: B009

    assert "=" in with_setting(FILE, OLD, name, value).after


def test_a_file_that_was_changed_meanwhile_or_is_a_link_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[ui]\n")
    change = with_setting(file, "[ui]\n", "ui.bell", "false")
    file.write_text("[ui]\nvi = true\n")
    with pytest.raises(RefusedError, match="was changed"):
        change.write()
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    with pytest.raises(RefusedError, match="is a link"):
        SettingsChange(link, "", "x = 1\n").write()
    with_table(file, file.read_text(), "[cost]\nwarn = 1\n").write()
    assert file.read_text() == "[ui]\nvi = true\n\n[cost]\nwarn = 1\n"


def test_what_differs_is_told_by_lines() -> None:
    told = list(with_setting(FILE, OLD, "ui.bell", "true").lines())

    assert [mark for mark, _ in told] == ["-", "+"]
    assert told[1][1] == '   3 + bell = true  # quiet "here" # yes'
