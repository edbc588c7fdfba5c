from __future__ import annotations

import os
import sys
import threading
import time
from typing import Literal
from unicodedata import normalize

import pytest

from agentsh.abort import Abort
from agentsh.errors import (
    InvalidArgumentsError,
    ToolAbortedError,
    ToolFailedError,
    ToolTimeoutError,
)
from agentsh.jsontext import JsonObject
from agentsh.tools.search import walking
from agentsh.tools.search.grep import GrepTool
from agentsh.tools.search.greplines import GrepLine, Hits, Skipped
from agentsh.tools.search.grepworker import Matcher, search_files
from tests.support.plain_user import plain_user
from tests.support.tooling import Bench

GREP = GrepTool()
PYTHON = GrepTool(ripgrep=lambda _environ, _project: None)

FIRST_CLOSED = ["seen/in", *(f"closed/{number}" for number in range(4))]


@pytest.fixture
def tree(bench: Bench) -> Bench:
    for name, text in {
        "src/a.py": "def heron():\n    pass\n",
        "src/deep/b.py": "x = heron()\n",
        ".github/w.yml": "run: heron\n",
        ".git/config": "heron\n",
        ".gitignore": "build/\n*.log\n",
        "build/out.py": "heron\n",
        "t.log": "heron\n",
        "readme.md": "Heron here\n",
        "bin.dat": "heron\0\1\n",
    }.items():
        bench.file(name, text)
    return bench


def test_matches_are_named_by_path_and_line_in_order(tree: Bench) -> None:
    assert tree.text(GREP, pattern="heron").split("\n") == [
        ".github/w.yml:1: run: heron",
        "src/a.py:1: def heron():",
        "src/deep/b.py:1: x = heron()",
        "",
        "[1 binary file matches and is not shown: bin.dat]",
    ]


def test_a_glob_narrows_and_never_brings_ignored_files_back(tree: Bench) -> None:
    assert tree.text(GREP, pattern="heron", glob="src/**/*.py").count("\n") == 1
    assert tree.text(GREP, pattern="heron", glob="!*.[pd]*") == ".github/w.yml:1: run: heron"
    assert "No matches" in tree.text(GREP, pattern="heron", glob="*.log")


def test_case_is_ignored_when_asked_for(tree: Bench) -> None:
    text = tree.text(GREP, pattern="HERON", ignoreCase="true", glob="*.md")

    assert text == "readme.md:1: Heron here"


def test_a_search_without_a_hit_says_what_was_left_out(tree: Bench) -> None:
    text = tree.text(GREP, pattern="pelican")

    assert text.startswith("No matches for 'pelican' in . (6 files searched).")
    assert "2 paths named by .gitignore and .git left out" in text


def test_an_ignored_file_that_is_named_is_searched(tree: Bench) -> None:
    assert tree.text(GREP, pattern="heron", path="build/out.py") == "build/out.py:1: heron"
    assert tree.text(GREP, pattern="heron", path="build") == "build/out.py:1: heron"


def test_context_lines_have_dashes_and_gaps_a_mark(bench: Bench) -> None:
    bench.file("f", "a\nHIT\nb\nc\nd\nHIT\nHIT\n")

    assert bench.text(GREP, pattern="HIT", context=1).split("\n") == [
        "f-1- a",
        "f:2: HIT",
        "f-3- b",
        "--",
        "f-5- d",
        "f:6: HIT",
        "f:7: HIT",
    ]


def test_the_limit_counts_matching_lines_over_all_files(bench: Bench) -> None:
    for number in range(400):
        bench.file(f"m{number:03}", "x\nx\n")
    text = bench.text(GREP, pattern="x", limit=5)

    assert [line for line in text.split("\n") if ":" in line][:5] == [
        "m000:1: x",
        "m000:2: x",
        "m001:1: x",
        "m001:2: x",
        "m002:1: x",
    ]
    assert text.endswith(
        "[5 matches shown, there are more: raise limit, or narrow with path or glob]"
    )
    assert "more" not in bench.text(GREP, pattern="x", path="m000", limit=2)
    assert bench.text(GREP, pattern="x", path="m000", limit=1, context=1).split("\n")[:2] == [
        "m000:1: x",
        "m000-2- x",
    ]


def test_a_huge_line_is_shown_around_its_match(bench: Bench) -> None:
    bench.file("one.js", "alpha " * 100_000 + "NEEDLE " + "omega " * 150_000 + "\n")
    text = bench.text(GREP, pattern="NEEDLE")

    assert "…" in text
    assert " NEEDLE omega" in text
    assert "500 of 1500007 characters, from 599901; read it with offset=1 column=599901]" in text
    assert len(text) < 700


def test_a_result_is_cut_at_its_limits_and_says_so(bench: Bench) -> None:
    bench.file("f", ("y" * 400 + "\n") * 1000)
    text = bench.text(GREP, pattern="y", limit=1000)

    assert len(text.encode()) < 52_000
    assert "of 1000 lines shown" in text


