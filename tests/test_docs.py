"""The pages say what the program does: the command page, the README's commands, the decisions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.program import agentsh
from tests.support.clidoc import PAGE, page
from tests.support.readme import setup_commands

ROOT = Path(__file__).resolve().parent.parent
DECISIONS = sorted((ROOT / "docs/adr").glob("*.md"))
EXAMPLES = sorted((ROOT / "sessions.example").glob("*.jsonl"))


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


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_session_is_sound_opens_in_every_view_and_replays(path: Path) -> None:
    before = path.read_bytes()

    for words in (
        ["verify", str(path)],
        ["tree", "--plain", str(path)],
        ["replay", "--check", str(path)],
        *(["show", str(path), "--view", view] for view in ("chat", "trace", "model", "raw")),
    ):
        ended = agentsh(*words)
        assert (words, ended.code, ended.err) == (words, 0, "")
    assert path.read_bytes() == before


def test_the_examples_hold_what_their_page_says() -> None:
    texts = {path.stem: path.read_text("utf-8") for path in EXAMPLES}

    assert '"customType":"agentsh.nav"' in texts["branched"]
    assert '"type":"label"' in texts["branched"]
    assert '"type":"compaction"' in texts["compacted"]
    assert '"type":"branch_summary"' in texts["compacted"]
    assert '"customType":"agentsh.repair"' in texts["repaired"]


def test_the_readmes_screen_of_a_tree_is_the_examples() -> None:
    shown = agentsh("tree", "--plain", str(ROOT / "sessions.example/branched.jsonl")).out

    assert shown in (ROOT / "README.md").read_text("utf-8")
