from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.abort import Abort
from agentsh.errors import ToolAbortedError, ToolTimeoutError
from agentsh.tools.search.walking import Deadline, Walk, WalkedPath
from tests.support.tooling import Bench


def walk(start: Path, project: Path | None = None) -> Walk:
    return Walk(start.resolve(), (project or start).resolve(), Deadline(Abort()))


def files(start: Path, project: Path | None = None) -> list[str]:
    return [found.path for found in walk(start, project) if found.kind == "file"]


def test_hidden_files_are_covered_and_git_and_ignored_ones_are_not(bench: Bench) -> None:
    for name in (".github/w.yml", ".git/config", "build/o", "t.log", "src/a", "src/.git/x"):
        bench.file(name)
    bench.file(".gitignore", "build/\n*.log\n")
    found = walk(bench.cwd)

    assert [f.path for f in found if f.kind == "file"] == [".github/w.yml", ".gitignore", "src/a"]
    assert found.left_out == 2


def test_the_order_is_by_the_parts_of_the_path(bench: Bench) -> None:
    for name in ("b/x", "b.txt", "B", "a/z", "a/b/c", "é"):
        bench.file(name)

    assert files(bench.cwd) == ["B", "a/b/c", "a/z", "b/x", "b.txt", "é"]


def test_rules_of_folders_above_the_start_count(bench: Bench) -> None:
    bench.file(".gitignore", "*.log\n/src/gen\ngen2/x\n")
    for name in ("src/a", "src/t.log", "src/gen/b", "src/gen2/x"):
        bench.file(name)
    bench.file("src/.gitignore", "!t.log\n")

    assert files(bench.cwd / "src", bench.cwd) == [".gitignore", "a", "gen2/x", "t.log"]


def test_an_ignored_folder_that_is_named_is_searched(bench: Bench) -> None:
    bench.file(".gitignore", "build/\n*.o\n")
    bench.file("build/out.txt")
    bench.file("build/x.o")

    assert files(bench.cwd / "build", bench.cwd) == ["out.txt"]


@pytest.mark.parametrize("rule", ["build/*", "/build/**", "*", "build/*\n!build/out.txt"])
@pytest.mark.parametrize("start", ["build", "build/deep"])
def test_t18_rules_that_name_all_in_a_folder_do_not_count_where_it_is_named(
    bench: Bench, rule: str, start: str
) -> None:
    bench.file(".gitignore", f"{rule}\n*.o\n")
    for name in ("build/deep/out.txt", "build/deep/x.o"):
        bench.file(name)

    assert "build/deep/out.txt" not in files(bench.cwd)
    assert [Path(path).name for path in files(bench.cwd / start, bench.cwd)] == ["out.txt"]


def test_t18_a_folder_that_ignores_itself_is_searched_where_it_is_named(bench: Bench) -> None:
    bench.file(".venv/.gitignore", "*\n")
    bench.file(".venv/lib/a.py")

    assert files(bench.cwd / ".venv", bench.cwd) == [".gitignore", "lib/a.py"]
    assert files(bench.cwd / ".venv/lib", bench.cwd) == ["a.py"]
    assert files(bench.cwd) == []


def test_rules_that_take_a_part_back_hold_in_a_folder_that_is_named(bench: Bench) -> None:
    bench.file(".gitignore", "*\n!*/\n!*.py\n")
    for name in ("src/a.py", "src/a.pyc"):
        bench.file(name)

    assert files(bench.cwd / "src", bench.cwd) == ["a.py"]


def test_a_repository_inside_another_starts_anew(bench: Bench) -> None:
    bench.file(".gitignore", "*.log\n")
    bench.file("vendor/.git/HEAD")
    bench.file("vendor/t.log")

    assert files(bench.cwd) == [".gitignore", "vendor/t.log"]


def test_links_are_named_and_not_followed_and_pipes_are_passed_over(bench: Bench) -> None:
    bench.file("real/a")
    (bench.cwd / "link").symlink_to("real")
    (bench.cwd / "loop").symlink_to(".")
    os.mkfifo(bench.cwd / "pipe")

    assert list(walk(bench.cwd)) == [
        WalkedPath("link", "link"),
        WalkedPath("loop", "link"),
        WalkedPath("real", "folder"),
        WalkedPath("real/a", "file"),
    ]


