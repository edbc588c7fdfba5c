"""What the keys b and B of the tree bring: a text, a summary, a branch's files; all, or nothing."""

from __future__ import annotations

import os

import pytest

from agentsh.agent.agent import Agent
from agentsh.agent.moving import answer_of
from agentsh.cli.assembly.host import ChatHost
from agentsh.errors import RefusedError
from agentsh.session.format.entries import BranchSummary, CustomMessage, EntryId
from tests.cli.assembly.test_models import hosted
from tests.cli.working import Project
from tests.support.endpoint import calls, serve, text


def front(host: ChatHost) -> Agent:
    assert host.agent is not None
    host.set_policy("all")
    return host.agent


def branched(agent: Agent) -> EntryId:
    """A file is written here, which is then left: a branch that has it, and this path without."""
    list(agent.prompt("begin"))
    place = agent.session.leaf
    list(agent.prompt("write"))
    there = answer_of(agent.session, None).id
    agent.checkout(place, files=True)
    list(agent.prompt("another way"))
    return there


ANSWERS = (
    calls(("c1", "write", {"path": "old.txt", "content": "o"})),
    text("begun"),
    calls(("c2", "write", {"path": "new.txt", "content": "n"})),
    text("written there"),
    calls(("c3", "write", {"path": "old.txt", "content": "changed"})),
    text("gone another way"),
)


def test_the_text_comes_with_what_the_branch_changed_in_the_files(project: Project) -> None:
    with serve(*ANSWERS) as endpoint:
        project.settings(f'[endpoint]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n')
        with hosted(project, PATH=os.environ["PATH"], HOME=str(project.home)) as host:
            agent = front(host)
            there = branched(agent)
            assert "new.txt" not in project.files()

            made, done = host.pick(there, files=True)

            assert done == ("created: new.txt",)
            assert (project.files()["new.txt"], project.files()["old.txt"]) == ("n", "changed")
            body = agent.session.entry(made).body
            assert isinstance(body, CustomMessage)
            assert "written there" in str(body.content)


def test_files_that_do_not_fit_are_named_and_nothing_comes(project: Project) -> None:
    with serve(*ANSWERS) as endpoint:
        project.settings(f'[endpoint]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n')
        with hosted(project, PATH=os.environ["PATH"], HOME=str(project.home)) as host:
            agent = front(host)
            there = branched(agent)
            project.put("new.txt", "a person's")
            before = agent.session.leaf

            with pytest.raises(RefusedError, match=r"do not fit: new\.txt"):
                host.pick(there, files=True)

            assert agent.session.leaf == before
            assert project.files()["new.txt"] == "a person's"


def test_a_summary_that_is_stopped_stops_nothing_after_it(project: Project) -> None:
    with serve(*ANSWERS, text("what it found"), text("and on")) as endpoint:
        project.settings(f'[endpoint]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n')
        with hosted(project, PATH=os.environ["PATH"], HOME=str(project.home)) as host:
            agent = front(host)
            there = branched(agent)

            made, done = host.pick(there, summary=True)

            body = agent.session.entry(made).body
            assert isinstance(body, BranchSummary)
            assert (body.from_id, "what it found" in body.summary, done) == (there, True, ())

            agent.abort()
            with pytest.raises(Exception, match="stopped"):
                host.pick(there, summary=True)
            list(agent.prompt("go on"))
            assert "and on" in str(answer_of(agent.session, None).body)
