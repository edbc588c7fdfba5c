"""Imports: every entry comes, the origin is marked, nothing is granted, no id becomes a path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.errors import SessionNotFoundError
from agentsh.messages import Text, UserMessage
from agentsh.session.exchange.importing import Arrival, import_file
from agentsh.session.exchange.pi_export import PiLines
from agentsh.session.file.session import open_session
from agentsh.session.format.entries import Custom, MessageBody, ModelChange
from agentsh.session.format.factcodec import decode_fact
from agentsh.session.format.facts import Origin
from agentsh.session.health.verify import verify_file
from agentsh.session.store.store import Store
from tests.interop.pi.trees import Grower

DATA = Path(__file__).parent.parent.parent / "data"
Json = dict[str, Any]


def bring(source: Path, root: Path) -> Arrival:
    return import_file(source, Store(root), "/home/user/here", dry_run=False)


def entries_of(path: Path) -> Iterator[Json]:
    for line in path.read_bytes().split(b"\n"):
        if line:
            yield json.loads(line)


def theirs(path: Path) -> list[Json]:
    """Entries that are not ours, with the parent that they have among themselves."""
    lines = list(entries_of(path))[1:]
    ours = {e["id"] for e in lines if str(e.get("customType", "")).startswith("agentsh.")}
    return [
        {**e, "parentId": None if e["parentId"] in ours else e["parentId"]}
        for e in lines
        if e["id"] not in ours
    ]


@given(st.integers(0, 2**16))
@settings(max_examples=30)
def test_a_file_of_pi_comes_whole_and_goes_back_whole(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """agentsh → Pi → agentsh keeps every entry: ids, order, trees, members."""
    grower = Grower(seed)
    grower.grow(30)
    root = tmp_path_factory.mktemp("a")
    source = root / "pi.jsonl"
    source.write_bytes(grower.lines)
    expected = list(entries_of(source))[1:]

    first = bring(source, root / "one")
    assert first.path is not None
    assert theirs(first.path) == expected

    back = root / "back.jsonl"
    with open_session(first.path, write=False) as session:
        back.write_bytes(b"".join(PiLines(session, leaf=None, whole=True, private=True).bytes()))
        leaf = session.tree.parent(session.leaf) if session.leaf else None
    assert list(entries_of(back))[1 : len(expected) + 1] == expected

    second = bring(back, root / "two")
    assert second.path is not None
    assert theirs(second.path)[: len(expected)] == expected
    with open_session(second.path, write=False) as session:
        assert [*session.tree][1 : len(expected) + 1] == [e["id"] for e in expected]
        assert leaf in session.tree
    assert verify_file(second.path).problems == ()


@pytest.mark.parametrize(
    "name", ["claude-code.jsonl", "codex.jsonl", "codex-old.jsonl", "oh-my-pi.jsonl"]
)
def test_each_import_is_a_sound_session_of_this_folder_with_its_origin(
    tmp_path: Path, name: str
) -> None:
    arrival = bring(DATA / name, tmp_path)

    assert arrival.path is not None
    assert verify_file(arrival.path).problems == ()
    with open_session(arrival.path, write=False) as session:
        assert session.header.cwd == "/home/user/here"
        assert session.notices == ()
        first = session.entry(next(iter(session.tree)))
        assert isinstance(first.body, Custom)
        origin = decode_fact(first.body)
    assert isinstance(origin, Origin)
    assert origin.origin == "import"
    assert origin.session_id == arrival.session
    assert origin.parent == {
        "format": name.removesuffix(".jsonl").removesuffix("-old"),
        "id": arrival.source_id,
        "path": str(DATA / name),
        "cwd": arrival.source_cwd,
    }


def test_a_dry_run_says_the_same_and_writes_nothing(tmp_path: Path) -> None:
    for name in ("claude-code.jsonl", "codex.jsonl", "oh-my-pi.jsonl"):
        dry = import_file(DATA / name, Store(tmp_path), "/x", dry_run=True)
        assert not list(tmp_path.iterdir())
        with TemporaryDirectory() as other:
            done = bring(DATA / name, Path(other))
        for field in ("format", "title", "entries", "messages", "branches", "dropped"):
            assert getattr(dry, field) == getattr(done, field), (name, field)


def test_lines_of_a_file_of_pi_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    header = {"type": "session", "version": 3, "id": "s", "timestamp": "T", "cwd": "/x"}
    said = {"role": "user", "content": "hi"}
    entry = {"type": "message", "id": "u1", "parentId": None, "timestamp": "T", "message": said}
    source = tmp_path / "pi.jsonl"
    source.write_text("\n".join([json.dumps(header), json.dumps(entry), "not json", "[1]", "", ""]))

    arrival = bring(source, tmp_path / "sessions")

    assert (arrival.entries, arrival.dropped) == (1, {"lines that could not be read": 2})


def test_an_id_and_a_time_of_the_file_become_no_path(tmp_path: Path) -> None:
    source = tmp_path / "evil.jsonl"
    header = {"type": "session", "version": 3, "id": "../../../evil", "timestamp": "../../x/y"}
    source.write_text(
        json.dumps({**header, "cwd": "/../../etc"})
        + '\n{"type":"message","id":"../a","parentId":null,'
        + '"message":{"role":"user","content":"q"}}\n'
    )

    arrival = bring(source, tmp_path / "store")

    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert sorted(files) == sorted(
        [source, *(tmp_path / "store").glob("--home-user-here--/*.jsonl")]
    )
    assert arrival.session is not None
    assert "evil" not in arrival.session


def test_what_was_granted_there_is_not_granted_here(tmp_path: Path) -> None:
    source = tmp_path / "theirs.jsonl"
    rule = {"v": 1, "key": "approve.rules", "value": ["bash:rm *"]}
    details = {"ash": {"provider": "p", "model": "m", "state": {"approve.rules": ["bash:rm *"]}}}
    lines: list[Json] = [
        {"type": "session", "version": 3, "id": "s-1", "timestamp": "t", "cwd": "/"},
        {
            "type": "message",
            "id": "a",
            "parentId": None,
            "message": {"role": "user", "content": "q"},
        },
        {"type": "custom", "id": "b", "parentId": "a", "customType": "agentsh.state", "data": rule},
        {
            "type": "compaction",
            "id": "c",
            "parentId": "b",
            "summary": "s",
            "firstKeptEntryId": "c",
            "tokensBefore": 1,
            "details": details,
        },
    ]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))

    arrival = bring(source, tmp_path / "store")

    assert arrival.path is not None
    assert b"approve.rules" not in arrival.path.read_bytes()
    assert arrival.dropped == {"facts of agentsh": 1}
    assert arrival.format == "agentsh"


def test_the_dialect_of_oh_my_pi_is_told_in_pis_words(tmp_path: Path) -> None:
    arrival = bring(DATA / "oh-my-pi.jsonl", tmp_path)

    assert arrival.path is not None
    with open_session(arrival.path, write=False) as session:
        assert session.tree.name == "Birds of the lake"
        bodies = [entry.body for entry in session.entries()]
        kinds = [session.tree.kind(each) for each in session.tree]
    assert [b for b in bodies if isinstance(b, ModelChange)] == [ModelChange("openai", "gpt-4o")]
    assert {"session_init", "mode_change", "ttsr_injection"} <= set(kinds)
    [prompt] = [
        b.message
        for b in bodies
        if isinstance(b, MessageBody) and isinstance(b.message, UserMessage)
    ]
    assert prompt.content == (Text("Look"), Text("[an image that is not in the file]"))


@pytest.mark.parametrize("data", [b"", b"dear diary\n", b'{"a":1}\n', b"\xff\xfe\n", b"[]\n"])
def test_what_is_no_session_is_not_found_and_nothing_is_made(tmp_path: Path, data: bytes) -> None:
    source = tmp_path / "some.jsonl"
    source.write_bytes(data)

    with pytest.raises(SessionNotFoundError):
        bring(source, tmp_path / "store")

    assert not (tmp_path / "store").exists()


def test_talks_of_subagents_beside_a_file_of_claude_code_are_counted(tmp_path: Path) -> None:
    source = tmp_path / "talk.jsonl"
    source.write_bytes((DATA / "claude-code.jsonl").read_bytes())
    folder = tmp_path / "talk/subagents"
    folder.mkdir(parents=True)
    (folder / "agent-a.jsonl").write_text("{}")
    left_out = bring(source, tmp_path / "store").dropped

    assert left_out["talks of subagents, in files of their own beside it"] == 1


def test_a_file_in_which_nobody_says_anything_is_an_error(tmp_path: Path) -> None:
    source = tmp_path / "rollout.jsonl"
    rows: list[Json] = [
        {"type": "session_meta", "payload": {"id": "s", "cwd": "/x"}},
        {"type": "turn_context", "payload": {"model": "m", "effort": "high"}},
    ]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))

    with pytest.raises(SessionNotFoundError, match="nothing is said"):
        bring(source, tmp_path / "store")
