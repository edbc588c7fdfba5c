"""ripgrep and the Python child answer alike. Every test here fails where `rg` is not installed:
it is a dependency, so it is there."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from agentsh.errors import ToolError
from agentsh.jsontext import JsonObject
from agentsh.tools import engines
from agentsh.tools.grep import GrepTool
from tests.support.tooling import Bench, text_of

PYTHON = GrepTool(ripgrep=lambda _environ, _project: None)

PIECES = [
    *(b"foo", b"Foo", b"FOO", b"bar", b"_", b"1", b"k", b"s", b" ", b"\t", b"-", b"\r", b".", b"("),
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
PATTERNS = [
    *("foo", r"\bfoo\b", "fo+", "^foo", "foo$", r"\w+", r"^\w+$", r"\W", "[^a-z]", r"\d", r"\s"),
    *(r"\S+$", "(?i)foo", "é", "[é-ü]", r"\bé", r"é\b", r"\Bo", r"\<foo", r"foo\>", "f.o", "a*"),
    *("foo|bar", "(foo|bar)+", r"(foo)\1", "foo(?=bar)", "(?<!foo)bar", ".", "^$", "^.$", r"\z"),
    *("[[:alpha:]]+", r"\p{Lu}", r"\p{M}", r"\P{L}", r"[^\W]", r"[\W_]", "x{500,}", "a{", "[[]"),
    *("[]]", "[^]]", r"\(", r"\\", "(?i)k", "(?i)s", "(?i:É)", "(?i)ß", r"[^\W]", "[^é]", r"\x41"),
    *(r"foo.*bar$", r"^\s*$", "(?i)[a-z]+1", "(?i)[^k]$", r"o\b", r".\B.", "^.{3}$", r"\r", r"\t"),
]


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
        if draw.random() < 0.3:
            arguments["ignoreCase"] = True
        if draw.random() < 0.15:
            arguments["literal"] = True
        if draw.random() < 0.4:
            arguments["context"] = draw.randint(0, 3)
        if draw.random() < 0.4:
            arguments["limit"] = draw.randint(1, 6)

        assert answer(bench, GrepTool(), arguments) == answer(bench, PYTHON, arguments), arguments


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

    assert answer(bench, GrepTool(ripgrep=find), {"pattern": "foo"}) == "a:1: foo"


def test_settings_of_ripgrep_in_the_environment_do_not_count(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.file("a", "foo\n")
    (tmp_path / "rc").write_text("--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))

    assert answer(bench, GrepTool(), {"pattern": "foo"}) == "a:1: foo"
