"""A fork has the context of its parent at that place; the parent keeps every byte."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.context.projection import project
from agentsh.messages import AssistantMessage, Text, ToolResultMessage
from agentsh.session.exchange.fork import fork_session
from agentsh.session.file.session import Session, new_session, open_session
from agentsh.session.format.entries import (
    Branch,
    Compaction,
    Custom,
    EntryId,
    Header,
    SessionId,
)
from agentsh.session.format.factcodec import decode_fact
from agentsh.session.format.facts import Origin, TurnEnded, TurnStarted
from agentsh.session.health.verify import verify_file
from agentsh.session.store.store import Store
from tests.session.builders import body_of, result, said, started, user

CWD = "/home/user/project"
HEADER = Header(SessionId("parent-0001"), "2026-01-01T00:00:00.000Z", CWD)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "sessions")


@pytest.fixture
def parent(store: Store) -> Session:
    return new_session(store.path_for(CWD, HEADER.timestamp, HEADER.id), HEADER)


def turn(session: Session, word: str) -> EntryId:
    """A prompt, a call with its result, an answer; the answer."""
    start = session.append(TurnStarted(1)).id
    session.append(body_of(user(word)))
    session.append(body_of(said("", (f"c-{word}", "bash"))))
    session.append(started(f"c-{word}"))
    session.append(body_of(result(f"c-{word}")))
    answer = session.append(body_of(said(f"answer to {word}"))).id
    session.append(TurnEnded(start, "completed"))
    session.barrier()
    return answer


def messages(branch: Branch) -> list[object]:
    return [item.message for item in project(branch).items]


def facts(session: Session) -> list[object]:
    found = [decode_fact(e.body) for e in session.branch().entries if isinstance(e.body, Custom)]
    return [f for f in found if f is not None]


def test_a_fork_at_an_answer_has_its_context_and_names_its_parent(
    store: Store, parent: Session
) -> None:
    turn(parent, "alpha")
    at = turn(parent, "beta")
    turn(parent, "gamma")
    assert parent.path is not None
    before = parent.path.read_bytes()
    told: list[str] = []

    path = fork_session(parent, at, store, tell=told.append)

    assert parent.path.read_bytes() == before
    assert told == []
    assert path.parent == parent.path.parent
    assert oct(path.stat().st_mode)[-3:] == "600"
    assert verify_file(path).problems == verify_file(path).warnings == ()
    with open_session(path, write=False) as child:
        assert child.header.parent_session == str(parent.path)
        assert messages(child.branch()) == messages(parent.branch(at))
        root = facts(child)[0]
        assert isinstance(root, Origin)
        assert root.session_id == child.header.id
        assert root.parent == {
            "id": parent.header.id,
            "path": str(parent.path),
            "leaf": parent.leaf,
        }
        assert root.seed is not None
        assert root.seed["leaf"] == at
        assert TurnEnded not in [type(f) for f in facts(child)[-1:]]
        ids = {e.id for e in child.entries()}
        assert all(e.parent is None or e.parent in ids for e in child.entries())


def test_copied_lines_keep_their_bytes(store: Store, parent: Session) -> None:
    at = turn(parent, "alpha")
    path = fork_session(parent, at, store)

    theirs = [parent.raw(e.id) for e in parent.branch(at).entries]
    ours = path.read_bytes().split(b"\n")[2:]

    assert ours[1 : len(theirs)] == theirs[1:]
    # the first one had no parent and now has the child's root
    assert json.loads(ours[0]) | {"parentId": None} == json.loads(theirs[0])


def test_a_child_is_continued_and_only_the_child_grows(store: Store, parent: Session) -> None:
    at = turn(parent, "alpha")
    assert parent.path is not None
    before = parent.path.read_bytes()
    path = fork_session(parent, at, store)
    start = path.read_bytes()

    with open_session(path, write=True) as child:
        turn(child, "delta")

    assert path.read_bytes().startswith(start)
    assert parent.path.read_bytes() == before
    assert verify_file(path).problems == verify_file(path).warnings == ()


def test_a_fork_at_the_root_is_empty(store: Store, parent: Session) -> None:
    turn(parent, "alpha")

    path = fork_session(parent, None, store)

    with open_session(path, write=False) as child:
        assert messages(child.branch()) == []
        assert child.header.parent_session == str(parent.path)
    assert verify_file(path).ok


def test_labels_come_along_and_leave_no_orphans(store: Store, parent: Session) -> None:
    one = turn(parent, "alpha")
    parent.label(one, "first")
    parent.label(one, "renamed")
    two = turn(parent, "beta")
    parent.label(two, "second")
    three = turn(parent, "gamma")
    parent.label(three, "gone")
    parent.label(three, None)
    after = turn(parent, "delta")
    parent.label(after, "not copied")

    path = fork_session(parent, three, store)

    assert verify_file(path).ok
    with open_session(path, write=False) as child:
        assert child.tree.labels == {one: "renamed", two: "second"}
        assert messages(child.branch()) == messages(parent.branch(three))
        assert len(child.tree.roots) == 1


def test_a_fork_of_a_compacted_path_has_the_same_context(store: Store, parent: Session) -> None:
    turn(parent, "alpha")
    kept = turn(parent, "beta")
    parent.append(Compaction("THE SUMMARY", kept, 100))
    at = turn(parent, "gamma")

    path = fork_session(parent, at, store)

    with open_session(path, write=False) as child:
        assert messages(child.live()) == messages(parent.branch(at))


def test_a_kept_range_that_begins_at_a_label_stays_whole(store: Store, parent: Session) -> None:
    one = turn(parent, "alpha")
    label = parent.label(one, "old").id
    turn(parent, "beta")
    parent.label(one, None)
    parent.append(Compaction("THE SUMMARY", label, 100))
    at = turn(parent, "gamma")

    path = fork_session(parent, at, store)

    with open_session(path, write=False) as child:
        assert messages(child.branch()) == messages(parent.branch(at))
        assert child.tree.labels == {}


def test_inside_a_step_it_goes_back_to_before_the_message(store: Store, parent: Session) -> None:
    parent.append(TurnStarted(1))
    prompt = parent.append(body_of(user("go"))).id
    asked = parent.append(body_of(said("", ("c1", "bash"), ("c2", "bash")))).id
    first = parent.append(body_of(result("c1"))).id
    parent.append(body_of(result("c2")))
    parent.append(body_of(said("done")))
    parent.barrier()
    for place in (asked, first):
        told: list[str] = []

        path = fork_session(parent, place, store, tell=told.append)

        assert len(told) == 1
        assert place in told[0]
        with open_session(path, write=False) as child:
            assert messages(child.branch()) == messages(parent.branch(prompt))
            assert [f.reason for f in facts(child) if isinstance(f, TurnEnded)] == ["branched"]


def test_at_the_leaf_of_an_open_turn_it_is_closed_as_a_crash_would_be(
    store: Store, parent: Session
) -> None:
    parent.append(TurnStarted(1))
    parent.append(body_of(user("go")))
    parent.append(body_of(said("", ("c1", "bash"), ("c2", "bash"))))
    parent.append(started("c1"))
    parent.append(body_of(result("c1", "kept word for word")))
    parent.barrier()

    path = fork_session(parent, parent.leaf, store)

    assert verify_file(path).ok
    with open_session(path, write=True) as child:
        results = [m for m in messages(child.branch()) if isinstance(m, ToolResultMessage)]
        assert [m.tool_call_id for m in results] == ["c1", "c2"]
        assert results[0].content == (Text("kept word for word"),)
        assert results[1].is_error
        before = path.read_bytes()
        child.append(body_of(user("next")))
        child.barrier()
        assert b"TOOL_NOT_STARTED" not in path.read_bytes()[len(before) :]


def test_a_fork_of_a_fork_keeps_the_chain(store: Store, parent: Session) -> None:
    at = turn(parent, "alpha")
    first = fork_session(parent, at, store)
    with open_session(first, write=True) as child:
        turn(child, "beta")
        second = fork_session(child, child.leaf, store)

    assert verify_file(second).problems == verify_file(second).warnings == ()
    with open_session(second, write=False) as grandchild:
        origins = [f for f in facts(grandchild) if isinstance(f, Origin)]
        assert origins[0].session_id == grandchild.header.id
        assert len(origins) == 3


@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_any_place_of_any_tree_gives_its_context(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("tree")
    store = Store(root / "sessions")
    parent = new_session(store.path_for(CWD, HEADER.timestamp, HEADER.id), HEADER)
    places: list[EntryId | None] = [None]
    for number in range(data.draw(st.integers(1, 12))):
        match data.draw(st.sampled_from(["turn", "label", "compact", "move", "user", "calls"])):
            case "turn":
                places.append(turn(parent, f"w{number}"))
            case "label" if places[-1] is not None:
                places.append(parent.label(places[-1], f"l{number}").id)
            case "compact" if places[-1] is not None:
                places.append(parent.append(Compaction(f"s{number}", places[-1], 1)).id)
            case "move":
                parent.move(data.draw(st.sampled_from(places)), "tree")
            case "calls":
                places.append(parent.append(body_of(said("", (f"k{number}", "bash")))).id)
            case _:
                places.append(parent.append(body_of(user(f"u{number}"))).id)
    parent.barrier()
    at = data.draw(st.sampled_from(places))
    told: list[str] = []

    path = fork_session(parent, at, store, tell=told.append)

    assert verify_file(path).ok
    with open_session(path, write=False) as child:
        mine, theirs = messages(child.branch()), messages(parent.branch(at))
        assert mine[: len(theirs)] == theirs or (told and theirs[: len(mine)] == mine)
        # beyond it stands at most what answers the calls of the last step
        assert all(isinstance(m, ToolResultMessage) for m in mine[len(theirs) :])
        last = [m for m in mine if not isinstance(m, ToolResultMessage)][-1:]
        if last and isinstance(last[0], AssistantMessage):
            answered = {m.tool_call_id for m in mine if isinstance(m, ToolResultMessage)}
            assert {c.id for c in last[0].tool_calls} <= answered
    shutil.rmtree(root)
