from __future__ import annotations

import pytest

from agentsh.tools.search.ignore import IgnoreFile, IgnoreLevel, is_ignored


def verdict(rules: str, path: str, *, is_folder: bool = False) -> bool | None:
    name = path.rpartition("/")[2]
    return IgnoreFile(rules.encode()).verdict(path, name, is_folder=is_folder)


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        ("*.log", "deep/t.log", True),
        ("/t.log", "deep/t.log", None),
        ("deep/t.log", "deep/t.log", True),
        ("*.log\n!keep.log", "keep.log", False),
        ("!keep.log\n*.log", "keep.log", True),
        ("# *.log", "t.log", None),
        ("\ufeff*.log\r\n", "t.log", True),
        ("build/", "build", None),
        ("x  ", "x", True),
        ("x\\ ", "x ", True),
        ("[a", "[a", None),
        ("é*", "été", True),
    ],
)
def test_the_last_rule_that_matches_decides(rules: str, path: str, expected: bool | None) -> None:
    assert verdict(rules, path) is expected


def test_a_rule_for_folders_matches_folders_only() -> None:
    assert verdict("build/", "build", is_folder=True) is True
    assert verdict("build/", "build") is None


def test_a_deeper_file_has_the_last_word() -> None:
    outer = IgnoreLevel(IgnoreFile(b"*.log\nsub/x"), 0)
    inner = IgnoreLevel(IgnoreFile(b"!t.log\n/x"), len("sub/"))

    assert not is_ignored((outer, inner), "sub/t.log", "t.log", is_folder=False)
    assert is_ignored((outer,), "sub/t.log", "t.log", is_folder=False)
    assert is_ignored((outer, inner), "sub/x", "x", is_folder=False)
