from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.tools.approval.shellparse import Plain, Unclear, parse_command


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("git status", ("git", "status")),
        ("  git \t status  \n", ("git", "status")),
        ("echo 'a; b' \"c && d\" e\\ f", ("echo", "a; b", "c && d", "e f")),
        ("echo ''", ("echo", "")),
        ("echo a'b'\"c\"\\d", ("echo", "abcd")),
        (r'echo "a\"b\\c\d"', ("echo", r"a\"b\c\d".replace(r"\"", '"'))),
        ("git diff HEAD~1 a#b x=y", ("git", "diff", "HEAD~1", "a#b", "x=y")),
        ("echo ünï 漢", ("echo", "ünï", "漢")),
        ("'if' x", None),
    ],
)
def test_a_plain_command_gives_its_words(command: str, words: tuple[str, ...] | None) -> None:
    reading = parse_command(command)

    assert reading == (Plain(words) if words else Unclear("the reserved word if"))


@pytest.mark.parametrize(
    "command",
    [
        *("a;b", "a&&b", "a||b", "a|b", "a&", "a\nb", "a>f", "a <f", "a <<E\nE", "a <(b)", "(a)"),
        *("{ a; }", "a $(b)", "a `b`", 'a "$(b)"', 'a "`b`"', "a $x", "a ${x}", 'a "$x"', "a $'b'"),
        *(
            "a *",
            "a ?",
            "a [b]",
            "a {b,c}",
            "a ~",
            "a x=~",
            "a ~/x",
            "! a",
            "a # b",
            "X=1 a",
            "X=1",
        ),
        *("if a", "[[ a ]]", "a 'b", 'a "b', "a \\", "a \\\nb", "", "  ", "'' a", "a $", "a\0b"),
        *("a\rb", "a\x1bb", "a\u00a0b", "a\u200bb", "time a", "coproc a", 'a "b\nc"', "a 'b\nc'"),
        *("f() a", "a !x", "a $((1))", "a\u2028b", "function f", "x[0]=1 a", "a+=b c", 'a $"b"'),
    ],
)
def test_whatever_is_not_one_plain_command_is_unclear_with_a_reason(command: str) -> None:
    reading = parse_command(command)

    assert isinstance(reading, Unclear)
    assert reading.reason


FRAGMENTS = st.sampled_from(
    [
        *("a", "b", "ü", "0", "-x", "--y=z", "/", ".", ",", ":", "@", "%", "^", "+", "=", "_", "]"),
        *(" ", "  ", "\t", "\n", "'", '"', "\\", "'a b'", '"c d"', "\\ ", "\\n", '"\\a"', '"\\$"'),
        *("$", "$x", "$(echo p)", "`echo p`", "${HOME}", "*", "?", "[a]", "{a,b}", "{1..3}", "~"),
        *("~root", "#", "!", ";", "&", "|", "<", ">", "(", ")", "{", "}", "[", "=~", ":~", "\\\n"),
        *(
            "\r",
            "\x01",
            "\x7f",
            "\u00a0",
            "\u2003",
            "$'a\\n'",
            '$"a"',
            "<<<a",
            "2>&1",
            "\\\\",
            "--",
        ),
    ]
)


@pytest.fixture(scope="session")
def printer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PATH with one program, which prints its arguments, each ended by NUL."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "show"
    program.write_text('#!/bin/sh\n[ $# = 0 ] || printf "%s\\0" "$@"\n')
    program.chmod(0o755)
    return folder


@settings(max_examples=400)
@given(st.lists(FRAGMENTS, max_size=8).map("".join))
def test_bash_runs_a_plain_command_with_exactly_these_words(printer: Path, tail: str) -> None:
    command = f"show {tail}"
    reading = parse_command(command)
    if isinstance(reading, Unclear):
        return

    folder = printer / "empty"
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={"PATH": f"{printer}:/bin", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=True,
    )

    printed = tuple(os.fsdecode(done.stdout).split("\0")[:-1])
    assert ("show", *printed) == reading.words
    assert not done.stderr
    assert not list(folder.iterdir())


@settings(max_examples=300)
@given(st.text(max_size=12))
def test_bash_sees_the_same_words_in_any_text_that_is_called_plain(
    printer: Path, tail: str
) -> None:
    command = f"show {tail}"
    reading = parse_command(command)
    if isinstance(reading, Unclear):
        return

    done = subprocess.run(
        ["bash", "-c", command],
        env={"PATH": f"{printer}:/bin", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=True,
    )

    assert ("show", *os.fsdecode(done.stdout).split("\0")[:-1]) == reading.words
