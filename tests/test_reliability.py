"""docs/reliability.md: complete, and every test that it names is there. Its cells: tests/e2e."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests import rules
from tests.reliability import PAGE, page, tables

_TESTS = Path(__file__).parent


def test_the_page_is_made_from_its_own_tables() -> None:
    assert page(*tables()) == PAGE.read_text("utf-8")


def test_each_rule_of_the_log_has_a_test_or_a_reason() -> None:
    expected = {f"R{number:02}" for number in range(1, 73)} | {"R46b"}

    assert set(rules.TESTS) | set(rules.ELSEWHERE) == expected
    assert not set(rules.TESTS) & set(rules.ELSEWHERE)


@cache
def _names(file: str) -> frozenset[str]:
    tree = ast.parse((_TESTS / file).read_text("utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("rule", rules.TESTS)
def test_a_test_that_is_named_for_a_rule_exists(rule: str) -> None:
    for named in rules.TESTS[rule]:
        file, _, test = named.partition("::")
        assert test in _names(file), named
