"""Search finds what is in the files, wherever it stands in them, with the index and without it."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from agentsh.jsontext import JsonObject, dumps
from agentsh.messages import AssistantMessage, Text, ToolCall, ToolCallId, ToolResultMessage
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import BranchSummary, Compaction, EntryId, MessageBody
from agentsh.session.search.fulltext import TextIndex
from agentsh.session.search.query import parse_query
from agentsh.session.search.search import Filters, Search, SearchResults
from agentsh.session.store.catalog import Index
from agentsh.session.store.store import SessionRow, Store
from tests.session.builders import result, said, user
from tests.session.sealed import write_session


def rows(store: Store) -> list[SessionRow]:
    return store.rows()


def look(
    store: Store, query: str, index: Path | None = None, limit: str = "50", **filters: str
) -> SearchResults:
    search = Search(parse_query(query), Filters(**filters), int(limit))
    return search.over(store.rows(), None if index is None else TextIndex(index))


def entries(found: SearchResults) -> list[str]:
    return [hit.entry for hit in found.hits]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "sessions")


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "state" / "index.sqlite"


class Told:
    """A session with two branches and a compaction; ids by what was said."""

    def __init__(self, store: Store) -> None:
        self.ids: dict[str, EntryId] = {}
        with store.create("/home/user/project") as session:
            self._tell(session)
            assert session.path is not None
            self.path = session.path

    def _tell(self, session: Session) -> None:
        for name, body in (
            ("kestrel", user("alpha kestrel")),
            ("call", self._call()),
            ("bittern", result("c1", "a bittern in the reeds", "read")),
            ("one", said("answer one")),
        ):
            self.ids[name] = session.append(MessageBody(body)).id
        self.ids["osprey"] = session.append(MessageBody(user("beta osprey"))).id
        session.barrier()
        session.move(self.ids["one"], "tree")
        self.ids["plover"] = session.append(MessageBody(user("gamma plover"))).id
        self.ids["avocet"] = session.append(
            Compaction("a summary with avocet", self.ids["plover"], 9)
        ).id
        self.ids["heron"] = session.append(BranchSummary("they saw a heron", "x")).id
        session.label(self.ids["plover"], "pinned")
        session.rename("bird watch")

    def _call(self) -> AssistantMessage:
        call = ToolCall(ToolCallId("c1"), "read", {"path": "src/reeds.txt"})
        return replace(said("", ("c1", "read")), content=(Text("reading"), call))


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("kestrel", "compacted"),
        ("bittern", "compacted"),
        ("osprey", "branch"),
        ("plover", "path"),
        ("avocet", "path"),
        ("heron", "path"),
    ],
)
def test_found_wherever_it_stands(store: Store, index: Path, word: str, place: str) -> None:
    told = Told(store)

    for where in (None, index, index):
        (hit,) = look(store, word, where).hits
        assert (hit.entry, hit.place) == (told.ids[word], place)
        assert word in hit.text
        assert hit.on_path == (place != "branch")
        assert told.path.read_bytes().split(b"\n")[hit.line - 1].find(hit.entry.encode()) > 0


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"role": "user"}, {"kestrel"}),
        ({"role": "tool"}, set()),
        ({"model": "scripted"}, {"one"}),
        ({"until": "2001"}, set()),
        ({"since": "2001"}, {"kestrel", "one"}),
    ],
)
def test_filters_of_an_entry(
    store: Store, index: Path, filters: dict[str, str], names: set[str]
) -> None:
    told = Told(store)
    wanted = {told.ids[name] for name in names}
    queries = ("kestrel", "answer")

    for where in (None, index):
        found = [e for q in queries for e in entries(look(store, q, where, **filters))]
        assert set(found) == wanted


def test_filters_that_look_around(store: Store, index: Path) -> None:
    told = Told(store)
    ids = told.ids

    for where in (None, index):
        assert entries(look(store, "bittern", where, file="src")) == [ids["bittern"]]
        assert entries(look(store, "bittern", where, file="reeds.txt")) == [ids["bittern"]]
        assert entries(look(store, "bittern", where, file="other.txt")) == []
        assert entries(look(store, "reeds", where, tool="read")) == [ids["bittern"], ids["call"]]
        assert entries(look(store, "plover", where, label="pinned")) == [ids["plover"]]
        assert entries(look(store, "kestrel", where, label="pinned")) == []
        assert look(store, "pinned", where).hits[0].role == "label"
        assert look(store, "watch", where).hits[0].role == "name"


def test_more_than_the_limit_is_said(store: Store, index: Path, tmp_path: Path) -> None:
    for number in range(4):
        write_session(
            tmp_path / "sessions" / f"{number}.jsonl",
            session=f"s{number}",
            time=f"2026-01-0{number + 1}T00:00:00.000Z",
        )

    for where in (None, index):
        found = look(store, "alpha", where, limit="3", role="user")
        assert [hit.session for hit in found.hits] == ["s3", "s2", "s1"]
        assert found.more
        assert not look(store, "alpha", where, limit="4", role="user").more


def test_after_a_turn_only_what_came_is_read(store: Store, index: Path) -> None:
    told = Told(store)
    text = TextIndex(index)
    text.look([told.path], ())
    assert text.bytes_read > 2000
    before = told.path.stat().st_size
    with open_session(told.path, write=True) as session:
        session.append(MessageBody(user("delta dunlin")))
        session.barrier()
    text = TextIndex(index)

    found = Search(parse_query("dunlin")).over(rows(store), text)

    assert len(found.hits) == 1
    assert text.bytes_read == told.path.stat().st_size - before
    again = TextIndex(index)
    assert len(Search(parse_query("kestrel")).over(rows(store), again).hits) == 1
    assert again.bytes_read == 0


@pytest.mark.parametrize("change", ["shrunk", "replaced", "rewritten", "gone"])
def test_a_file_that_is_another_is_read_anew(
    store: Store, index: Path, tmp_path: Path, change: str
) -> None:
    path = write_session(tmp_path / "sessions" / "a.jsonl")
    assert look(store, "alpha", index).hits
    lines = path.read_bytes().split(b"\n")
    match change:
        case "shrunk":
            path.write_bytes(b"\n".join(lines[:4]) + b"\n")
        case "replaced":
            path.unlink()
            write_session(path, prompts=("gamma", "delta"))
        case "rewritten":
            path.write_bytes(path.read_bytes().replace(b"alpha", b"ALPHX"))
        case _:
            path.unlink()

    for query in ("alpha", "alphx", "gamma", "answer"):
        assert look(store, query, index) == look(store, query)


def test_a_last_line_without_its_end_is_found(store: Store, index: Path, tmp_path: Path) -> None:
    path = write_session(tmp_path / "sessions" / "a.jsonl", name="kittiwake")
    whole = path.read_bytes()
    for cut in (len(whole) - 1, len(whole)):
        path.write_bytes(whole[:cut])
        assert len(look(store, "kittiwake", index).hits) == 1
    with path.open("ab") as file:
        file.write(b'{"type":"message","id":"torn","message":{"role":"user","content":"torn bird')

    assert look(store, "torn", index).hits == look(store, "torn").hits == ()


def test_lines_that_stand_there_twice_are_found_once(
    store: Store, index: Path, tmp_path: Path
) -> None:
    path = write_session(tmp_path / "sessions" / "a.jsonl", prompts=("alpha",))
    once = look(store, "alpha")
    path.write_bytes(path.read_bytes() * 2)

    assert len(look(store, "alpha").hits) == len(once.hits)
    assert look(store, "alpha", index) == look(store, "alpha")


def test_files_of_older_versions_are_found(store: Store, index: Path, tmp_path: Path) -> None:
    lines: list[JsonObject] = [
        {"type": "session", "id": "old", "timestamp": "2025-01-01T00:00:00.000Z", "cwd": "/x"},
        {"type": "message", "timestamp": "t", "message": {"role": "user", "content": "a dodo"}},
    ]
    path = tmp_path / "sessions" / "old.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"".join(dumps(line) + b"\n" for line in lines))

    for where in (None, index, index):
        (hit,) = look(store, "dodo", where).hits
        assert (hit.session, hit.on_path) == ("old", True)


@pytest.mark.parametrize("harm", ["garbage", "half", "middle", "old schema", "folder"])
def test_a_damaged_index_is_set_aside_and_made_again(store: Store, index: Path, harm: str) -> None:
    Told(store)
    whole = look(store, "kestrel", index)
    data = index.read_bytes()
    match harm:
        case "garbage":
            index.write_bytes(b"no database" * 1000)
        case "half":
            index.write_bytes(data[: len(data) // 2 + 100])
        case "middle":
            index.write_bytes(data[:8192] + b"\xff" * (len(data) - 8192))
        case "old schema":
            database = sqlite3.connect(index)
            database.execute("DROP TABLE said")
            database.execute("PRAGMA user_version = 1")
            database.close()
        case _:
            index.unlink()
            index.mkdir()

    assert look(store, "kestrel", index) == whole
    if harm != "folder":
        again = TextIndex(index)
        assert Search(parse_query("kestrel")).over(rows(store), again) == whole
        assert again.bytes_read == 0


def test_a_locked_index_is_done_without(store: Store, index: Path) -> None:
    told = Told(store)
    whole = look(store, "kestrel", index)
    with told.path.open("ab") as file:
        file.write(b"\n")
    holder = sqlite3.connect(index)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        assert look(store, "kestrel", index).hits == whole.hits
    finally:
        holder.close()


def test_the_index_is_private_and_holds_no_text(store: Store, index: Path) -> None:
    Told(store)
    look(store, "kestrel", index)
    Index(index).summaries([])

    assert stat.S_IMODE(index.stat().st_mode) == 0o600
    assert stat.S_IMODE(index.parent.stat().st_mode) == 0o700
    assert b"alpha kestrel" not in index.read_bytes()
    assert [file.name for file in index.parent.iterdir()] == ["index.sqlite"]


def test_of_what_is_huge_only_the_ends_are_searched_and_that_is_counted(
    store: Store, index: Path
) -> None:
    with store.create("/x") as session:
        long = "begin " + "x " * 1_000_000 + " middle " + "y " * 1_000_000 + " finish"
        session.append(
            MessageBody(ToolResultMessage(ToolCallId("c"), "bash", (Text(long),), False))
        )
        session.barrier()

    for where in (None, index, index):
        assert look(store, "begin finish", where).cut == 1
        assert look(store, "begin finish", where).hits
        assert not look(store, "middle", where).hits


def test_rows_of_replaced_files_do_not_pile_up(store: Store, index: Path, tmp_path: Path) -> None:
    path = tmp_path / "sessions" / "a.jsonl"
    for number in range(12):
        path.unlink(missing_ok=True)
        write_session(path, prompts=tuple(f"bird{number}x{i}" for i in range(50)))
        search = Search(parse_query(f"bird{number}x7"), Filters(role="user"))
        assert len(search.over(rows(store), TextIndex(index, least_dead=1000)).hits) == 1

    database = sqlite3.connect(index)
    (count,) = database.execute("SELECT count(*) FROM said_in").fetchone()
    database.close()
    assert count <= 3
