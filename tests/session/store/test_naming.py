"""Names of folders and files: Pi's rule, and its limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.session.store.naming import file_name, folder_name, id_in_name, is_id_word


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/home/u/my-proj", "--home-u-my-proj--"),
        ("C:\\Users\\x", "--C--Users-x--"),
        ("/", "----"),
        ("/a-b/c", "--a-b-c--"),
        ("/a/b-c", "--a-b-c--"),
    ],
)
def test_a_folder_is_named_by_the_rule_of_pi(cwd: str, name: str) -> None:
    assert folder_name(cwd) == name


@given(st.text(max_size=400))
def test_any_folder_gets_one_name_that_a_file_system_takes(cwd: str) -> None:
    name = folder_name(cwd)

    assert len(name.encode("utf-8", "surrogateescape")) <= 255
    assert not set(name) & set("/\\:\0")


def test_two_long_folders_that_begin_alike_do_not_share_a_name() -> None:
    assert folder_name("/" + "d" * 300) != folder_name("/" + "d" * 301)


def test_a_file_is_named_by_time_and_id() -> None:
    name = file_name("2026-11-29T22:50:52.742Z", "01a22981-x")

    assert name == "2026-11-29T22-50-52-742Z_01a22981-x.jsonl"
    assert id_in_name(name) == "01a22981-x"
    assert id_in_name("notes.jsonl") is None


@pytest.mark.parametrize(
    "word", ["", "..", ".", "../x", "a/b", "/etc", "a\0", "%2e", "a b", "a" * 300]
)
def test_an_id_is_never_a_path(word: str) -> None:
    assert not is_id_word(word)


@pytest.mark.parametrize("word", ["a", "01a22981-", "my.session_1"])
def test_an_id_or_its_beginning_may_be_typed(word: str) -> None:
    assert is_id_word(word)
