"""A path is told anew in another session: same words, new ids, and what names them goes along."""

from __future__ import annotations

from pathlib import Path

from agentsh.context.projection import project
from agentsh.session.exchange.replanting import replant
from agentsh.session.file.session import Session, new_session, open_session
from agentsh.session.format.entries import (
    Compaction,
    Custom,
    EntryId,
    Header,
    MessageBody,
    SessionId,
)
from agentsh.session.health.verify import verify_file
from tests.session.builders import said, user


def session(path: Path, name: str) -> Session:
    return new_session(path, Header(SessionId(name), "2026-01-01T00:00:00.000Z", "/p"))


def test_entries_get_ids_of_the_session_and_references_lead_to_them(tmp_path: Path) -> None:
    with session(tmp_path / "a.jsonl", "branch-0001") as source:
        first = source.append(MessageBody(user("one")))
        kept = source.append(MessageBody(user("two")))
        source.append(Compaction(f"of {first.id}", kept.id, 10))
        source.append(Custom("agentsh.test", {"entry": first.id, "words": [kept.id, "else"]}))
        source.append(MessageBody(said("three")))
        source.barrier()
        path = source.branch().entries
        own = [entry for entry in path if entry.parent is not None]
        with session(tmp_path / "b.jsonl", "trunk-0001") as target:
            here = target.append(MessageBody(user("zero"))).id

            ids = replant(source, own, target, here)
            target.barrier()

            assert set(ids) == {entry.id for entry in own}
            assert not set(ids.values()) & set(ids)
            bodies = [target.entry(ids[entry.id]).body for entry in own]
            assert bodies[2] == Compaction(f"of {first.id}", ids[kept.id], 10)
            assert bodies[3] == Custom(
                "agentsh.test", {"entry": ids[first.id], "words": [ids[kept.id], "else"]}
            )
            assert target.entry(ids[first.id]).parent == here
    assert verify_file(tmp_path / "b.jsonl").ok


def test_what_is_sent_next_is_what_the_branch_would_send(tmp_path: Path) -> None:
    with session(tmp_path / "a.jsonl", "branch-0001") as source:
        for word in ("one", "two"):
            source.append(MessageBody(user(word)))
            source.append(MessageBody(said(f"about {word}")))
        source.barrier()
        entries = [e for e in source.branch().entries if e.parent is not None]
        with session(tmp_path / "b.jsonl", "trunk-0001") as target:
            replant(source, entries, target, None)
            target.barrier()
            there, here = project(target.branch()).items, project(source.branch()).items
            assert [item.message for item in there] == [item.message for item in here]
    with open_session(tmp_path / "b.jsonl", write=False) as again:
        assert EntryId(str(again.leaf)) == again.leaf
