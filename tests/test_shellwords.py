"""What is printed to be pasted is one line, and a real shell reads it as what was meant."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.sanitize import safe_text
from agentsh.shellwords import shell_line, shell_word
from agentsh.tools.approval.rules import covers, parse_rule, rule_hint
from agentsh.views.describe import allow_hint
from tests.support.shellreading import WORDS, words_of_a_shell

AGENTSH = Path(__file__).parent.parent / "agentsh"


@given(st.lists(WORDS, min_size=1, max_size=5))
@settings(max_examples=60)
def test_q06_a_shell_reads_the_line_as_these_words(words: list[str]) -> None:
    line = shell_line(words)

    assert words_of_a_shell(line) == words
    assert line.isprintable()
    assert safe_text(line) == line


def test_half_of_a_pair_is_no_error() -> None:
    assert words_of_a_shell(shell_word("a\ud800b")) == ["a\ufffdb"]


@given(st.sampled_from(["awk '{print $1}'", "git log --format='%h  %s'", "rm -rf a", "ls"]) | WORDS)
@settings(max_examples=60)
def test_q06_the_rule_that_a_refusal_proposes_is_valid_and_covers_the_command(command: str) -> None:
    if not command.strip():
        return
    told = allow_hint(rule_hint(command))

    line = told.removeprefix("run it with ").removesuffix(" or --approve all to allow it")
    option, rule = words_of_a_shell(line)

    assert option == "--allow"
    assert covers(parse_rule(rule), command)


def test_nobody_else_quotes_for_a_shell() -> None:
    quoting = re.compile(r"shlex\.(?:join|quote)|from shlex import")
    homes = [p.name for p in AGENTSH.rglob("*.py") if quoting.search(p.read_text("utf-8"))]

    assert homes == ["shellwords.py"]
