"""What sessions took is counted once, however often it was copied."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from agentsh.messages import Cost, Usage
from agentsh.session.exchange.fork import fork_session
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import (
    BranchSummary,
    Compaction,
    EntryId,
    MessageBody,
    UsageRecord,
)
from agentsh.session.search.costgroups import (
    Costs,
    Group,
    Grouping,
    across,
    cost_of_session,
    costs_of,
)
from agentsh.session.store.store import Store
from tests.session.builders import said, user


def usage(cost: float) -> Usage:
    return Usage(input=10, output=1, total_tokens=11, cost=Cost(total=cost))


def tell(session: Session, prompt: str, cost: float) -> EntryId:
    session.append(MessageBody(user(prompt)))
    return session.append(MessageBody(replace(said(f"to {prompt}"), usage=usage(cost)))).id


def money(groups: list[Group]) -> dict[str, float]:
    return {(g.text or g.name): round(g.sum.usage.cost.total, 6) for g in groups}


def make(store: Store, cwd: str = "/p") -> Path:
    with store.create(cwd) as session:
        first = tell(session, "alpha", 1)
        tell(session, "beta", 2)
        session.barrier()
        session.move(first, "tree")
        tell(session, "gamma", 4)
        session.append(Compaction("sum", None, 9, usage=usage(8)))
        session.append(BranchSummary("sum", "x", usage=usage(16)))
        session.append(UsageRecord("title", "p", "m", usage(32)))
        session.barrier()
        assert session.path is not None
        return session.path


def test_answers_summaries_and_titles_are_counted(tmp_path: Path) -> None:
    found = cost_of_session(make(Store(tmp_path)))

    assert found.own.usage.cost.total == 63
    assert found.own.requests == 6
    assert found.inherited.requests == 0


def test_each_charge_is_in_one_turn(tmp_path: Path) -> None:
    groups = costs_of(make(Store(tmp_path)), Costs.by_turn)

    assert money(groups) == {"alpha": 1, "beta": 2, "gamma": 60}


def test_branches_share_what_they_have_in_common(tmp_path: Path) -> None:
    gamma, beta = costs_of(make(Store(tmp_path)), Costs.by_branch)

    assert gamma.path is not None
    assert beta.path is not None
    # the title hangs below the last thing that was said, so it is on no branch's path
    assert (gamma.sum.usage.cost.total, gamma.path.usage.cost.total) == (29, 29)
    assert (beta.sum.usage.cost.total, beta.path.usage.cost.total) == (2, 3)


def fork(store: Store, path: Path) -> Path:
    with open_session(path, write=False) as parent:
        child = fork_session(parent, parent.leaf, store)
    with open_session(child, write=True) as session:
        tell(session, "delta", 64)
        session.barrier()
    return child


def test_a_fork_has_its_own_and_what_it_inherited(tmp_path: Path) -> None:
    store = Store(tmp_path)
    child = cost_of_session(fork(store, make(store)))

    assert child.own.usage.cost.total == 64
    assert child.inherited.usage.cost.total == 61


def all_of(store: Store, by: Grouping) -> dict[str, float]:
    return {g.name: g.sum.usage.cost.total for g in across(store.rows(), by)}


def test_no_sum_over_sessions_counts_a_copy_twice(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = make(store)
    fork(store, path)

    for by in ("session", "project", "month"):
        assert sum(all_of(store, by).values()) == 63 + 64
    assert all_of(store, "project") == {"/p": 127}


def test_where_the_parent_is_gone_the_oldest_copy_counts(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = make(store)
    child = fork(store, path)
    fork(store, child)
    path.unlink()

    assert sum(all_of(store, "session").values()) == 61 + 64 + 64


def test_copies_without_a_stamp_are_counted_once(tmp_path: Path) -> None:
    """Pi forks by copying lines."""
    store = Store(tmp_path)
    path = make(store)
    plain = [line.partition(b',"ash":')[0] + b"}\n" for line in path.read_bytes().splitlines()]
    header = plain[0].replace(b'"agentsh":1}', b'"agentsh":1').rstrip(b"}\n") + b"}\n"
    path.write_bytes(header + b"".join(plain[1:]))
    with open_session(path, write=False) as session:
        name = session.header.id
    copy = path.with_name(path.name.replace(name, "0" * 36))
    copy.write_bytes(path.read_bytes().replace(name.encode(), b"0" * 36))

    assert len(store.rows()) == 2
    assert sum(all_of(store, "session").values()) == 63
