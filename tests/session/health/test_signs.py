"""Cheap signs of damage: never without a reason that `verify` names, and rarely missed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.session.file.session import open_session
from agentsh.session.format.codec import decode_header, decode_line
from agentsh.session.format.entries import Header
from agentsh.session.health.signs import LOOKED_AT, signs_of_damage
from agentsh.session.health.verify import verify_file
from tests.session.health.test_verify import EXPORTED
from tests.session.sealed import SESSION, lines_of, write_lines, write_session


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    return lines_of(write_session(tmp_path_factory.mktemp("sealed") / "s.jsonl", name="it"))


def signs(path: Path) -> tuple[str, ...]:
    header = decode_line(lines_of(path)[0])
    assert isinstance(header, Header)
    return signs_of_damage(path, header)


def written(tmp_path: Path, *lines: bytes) -> tuple[str, ...]:
    return signs(write_lines(tmp_path / "s.jsonl", [*lines]))


def test_a_sound_file_has_none_and_neither_has_what_another_program_did_properly(
    tmp_path: Path, sealed: list[bytes]
) -> None:
    foreign = b'{"type":"label","id":"f0","parentId":null,"targetId":"x"}'
    exported = EXPORTED % (SESSION.encode(), b"2026-06-01T00:00:00.000Z")
    of_pi = b'{"type":"session","version":3,"id":"pi-1","timestamp":"t","cwd":"/"}'
    for lines in (
        sealed,
        [*sealed, foreign],
        [*sealed, *sealed],  # written twice
        [exported, *sealed[1:7], *sealed[9:]],
        [of_pi, *sealed[1:]],  # a fork: copies
        [of_pi, foreign],
    ):
        assert written(tmp_path, *lines) == (), lines[:1]
        path = tmp_path / "s.jsonl"
        with open_session(path, write=True) as session:
            session.rename("goes on")
        assert signs(path) == (), lines[:1]


def test_a_lost_line_and_a_changed_word_are_seen(tmp_path: Path, sealed: list[bytes]) -> None:
    changed = [line.replace(b"answer to alpha", b"answer to alphx") for line in sealed]
    (seal,) = written(tmp_path, *changed)
    assert seal == "the seal of line 12 does not fit what stands before it"

    number, seal = written(tmp_path, *sealed[:9], *sealed[10:])
    assert number == f"line {len(sealed) - 1} says that it is line {len(sealed)}"
    assert "the seal of line" in seal


@given(st.data())
@settings(max_examples=100)
def test_every_lost_line_and_every_changed_byte_before_the_last_line_is_seen(
    sealed: list[bytes], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("change")
    lost = data.draw(st.integers(1, len(sealed) - 2))
    assert written(folder, *sealed[:lost], *sealed[lost + 1 :]) != ()

    whole = bytearray(b"".join(line + b"\n" for line in sealed))
    # in the first line of ours a time may tell that another program exported it
    first = len(sealed[0]) + len(sealed[1]) + 2
    at = data.draw(st.integers(first, len(whole) - len(sealed[-1]) - 2))
    whole[at] = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[at]))
    (folder / "s.jsonl").write_bytes(whole)
    header = decode_line(sealed[0])
    assert isinstance(header, Header)
    assert signs_of_damage(folder / "s.jsonl", header) != ()


@given(st.data())
@settings(max_examples=100)
def test_a_sign_is_always_something_that_verify_names(
    sealed: list[bytes], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    kept = data.draw(st.lists(st.integers(1, len(sealed) - 1), unique=True))
    path = tmp_path_factory.mktemp("any") / "s.jsonl"
    write_lines(path, [sealed[0], *(sealed[i] for i in kept)])
    if signs(path):
        assert {p.kind for p in verify_file(path).problems} & {"seal", "number"}


def test_of_a_large_file_the_end_alone_is_looked_at(tmp_path: Path) -> None:
    prompts = ("alpha" + "x" * LOOKED_AT, "beta", "gamma", "delta")
    lines = lines_of(write_session(tmp_path / "s.jsonl", prompts=prompts))
    assert written(tmp_path, *lines) == ()

    early = [line.replace(b"alphax", b"alphyx") for line in lines]
    assert written(tmp_path, *early) == ()
    late = [line.replace(b"answer to gamma", b"answer to gammx") for line in lines]
    (seal,) = written(tmp_path, *late)
    assert seal.startswith("the seal of line")


def test_a_file_of_an_older_version_has_no_marks(tmp_path: Path) -> None:
    header = decode_header({"type": "session", "version": 2, "id": "s", "timestamp": "t"})
    assert isinstance(header, Header)
    write_lines(tmp_path / "s.jsonl", [b'{"type":"session","version":2,"id":"s"}'])
    assert signs_of_damage(tmp_path / "s.jsonl", header) == ()
