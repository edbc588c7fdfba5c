"""The rules of docs/contributing.md that no linter knows: sizes, heads, purity, names in the docs.

Who may import whom is import-linter's (pyproject.toml).
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = sorted((ROOT / "agentsh").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 40

# what does input or output, and so is not for a pure package
IMPURE = {"asyncio", "io", "os", "pathlib", "random", "shutil", "socket", "subprocess", "sys"}
IMPURE |= {"tempfile", "threading", "time", "uuid", "open", "print", "input"}
PURE = [
    *(ROOT / "agentsh/context").glob("*.py"),
    *(ROOT / "agentsh" / name for name in ("errors.py", "jsontext.py", "messages.py")),
    *(ROOT / "agentsh" / name for name in ("settings.py", "settingstext.py")),
    *(ROOT / "agentsh/session" / name for name in ("codec.py", "entries.py", "facts.py")),
    *(ROOT / "agentsh/session" / name for name in ("messagecodec.py", "repair.py", "tree.py")),
    *(ROOT / "agentsh/providers" / name for name in ("base.py", "chat.py", "sse.py")),
]

# identifiers that the code may not use for what has a name of its own (docs/glossary.md)
DRAWERS = {"utils", "util", "helpers", "helper", "common", "core", "misc", "types", "manager"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@pytest.mark.parametrize("path", SOURCE, ids=name_of)
def test_a_module_is_of_a_size_one_can_read(path: Path) -> None:
    lines = len(path.read_text("utf-8").split("\n")) - 1

    assert lines <= MOST_LINES, f"{name_of(path)} has {lines} lines: split it by concept"


@pytest.mark.parametrize("path", TESTS, ids=name_of)
def test_a_test_module_is_of_a_size_one_can_read(path: Path) -> None:
    lines = len(path.read_text("utf-8").split("\n")) - 1

    assert lines <= MOST_LINES, f"{name_of(path)} has {lines} lines: split it by claim"


def long_functions(path: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > MOST_LINES_OF_A_FUNCTION:
                yield f"{name_of(path)}:{node.lineno} {node.name} has {lines} lines"


def test_a_function_fits_on_a_screen() -> None:
    assert [text for path in SOURCE for text in long_functions(path)] == []


@pytest.mark.parametrize("path", SOURCE, ids=name_of)
def test_a_module_begins_with_what_it_is_for(path: Path) -> None:
    head = ast.get_docstring(tree_of(path))

    assert head, f"{name_of(path)} has no docstring: purpose, invariant, what it does not do"


@pytest.mark.parametrize(
    "path",
    [p for p in SOURCE if p.name == "__init__.py" and p.parent.name != "agentsh"],
    ids=name_of,
)
def test_a_package_holds_a_docstring_and_nothing_else(path: Path) -> None:
    [only] = tree_of(path).body

    assert isinstance(only, ast.Expr)


def test_the_root_package_imports_nothing() -> None:
    body = tree_of(ROOT / "agentsh/__init__.py").body

    assert not [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]


@pytest.mark.parametrize("path", [p for p in PURE if p.exists()], ids=name_of)
def test_a_pure_module_does_no_input_or_output(path: Path) -> None:
    used = {name.partition(".")[0] for name in imported(tree_of(path))}
    used |= {
        node.func.id
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }

    assert not used & IMPURE, f"{name_of(path)} is pure: facts are handed in"


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("path", [p for p in SOURCE if "cli" not in p.parts], ids=name_of)
def test_only_the_cli_looks_at_argv_and_environment(path: Path) -> None:
    found = [
        f"{name_of(path)}:{node.lineno} {node.value.id}.{node.attr}"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in {("os", "environ"), ("os", "getenv"), ("sys", "argv")}
    ]

    assert found == ([] if path.name != "__main__.py" else [f for f in found if "argv" in f])


def test_no_module_is_a_drawer() -> None:
    assert [name_of(p) for p in SOURCE if p.stem in DRAWERS or p.parent.name in DRAWERS] == []


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", documents(), ids=name_of)
def test_a_document_names_only_modules_and_files_that_exist(path: Path) -> None:
    text = path.read_text("utf-8")
    named = set(re.findall(r"`((?:agentsh|tests|docs|\.ci)/[\w./-]*\w)/?`", text))
    named |= {
        f"agentsh/{found}"
        for found in re.findall(
            r"`((?:session|context|providers|tools|agent|ui|cli)/\w+\.py)`", text
        )
    }
    named |= {f"docs/{found}" for found in re.findall(r"\]\((?!http)([\w./-]+\.md)", text)}

    missing = [
        n for n in sorted(named) if not (ROOT / n).exists() and not (path.parent / n[5:]).exists()
    ]
    assert missing == []


def test_no_commit_tracks_what_is_made() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert not re.findall(r"(?m)^.*(?:__pycache__|\.pyc|\.egg-info|\.whl|\.gguf).*$", listed.stdout)
