from __future__ import annotations

import pytest

from agentsh.errors import ToolFailedError
from agentsh.tools.search.ls import LsTool
from tests.support.tooling import Bench

LS = LsTool()


def test_everything_is_listed_sorted_and_folders_end_in_a_slash(bench: Bench) -> None:
    for name in (".github/w", ".gitignore", "src/a", "Z", "b\x07"):
        bench.file(name)
    (bench.cwd / "to-src").symlink_to("src")
    (bench.cwd / "broken").symlink_to("nowhere")

    assert bench.text(LS).split("\n") == [
        ".github/",
        ".gitignore",
        "Z",
        "b\\x07",
        "broken",
        "src/",
        "to-src/",
    ]


def test_the_limit_says_how_many_there_are(bench: Bench) -> None:
    for number in range(7):
        bench.file(f"d/{number}")

    assert bench.text(LS, path="d", limit=3).startswith("0\n1\n2\n\n[3 of 7 names shown")
    assert "shown" not in bench.text(LS, path="d", limit=7)


def test_an_empty_folder_is_said_to_be_empty(bench: Bench) -> None:
    assert bench.text(LS) == "(empty folder)"


@pytest.mark.parametrize("path", ["two.txt/nope", "missing"])
def test_what_is_not_there_is_an_error(bench: Bench, path: str) -> None:
    bench.file("two.txt")

    with pytest.raises(ToolFailedError):
        bench.text(LS, path=path)


def test_a_file_is_no_folder(bench: Bench) -> None:
    bench.file("f")

    with pytest.raises(ToolFailedError, match="f is a file"):
        bench.text(LS, path="f")
