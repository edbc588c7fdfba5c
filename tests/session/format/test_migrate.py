"""Files of versions 1 and 2: read as version 3, rewritten only when gone on with."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from agentsh.errors import SessionChangedError, SessionNotSavedError
from agentsh.session.file.session import open_session
from agentsh.session.format.entries import Compaction, MessageBody
from agentsh.session.format.migrate import convert
from tests.session.builders import said
from tests.session.disks import FaultyDisk, around

_HEADER: dict[str, object] = {"type": "session", "id": "old", "timestamp": "t", "cwd": "/p"}


def _user(text: str, **more: object) -> dict[str, object]:
    message = {"role": "user", "content": text, "timestamp": 1}
    return {"type": "message", "timestamp": "t", "message": message, **more}


def _compaction(index: int) -> dict[str, object]:
    return {
        "type": "compaction",
        "timestamp": "t",
        "summary": "s",
        "firstKeptEntryIndex": index,
        "tokensBefore": 1,
    }


def _data(*lines: Mapping[str, object]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _parsed(data: bytes) -> list[dict[str, object]]:
    return [json.loads(line) for line in data.split(b"\n") if line]


def test_version_1_becomes_a_chain_with_the_same_ids_each_time() -> None:
    data = _data({**_HEADER, "provider": "p"}, _user("a"), _user("b", future=1))
    converted = convert(data)
    header, first, second = _parsed(converted)

    assert convert(data) == converted
    assert header == {**_HEADER, "version": 3, "provider": "p"}
    assert (first["parentId"], second["parentId"]) == (None, first["id"])
    assert second["future"] == 1


@pytest.mark.parametrize(("index", "kept"), [(0, None), (1, 1), (2, 2), (3, None), (9, None)])
def test_an_index_into_the_list_becomes_the_id_of_an_earlier_line(
    index: int, kept: int | None
) -> None:
    lines = _parsed(convert(_data(_HEADER, _user("a"), _user("b"), _compaction(index))))

    assert lines[3].get("firstKeptEntryId") == (None if kept is None else lines[kept]["id"])
    assert "firstKeptEntryIndex" not in lines[3]


def test_version_2_keeps_its_ids_and_spells_one_role_anew() -> None:
    message = {"role": "hookMessage", "customType": "x", "content": "hi", "display": True}
    old = {"type": "message", "id": "a", "parentId": None, "timestamp": "t", "message": message}
    header = {**_HEADER, "version": 2}

    assert _parsed(convert(_data(header, old))) == [
        {**_HEADER, "version": 3},
        {**old, "message": {**message, "role": "custom"}},
    ]


def test_lines_that_are_no_object_stay_as_they_are() -> None:
    data = _data(_HEADER, _user("a")) + b"junk\n\n[1]\n" + _data(_user("b"))
    lines = convert(data).split(b"\n")

    assert lines[2:5] == [b"junk", b"", b"[1]"]
    assert json.loads(lines[5])["parentId"] == json.loads(lines[1])["id"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(_data(_HEADER, _user("a"), _user("b"), _compaction(2), _user("c")))
    path.chmod(0o644)
    return path


def test_reading_an_old_file_changes_nothing(path: Path) -> None:
    before = path.read_bytes()
    with open_session(path, write=True, around=around()) as session:
        kinds = [type(entry.body) for entry in session.branch().entries]
        assert kinds == [MessageBody, MessageBody, Compaction, MessageBody]

    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_going_on_keeps_the_old_bytes_beside_a_new_file(path: Path) -> None:
    before = path.read_bytes()
    with open_session(path, write=True, around=around()) as session:
        shown = session.branch().entries
        session.append(MessageBody(said("more")))
        session.barrier()
        session.append(MessageBody(said("and more")))

    backup = path.with_name("s.jsonl.v1.bak")
    assert backup.read_bytes() == before
    assert [p.stat().st_mode & 0o777 for p in (path, backup)] == [0o600, 0o600]
    assert path.read_bytes().startswith(convert(before))
    assert set(path.parent.iterdir()) == {path, backup}
    with open_session(path, write=False, around=around()) as session:
        assert session.header.version == 3
        assert session.branch().entries[: len(shown)] == shown
        assert session.notices == ()


def test_the_backup_takes_the_next_name_where_somebody_has_put_anything_else(path: Path) -> None:
    before = path.read_bytes()
    names = [path.with_name(f"s.jsonl.v1{count}.bak") for count in ("", "-1", "-2", "-3", "-4")]
    theirs = path.with_name("theirs")
    theirs.write_bytes(before)
    os.mkfifo(names[0])
    names[1].symlink_to("nowhere")
    names[2].symlink_to(theirs)
    names[3].write_bytes(before + b"longer")

    with open_session(path, write=True, around=around()) as session:
        session.append(MessageBody(said("more")))
        session.barrier()

    assert names[4].read_bytes() == before
    assert not names[4].is_symlink()
    assert (theirs.read_bytes(), names[3].read_bytes()) == (before, before + b"longer")


@pytest.mark.parametrize("room", [0, 100, 1000])
def test_a_full_disk_leaves_the_old_file_as_it_was(path: Path, room: int) -> None:
    before = path.read_bytes()
    disk = FaultyDisk(room=10_000)
    session = open_session(path, write=True, around=around(disk))
    session.append(MessageBody(said("more")))
    disk.room = room
    with pytest.raises(SessionNotSavedError):
        session.barrier()
    assert path.read_bytes() == before

    disk.room = None
    session.close()
    assert path.read_bytes().startswith(convert(before))


def test_an_old_file_that_another_program_wrote_to_is_not_rewritten(path: Path) -> None:
    session = open_session(path, write=True, around=around())
    session.append(MessageBody(said("more")))
    path.write_bytes(path.read_bytes() + _data(_user("d")))
    before = path.read_bytes()

    with pytest.raises(SessionChangedError):
        session.barrier()
    assert path.read_bytes() == before
