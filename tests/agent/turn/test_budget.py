"""Limits of cost hold for all of a session, whatever it is called in, and say what is over."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from agentsh.abort import Abort
from agentsh.agent.config import CostLimits
from agentsh.agent.events import Notice, TurnEnd
from agentsh.agent.turn.budget import Budget
from agentsh.errors import RefusedError
from agentsh.messages import Cost, Usage
from agentsh.session.exchange.fork import fork_session
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import EntryId
from agentsh.session.format.facts import TurnEnded
from agentsh.session.store.store import Store
from tests.agent.builders import facts, make_agent, path_of, start_session
from tests.session.disks import QuickDisk, around
from tests.support.scripted import Call, ScriptedProvider

PRICE = Usage(input=100, output=10, total_tokens=110, cost=Cost(total=0.4))
CALL = (Call("c1", "ls", {}),)


def say(
    session: Session, cwd: Path, *script: object, usage: Usage = PRICE, **limits: float
) -> tuple[TurnEnd, list[str], int]:
    """The end of a turn, the warnings in it, and how many requests were sent."""
    provider = ScriptedProvider(*script, usage=usage)  # type: ignore[arg-type]
    agent = make_agent(session, provider, cwd, cost=CostLimits(**limits))
    events = list(agent.prompt("go on"))
    end = events[-1]
    assert isinstance(end, TurnEnd)
    warnings = [e.text for e in events if isinstance(e, Notice) and e.level == "warning"]
    return end, warnings, len(provider.requests)


def start(store: Store, cwd: Path) -> Session:
    return store.create(str(cwd))


def test_a_turn_stops_before_the_request_after_the_limit(tmp_path: Path) -> None:
    store = Store(tmp_path / "sessions", around=around(QuickDisk()))
    with start(store, tmp_path) as session:
        end, _, requests = say(session, tmp_path, CALL, CALL, CALL, "done", stop=0.5)

    assert requests == 2
    assert end.reason == "blocked"
    assert end.error is not None
    assert "$0.8000" in end.error
    assert "$0.3000 over the limit of $0.5000" in end.error
    assert end.hint is not None


def test_the_limit_of_a_run_counts_what_this_process_spent_and_no_more(tmp_path: Path) -> None:
    store = Store(tmp_path / "sessions", around=around(QuickDisk()))
    with start(store, tmp_path) as session:
        say(session, tmp_path, "one")
        say(session, tmp_path, "two")
        end, _, requests = say(session, tmp_path, CALL, CALL, CALL, "done", run=0.7)

    assert (end.reason, end.status, requests) == ("blocked", "max_cost", 2)
    assert end.error == "stopped: this run has cost $0.8000, its limit is $0.7000"


def test_the_limit_of_a_run_without_a_price_is_said_to_be_none(tmp_path: Path) -> None:
    store = Store(tmp_path / "sessions", around=around(QuickDisk()))
    free = Usage(input=100, output=10, total_tokens=110)
    with start(store, tmp_path) as session:
        end, (warning,), _ = say(session, tmp_path, "done", usage=free, run=0.1)

    assert end.reason == "completed"
    assert "so --max-cost cannot be kept" in warning


def test_a_turn_that_the_clock_stopped_says_so_in_the_log_in_words_that_older_versions_know(
    tmp_path: Path,
) -> None:
    agent = make_agent(start_session(tmp_path), ScriptedProvider("never"), tmp_path)
    agent.abort("max_time")
    agent.abort()

    end = list(agent.prompt("go on"))[-1]

    assert isinstance(end, TurnEnd)
    assert (end.reason, end.status) == ("aborted", "max_time")
    assert end.error is not None
    assert "--max-time" in end.error
    (stored,) = [f for f in facts(path_of(agent.session)) if isinstance(f, TurnEnded)]
    assert (stored.reason, stored.cause) == ("aborted", "max_time")


def test_the_limit_holds_after_a_resume_and_in_a_fork(tmp_path: Path) -> None:
    store = Store(tmp_path / "sessions", around=around(QuickDisk()))
    with start(store, tmp_path) as session:
        say(session, tmp_path, "one", stop=0.5)
        say(session, tmp_path, "two", stop=0.5)
        path, leaf = session.path, session.leaf
    assert path is not None

    with open_session(path, write=True) as session:
        end, _, requests = say(session, tmp_path, "three", stop=0.5)
        assert (end.reason, requests) == ("blocked", 0)
    with open_session(path, write=False) as session:
        child = fork_session(session, leaf, store)
    with open_session(child, write=True) as session:
        end, _, requests = say(session, tmp_path, "three", stop=0.5)
        assert (end.reason, requests) == ("blocked", 0)
        _, _, requests = say(session, tmp_path, "three", stop=5.0)
        assert requests == 1


def test_another_branch_counts_too(tmp_path: Path) -> None:
    store = Store(tmp_path / "sessions", around=around(QuickDisk()))
    with start(store, tmp_path) as session:
        say(session, tmp_path, "one", stop=0.7)
        say(session, tmp_path, "two", stop=0.7)
        session.move(None, "tree")
        end, _, requests = say(session, tmp_path, "three", stop=0.7)

    assert (end.reason, requests) == ("blocked", 0)


def test_a_warning_comes_once_and_the_turn_goes_on(tmp_path: Path) -> None:
    store = Store(tmp_path / "sessions", around=around(QuickDisk()))
    with start(store, tmp_path) as session:
        end, warnings, requests = say(
            session, tmp_path, CALL, CALL, CALL, "done", warn=0.5, stop=9.0
        )

    assert (end.reason, requests) == ("completed", 4)
    (warning,) = warnings
    assert "$0.8000" in warning
    assert "stops at $9.00" in warning


def test_without_a_price_the_limit_says_that_it_cannot_hold(tmp_path: Path) -> None:
    store = Store(tmp_path / "sessions", around=around(QuickDisk()))
    free = Usage(input=100, output=10, total_tokens=110)
    with start(store, tmp_path) as session:
        end, warnings, _ = say(session, tmp_path, CALL, CALL, "done", usage=free, stop=0.5)

    assert end.reason == "completed"
    assert len(warnings) == 1
    assert "no price" in warnings[0]


def test_what_a_person_is_told_of_it(tmp_path: Path) -> None:
    store = Store(tmp_path / "sessions", around=around(QuickDisk()))
    with start(store, tmp_path) as session:
        say(session, tmp_path, CALL, "one")
        with open_session(fork_session(session, session.leaf, store), write=True) as child:
            agent = make_agent(child, ScriptedProvider("two", usage=PRICE), tmp_path)
            list(agent.prompt("go on"))
            spending = agent.budget.spending()

    assert round(spending.usage.cost.total, 6) == 1.2
    assert round(spending.inherited, 6) == 0.8


EVEN = Usage(input=100, output=10, total_tokens=110, cost=Cost(total=0.25))


def test_a_limit_that_is_exactly_reached_stops_and_nothing_is_over(tmp_path: Path) -> None:
    store = Store(tmp_path / "sessions", around=around(QuickDisk()))
    with start(store, tmp_path) as session:
        end, _, requests = say(
            session, tmp_path, CALL, CALL, CALL, CALL, "done", usage=EVEN, stop=0.75
        )

    assert (end.reason, requests) == ("blocked", 3)
    assert end.error == "stopped: this session has cost $0.7500, which is the limit"


def test_below_the_limit_the_turn_goes_on_without_a_word(tmp_path: Path) -> None:
    store = Store(tmp_path / "sessions", around=around(QuickDisk()))
    with start(store, tmp_path) as session:
        end, warnings, requests = say(
            session, tmp_path, CALL, CALL, "done", usage=EVEN, warn=0.7501, stop=0.7501
        )

    assert (end.reason, requests, warnings) == ("completed", 3, [])


def test_a_warning_comes_when_its_limit_is_exactly_reached(tmp_path: Path) -> None:
    store = Store(tmp_path / "sessions", around=around(QuickDisk()))
    with start(store, tmp_path) as session:
        _, warnings, _ = say(session, tmp_path, CALL, CALL, "done", usage=EVEN, warn=0.5)

    assert warnings == ["this session has cost $0.5000, over $0.5000 ([cost] warn)"]


class _Counted:
    """A session that counts the stored lines that are asked of it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.lines = 0

    def raw(self, entry: EntryId) -> bytes:
        self.lines += 1
        return self._session.raw(entry)

    def __getattr__(self, name: str) -> object:
        return getattr(self._session, name)


