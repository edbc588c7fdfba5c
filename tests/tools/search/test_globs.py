from __future__ import annotations

import time

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from agentsh.tools.search.globs import GlobError, PathGlob, expand_braces, glob_regex
from agentsh.tools.search.ignore import IgnoreFile


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*.py", "src/deep/a.py"),
        ("*.py", ".hidden.py"),
        ("a?c", "x/abc"),
        ("[ab]*", "x/b1"),
        ("[!ab]", "c"),
        ("[]x]", "]"),
        ("[[:digit:]]*", "7up"),
        ("src/**/*.py", "src/a.py"),
        ("src/**/*.py", "src/x/y/a.py"),
        ("src/*.py", "pkg/src/a.py"),
        ("/src/*.py", "src/a.py"),
        ("./src/*.py", "src/a.py"),
        ("src/**", "src/x/y"),
        ("**/test_*", "a/b/test_x"),
        ("*.{ts,tsx}", "a.tsx"),
        ("{src,test}/{a,b}.*", "test/b.c"),
        ("a{,b}", "a"),
        (r"a\*b", "a*b"),
        ("[{]x", "{x"),
        ("app/[id]/page.tsx", "app/[id]/page.tsx"),
        ("app/[id]/page.tsx", "web/app/i/page.tsx"),
        ("[...slug].{ts,tsx}", "app/[...slug].tsx"),
        ("app/[[...slug]]/*", "app/[[...slug]]/page.tsx"),
        ("{[id],[name]}/*.ts", "[name]/a.ts"),
        ("**", "a/b"),
        ("*.ts,*.tsx", "a/b.tsx"),
        ("*.py *.{c,h}", "b.h"),
        ("a,b*.ts", "a,bc.ts"),
        ("\u00c4*.m?", "A\u0308rger.md"),
        ("A\u0308*/?.md", "\u00c4rger/e\u0301.md"),
    ],
)
def test_a_glob_fits(glob: str, path: str) -> None:
    assert PathGlob(glob).matches(path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*.py", "a.pyc"),
        ("*.py", "a.PY"),
        ("a*c", "a/c"),
        ("a?c", "a/c"),
        ("[!a]", "/"),
        ("src/*.py", "src/x/a.py"),
        ("/src/*.py", "pkg/src/a.py"),
        ("src/**", "src"),
        ("[z-a]", "b"),
        (r"a\*b", "axb"),
        ("[*].py", "[x].py"),
        (r"\[id]", "i"),
    ],
)
def test_a_glob_does_not_fit(glob: str, path: str) -> None:
    assert not PathGlob(glob).matches(path)


@pytest.mark.parametrize("glob", ["", "[a", "{a,b", "a\\", "[[:nope:]]", "{a,b}" * 9])
def test_what_is_no_glob_is_an_error(glob: str) -> None:
    with pytest.raises(GlobError):
        PathGlob(glob)


def test_braces_stand_for_each_of_their_globs() -> None:
    assert expand_braces("{a,{b,c}d}") == ["a", "bd", "cd"]
    assert expand_braces(r"\{a,b}") == [r"\{a,b}"]


def test_a_hostile_glob_takes_no_long_life() -> None:
    began = time.monotonic()

    assert not PathGlob("*a" * 40 + "b").matches("a" * 255)
    assert not PathGlob("**/a/" * 20 + "b").matches("a/" * 200 + "c")

    assert time.monotonic() - began < 5


PARTS = st.lists(st.sampled_from(["*", "a", "b", "/", "**/", "?", "[ab]"]), max_size=8)
PATHS = st.lists(st.sampled_from(["a", "b", "ab", "ba", "aab"]), min_size=1, max_size=5)


@given(PARTS.map("".join), PATHS.map("/".join))
def test_a_star_that_is_not_reconsidered_finds_what_a_naive_matcher_finds(
    glob: str, path: str
) -> None:
    import re

    assert bool(re.fullmatch(glob_regex(glob), path)) == naive(glob, path)


def naive(glob: str, path: str) -> bool:
    """By trying everything."""
    if not glob:
        return not path
    if glob == "**":
        return True
    if glob.startswith("**/"):
        skips = [i + 1 for i, char in enumerate(path) if char == "/"]
        return any(naive(glob[3:], path[skip:]) for skip in [0, *skips] if "//" not in path)
    if glob.startswith("*"):
        rest = glob.lstrip("*")
        upto = path.find("/") if "/" in path else len(path)
        return any(naive(rest, path[i:]) for i in range(upto + 1))
    if not path:
        return False
    if glob.startswith("[ab]"):
        return path[0] in "ab" and naive_after(glob[4:], path)
    if glob[0] == "?":
        return path[0] != "/" and naive_after(glob[1:], path)
    return glob[0] == path[0] and naive_after(glob[1:], path)


def naive_after(glob: str, path: str) -> bool:
    """What follows a character: `**` is whole only where that character was a slash."""
    if path[0] != "/" and glob.startswith("**"):
        stars = len(glob) - len(glob.lstrip("*"))
        glob = "*" + glob[stars:]
    if path[0] == "/" and glob == "**":
        return len(path) > 1
    return naive(glob, path[1:])


@given(st.lists(st.text("[]!^-ab:.*?é", min_size=1, max_size=6), min_size=1, max_size=3))
def test_a_path_given_as_a_glob_finds_itself_whatever_brackets_it_has(parts: list[str]) -> None:
    path = "/".join(parts)
    try:
        glob = PathGlob(path)
    except GlobError:
        reject()
    assert glob.matches(path)


def test_brackets_of_an_ignore_rule_mean_a_set_and_nothing_else() -> None:
    ignored = IgnoreFile(b"[id].ts\n")

    assert ignored.verdict("i.ts", "i.ts", is_folder=False)
    assert ignored.verdict("[id].ts", "[id].ts", is_folder=False) is None
