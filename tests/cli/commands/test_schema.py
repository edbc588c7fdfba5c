"""`agentsh schema`: what a run and a list really print fits it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from agentsh.agent.structured.validator import answer_schema
from agentsh.jsontext import JsonValue
from agentsh.remote.schemas import NAMES, published_schema
from tests.cli.program import agentsh
from tests.cli.working import Project
from tests.support.endpoint import calls, serve, status, text

LOOK = calls(("a", "ls", {}), ("b", "bash", {"command": "touch x"}))


def checker(name: str) -> Callable[[JsonValue], str | None]:
    return answer_schema(published_schema(name), name).complain


def ran(project: Project, form: str) -> list[dict[str, JsonValue]]:
    """The lines of a run with a failed attempt, calls, an approval and an end at a limit."""
    busy = status(503, {"error": {"message": "busy"}}, headers={"Retry-After": "0"})
    with serve(busy, LOOK, text("done")) as endpoint:
        project.monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        first = project.run("--output", form, "go")
        second = project.run("--output", form, "--approve", "all", "--max-steps", "1", "go")
    return [json.loads(line) for each in (first, second) for line in each.out.splitlines()]


def test_each_line_of_a_run_fits(project: Project) -> None:
    lines = ran(project, "events")

    assert {"session", "retry", "approval", "tool_result", "done"} <= {
        line["type"] for line in lines
    }
    assert [checker("events")(line) for line in lines] == [None] * len(lines)


def test_the_value_of_a_run_fits(project: Project) -> None:
    values = ran(project, "json")

    assert [checker("result")(value) for value in values] == [None, None]


def test_the_list_of_sessions_fits(project: Project) -> None:
    ran(project, "json")
    listed = agentsh("sessions", "--json", cwd=project.tree).json()

    assert isinstance(listed, list)
    assert len(listed) == 2
    assert checker("sessions")(listed) is None


@pytest.mark.parametrize("name", NAMES)
def test_the_command_prints_it(name: str) -> None:
    assert agentsh("schema", name).json() == published_schema(name)


def test_an_unknown_name_is_wrong_use_and_the_known_ones_are_told() -> None:
    ended = agentsh("schema", "nosuch")

    assert (ended.code, ended.out) == (2, "")
    assert "one of: events, result" in ended.err
