"""A write that was cut at any byte: the commands read what is whole, and go on behind it (R38)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentsh.session.file.session import open_session
from agentsh.session.format.linehead import read_line_stamp
from agentsh.session.health.verify import verify_file
from tests.cli.program import agentsh
from tests.session.sealed import lines_of
from tests.support.crash import run
from tests.support.endpoint import serve, text
from tests.support.longer_sessions import write


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    folder = tmp_path / "project"
    folder.mkdir()
    with serve(text("unused")) as endpoint:
        return write("straight", folder, endpoint).read_bytes()


def _start_of_the_last_write(data: bytes) -> int:
    """Behind the last seal but one: what follows went out as one batch, or less."""
    seals = _seals(data)
    assert seals[-1] == len(data)
    return seals[-2]


def _seals(data: bytes) -> list[int]:
    """Where the lines with a seal end."""
    at = 0
    seals = []
    for line in data.splitlines(keepends=True):
        at += len(line)
        mark = read_line_stamp(line)
        if mark is not None and mark.seal is not None:
            seals.append(at)
    return seals


def _is_whole(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _said(lines: list[bytes]) -> list[str]:
    """The ids of the messages in whole lines, system messages aside."""
    values = [json.loads(line) for line in lines[1:]]
    return [v["id"] for v in values if v["type"] == "message" and v["message"]["role"] != "system"]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_r38_cut_at_every_byte_of_a_write_all_before_is_shown_and_the_next_write_is_sound(
    whole: bytes, tmp_path: Path
) -> None:
    start = _start_of_the_last_write(whole)
    assert len(whole) - start > 500
    path = tmp_path / "cut.jsonl"
    for cut in range(start, len(whole) + 1):
        left = whole[:cut]
        path.write_bytes(left)
        rows = lines_of(path)
        if not _is_whole(rows[-1]):
            rows = rows[:-1]
        shown = agentsh("show", str(path), "--view", "chat", "--json")
        value = shown.json()
        assert isinstance(value, dict)
        told = [m["entry"] for m in value["messages"] if not m["entry"].startswith("repair-")]
        assert (shown.code, told) == (0, _said(rows)), cut
        assert path.read_bytes() == left, "looking wrote something"

        with open_session(path, write=True) as session:
            session.rename("goes on")
        now = path.read_bytes()
        assert now.startswith(left), cut
        report = verify_file(path)
        assert report.ok, (cut, report.problems)
        with open_session(path, write=True) as session:
            session.begin()
            assert session.saved, cut
        assert path.read_bytes() == now, cut


@pytest.mark.slow
def test_a_first_write_that_was_cut_at_any_byte_is_a_session_or_none_and_never_in_the_way(
    whole: bytes, tmp_path: Path
) -> None:
    """Nothing had been sent yet; what is left may be no session at all (P2: and stays as it is)."""
    header = whole.index(b"\n") + 1
    folder = Path(os.environ["AGENTSH_HOME"]) / "sessions" / "x"
    folder.mkdir()
    path = folder / "2026-01-01T00-00-00-000Z_cut.jsonl"
    first = _seals(whole)[0]
    codes = set()
    for cut in (*range(header + 2), *range(header + 2, first, 97)):
        path.write_bytes(whole[:cut])
        for words in (("show", str(path), "--json"), ("sessions", "--all", "--json")):
            ended = agentsh(*words)
            is_session = cut >= header - 1
            codes.add((words[0], is_session, ended.code))
        assert path.read_bytes() == whole[:cut]

    assert codes == {
        *(("show", True, 0), ("show", False, 3)),
        *(("sessions", True, 0), ("sessions", False, 0)),
    }


def test_beside_the_leftovers_of_a_first_write_one_goes_on(whole: bytes, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    path = next(Path(os.environ["AGENTSH_HOME"]).rglob("*.jsonl"))
    (path.parent / "2099-01-01T00-00-00-000Z_cut.jsonl").write_bytes(whole[:60])
    with serve(text("unused")) as endpoint:
        done = run(endpoint, folder, [text("on")], "-c", "go on")

    assert done.code == 0
    assert path.read_bytes().startswith(whole)
    assert len(path.read_bytes()) > len(whole)
