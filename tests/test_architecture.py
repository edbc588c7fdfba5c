"""The rules of docs/contributing.md that no linter knows: sizes, heads, purity, names in the docs.

Who may import whom is import-linter's (pyproject.toml).
"""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from agentsh.session.format.factcodec import PREFIX, names_of
from agentsh.session.format.facts import Fact
from tests.support import ratchets
from tests.support.prose import ROOT, SOURCE, TESTS, head_of, homes, name_of, prose, tree_of

MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 40
MOST_MODULES = 15
FEW_LINES = 60

# what does input or output, and so is nothing for a pure module
IMPURE = {"asyncio", "fcntl", "http", "io", "os", "pty", "random", "secrets", "select", "shutil"}
IMPURE |= {"signal", "socket", "sqlite3", "subprocess", "sys", "tempfile", "termios", "threading"}
IMPURE |= {"time", "urllib", "uuid", "httpcore", "httpx", "open", "print", "input"}
# of these modules the parts that only reckon
RECKONING = {"urllib.parse", "io.StringIO", "io.BytesIO"}
# what a Path or a clock does beside being a value
TOUCHING = {"read_text", "read_bytes", "write_text", "write_bytes", "unlink", "mkdir", "exists"}
TOUCHING |= {"is_file", "is_dir", "iterdir", "stat", "resolve", "rglob", "open", "touch", "now"}

# what raises PermissionError where a folder above is closed; agentsh/files.py asks the same
ASKED = {"exists", "is_file", "is_dir", "is_symlink", "is_mount"}
ASKED_HERE = {
    "agentsh/session/store/store.py: is_file": "a path that was named: the error says why",
    "agentsh/session/store/store.py: exists": "the same",
    "agentsh/tools/search/ls.py: is_dir": "of a listing's entry, and the error is caught",
    "agentsh/cli/setup/skills/walking.py: is_dir": "the same",
    "agentsh/cli/setup/skills/walking.py: is_symlink": "of what a listing named",
    "agentsh/tools/search/walking.py: is_symlink": "of a listing's entry, which knows it",
}

# a name with dots, as a fact has one in a file
FACT = re.compile(r"agentsh\.[\w.]*")

# names of files in the prose that are examples of somebody else's files
EXAMPLES = {"src/main.py", "manage.py"}

# identifiers that the code may not use for what has a name of its own (docs/glossary.md)
DRAWERS = {"utils", "util", "helpers", "helper", "common", "core", "misc", "types", "manager"}


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
    assert head_of(path), (
        f"{name_of(path)} has no docstring: purpose, invariant, what it does not do"
    )


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


def claims_purity(path: Path) -> bool:
    """Its own head says so, or that of a package that it lies in."""
    heads = [path, *(parent / "__init__.py" for parent in path.parents if parent != ROOT)]
    return any(re.search(r"(?i)\bpure\b", head_of(p)) for p in heads if p.is_file())


@pytest.mark.parametrize("path", [p for p in SOURCE if claims_purity(p)], ids=name_of)
def test_a_module_that_calls_itself_pure_does_no_input_or_output(path: Path) -> None:
    assert sorted(impurities(tree_of(path))) == [], (
        "facts are handed in, or the head says otherwise"
    )


def impurities(tree: ast.Module) -> Iterator[str]:
    for name in imported(tree):
        if name.partition(".")[0] in IMPURE and name not in RECKONING:
            yield name
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE:
                yield name
            case ast.Call(func=ast.Attribute(attr=name)) if name in TOUCHING:
                yield f".{name}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from pathlib import Path\nx = Path('a') / 'b'", []),
        ("from pathlib import Path\nx = Path('a').read_text()", [".read_text"]),
        ("from io import StringIO", []),
        ("from urllib.parse import urlsplit", []),
        ("import urllib.request", ["urllib.request"]),
        ("import os.path", ["os.path"]),
        ("x = open('a')", ["open"]),
        ("from datetime import datetime\nx = datetime.now()", [".now"]),
    ],
)
def test_what_is_no_pure_reckoning_is_seen(text: str, found: list[str]) -> None:
    assert list(impurities(ast.parse(text))) == found


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module in {"io", "urllib"}:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            else:
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


def levels() -> Counter[str]:
    """Folder → modules at its level."""
    return Counter(name_of(p.parent) for p in SOURCE if p.name != "__init__.py")


def test_a_room_holds_no_more_modules_than_one_can_keep_in_mind() -> None:
    crowded = {
        room: count
        for room, count in levels().items()
        if count > MOST_MODULES and room not in ratchets.LISTS
    }

    assert crowded == {}, "give these rooms of their own (docs/architecture.md)"