def test_the_sum_grows_by_what_is_new_and_the_file_is_read_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "sessions", around=around(QuickDisk()))
    with start(store, tmp_path) as session:
        counted = _Counted(session)
        budget = Budget(cast("Session", counted), CostLimits(stop=100.0))
        sums, lines = [], []
        for _ in range(4):
            say(session, tmp_path, CALL, "done", usage=EVEN)
            counted.lines = 0
            budget.verdict()
            lines.append(counted.lines > 0)
            sums.append(budget.spending().usage.cost.total)
        session.move(None, "tree")
        say(session, tmp_path, "elsewhere", usage=EVEN)

        assert sums == [0.5, 1.0, 1.5, 2.0]
        assert lines == [True, False, False, False]
        assert budget.spending().usage.cost.total == 2.25


def test_money_under_a_dollar_is_told_to_a_hundredth_of_a_cent(tmp_path: Path) -> None:
    store = Store(tmp_path / "sessions", around=around(QuickDisk()))
    dollar = Usage(input=1, output=1, total_tokens=2, cost=Cost(total=1.0))
    with start(store, tmp_path) as session:
        end, _, _ = say(session, tmp_path, CALL, "done", usage=dollar, stop=0.9999)

    assert end.error == "stopped: this session has cost $1.00, $0.0001 over the limit of $0.9999"


def test_a_model_without_a_price_is_told_also_behind_one_that_had_one(tmp_path: Path) -> None:
    store = Store(tmp_path / "sessions", around=around(QuickDisk()))
    free = Usage(input=100, output=0, total_tokens=100)
    with start(store, tmp_path) as session:
        say(session, tmp_path, "one", stop=9.0)
        _, warnings, _ = say(session, tmp_path, CALL, "done", usage=free, stop=9.0)

    (warning,) = warnings
    assert "cannot be kept" in warning


def test_a_side_question_counts_at_once_and_is_refused_at_the_limit(tmp_path: Path) -> None:
    store = Store(tmp_path / "sessions", around=around(QuickDisk()))
    with start(store, tmp_path) as session:
        provider = ScriptedProvider("done", "aside", usage=PRICE)
        agent = make_agent(session, provider, tmp_path, cost=CostLimits(stop=0.7))
        list(agent.prompt("go on"))
        assert agent.budget.spending().usage.cost.total == pytest.approx(0.4)

        list(agent.aside("Which colour?", Abort()))
        assert agent.budget.spending().usage.cost.total == pytest.approx(0.8)
        with pytest.raises(RefusedError, match="over the limit"):
            list(agent.aside("And how many?", Abort()))
    assert len(provider.requests) == 2
