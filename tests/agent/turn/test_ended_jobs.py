"""Background jobs that ended meanwhile are on record before the next request, and at rest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentsh.agent.replay import check
from agentsh.agent.turn.execution import job_fact
from agentsh.session.format.facts import JobEnded, RequestSent, TurnEnded
from agentsh.tools.base import JobEnd
from tests.agent.builders import facts, make_agent, path_of, run, start_session
from tests.support.scripted import Call, ScriptedProvider
from tests.support.toys import echo


def test_the_end_of_a_job_stands_before_the_request_that_follows_it(tmp_path: Path) -> None:
    waiting = [JobEnd("c0", 4711, 3, 0.41, 8), JobEnd("c1", 4712, None, 2.0, 0)]
    asked: list[str] = []

    def ended(session: str) -> Sequence[JobEnd]:
        asked.append(session)
        return [waiting.pop(0)] if len(asked) in (2, 3) else []

    provider = ScriptedProvider((Call("a", "echo", {}),), "done")
    agent = make_agent(start_session(tmp_path), provider, tmp_path, tools=[echo()])
    agent.workbench.ended_jobs = ended
    run(agent)

    told = [
        fact
        for fact in facts(path_of(agent.session))
        if isinstance(fact, JobEnded | RequestSent | TurnEnded)
    ]
    assert [type(fact) for fact in told] == [
        RequestSent,
        JobEnded,
        RequestSent,
        JobEnded,
        TurnEnded,
    ]
    assert told[1] == JobEnded("c0", 4711, 0.41, 8, 3)
    assert told[3] == JobEnded("c1", 4712, 2.0, 0, None)
    assert set(asked) == {agent.session.header.id}
    assert list(check(agent.session)) == []


def test_what_is_known_of_an_end_is_in_its_fact() -> None:
    assert job_fact(JobEnd("c", 7, 143, 1.5, 9)) == JobEnded("c", 7, 1.5, 9, 143)
