"""Which folder a file names: a file is UTF-8, and the name of a folder need not be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.jsontext import clean
from agentsh.session.store.folders import real_folder

names = st.binary(min_size=1, max_size=6).filter(
    lambda name: not {0, 0x2F} & set(name) and name not in (b".", b"..")
)


@given(names, names)
def test_any_folder_is_found_by_what_a_file_can_say_of_it(
    tmp_path_factory: pytest.TempPathFactory, above: bytes, below: bytes
) -> None:
    place = tmp_path_factory.mktemp("t") / os.fsdecode(above) / os.fsdecode(below)
    place.mkdir(parents=True)

    assert real_folder(clean(str(place))) == str(place)


def test_of_folders_that_read_alike_it_is_the_one_we_are_in_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alike = [tmp_path / os.fsdecode(name) for name in (b"a\xff", b"a\xfe")]
    for each in alike:
        each.mkdir()
    named = f"{tmp_path}/a\ufffd"

    assert real_folder(named) == named
    monkeypatch.chdir(alike[1])
    assert real_folder(named) == str(alike[1])
    (tmp_path / "a\ufffd").mkdir()
    assert real_folder(named) == named


@pytest.mark.parametrize("named", ["", "\ufffd", "/\ufffd/gone", "/proc/self/environ\ufffd", "/x"])
def test_a_folder_that_is_not_there_keeps_its_name(named: str) -> None:
    assert real_folder(named) == named