@pytest.mark.parametrize("pattern", ["a(", "[", "*", r"(?<=a+)b", r"\q", "a\nb"])
def test_a_bad_pattern_is_an_error(bench: Bench, pattern: str) -> None:
    with pytest.raises(ToolFailedError, match="bad pattern"):
        bench.text(GREP, pattern=pattern)


def test_a_bad_glob_and_a_missing_path_are_errors(bench: Bench) -> None:
    with pytest.raises(InvalidArgumentsError, match="bad glob"):
        bench.text(GREP, pattern="a", glob="[")
    with pytest.raises(ToolFailedError, match="no such file: nope"):
        bench.text(GREP, pattern="a", path="nope")


def test_only_regular_files_are_searched(bench: Bench) -> None:
    os.mkfifo(bench.cwd / "pipe")
    bench.file("real", "x\n")
    (bench.cwd / "link").symlink_to("real")

    assert bench.text(GREP, pattern="x") == "real:1: x"
    with pytest.raises(ToolFailedError, match="pipe is a named pipe"):
        bench.text(GREP, pattern="x", path="pipe")


@pytest.mark.parametrize("tool", [GREP, PYTHON], ids=["ripgrep", "python"])
def test_odd_names_are_searched_and_shown_escaped(bench: Bench, tool: GrepTool) -> None:
    for name in ("-e", "a\nb", "\x1b]52;c;x\x07", "sp ace", "ünï"):
        bench.file(name, "x\n")
    (bench.cwd / os.fsdecode(b"raw\xff")).write_text("x\n")

    assert bench.text(tool, pattern="x").split("\n")[:6] == [
        "\\x1b]52;c;x\\x07:1: x",
        "-e:1: x",
        "a\\x0ab:1: x",
        "raw\\xff:1: x",
        "sp ace:1: x",
        "ünï:1: x",
    ]


def test_a_file_that_is_too_large_is_left_out_and_counted(bench: Bench) -> None:
    with (bench.cwd / "big").open("wb") as file:
        file.truncate(65 * 1024 * 1024)

    assert "[1 file of more than 64.0 MB was not searched, use bash for it: big]" in bench.text(
        GREP, pattern="x"
    )


def test_outside_of_the_folder_paths_are_absolute(bench: Bench) -> None:
    (bench.home / "h.txt").write_text("x\n")

    assert bench.text(GREP, pattern="x", path="~") == f"{bench.home}/h.txt:1: x"


