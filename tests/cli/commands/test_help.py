"""`help`: the docs themselves, the commands' own words, a man page."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from agentsh.cli.commands.help_ import TOPICS
from agentsh.cli.parsing.program import COMMANDS
from tests.cli.program import agentsh
from tests.support import clidoc

DOCS = Path(__file__).parent.parent.parent.parent / "docs"


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_is_its_page_word_for_word(topic: str) -> None:
    assert agentsh("help", topic).out == (DOCS / TOPICS[topic][0]).read_text("utf-8")


def test_without_a_topic_they_are_listed() -> None:
    listed = agentsh("help").out

    assert [topic for topic in TOPICS if f"  {topic} " not in listed] == []


def test_of_a_command_it_is_its_help() -> None:
    assert agentsh("help", "export").out == agentsh("export", "--help").out


def test_what_a_command_does_is_listed_whole_on_eighty_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clidoc, "WIDTH", "80")
    lists = [clidoc.help_of(), *(clidoc.help_of(name) for name in COMMANDS)]

    listed = [line for each in lists for line in each.partition("\nCommands:\n")[2].split("\n")]

    assert [line for line in listed if line.endswith("...")] == []


def test_another_word_is_wrong_use() -> None:
    assert agentsh("help", "nonsense").code == 2


def test_the_pages_are_shipped() -> None:
    shipped = (DOCS.parent / "pyproject.toml").read_text("utf-8")

    for page, _ in TOPICS.values():
        assert f'"docs/{page}" = "agentsh/cli/manual/{page}"' in shipped


def test_the_man_page_names_every_command_and_is_sound(tmp_path: Path) -> None:
    page = agentsh("help", "man").out

    assert ".SS agentsh run" in page
    assert ".SS agentsh sessions archive" in page
    assert not [line for line in page.split("\n") if line.startswith((".", "'")) and line[1] == " "]
    if (groff := shutil.which("groff")) is not None:
        checked = subprocess.run(
            [groff, "-man", "-Tutf8", "-ww", "-z"],
            input=page,
            capture_output=True,
            text=True,
            check=True,
        )
        assert checked.stderr == ""
