"""A tree without our facts is the tree that it was; what a model would see stays the same."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.context.projection import project
from agentsh.jsontext import loads_object
from agentsh.session.exchange.pi_export import PiLines
from agentsh.session.exchange.subset import Thinned
from agentsh.session.file.session import open_session
from agentsh.session.format.entries import EntryId
from tests.interop.pi.trees import Grower

Json = dict[str, Any]


def with_facts(lines: bytes, seed: int) -> bytes:
    """The same file as agentsh would have written it: facts between, stamps on all."""
    rng = random.Random(seed)
    header, *entries = [json.loads(line) for line in lines.split(b"\n") if line]
    moved: dict[str | None, str | None] = {None: None}
    out: list[Json] = [{**header, "agentsh": 1}]
    for number, entry in enumerate(entries):
        above = moved[entry["parentId"]]
        for extra in range(rng.randrange(3)):
            name = f"fact{number}-{extra}"
            fact = {"type": "custom", "id": name, "parentId": above, "timestamp": "t"}
            out.append({**fact, "customType": "agentsh.turn", "data": {"v": 1}})
            above = name
        stamp = {"s": "abcdefgh", "n": len(out)}
        out.append({**entry, "parentId": above, "ash": stamp})
        moved[entry["id"]] = entry["id"]
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in out)


def exported(path: Path) -> bytes:
    with open_session(path, write=False) as session:
        return b"".join(PiLines(session, leaf=None, whole=True, private=True).bytes())


def parsed(data: bytes) -> list[Json]:
    return [dict(loads_object(line)) for line in data.split(b"\n") if line]


@given(st.integers(0, 2**16), st.integers(0, 2**16))
@settings(max_examples=40)
def test_without_facts_the_file_is_pis_again(
    tmp_path_factory: pytest.TempPathFactory, seed: int, other: int
) -> None:
    grower = Grower(seed)
    grower.grow(30)
    path = tmp_path_factory.mktemp("a") / "with.jsonl"
    path.write_bytes(with_facts(grower.lines, other))

    assert parsed(exported(path)) == parsed(grower.lines)


@given(st.integers(0, 2**16))
@settings(max_examples=40)
def test_what_a_model_would_see_is_the_same_at_every_entry(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    grower = Grower(seed)
    grower.grow(25)
    folder = tmp_path_factory.mktemp("a")
    before, after = folder / "before.jsonl", folder / "after.jsonl"
    before.write_bytes(with_facts(grower.lines, seed))
    after.write_bytes(exported(before))

    with open_session(before, write=False) as one, open_session(after, write=False) as other:
        for entry in other.tree:
            mine, theirs = project(one.branch(entry)), project(other.branch(entry))
            assert [item.message for item in mine.items] == [i.message for i in theirs.items]
            assert mine.system.sections == theirs.system.sections


def chain(*entries: Json) -> bytes:
    header = {"type": "session", "version": 3, "id": "s-1", "timestamp": "t", "cwd": "/"}
    parent = None
    lines = [header]
    for entry in entries:
        lines.append({"parentId": parent, "timestamp": "t", **entry})
        parent = entry["id"]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def user(name: str) -> Json:
    return {"type": "message", "id": name, "message": {"role": "user", "content": name}}


def fact(name: str, **more: Any) -> Json:
    return {"type": "custom", "id": name, "customType": "agentsh.nav", "data": {"v": 1}, **more}


def test_what_named_a_fact_names_what_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        chain(
            user("one"),
            fact("f1"),
            fact("f2"),
            user("two"),
            {"type": "compaction", "id": "c", "summary": "s", "firstKeptEntryId": "f1"},
            {"type": "label", "id": "l", "targetId": "f2", "label": "here"},
            fact("f3"),
            {"type": "branch_summary", "id": "b", "summary": "s", "fromId": "f3"},
        )
    )
    with open_session(path, write=False) as session:
        kept = {k.id: k.value for k in Thinned(session).lines()}

    assert list(kept) == ["one", "two", "c", "l", "b"]
    assert kept[EntryId("c")]["firstKeptEntryId"] == "two"
    assert kept[EntryId("l")]["targetId"] == "one"
    assert kept[EntryId("b")]["fromId"] == "l"


def test_a_compaction_whose_kept_range_held_only_facts_keeps_none(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    compaction = {
        "type": "compaction",
        "id": "c",
        "summary": "s",
        "firstKeptEntryId": "f1",
        "details": {"readFiles": ["a"], "ash": {"state": {"approve.rules": ["bash:*"]}}},
    }
    path.write_bytes(chain(user("one"), fact("f1"), compaction))

    with open_session(path, write=False) as session:
        *_, last = Thinned(session).lines()

    assert last.value["firstKeptEntryId"] == "c"
    assert last.value["details"] == {"readFiles": ["a"]}


def test_of_a_result_what_we_know_of_the_file_stays_behind(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    ours = {"file": {"path": "/home/u/a", "sha256": "00", "size": 1}}
    results = [
        {"type": "message", "id": name, "message": {"role": "toolResult", "details": details}}
        for name, details in (("r1", {"ash": ours}), ("r2", {"diff": "x", "ash": ours}))
    ]
    path.write_bytes(chain(*results))

    lines = parsed(exported(path))

    assert [line["message"].get("details") for line in lines[1:]] == [None, {"diff": "x"}]


def test_a_moved_leaf_is_the_last_lines_place_for_pi_too(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        chain(user("one"), user("two"), {**fact("f"), "parentId": "one"})
        + b'{"type":"session_info","id":"n","parentId":"f","timestamp":"t","name":"birds"}\n'
        + b'{"type":"custom","id":"g","parentId":"one","timestamp":"t",'
        + b'"customType":"agentsh.nav"}\n'
    )

    lines = parsed(exported(path))

    assert [line["type"] for line in lines] == ["session", "message", "message"] + [
        "session_info"
    ] * 2
    assert (lines[-1]["parentId"], lines[-1]["name"]) == ("one", "birds")
    assert "custom" not in [line["type"] for line in lines]


def test_a_path_takes_its_labels_along_and_nothing_that_came_later(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        chain(
            user("one"), user("two"), {"type": "label", "id": "l", "targetId": "one", "label": "x"}
        )
    )
    with open_session(path, write=False) as session:
        lines = list(PiLines(session, leaf=EntryId("one"), whole=False).entries())

    assert [(v["type"], v.get("targetId"), v.get("label")) for v in lines] == [
        ("message", None, None),
        ("label", "one", "x"),
    ]


def test_lines_that_cannot_be_read_are_left_out_and_their_children_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    broken = b'{"type":"message","id":"bad","parentId":"one","timestamp":"t","mess\n'
    child = (
        b'{"type":"message","id":"z","parentId":"bad","timestamp":"t","message":{"role":"user"}}\n'
    )
    path.write_bytes(chain(user("one")) + broken + child)

    with open_session(path, write=False) as session:
        thin = Thinned(session)
        kept = [(k.id, k.parent) for k in thin.lines()]

    assert kept == [("one", None), ("z", "one")]
    assert thin.left_out == {"lines that could not be read": 1}
