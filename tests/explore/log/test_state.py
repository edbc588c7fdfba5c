"""What an exploration is comes of its log, fact by fact; what it came to, of that."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentsh.explore.log.facts import (
    AnyExploreFact,
    BaseState,
    BranchEnd,
    BranchFact,
    CaptureFact,
    CheckFact,
    EndFact,
    ExploreLimits,
    LimitFact,
    PlanFact,
    ResumeFact,
    StartFact,
    StopFact,
    TaskFact,
    TurnFact,
    fact_body,
    facts_of_lines,
)
from agentsh.explore.log.outcome import best_branch, code_of_exploration, same_files
from agentsh.explore.log.state import ExplorationFold, fold_facts
from agentsh.explore.plan import ExploreTask, PlannedBranch
from agentsh.messages import Usage
from agentsh.session.format.codec import encode_entry
from agentsh.session.format.entries import Custom, Entry, EntryId

PLAN = PlanFact("/p", (BaseState("/p", "/p", "c0", 1, 2),), ExploreLimits(), check="true")


def entry(number: int, body: Custom) -> Entry:
    return Entry(EntryId(f"{number:08x}"), None, "2026-01-01T00:00:00.000Z", body)


def planned(count: int, plan: PlanFact = PLAN) -> ExplorationFold:
    tasks = [TaskFact(0, ExploreTask("1", "p", extra={"stars": [3, None]}))]
    rows = [BranchFact(PlannedBranch(n, 0, "m", n)) for n in range(1, count + 1)]
    folded = fold_facts([plan, *tasks, *rows])
    assert folded is not None
    return folded


def done(
    n: int, *, exit: int, lines: int = 1, tree: str = "t", protected: bool = False
) -> list[AnyExploreFact]:
    return [
        StartFact(n, 1, "local", 7, "h", f"s{n}", f"/s{n}"),
        TurnFact(n, "completed", "leaf", "said", Usage(input=5), 2),
        CaptureFact(n, f"c{n}", tree, (("a", "change"),), lines, 0, ("a",) if protected else ()),
        CheckFact(n, exit, 0.5, "out"),
        EndFact(n, "completed", 1.5),
    ]


facts = st.one_of(
    st.builds(
        StartFact,
        st.integers(-1, 5),
        st.integers(1, 3),
        st.just("w"),
        st.just(1),
        st.just("h"),
        st.text(),
        st.text(),
    ),
    st.builds(
        EndFact,
        st.integers(-1, 5),
        st.sampled_from(["completed", "failed", "limit"]),
        st.just(1.0),
        st.none() | st.text(),
    ),
    st.builds(CheckFact, st.integers(-1, 5), st.integers(0, 2), st.just(0.5), st.text()),
    st.builds(
        CaptureFact,
        st.integers(-1, 5),
        st.text(),
        st.text(),
        st.lists(st.tuples(st.text(), st.text())).map(tuple),
    ),
    st.builds(LimitFact, st.text()),
)


@given(st.lists(facts))
def test_what_is_read_of_a_log_is_what_was_written(written: list[AnyExploreFact]) -> None:
    """Through bytes; a fact of a later version, and a row that nobody planned, change nothing."""
    bodies = [fact_body(fact) for fact in (PLAN, *written)]
    bodies.insert(1, Custom("agentsh.explore", {"ev": "of a later version", "n": 1}))
    lines = [encode_entry(entry(number, body)) for number, body in enumerate(bodies)]
    lines.insert(1, b'{"type":"custom","customType":"agentsh.explore","data":{"ev":"pl')

    read = list(facts_of_lines(lines))

    assert read == [PLAN, *written]
    folded = fold_facts(read)
    assert folded is not None
    assert folded.now().rows == ()


def test_a_task_comes_back_with_what_is_not_ours() -> None:
    fact = TaskFact(0, ExploreTask("1", "p", extra={"a": {"b": [1, None, "é"]}}))

    assert list(facts_of_lines([encode_entry(entry(1, fact_body(fact)))])) == [fact]


def test_the_best_branch_left_the_protected_files_alone_then_changed_least() -> None:
    folded = planned(4)
    for fact in (
        *done(1, exit=0, lines=1, protected=True),
        *done(2, exit=0, lines=9),
        *done(3, exit=0, lines=3),
        *done(4, exit=1, lines=1),
    ):
        folded.take(fact)

    assert best_branch(folded.now()) == 3
    assert same_files(folded.rows) == {2: 1, 3: 1, 4: 1}
    assert code_of_exploration(folded.now()) == 0


def test_no_branch_passed_is_exit_1_a_limit_is_6_and_an_interruption_130() -> None:
    folded = planned(2)
    for fact in done(1, exit=1):
        folded.take(fact)
    folded.take(EndFact(2, "failed", 1.0, "words"))
    assert code_of_exploration(folded.now()) == 1

    folded.take(EndFact(2, "limit", 1.0, "words"))
    assert code_of_exploration(folded.now()) == 6

    folded.take(StopFact("interrupted", 130))
    assert code_of_exploration(folded.now()) == 130


def test_a_resume_takes_up_what_is_open_and_what_it_names() -> None:
    folded = planned(5)
    ends: list[BranchEnd] = ["completed", "failed", "blocked", "aborted", "limit"]
    for n, status in enumerate(ends, 1):
        folded.take(EndFact(n, status, 1.0))
    assert [row.n for row in folded.now().to_do()] == [4, 5]

    folded.take(ResumeFact(ExploreLimits(parallel=9), ("failed",)))

    assert [row.n for row in folded.now().to_do()] == [2, 4, 5]
    assert folded.now().limits.parallel == 9


def test_a_new_try_forgets_the_turn_of_the_old_one_and_keeps_its_session() -> None:
    folded = planned(1)
    for fact in done(1, exit=0):
        folded.take(fact)

    folded.take(StartFact(1, 2, "local", 8, "h", "another", "/another"))

    [row] = folded.now().rows
    assert (row.status, row.tries, row.turn, row.capture) == ("running", 2, None, None)
    assert [each.session for each in row.earlier] == ["s1"]
