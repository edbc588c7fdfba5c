"""docs/rules.md and the source agree: what is cited is there, what is there is cited or tested.

And nothing in the source sends its reader to a document that the repository does not have.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache

from tests import rules
from tests.support.prose import ROOT, SOURCE, TESTS, name_of, prose, tree_of

PAGE = ROOT / "docs/rules.md"
CHECKS = ROOT / "tests/checks.txt"

# a letter and two digits, perhaps a letter for a case; barriers and facts of Pi have one digit
_CODE = re.compile(
    r"(?<![\w.#:\\+-])((?:[EHILNQRSTUWX]\d\d|[BP]\d)[a-z]?)(?:-([A-Z]\d\d))?(?![\w:])"
)
_TEST = re.compile(r"test_([ehilnqrstuwx]\d\d[a-z]?|[bp]\d)_")

# Markdown that agentsh reads or writes for its users, wherever it lies: no documents of ours
FOREIGN = {"AGENTS.md", "CLAUDE.md", "README.md", "FILE.md", "SKILL.md", "NAME.md"}


def codes(text: str) -> Iterator[str]:
    """The codes in a text; `R11-R13` is three."""
    for first, last in _CODE.findall(text):
        yield first
        if last:
            letter, end = last[0], int(last[1:])
            yield from (f"{letter}{number:02}" for number in range(int(first[1:3]) + 1, end + 1))


@cache
def listed() -> tuple[str, ...]:
    """The codes of the page, in its order."""
    heads = re.findall(r"(?m)^- ((?:\*\*\w+\*\* )+)\S", PAGE.read_text("utf-8"))
    return tuple(code for head in heads for code in re.findall(r"\w+", head))


def rule(code: str) -> str:
    """The rule that a code means: itself, or the one that it is a case of."""
    return code if code in listed() else code.rstrip("abcdefghijklmnopqrstuvwxyz")


@cache
def cited() -> dict[str, str]:
    """Code → the first place that cites it: comments, docstrings, names of tests."""
    places: dict[str, str] = {}
    for path in (*SOURCE, *TESTS):
        for line, text in prose(path):
            for code in codes(text):
                places.setdefault(code, f"{name_of(path)}:{line}")
    for path in TESTS:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef) and (named := _TEST.match(node.name)):
                code = named[1][0].upper() + named[1][1:]
                places.setdefault(code, f"{name_of(path)}:{node.lineno}")
    return places


def checks() -> list[str]:
    lines = (line.partition("#")[0].strip() for line in CHECKS.read_text("utf-8").split("\n"))
    return [line for line in lines if line]


def test_a_code_that_is_cited_is_a_rule_of_the_page() -> None:
    missing = {code: place for code, place in cited().items() if rule(code) not in listed()}

    assert not missing, "\n".join(
        f"docs/rules.md: add a line `- **{code}** …` for what {place} cites"
        for code, place in sorted(missing.items())
    )


def test_a_rule_of_the_page_is_cited_or_tested() -> None:
    shown = {rule(code) for code in cited()} | set(rules.TESTS) | set(rules.ELSEWHERE)
    idle = [
        code
        for code in listed()
        if code not in shown and not any(fnmatchcase(code, pattern) for pattern in checks())
    ]

    assert idle == [], "neither cited in the source nor tested: drop it, or cite it where it holds"


def test_each_rule_of_the_first_hour_has_a_test_of_its_name() -> None:
    names = {
        node.name[5:8]
        for path in TESTS
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_q")
    }

    assert names >= {code.lower() for code in listed() if code[0] == "Q"}


def test_a_rule_has_one_line() -> None:
    assert sorted(listed()) == sorted(set(listed()))


def test_a_line_of_the_page_is_one_rule() -> None:
    lines = PAGE.read_text("utf-8").split("\n")

    assert [line for line in lines if line.startswith("- ") and not line.startswith("- **")] == []
    assert [line for line in lines if line.startswith(" ")] == []


def test_codes_are_found_in_words() -> None:
    text = "(E13-E15, S06b) R46b; B1 and P3, not U+0041, B006, 12T10:00 or W3C"

    assert list(codes(text)) == ["E13", "E14", "E15", "S06b", "R46b", "B1", "P3"]


def test_the_source_names_no_document_that_is_not_here() -> None:
    known = {page.name for page in (ROOT / "docs").rglob("*.md")} | FOREIGN
    lost = [
        f"{name_of(path)}:{line}: {named}"
        for path in (*SOURCE, *TESTS)
        for line, text in prose(path)
        for named in re.findall(r"(?<![\w./-])(?:docs/(?:adr/)?)?[\w-]+\.md\b", text)
        if not ((ROOT / named).exists() if "/" in named else named in known)
    ]
    # a paragraph is of a page of ours or of a public standard, named on the same line
    lost += [
        f"{name_of(path)}:{line}: {text.strip()}"
        for path in (*SOURCE, *TESTS)
        for line, text in prose(path)
        if re.search(r"§|\b[A-C]\.\d+\b", text) and not re.search(r"docs/[\w-]+\.md|RFC \d", text)
    ]

    assert lost == []
