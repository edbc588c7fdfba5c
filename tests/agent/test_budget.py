"""Limits of cost hold for all of a session, whatever it is called in, and say what is over."""

from __future__ import annotations

from pathlib import Path

from agentsh.agent.config import CostLimits
from agentsh.agent.events import Notice, TurnEnd
from agentsh.messages import Cost, Usage
from agentsh.session.fork import fork_session
from agentsh.session.session import Session, open_session
from agentsh.session.store import Store
from tests.agent.made import make_agent
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