def test_a_gitignore_that_is_a_link_or_a_pipe_does_not_count(bench: Bench) -> None:
    bench.file("rules", "*\n")
    bench.file("sub/x")
    (bench.cwd / ".gitignore").symlink_to("rules")
    os.mkfifo(bench.cwd / "sub/.gitignore")

    assert files(bench.cwd) == ["rules", "sub/x"]


def test_a_chain_of_folders_deeper_than_the_stack_is_walked(bench: Bench) -> None:
    chain = [f"{bench.cwd}/" + "d/" * depth for depth in range(1, 1501)]
    for folder in chain:
        os.mkdir(folder)  # noqa: PTH102  pathlib and os.makedirs use the stack

    assert len(list(walk(bench.cwd))) == 1500

    for folder in reversed(chain):
        os.rmdir(folder)  # noqa: PTH106


def test_a_folder_that_cannot_be_read_is_passed_over_and_counted(bench: Bench) -> None:
    (bench.cwd / "a").mkdir()
    bench.file("b")
    found = walk(bench.cwd)
    entries = iter(found)

    assert next(entries) == WalkedPath("a", "folder")
    (bench.cwd / "a").rmdir()
    assert list(entries) == [WalkedPath("b", "file")]
    assert found.unreadable.count == 1


def test_an_abort_and_the_end_of_the_time_stop_a_walk(bench: Bench) -> None:
    abort = Abort()
    abort.set()

    with pytest.raises(ToolAbortedError):
        list(Walk(bench.cwd, bench.cwd, Deadline(abort)))
    with pytest.raises(ToolTimeoutError, match="narrow"):
        list(Walk(bench.cwd, bench.cwd, Deadline(Abort(), seconds=0)))


NAMES = st.sampled_from(["a", "b", "ab", "a.b", "x.py", ".h", "c d", "b*", "[a]", "\\x", "foo"])
RULES = st.sampled_from(
    [
        *(
            "a",
            "b/",
            "*.py",
            "/a",
            "a/b",
            "**/a",
            "a/**",
            "a/**/b",
            "!a",
            "!*.py",
            "*",
            "!*/",
            "a*",
        ),
        *(
            "[ab]",
            "[!a]",
            "?",
            "\\*",
            "b\\*",
            "a/*",
            "# c",
            "\\#",
            "x.py ",
            "x.py\\ ",
            "*a*b",
            "**",
        ),
        *("/**/b", "foo/", "!foo/", "/*", "!/a", "[[]a]", "[a", "\\", "{a,b}", "a?", "*/b", "**b"),
        *("[[:alpha:]]", "[]a]", "\\a", "/", "//", "!", "a//b", "./a", "?.b", "\\!a", "a\\", "a\t"),
    ]
)
TREES = st.dictionaries(
    st.lists(NAMES, min_size=1, max_size=4).map("/".join),
    st.lists(RULES, max_size=3),
    min_size=1,
    max_size=10,
)


@settings(max_examples=30)
@given(TREES, st.sampled_from(["\n", "\r\n"]))
def test_the_walk_covers_just_what_git_does_not_ignore(
    tree: dict[str, list[str]], ending: str
) -> None:
    with tempfile.TemporaryDirectory() as name:
        top = Path(name).resolve()
        for path, rules in tree.items():
            folder = (top / path).parent
            if any(part.is_file() for part in (folder, *folder.parents)):
                continue
            folder.mkdir(parents=True, exist_ok=True)
            if not (top / path).is_dir():
                (top / path).write_text("x")
            if rules:
                (folder / ".gitignore").write_bytes(ending.join(rules).encode())
        subprocess.run(["git", "init", "-q"], cwd=top, check=True)
        listed = subprocess.run(
            ["git", "ls-files", "-z", "-o", "--exclude-per-directory=.gitignore"],
            cwd=top,
            capture_output=True,
            check=True,
        )

        assert sorted(files(top)) == sorted(os.fsdecode(listed.stdout).split("\0")[:-1])
