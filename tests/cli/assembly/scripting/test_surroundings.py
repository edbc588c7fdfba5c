"""A script's session has the skills, templates and servers that a chat would have there."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import Any

import pytest

from agentsh import Request, Session
from agentsh.errors import SkillNotFoundError, UsageError
from agentsh.jsontext import JsonObject
from tests.cli.program import agentsh
from tests.cli.working import Project
from tests.support.endpoint import Endpoint, calls, serve, text
from tests.support.mcpservers import faulty, is_gone, until

SKILL = "---\nname: heron\ndescription: care for herons\n---\n\nFeed it fish.\n"


@pytest.fixture
def here(project: Project) -> Project:
    project.monkeypatch.chdir(project.tree)
    project.monkeypatch.setenv("AGENTSH_MODEL", "m")
    return project


def sent(endpoint: Endpoint) -> str:
    """All messages of the last request."""
    return json.dumps(endpoint.requests[-1].body["messages"])


def test_a_skill_is_listed_and_works_by_its_name(here: Project) -> None:
    here.put(".agents/skills/heron/SKILL.md", SKILL)
    how: Any
    with serve(text("a"), text("b")) as endpoint:
        with Session.create(base_url=endpoint.base_url, trust=True) as s:
            s.prompt("hello")
            assert "<available_skills>" in sent(endpoint)
            s.prompt("/skill:heron the grey one")
            assert "Feed it fish." in sent(endpoint)
            assert s.view()["messages"][-2]["text"].endswith("the grey one")
        for how in ({"trust": True, "skills": False}, {"trust": False}):
            with (
                Session.create(base_url=endpoint.base_url, **how) as s,
                pytest.raises(SkillNotFoundError),
            ):
                s.prompt("/skill:heron the grey one")

    assert len(endpoint.requests) == 2


def test_a_prompt_in_a_file_is_expanded_and_any_other_word_with_a_slash_is_said_as_it_is(
    here: Project,
) -> None:
    here.put(".agentsh/prompts/feed.md", "Feed the $1 heron.\n")
    with (
        serve(text("a"), text("b")) as endpoint,
        Session.create(base_url=endpoint.base_url, trust=True) as s,
    ):
        s.prompt("/feed grey")
        assert "Feed the grey heron." in sent(endpoint)
        s.prompt("/tmp is full")
        assert "/tmp is full" in sent(endpoint)


def test_a_server_is_asked_about_called_and_ended_with_the_session(here: Project) -> None:
    birds = faulty(here.tree.parent / "birds")
    here.settings(birds.table())
    asked: list[Request] = []

    def approve(request: Request) -> str:
        asked.append(request)
        return "always"

    count = calls(("c1", "mcp__birds__count", {"bird": "owl"}))
    with serve(count, text("4"), count, text("4")) as endpoint:
        how: Any = {"base_url": endpoint.base_url}
        with Session.create(approve=approve, **how) as s:
            assert [s.prompt("count").text for _ in range(2)] == ["4", "4"]
            assert "owl: 4" in sent(endpoint)
            assert any(thread.name == "mcp" for thread in threading.enumerate())

    assert [(r.tool, r.arguments) for r in asked] == [("mcp__birds__count", {"bird": "owl"})]
    assert asked[0].shown == 'birds/count {"bird":"owl"}'
    assert len(birds.pids()) == 1
    assert until(lambda: all(map(is_gone, birds.pids())))
    assert not any(thread.name == "mcp" for thread in threading.enumerate())


def test_without_mcp_and_by_the_choice_of_tools_servers_are_left_out(here: Project) -> None:
    birds = faulty(here.tree.parent / "birds")
    here.settings(birds.table())
    with serve(text("a"), text("b"), text("c")) as endpoint:
        how: Any = {"base_url": endpoint.base_url}
        with Session.create(mcp=False, **how) as s:
            s.prompt("hello")
        assert "mcp__" not in json.dumps(endpoint.requests[-1].body["tools"])
        assert birds.pids() == []
        with Session.create(builtin_tools=["mcp__birds__count"], **how) as s:
            s.prompt("hello")
        tools: Any = endpoint.requests[-1].body["tools"]
        assert [tool["function"]["name"] for tool in tools] == ["mcp__birds__count"]
        with Session.create(builtin_tools=[], **how) as s:
            s.prompt("hello")
        assert "tools" not in endpoint.requests[-1].body


def test_the_servers_of_two_sessions_end_each_with_its_own(here: Project) -> None:
    birds = faulty(here.tree.parent / "birds")
    here.settings(birds.table() + '[approve]\npolicy = "all"\n')
    count = calls(("c1", "mcp__birds__count", {"bird": "owl"}))
    with serve(*(count, text("4")) * 3) as endpoint:
        how: Any = {"base_url": endpoint.base_url}
        with Session.create(**how) as one:
            one.prompt("count")
            with Session.create(**how) as two:
                two.prompt("count")
                first, second = birds.pids()
            assert until(lambda: is_gone(second))
            assert not is_gone(first)
            assert one.prompt("count").text == "4"

    assert until(lambda: is_gone(first))
    assert len(birds.pids()) == 2


def test_an_answer_may_be_bounded(here: Project) -> None:
    with serve(text("a")) as endpoint:
        with Session.create(base_url=endpoint.base_url, max_tokens=300) as s:
            s.prompt("hello")
        with pytest.raises(UsageError, match="max_tokens must be a number"):
            Session.create(base_url=endpoint.base_url, max_tokens=0)

    body = endpoint.requests[-1].body
    assert 300 in (body.get("max_tokens"), body.get("max_completion_tokens"))


TERMINATED = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
from agentsh import Session
with Session.create(policy="all") as s:
    s.prompt("go")
"""


@pytest.mark.parametrize("tool", ["mcp__birds__slow", "bash"])
def test_a_script_that_takes_sigterm_for_its_end_leaves_nothing_behind(
    here: Project, tool: str
) -> None:
    birds = faulty(here.tree.parent / "birds")
    here.settings(birds.table())
    wait: JsonObject = {"seconds": 60} if tool != "bash" else {"command": "echo $$ > pid; sleep 60"}
    with serve(calls(("c1", tool, wait)), text("never")) as endpoint:
        here.monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        script = subprocess.Popen([sys.executable, "-c", TERMINATED], stderr=subprocess.PIPE)
        pid = here.tree / "pid"
        assert until(lambda: "slow" in birds.notes("called") or (pid.exists() and pid.read_text()))
        script.terminate()
        _, said = script.communicate(timeout=20)

    children = birds.pids() if tool != "bash" else [int(pid.read_text())]
    assert (script.returncode, said) == (1, b"")
    assert until(lambda: all(map(is_gone, children)))
    assert agentsh("verify", "last", cwd=here.tree).code == 0