def test_a_pattern_that_takes_for_ever_ends_at_the_deadline(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.file("f", "a" * 60 + "!\n")
    monkeypatch.setattr(walking.Deadline.__init__, "__defaults__", (1.0,))
    began = time.monotonic()

    with pytest.raises(ToolTimeoutError, match="timed out after 1 s"):
        bench.text(PYTHON, pattern="^(a+)+$")
    assert time.monotonic() - began < 15


def test_an_abort_ends_it_at_once(bench: Bench) -> None:
    bench.file("f", "a" * 60 + "!\n")
    abort = bench.abort = Abort()
    threading.Timer(0.5, abort.set).start()
    began = time.monotonic()

    with pytest.raises(ToolAbortedError):
        bench.text(PYTHON, pattern="^(a+)+$")
    assert time.monotonic() - began < 15


def test_many_long_names_are_handed_over_in_parts(bench: Bench) -> None:
    folder = "d" * 200 + "/" + "e" * 200 + "/" + "f" * 200
    for number in range(1400):
        bench.file(f"{folder}/{number:04}", "x\n" if number == 1399 else "\n")

    assert bench.text(GREP, pattern="x") == f"{folder}/1399:1: x"


@pytest.mark.parametrize("tool", [GREP, PYTHON], ids=["ripgrep", "python"])
def test_what_could_not_be_read_is_counted_and_named_and_never_a_silent_miss(
    bench: Bench, tool: GrepTool
) -> None:
    for number in range(7):
        bench.file(f"closed/{number}", "heron\n").chmod(0)
    bench.file("locked/in", "heron\n")
    bench.file("seen/in", "heron\n")
    bench.file("open", "stork\n")
    (bench.cwd / "locked").chmod(0)
    (bench.cwd / "seen").chmod(0o444)
    with plain_user(bench.cwd):
        if tool is PYTHON and not os.access(sys.executable, os.X_OK, effective_ids=True):
            pytest.skip("only root can start this interpreter")
        nothing = bench.text(tool, pattern="heron")
        something = bench.text(tool, pattern="stork")
        with pytest.raises(ToolFailedError, match="closed/1 could not be read: Permission denied"):
            bench.text(tool, pattern="heron", path="closed/1")

    notes = [
        "[1 folder could not be read: locked/ (Permission denied)]",
        "[8 files could not be read: "
        + ", ".join(f"{name} (Permission denied)" for name in FIRST_CLOSED)
        + " and 3 more]",
    ]
    assert nothing.startswith("No matches for 'heron' in . (1 file searched).")
    assert [line for line in nothing.split("\n") if "could not" in line] == notes
    assert something.startswith("open:1: stork\n\n")
    assert [line for line in something.split("\n") if "could not" in line] == notes


def test_the_python_engine_names_each_file_that_it_could_not_read(bench: Bench) -> None:
    names = [bench.file("a", "heron\n"), bench.file("b", "heron\n"), bench.cwd / "gone"]
    names[0].chmod(0)
    matcher = Matcher("heron", literal=False, ignore_case=False)
    with plain_user(bench.cwd):
        found = list(search_files(matcher, list(map(str, names)), context=0, limit=1))

    assert found == [
        Skipped(0, "unreadable", "Permission denied"),
        Hits(1, (GrepLine(1, is_match=True, text="heron"),)),
    ]


@pytest.mark.parametrize("tool", [GREP, PYTHON], ids=["ripgrep", "python"])
def test_a_match_in_a_binary_file_is_said_though_its_bytes_are_not_shown(
    bench: Bench, tool: GrepTool
) -> None:
    bench.file("a.dat", "heron\0heron\n")
    bench.file("b.dat", "stork\0\n")
    bench.file("c", "heron\n")
    note = "[1 binary file matches and is not shown: a.dat]"

    assert bench.text(tool, pattern="heron").startswith("c:1: heron\n\n")
    assert note in bench.text(tool, pattern="heron")
    assert "binary" not in bench.text(tool, pattern="pelican")
    alone = bench.text(tool, pattern="heron", path="a.dat")
    assert alone.startswith("No matches for 'heron' in a.dat (1 file searched).")
    assert note in alone


def test_a_glob_with_a_name_in_brackets_lets_that_file_pass_and_excludes_it(bench: Bench) -> None:
    bench.file("app/[id]/page.tsx", "heron\n")
    bench.file("app/list/page.tsx", "heron\n")

    assert bench.text(GREP, pattern="heron", glob="app/[id]/*.tsx") == "app/[id]/page.tsx:1: heron"
    assert bench.text(GREP, pattern="heron", glob="!app/[id]/*") == "app/list/page.tsx:1: heron"


def test_nothing_found_names_the_links_that_were_not_followed(bench: Bench) -> None:
    bench.file("outside/lib.js", "heron\n")
    bench.file("app/a.js", "stork\n")
    (bench.cwd / "app/dep").symlink_to("../outside")

    text = bench.text(GREP, pattern="heron", path="app")

    assert "[1 link was not followed, name it as path: app/dep]" in text
    assert bench.text(GREP, pattern="heron", path="app/dep") == "app/dep/lib.js:1: heron"
    assert "link" not in bench.text(GREP, pattern="stork", path="app")


@pytest.mark.parametrize("grep", [GREP, PYTHON], ids=["rg", "python"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("more", [{}, {"literal": True}, {"ignoreCase": True}])
def test_t20_composed_and_decomposed_letters_are_found_by_either(
    bench: Bench, grep: GrepTool, form: Literal["NFC", "NFD"], more: JsonObject
) -> None:
    bench.file("a", normalize("NFC", "x Café\n"))
    bench.file("b", normalize("NFD", "x Café\n"))

    text = bench.text(grep, pattern=normalize(form, "Café"), **more)

    assert [row[:4] for row in text.split("\n")[:2]] == ["a:1:", "b:1:"]


@pytest.mark.parametrize("pattern", ["[äö]", "(ä)", "aä+", "ä{2}"])
def test_a_pattern_that_would_take_a_letter_apart_is_read_as_it_is(
    bench: Bench, pattern: str
) -> None:
    bench.file("a", "a\n")

    assert bench.text(GREP, pattern=pattern).startswith("No matches")


def test_t21_a_glob_from_the_top_and_several_in_one_narrow_as_meant(bench: Bench) -> None:
    for name in ("src/a.py", "src/b.ts", "c.md"):
        bench.file(name, "heron\n")

    assert bench.text(GREP, pattern="heron", glob=f"{bench.cwd}/src/*.py") == "src/a.py:1: heron"
    assert bench.text(GREP, pattern="heron", glob="!*.py,*.ts") == "c.md:1: heron"


def test_t21_an_or_of_another_grep_that_found_nothing_is_explained(bench: Bench) -> None:
    bench.file("a", "heron\nx|y\n")

    assert r"[\| is the sign itself here; one or the other is a|b]" in bench.text(
        GREP, pattern=r"heron\|stork"
    )
    assert bench.text(GREP, pattern=r"x\|y") == "a:2: x|y"
