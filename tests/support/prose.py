"""What the source says in words: comments and docstrings with their lines, and public names."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCE: Final = tuple(sorted((ROOT / "agentsh").rglob("*.py")))
TESTS: Final = tuple(sorted((ROOT / "tests").rglob("*.py")))

_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def head_of(path: Path) -> str:
    return ast.get_docstring(tree_of(path)) or ""


@cache
def prose(path: Path) -> tuple[tuple[int, str], ...]:
    """Line → text: comments as they stand, docstrings line by line."""
    return (*_comments(path), *_docstrings(path))


def _comments(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text("utf-8")
    if "#" not in text:
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _docstrings(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree_of(path)):
        if not isinstance(node, _DOCUMENTED) or not node.body:
            continue
        first = node.body[0]
        if (
            isinstance(first, ast.Expr)
            and isinstance(first.value, ast.Constant)
            and isinstance(first.value.value, str)
        ):
            for number, text in enumerate(first.value.value.split("\n")):
                yield first.lineno + number, text


def defined(tree: ast.Module) -> Iterator[str]:
    """The public names that a module binds at its top."""
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (t.id for t in targets if isinstance(t, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name


@cache
def homes() -> dict[str, frozenset[str]]:
    """Public top-level name → the modules that define it."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in SOURCE:
        for name in defined(tree_of(path)):
            if not name.startswith("_"):
                found[name].add(name_of(path))
    return {name: frozenset(modules) for name, modules in found.items()}
