"""Sessions that Pi wrote: each opens, keeps its path, and takes an append."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from agentsh.session.file.session import open_session
from agentsh.session.format.codec import decode_line, encode_entry
from agentsh.session.format.entries import Damaged, Entry, Unknown
from tests.session.disks import around

_FOLDER = Path(__file__).parents[4] / "shared" / "pi-sessions"
_FILES = sorted(_FOLDER.glob("*.jsonl")) if _FOLDER.is_dir() else []

pytestmark = pytest.mark.skipif(not _FILES, reason="no files of Pi beside the repository")


@pytest.mark.parametrize("file", _FILES, ids=lambda path: path.stem)
def test_a_file_of_pi_is_read_from_its_end_as_from_its_beginning(file: Path) -> None:
    with open_session(file, write=False, around=around()) as session:
        quick = session.branch(repaired=False).entries
        tree = session.tree
        assert tuple(entry.id for entry in quick) == tree.path(session.leaf)
        assert tuple(session.entry(each) for each in tree.path(session.leaf)) == quick


@pytest.mark.parametrize("file", _FILES, ids=lambda path: path.stem)
def test_a_file_of_pi_takes_an_append_and_keeps_what_it_had(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    shutil.copyfile(file, path)
    with open_session(path, write=True, around=around()) as session:
        old = [entry.id for entry in session.branch(repaired=False).entries]
        session.rename("continued")

    with open_session(path, write=False, around=around()) as session:
        new = [entry.id for entry in session.branch(repaired=False).entries]
        assert new[: len(old)] == old
        assert session.tree.name == "continued"


@pytest.mark.parametrize("file", _FILES, ids=lambda path: path.stem)
def test_what_pi_wrote_in_full_is_written_with_the_same_members(file: Path) -> None:
    for line in file.read_bytes().split(b"\n"):
        entry = decode_line(line) if line.strip() else None
        if not isinstance(entry, Entry) or isinstance(entry.body, Damaged | Unknown):
            continue
        ours, theirs = json.loads(encode_entry(entry)), json.loads(line)
        assert theirs.keys() <= ours.keys()
        for key in theirs.keys() - {"message", "replacement", "content", "usage"}:
            assert ours[key] == theirs[key] or key == "systemMessage"
        message = theirs.get("message")
        if isinstance(message, dict):
            assert message.keys() <= ours["message"].keys()
            for key in message.keys() - {"usage", "content"}:
                assert ours["message"][key] == message[key]