def importers() -> dict[Path, set[Path]]:
    """Module → the modules of agentsh that import it."""
    dotted = {name_of(p).removesuffix(".py").replace("/", "."): p for p in SOURCE}
    result: dict[Path, set[Path]] = {p: set() for p in SOURCE}
    for path in SOURCE:
        for node in ast.walk(tree_of(path)):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            for name in names:
                if name in dotted:
                    result[dotted[name]].add(path)
    return result


def unexplained() -> set[str]:
    """Small modules with one importer; one file a command (`agentsh …`) needs no reason."""
    return {
        name_of(path)
        for path, users in importers().items()
        if len(users) == 1
        and path.read_text("utf-8").count("\n") < FEW_LINES
        and not re.search(r"\bstands\s+alone\b|^`(?:agentsh|sessions) ", head_of(path))
    }


def test_a_small_module_with_one_importer_says_why_it_stands_alone() -> None:
    assert sorted(unexplained()) == [], (
        "merge it into its importer, or say in its head why it stands alone"
    )


def test_a_public_name_has_one_home() -> None:
    scattered = {
        name: sorted(modules)
        for name, modules in homes().items()
        if len(modules) > 1 and name not in ratchets.SHARED_NAMES
    }

    assert scattered == {}, "call it what only it is"


def spelled(path: Path) -> Iterator[str]:
    """The constants of a module, docstrings left aside, that name a fact or the family of all."""
    names = names_of(*Fact.__subclasses__())
    nodes = tuple(ast.walk(tree_of(path)))
    prose_of = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if not isinstance(node, ast.Constant) or id(node) in prose_of:
            continue
        value = node.value
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        if isinstance(text, str) and (text == PREFIX or names & set(FACT.findall(text))):
            yield text


def test_the_page_lists_the_rooms_in_the_order_that_is_checked() -> None:
    listed: dict[str, list[str]] = {}
    package = ""
    for line in (ROOT / "docs/architecture.md").read_text("utf-8").splitlines():
        if (row := re.match(r"\| (?:`(\w+)` )?\| ((?:`\w+`(?: · )?)+) \|", line)) is not None:
            package = row[1] or package
            listed.setdefault(package, []).extend(re.findall(r"\w+", row[2]))
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    for contract in contracts["contracts"]:
        if contract["type"] != "layers" or contract["containers"] == ["agentsh"]:
            continue
        package = contract["containers"][0].removeprefix("agentsh.")
        floors = {
            name: number
            for number, layer in enumerate(contract["layers"])
            for name in re.findall(r"\w+", layer)
            if (ROOT / "agentsh" / package / name).is_dir()
        }
        assert sorted(listed[package]) == sorted(floors), package
        assert sorted(listed[package], key=floors.__getitem__) == listed[package], package


def test_what_facts_are_called_in_a_file_is_spelled_by_their_codec_only() -> None:
    codec = ROOT / "agentsh" / "session" / "format" / "factcodec.py"
    elsewhere = [path for path in SOURCE if path != codec]

    assert {name_of(path): words for path in elsewhere if (words := [*spelled(path)])} == {}
    assert list(spelled(codec)) == [PREFIX]


def questions(path: Path) -> Iterator[str]:
    """Where a path is asked what it is by pathlib, or by an entry of a listing that is followed."""
    for node in ast.walk(tree_of(path)):
        match node:
            case ast.Call(ast.Attribute(_, attr), args=[], keywords=[]) if attr in ASKED:
                yield f"{name_of(path)}: {attr}"


def test_what_a_path_is_is_asked_where_a_closed_folder_is_no_crash() -> None:
    assert {found for path in SOURCE for found in questions(path)} == set(ASKED_HERE)


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


def test_a_file_that_the_prose_names_exists() -> None:
    missing = [
        f"{name_of(path)}:{line}: {named}"
        for path in (*SOURCE, *TESTS)
        if ".py" in path.read_text("utf-8")
        for line, text in prose(path)
        for named in re.findall(r"(?<![\w./~*<-])((?:[\w.-]+/)*[\w-]+\.py)\b", text)
        if named not in EXAMPLES and not is_there(named, path)
    ]
    assert missing == []


def is_there(named: str, path: Path) -> bool:
    """As the prose of `path` names it: from the root, from a package, or in its own package."""
    tops = [ROOT / "agentsh"] + [ROOT / "tests"] * (path in TESTS)
    if "/" in named:
        return any((top / named).is_file() for top in (ROOT, *tops))
    [top, package, *_] = path.relative_to(ROOT).parts
    homes = [ROOT / top / package] if (ROOT / top / package).is_dir() else []
    return (
        any(named in names_below(home) for home in [*homes, *([*tops] if path in TESTS else [])])
        or (ROOT / top / named).is_file()
    )


@cache
def names_below(home: Path) -> frozenset[str]:
    return frozenset(path.name for path in home.rglob("*.py"))


def test_no_commit_tracks_what_is_made() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert not re.findall(r"(?m)^.*(?:__pycache__|\.pyc|\.egg-info|\.whl|\.gguf).*$", listed.stdout)
