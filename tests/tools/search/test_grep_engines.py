"""ripgrep and the Python child, and which of them answers. Every test here fails where `rg` is not
installed: it is a dependency, so it is there."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from agentsh.errors import ToolError
from agentsh.jsontext import JsonObject
from agentsh.tools.search import engines
from agentsh.tools.search.grep import GrepTool
from tests.support.tooling import Bench, text_of

PYTHON = GrepTool(ripgrep=lambda _environ, _project: None)

PIECES = [
    *(b"foo", b"Foo", b"FOO", b"bar", b"_", b"1", b"k", b"s", b" ", b"\t", b"-", b".", b"("),
    *(b"\\", b"+", b"*", b"^", b"$", b"\xff", b"\xe2\x28", b"x" * 600, b"\x1c", b"[", b"]", b"{"),
    *(
        text.encode()
        for text in (
            "é",
            "É",
            "ß",
            "²",
            "\u0301",
            "हिन्दी",
            "\u212a",
            "ſ",
            "Ⓐ",
            "‿",
            "\u200d",
            "\xa0",
        )
    ),
]
# what both languages read alike; beyond it each pattern means what its engine says
PATTERNS = [
    *("foo", "fo+", "^foo", "foo$", "f.o", "a*", "foo|bar", "(foo|bar)+", "[^a-z]", "[a-z]1"),
    *(r"\(", r"\\", r"foo.*bar$", "x{500,}", "^.{3}$", r"\t", "é", "[é-ü]", r"\x41", "(?:foo)+b"),
]
BY_PYTHON = "[ripgrep is not installed; searched with Python's re]"


def content(draw: random.Random) -> bytes:
    out = b"\xef\xbb\xbf" if draw.random() < 0.1 else b""
    for _ in range(draw.randint(0, 8)):
        out += b"".join(draw.choices(PIECES, k=draw.randint(0, 5)))
        out += b"\0" if draw.random() < 0.05 else b""
        out += draw.choice([b"\n", b"\n", b"\r\n"])
    if draw.random() < 0.3:
        out = out[:-1]
    if draw.random() < 0.08:
        return b"\xff\xfe" + out.decode("utf-8", "replace").encode("utf-16-le")
    if draw.random() < 0.08:  # a NUL that comes late
        return b"foo\n" * 20_000 + b"bar\0foo\n" + out
    return out


def answer(bench: Bench, tool: GrepTool, arguments: JsonObject) -> str:
    try:
        return text_of(tool.run(tool.check(arguments), bench.context()))
    except ToolError as e:
        return f"error: {e}"


@pytest.mark.parametrize("seed", range(8))
def test_with_and_without_ripgrep_the_answers_are_the_same(bench: Bench, seed: int) -> None:
    assert engines.find_ripgrep(bench.context().environ, bench.cwd)
    draw = random.Random(seed)
    for number in range(6):
        bench.file(f"f{number}", content(draw))
    for pattern in draw.sample(PATTERNS, 10):
        arguments: JsonObject = {"pattern": pattern}
        if draw.random() < 0.15:
            arguments["literal"] = True
        if draw.random() < 0.4:
            arguments["context"] = draw.randint(0, 3)
        if draw.random() < 0.4:
            arguments["limit"] = draw.randint(1, 6)

        with_python = answer(bench, PYTHON, arguments)
        assert BY_PYTHON in with_python
        for note in (f"{BY_PYTHON}\n", f"\n\n{BY_PYTHON}", f"\n{BY_PYTHON}"):
            with_python = with_python.replace(note, "")
        assert answer(bench, GrepTool(), arguments) == with_python, arguments


@pytest.mark.parametrize("pattern", ["foo(?=bar)", "(?<!x)foo", r"(o)\1", "o{", "a{,2}foo"])
def test_a_pattern_that_ripgrep_refuses_is_searched_by_python_and_it_is_said(
    bench: Bench, pattern: str
) -> None:
    bench.file("a", "foobar o{\n")

    assert answer(bench, GrepTool(), {"pattern": pattern}) == (
        "a:1: foobar o{\n\n[ripgrep does not take this pattern; searched with Python's re]"
    )


def test_a_pattern_of_ripgreps_own_language_goes_to_it_as_it_is(bench: Bench) -> None:
    bench.file("a", "Ärger\nfoo\r\n")

    assert answer(bench, GrepTool(), {"pattern": r"^\p{Lu}"}) == "a:1: Ärger"
    assert answer(bench, GrepTool(), {"pattern": "[[:alpha:]]$"}) == "a:1: Ärger\na:2: foo"


def test_a_bad_pattern_is_an_error_where_there_is_nothing_to_search(bench: Bench) -> None:
    assert "bad pattern 'a('" in answer(bench, GrepTool(), {"pattern": "a("})


def test_ripgrep_is_not_taken_from_the_project_or_a_relative_folder(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("bin", "sub/bin"):
        bench.file(f"{folder}/rg", "#!/bin/sh\ntouch pwned\n").chmod(0o755)
    (bench.home / "bin").symlink_to(bench.cwd / "bin")
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    path = f"bin:.::{bench.cwd}/bin:{bench.home}/bin"

    assert engines.find_ripgrep({"PATH": path}, bench.cwd) is None


def stranger(folder: Path, text: str) -> str:
    program = folder / "rg"
    program.write_text(text)
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 2\n", "#!/bin/sh\necho hello\n", "no program"])
def test_a_program_that_is_no_ripgrep_is_replaced_by_python(
    bench: Bench, tmp_path: Path, script: str
) -> None:
    bench.file("a", "foo\n")
    program = stranger(tmp_path, script)

    def find(_environ: Mapping[str, str], _project: Path) -> str:
        return program

    assert answer(bench, GrepTool(ripgrep=find), {"pattern": "foo"}) == (
        "a:1: foo\n\n[ripgrep does not take this pattern; searched with Python's re]"
    )


def test_settings_of_ripgrep_in_the_environment_do_not_count(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.file("a", "foo\n")
    (tmp_path / "rc").write_text("--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))

    assert answer(bench, GrepTool(), {"pattern": "foo"}) == "a:1: foo"
