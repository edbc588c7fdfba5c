from __future__ import annotations

import os

import pytest

from agentsh.errors import InvalidArgumentsError, ToolFailedError
from agentsh.tools.search.find import FindTool
from agentsh.tools.search.grep import GrepTool
from tests.support.plain_user import plain_user
from tests.support.tooling import Bench

FIND = FindTool()


def test_names_are_found_hidden_ones_too_and_ignored_ones_not(bench: Bench) -> None:
    for name in ("src/a.py", ".ci/b.py", "build/c.py", ".git/d.py"):
        bench.file(name)
    bench.file(".gitignore", "build/\n")

    assert bench.text(FIND, pattern="*.py") == ".ci/b.py\nsrc/a.py"


def test_a_glob_with_a_slash_is_held_against_the_path(bench: Bench) -> None:
    for name in ("pkg/m1.txt", "x/pkg/m2.txt", "pkg/deep/m3.txt"):
        bench.file(name)

    assert bench.text(FIND, pattern="pkg/m*.txt") == "pkg/m1.txt\nx/pkg/m2.txt"
    assert bench.text(FIND, pattern="/pkg/m*.txt") == "pkg/m1.txt"
    assert bench.text(FIND, pattern="x/pkg/*.txt", path="x") == "x/pkg/m2.txt"
    assert bench.text(FIND, pattern="pkg/**/*.txt", path="pkg") == "pkg/deep/m3.txt\npkg/m1.txt"


def test_folders_end_in_a_slash_and_can_be_asked_for_alone(bench: Bench) -> None:
    bench.file("test/a")
    bench.file("test2")

    assert bench.text(FIND, pattern="test*") == "test/\ntest2"
    assert bench.text(FIND, pattern="test*/") == "test/"


def test_the_limit_says_that_there_is_more(bench: Bench) -> None:
    for number in range(5):
        bench.file(f"{number}.txt")

    assert bench.text(FIND, pattern="*.txt", limit="5").count("txt") == 5
    text = bench.text(FIND, pattern="*.txt", limit=4)
    assert text.startswith("0.txt\n1.txt\n2.txt\n3.txt\n\n[4 paths shown, there are more")


def test_nothing_found_is_no_error_and_says_what_was_left_out(bench: Bench) -> None:
    bench.file(".gitignore", "only.txt\n")
    bench.file("only.txt")

    text = bench.text(FIND, pattern="only.txt")
    assert text.startswith("No files in . match 'only.txt'.")
    assert "1 path named by .gitignore and .git left out" in text


def test_names_with_control_characters_are_one_line_each(bench: Bench) -> None:
    bench.file("a\x1b[2J\n.txt")

    assert bench.text(FIND, pattern="*.txt") == "a\\x1b[2J\\x0a.txt"


def test_what_cannot_be_searched_is_an_error(bench: Bench) -> None:
    bench.file("f")
    os.mkfifo(bench.cwd / "pipe")

    with pytest.raises(InvalidArgumentsError, match="bad glob"):
        bench.text(FIND, pattern="{a")
    with pytest.raises(ToolFailedError, match="f is a file"):
        bench.text(FIND, pattern="*", path="f")
    with pytest.raises(ToolFailedError, match="pipe is a named pipe"):
        bench.text(FIND, pattern="*", path="pipe")
    with pytest.raises(ToolFailedError, match="no such file"):
        bench.text(FIND, pattern="*", path="f2")


def test_a_folder_that_could_not_be_read_is_named_whether_something_was_found_or_not(
    bench: Bench,
) -> None:
    bench.file("sub/locked/a.py")
    bench.file("sub/b.py")
    (bench.cwd / "sub/locked").chmod(0)
    with plain_user(bench.cwd):
        found = bench.text(FIND, pattern="*.py", path="sub")
        nothing = bench.text(FIND, pattern="a.py")

    note = "[1 folder could not be read: sub/locked/ (Permission denied)]"
    assert found == f"sub/b.py\n\n{note}"
    assert nothing.endswith(f"\n{note}")


def test_a_gitignore_that_could_not_be_read_is_named(bench: Bench) -> None:
    bench.file("sub/.gitignore", "*.log\n")
    bench.file("sub/a.log")
    (bench.cwd / "link").mkdir()
    (bench.cwd / "link/.gitignore").symlink_to("nowhere")  # git reads none through a link
    (bench.cwd / "sub/.gitignore").chmod(0)
    with plain_user(bench.cwd):
        found = bench.text(FIND, pattern="*.log")
        searched = bench.text(GrepTool(), pattern="nothing such", path="sub", glob="*.log")

    note = "file of rules could not be read, and what it names is searched, too"
    assert found == f"sub/a.log\n\n[1 {note}: sub/.gitignore (Permission denied)]"
    assert f"[1 {note}: sub/.gitignore (Permission denied)]" in searched


def test_folders_with_brackets_in_their_names_are_found_by_them(bench: Bench) -> None:
    for name in ("app/[id]/page.tsx", "app/[...slug]/page.tsx", "app/b/page.tsx"):
        bench.file(name)

    assert bench.text(FIND, pattern="app/[id]/page.tsx") == "app/[id]/page.tsx"
    assert bench.text(FIND, pattern="[[]id]") == "app/[id]/"
    assert bench.text(FIND, pattern="app/[...slug]/*") == "app/[...slug]/page.tsx"
    assert bench.text(FIND, pattern="*.tsx", path="app/[id]") == "app/[id]/page.tsx"
    assert bench.text(FIND, pattern="app/[ab]/page.tsx") == "app/b/page.tsx"


@pytest.mark.parametrize("start", ["", "~/", "link"])
def test_t21_a_glob_may_name_the_folder_from_the_top(bench: Bench, start: str) -> None:
    bench.file("src/a.py")
    (bench.home / "link").symlink_to(bench.cwd)
    if start:
        bench.cwd = bench.home / "link"
    top = "~/link" if start == "~/" else str(bench.cwd)

    assert bench.text(FIND, pattern=f"{top}/**/*.py") == "src/a.py"
    if start != "~/":
        assert "held against" not in bench.text(FIND, pattern=f"{top}/**/*.md")


@pytest.mark.parametrize("pattern", ["/usr/nothing/*.py", "../other/*.py", "~/*.py"])
def test_t21_a_glob_that_leads_elsewhere_is_told_how_to_get_there(
    bench: Bench, pattern: str
) -> None:
    bench.file("a.py")

    assert "[a glob is held against the paths below .; name another folder as path]" in bench.text(
        FIND, pattern=pattern
    )
