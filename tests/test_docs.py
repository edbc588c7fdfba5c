"""The pages say what the program does: the command page, the README's commands, the decisions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.clidoc import PAGE, page
from tests.support.readme import setup_commands

ROOT = Path(__file__).resolve().parent.parent
DECISIONS = sorted((ROOT / "docs/adr").glob("*.md"))


def test_the_command_page_is_what_the_commands_say() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: python -m tests.support.clidoc"


def test_the_readme_is_short_and_has_two_commands() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")

    assert readme.count("\n") <= 120
    assert len(setup_commands(readme)) == 2


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.name)
def test_a_decision_is_short_and_says_context_decision_consequence(path: Path) -> None:
    text = path.read_text("utf-8")

    assert text.startswith(f"# {path.name[:4]} ")
    assert text.count("\n") <= 40
    assert [w for w in ("Context", "Decision", "Consequence") if w not in text] == []


def test_no_two_decisions_share_a_number() -> None:
    numbers = [path.name[:4] for path in DECISIONS]

    assert len(set(numbers)) == len(numbers)


def test_a_decision_that_the_code_names_is_written() -> None:
    named = {
        number
        for path in (ROOT / "agentsh").rglob("*.py")
        for number in re.findall(r"docs/adr/(\d{4})", path.read_text("utf-8"))
    }

    assert named - {path.name[:4] for path in DECISIONS} == set()
