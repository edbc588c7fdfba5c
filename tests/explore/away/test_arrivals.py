"""What comes back is put where it belongs, or refused; a copy is a prefix at all times."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from agentsh.errors import ToolFailedError
from agentsh.explore.away.arrivals import Arrivals
from agentsh.explore.away.shipping import (
    LineShipment,
    LogShipment,
    ResultShipment,
    SessionShipment,
    Shipment,
    Shipping,
)
from agentsh.explore.workspace.capture import ResultStore
from agentsh.explore.workspace.gitcalls import GitCalls, find_git


@pytest.fixture
def git() -> GitCalls:
    return find_git(os.environ, Path("/"))


@pytest.fixture
def heard() -> list[tuple[int, bytes | None]]:
    return []


@pytest.fixture
def arrivals(git: GitCalls, tmp_path: Path, heard: list[tuple[int, bytes | None]]) -> Arrivals:
    for name in ("sessions", "data"):
        (tmp_path / "here" / name).mkdir(parents=True)
    here = tmp_path / "here"
    return Arrivals(git, here / "sessions", here / "data", lambda n, line: heard.append((n, line)))


def take(arrivals: Arrivals, shipment: Shipment) -> None:
    arrivals.take(msgspec.msgpack.encode(shipment))


def test_session_bytes_stand_where_they_stood_and_what_was_beyond_is_gone(
    arrivals: Arrivals, tmp_path: Path
) -> None:
    copy = tmp_path / "here/sessions/a.jsonl"
    take(arrivals, SessionShipment("a.jsonl", 0, b"one\ntw"))
    take(arrivals, SessionShipment("a.jsonl", 6, b"o\n"))
    assert copy.read_bytes() == b"one\ntwo\n"
    assert copy.stat().st_mode & 0o777 == 0o600

    take(arrivals, SessionShipment("a.jsonl", 4, b"2\n"))

    assert copy.read_bytes() == b"one\n2\n"


@pytest.mark.parametrize(
    "name", ["../a.jsonl", "exploration.jsonl", "a.txt", ".jsonl", "/etc/x.jsonl", "a\n.jsonl"]
)
def test_a_machine_can_name_nothing_but_a_session(name: str, arrivals: Arrivals) -> None:
    with pytest.raises(ValueError, match="names no session"):
        take(arrivals, SessionShipment(name, 0, b"x"))


def test_a_beginning_that_was_left_out_is_refused(arrivals: Arrivals) -> None:
    with pytest.raises(ValueError, match="left out the beginning"):
        take(arrivals, SessionShipment("a.jsonl", 3, b"x"))


def test_nothing_is_written_through_a_link(arrivals: Arrivals, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("mine")
    (tmp_path / "here/sessions/a.jsonl").symlink_to(tmp_path / "own")

    with pytest.raises(OSError, match="symbolic links"):
        take(arrivals, SessionShipment("a.jsonl", 0, b"x"))

    assert (tmp_path / "own").read_text() == "mine"


def test_a_commit_that_is_none_is_refused(arrivals: Arrivals) -> None:
    with pytest.raises(ToolFailedError):
        take(arrivals, ResultShipment(1, "--all", b""))


def test_a_line_is_heard_after_all_that_was_there_before_it(
    git: GitCalls, arrivals: Arrivals, tmp_path: Path, heard: list[tuple[int, bytes | None]]
) -> None:
    there = tmp_path / "there"
    shipped: list[Shipment] = []
    for name in ("sessions", "data/1"):
        (there / name).mkdir(parents=True)
    shipping = Shipping(git, there / "sessions", there / "data", shipped.append)
    session = there / "sessions/s.jsonl"

    session.write_bytes(b"head\n")
    shipping.hear(1, b"hello\n")
    session.write_bytes(b"head\nmore\n")
    shipping.hear(1, b"step\n")
    session.write_bytes(b"head\n")  # a torn end was mended
    (there / "data/1/runner.log").write_bytes(b"printed\n")
    shipping.hear(1, None)

    assert shipped == [
        SessionShipment("s.jsonl", 0, b"head\n"),
        LineShipment(1, b"hello\n"),
        SessionShipment("s.jsonl", 5, b"more\n"),
        LineShipment(1, b"step\n"),
        SessionShipment("s.jsonl", 0, b"head\n"),
        LogShipment(1, b"printed\n"),
        LineShipment(1, None),
    ]
    for each in shipped:
        take(arrivals, each)
    assert (tmp_path / "here/sessions/s.jsonl").read_bytes() == b"head\n"
    assert (tmp_path / "here/data/1/runner.log").read_bytes() == b"printed\n"
    assert heard == [(1, b"hello\n"), (1, b"step\n"), (1, None)]


def test_what_cannot_be_sent_fails_the_branch_and_its_end_is_heard(
    git: GitCalls, tmp_path: Path
) -> None:
    shipped: list[Shipment] = []
    shipping = Shipping(git, tmp_path / "gone", tmp_path, shipped.append)

    shipping.hear(1, b"turn\n")
    shipping.hear(1, None)

    first, last = shipped
    assert isinstance(first, LineShipment)
    assert b"cannot be sent here" in (first.line or b"")
    assert last == LineShipment(1, None)


def test_a_result_comes_back_as_a_commit_of_the_store_here(
    git: GitCalls, arrivals: Arrivals, tmp_path: Path
) -> None:
    work, there = tmp_path / "work", tmp_path / "there"
    for folder in (work, there / "sessions", there / "data"):
        folder.mkdir(parents=True)
    (work / "a").write_text("one\n")
    base = ResultStore(git, there / "data/store.git", tmp_path / "index").begin(work, [b"a"], b"")
    here = ResultStore(git, tmp_path / "here/data/store.git", tmp_path / "index2")
    there_store = ResultStore(git, there / "data/store.git", tmp_path / "index")
    _copied(there / "data/store.git", here.store)
    (work / "a").write_text("two\n")
    (work / "b").write_text("new\n")
    result = there_store.capture(work, tmp_path, base, {}, "branch-1")
    shipped: list[Shipment] = []

    shipping = Shipping(git, there / "sessions", there / "data", shipped.append)
    shipping.hear(1, b"captured\n")
    shipping.hear(1, b"over\n")

    assert [type(each) for each in shipped] == [ResultShipment, LineShipment, LineShipment]
    take(arrivals, shipped[0])
    rows, added, removed = here.differences(base, result.commit)
    assert rows == (("a", "change"), ("b", "create"))
    assert (added, removed) == (2, 1)


def _copied(source: Path, target: Path) -> None:
    import shutil

    shutil.copytree(source, target)
