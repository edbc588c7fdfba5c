"""The list: the store's rows as lines, with what the index knows and with what it does not."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from agentsh.cli.lookup.finding import find_store
from tests.cli.program import Talk, agentsh, make_talk


def listed(*words: str, cwd: Path | None = None) -> list[str]:
    """The ids, from the top."""
    shown = agentsh("sessions", *words, cwd=cwd)
    assert shown.code == 0
    return [line.split("  ")[0] for line in shown.out.splitlines()]


def rows(cwd: Path | None = None) -> list[str]:
    """The same, by the store and without the index."""
    return [row.id for row in find_store(None).rows(None if cwd is None else str(cwd))]


@pytest.fixture
def talks(tmp_path: Path) -> list[Talk]:
    """Three of a folder and one of another, all of them known to the index."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    made = [make_talk(here, name) for name in ("one", "two", "three")]
    made.append(make_talk(there, "elsewhere"))
    assert sorted(listed("--all")) == sorted(talk.id for talk in made)
    return made


@pytest.fixture
def index(clean_environment: Path) -> Path:
    return clean_environment / "agentsh/index.sqlite"


def test_the_order_is_the_stores(tmp_path: Path, talks: list[Talk]) -> None:
    assert listed("--all") == rows()
    assert listed(cwd=tmp_path / "here") == rows(tmp_path / "here")
    assert len(rows(tmp_path / "here")) == 3


def test_a_session_that_went_on_is_folded_and_comes_first(
    tmp_path: Path, talks: list[Talk]
) -> None:
    line = talks[0].path.read_bytes().splitlines()[-1]
    with talks[0].path.open("ab") as file:
        file.write(
            line.replace(talks[0].ids["answer to one"].encode(), b"feedbeef").replace(
                b'"timestamp":"20', b'"timestamp":"29', 1
            )
            + b"\n"
        )

    assert listed("--all")[0] == talks[0].id
    assert listed("--all") == rows()


def test_new_gone_and_moved_files_are_seen(
    tmp_path: Path, talks: list[Talk], clean_environment: Path
) -> None:
    new = make_talk(tmp_path / "here", "four")
    talks[1].path.unlink()
    moved = clean_environment / "agentsh/sessions" / talks[2].path.name
    talks[2].path.rename(moved)

    assert set(listed(cwd=tmp_path / "here")) == {new.id, talks[0].id, talks[2].id}
    assert listed("--all") == rows()


def test_what_was_relinked_is_listed_where_it_belongs(tmp_path: Path, talks: list[Talk]) -> None:
    agentsh("sessions", "relink", talks[3].id, cwd=tmp_path / "here")

    assert set(listed(cwd=tmp_path / "here")) == {talk.id for talk in talks}
    assert listed(cwd=tmp_path / "there") == []


def test_pins_stand_above_in_the_same_order(tmp_path: Path, talks: list[Talk]) -> None:
    before = rows()
    for talk in (talks[0], talks[3]):
        agentsh("sessions", "pin", talk.id)
    pinned = [i for i in before if i in (talks[0].id, talks[3].id)]

    assert listed("--all") == [*pinned, *(i for i in before if i not in pinned)]


@pytest.mark.parametrize("damage", ["junk", "empty", "folder", "fifo", "link", "nonsense", "old"])
def test_an_index_that_is_none_makes_no_difference(
    tmp_path: Path, talks: list[Talk], index: Path, damage: str
) -> None:
    before = agentsh("sessions", "--all").out
    if damage in ("nonsense", "old"):
        with sqlite3.connect(index) as database:
            database.execute(
                "UPDATE file SET updated = x'ff'"
                if damage == "nonsense"
                else "PRAGMA user_version=3"
            )
        database.close()
    else:
        index.unlink()
    match damage:
        case "junk":
            index.write_bytes(b"no database at all" * 100)
        case "empty":
            index.touch()
        case "folder":
            index.mkdir()
        case "fifo":
            os.mkfifo(index)
        case "link":
            index.symlink_to(tmp_path / "elsewhere.sqlite")

    assert agentsh("sessions", "--all").out == before
    assert not (tmp_path / "elsewhere.sqlite").exists()


def test_a_file_whose_name_is_no_text_is_listed(tmp_path: Path, talks: list[Talk]) -> None:
    odd = Path(os.fsdecode(os.fsencode(talks[0].path.parent) + b"/2026_\xff.jsonl"))
    talks[0].path.rename(odd)

    assert listed("--all") == rows()


# counts what is opened below a folder, and how often a folder is read and a database opened
_COUNTING = """
import os, sys
from collections import Counter
below, seen = sys.argv.pop(1), Counter()
def hook(event, args):
    named = event in ("open", "os.scandir", "sqlite3.connect") and not isinstance(args[0], int)
    if named and below in os.fsdecode(args[0]):
        seen[event] += 1
sys.addaudithook(hook)
from agentsh.__main__ import main
try:
    main()
finally:
    os.write(2, repr(dict(seen)).encode())
"""


def test_a_known_list_opens_no_session_and_asks_once(
    talks: list[Talk], clean_environment: Path
) -> None:
    argv = [sys.executable, "-c", _COUNTING, str(clean_environment / "agentsh"), "sessions"]
    done = subprocess.run([*argv, "--all"], capture_output=True, check=True, timeout=60)

    assert done.stdout.count(b"\n") == len(talks)
    # the root twice: files in it, folders in it; then the two folders; what is opened is the index
    assert done.stderr.decode() == "{'os.scandir': 4, 'open': 1, 'sqlite3.connect': 1}"


def test_a_reader_that_goes_away_ends_it_quietly(talks: list[Talk]) -> None:
    for words in (["--all"], ["--all", "--json"], ["--session-dir=/nowhere", "--json"]):
        reader, writer = os.pipe()
        os.close(reader)
        argv = [sys.executable, "-m", "agentsh", "sessions", *words]
        done = subprocess.run(argv, stdout=writer, stderr=subprocess.PIPE, check=False, timeout=60)
        os.close(writer)

        assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("words", [(), ("--json",), ("--all",)])
def test_a_session_that_may_not_be_read_is_named_and_the_others_are_listed(
    tmp_path: Path, talks: list[Talk], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    here = tmp_path / "here"
    locked = talks[0].path.rename(talks[0].path.with_name(f"new-{talks[0].path.name}"))
    _forbid(monkeypatch, locked)

    shown = agentsh("sessions", *words, cwd=here)

    assert shown.code == 0
    assert talks[1].id in shown.out
    assert f"{locked} cannot be read: Permission denied" in shown.err


@pytest.mark.parametrize("command", ["sessions", "show last", "run -c hi"])
def test_where_nothing_may_be_read_it_is_not_said_that_there_is_nothing(
    tmp_path: Path, talks: list[Talk], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    folder = talks[0].path.parent
    here = tmp_path / "here"
    _forbid(monkeypatch, folder)

    shown = agentsh(*command.split(), cwd=here)

    assert shown.code in (1, 3)
    assert f"{folder} cannot be read: Permission denied" in shown.err
    assert "there is no session" not in shown.err


def _forbid(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    """The system refuses to open it; root, who runs tests, is otherwise refused nothing."""
    for call in ("open", "scandir"):
        real = getattr(os, call)

        def refusing(path: object, *rest: object, real: object = real, **named: object) -> object:
            assert callable(real)
            if str(path) == str(place):
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *rest, **named)

        monkeypatch.setattr(os, call, refusing)
