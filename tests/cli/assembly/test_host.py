"""What only a chat asks of the program around it: lists, differences, a page, the settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentsh.agent.driven.host import SessionHost
from agentsh.cli.assembly.host import ChatHost
from agentsh.errors import (
    AgentshError,
    RefusedError,
    SettingsError,
    ToolFailedError,
    UsageError,
)
from agentsh.jsontext import JsonValue
from agentsh.ui.paper.pages import PageLine
from tests.agent.hostcontract import HostContract
from tests.cli.hosts import program_host
from tests.cli.working import Project
from tests.support.endpoint import Endpoint, Reply, calls, serve, text

TWO: list[JsonValue] = [{"id": "m"}, {"id": "n"}]
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
WORK = (
    calls(("c1", "bash", {"command": "echo 3 > herons.txt"})),
    text("three herons"),
    text("two storks"),
)


class TestChatHost(HostContract):
    @pytest.fixture
    def host(self, project: Project) -> Iterator[SessionHost]:
        with hosting(project, text("a heron"), models=TWO) as (host, _):
            list(host.front.prompt("hello"))
            yield host


@contextmanager
def hosting(
    project: Project, *script: Reply, models: list[JsonValue] | None = None, settings: str = ""
) -> Iterator[tuple[ChatHost, Endpoint]]:
    with (
        serve(*script, models=models) as endpoint,
        program_host(ChatHost, project, endpoint, settings=settings) as host,
    ):
        yield host, endpoint


def worked(host: ChatHost) -> None:
    """Two turns; the first one made a file."""
    host.set_policy("all")
    for prompt in ("count the herons", "and now the storks"):
        list(host.front.prompt(prompt))


def words(lines: tuple[PageLine, ...] | list[PageLine]) -> str:
    return "\n".join(line.text for line in lines)


# ---- what there is to look at --------------------------------------------------------------------


def test_a_difference_begins_before_the_last_prompt_unless_it_is_said_where(
    project: Project,
) -> None:
    with hosting(project, *WORK) as (host, _):
        worked(host)

        usual, whole = words([*host.diff(None, None)]), words([*host.diff("root", "leaf")])

        assert "and now the storks" in usual
        assert "herons.txt" not in usual
        assert "count the herons" in whole
        assert "herons.txt" in whole
        assert "+3" in whole


def test_the_files_from_here_to_there_are_compared(project: Project) -> None:
    with hosting(project, *WORK) as (host, _):
        worked(host)
        first = host.front.session.branch().entries[0].id

        shown = words([*host.file_difference(first)])

        assert "herons.txt" in shown


def test_what_fills_the_window_is_shown_in_the_width_that_there_is(project: Project) -> None:
    with hosting(project, *WORK, settings="[models.m]\ncontext_window = 8000\n") as (host, _):
        worked(host)

        lines = host.context(60)

        assert any("8000" in line or "8,000" in line for line in lines)
        assert all(len(line) <= 60 for line in lines)


def test_who_wrote_a_line_is_looked_for_over_the_sessions_of_the_folder(project: Project) -> None:
    with hosting(project, *WORK) as (host, _):
        worked(host)

        lines = host.why("herons.txt:1", 20)

        assert any("count the herons" in line for line in lines)
        with pytest.raises(AgentshError):
            host.why("none.txt:1", 20)


def test_without_jobs_and_servers_that_is_said(project: Project) -> None:
    with hosting(project, text("x")) as (host, _):
        assert host.jobs("list", None) == ["There are no jobs."]
        with pytest.raises(ToolFailedError, match="there is no job 7"):
            host.jobs("show", 7)
        assert host.servers(None) == ["no MCP server is configured ([mcp.servers.NAME])"]
        with pytest.raises(UsageError, match="no MCP server is in use"):
            host.servers("birds")


def test_a_server_that_is_none_is_listed_with_why_and_the_next_call_starts_it_anew(
    project: Project,
) -> None:
    settings = '[mcp.servers.birds]\ncommand = "false"\n'
    with hosting(project, text("x"), settings=settings) as (host, _):
        list(host.front.prompt("hi"))

        lines = host.servers(None)

        assert any("birds" in line and "failed" in line for line in lines), lines
        assert host.servers("birds") == ["birds is ended; the next call starts it"]


def test_a_page_is_new_redacted_and_says_what_was_done(project: Project) -> None:
    with hosting(project, text(f"the token is {TOKEN}")) as (host, _):
        list(host.front.prompt("say it"))

        said = host.export("out.md")

        page = (project.tree / "out.md").read_text()
        assert said[0] == f"exported to {project.tree / 'out.md'}"
        assert any("redacted 1" in line for line in said)
        assert "the token is" in page
        assert TOKEN not in page
        with pytest.raises(RefusedError):
            host.export("out.md")
        with pytest.raises(UsageError):
            host.export("out.doc")


# ---- the settings --------------------------------------------------------------------------------


def test_a_setting_is_shown_with_where_it_stands_and_explained(project: Project) -> None:
    with hosting(project, text("x"), settings="[ui]\nbell = false\n") as (host, _):
        rows = {name: (value, source) for name, value, source in host.settings()}

        value, source = rows["ui.bell"]
        assert value == "false"
        assert re.search(r"config\.toml:\d+", source)
        assert any("bell" in line for line in host.explain("ui.bell"))
        with pytest.raises(AgentshError):
            host.explain("ui.heron")


def test_a_change_is_only_what_the_file_would_say_until_it_is_written(project: Project) -> None:
    with hosting(project, text("x")) as (host, _):
        file = project.home / "config.toml"
        before = file.read_text()

        change = host.change_setting("ui.bell", "false")

        assert file.read_text() == before
        change.write()
        assert "bell = false" in file.read_text()
        with pytest.raises(SettingsError):
            host.change_setting("ui.bell", "maybe")


def test_what_is_read_anew_is_in_force_and_the_session_stays(project: Project) -> None:
    with hosting(project, *WORK) as (host, endpoint):
        worked(host)
        before = host.front
        host.front.approver = lambda _request: None
        (project.tree / "AGENTS.md").write_text("Mind the nests.\n")
        host.change_setting("approve.policy", "never").write()

        agent, said = host.reload()

        assert agent is host.front is not before
        assert agent.session is before.session
        assert agent.approver is before.approver
        assert agent.report().policy == "never"
        assert any(line.startswith("approve.policy:") and "never" in line for line in said)
        assert f"{project.tree / 'AGENTS.md'}: sent from now on" in said
        list(agent.prompt("go on"))
        assert b"Mind the nests." in endpoint.requests[-1].raw


def test_what_was_chosen_in_the_chat_stays_where_the_settings_say_nothing_new(
    project: Project,
) -> None:
    with hosting(project, *WORK, models=TWO) as (host, _):
        host.set_policy("all")
        host.choose("n")
        host.front.set_thinking("high")

        agent, said = host.reload()

        shown = agent.report()
        assert (shown.policy, shown.model, shown.thinking) == ("all", "n", "high")
        assert said == ()


def test_settings_that_cannot_be_read_change_nothing(project: Project) -> None:
    with hosting(project, *WORK) as (host, _):
        worked(host)
        before = host.front
        (project.home / "config.toml").write_text("[endpoint\n")

        with pytest.raises(SettingsError):
            host.reload()

        assert host.front is before
        list(before.prompt("still here"))


def test_an_address_that_changed_is_asked_from_now_on(project: Project) -> None:
    with hosting(project, text("near")) as (host, near), serve(text("far")) as far:
        list(host.front.prompt("one"))
        file = project.home / "config.toml"
        file.write_text(file.read_text().replace(near.base_url, far.base_url))

        agent, said = host.reload()
        list(agent.prompt("two"))

        assert any(line.startswith("endpoint.base_url:") for line in said)
        assert (len(near.requests), len(far.requests)) == (1, 1)


def test_servers_that_the_settings_name_now_are_those_in_use(
    project: Project, tmp_path: Path
) -> None:
    with hosting(project, text("x")) as (host, _):
        list(host.front.prompt("hi"))
        file = project.home / "config.toml"
        file.write_text(file.read_text() + '[mcp.servers.birds]\ncommand = "false"\n')

        host.reload()

        assert any("birds" in line for line in host.servers(None))


def test_an_endpoint_that_was_asked_for_by_questions_is_a_table_and_a_word(
    project: Project,
) -> None:
    with hosting(project, text("near")) as (host, _), serve(text("hello")) as far:
        answers = iter([far.base_url, "", "m"])
        told: list[str] = []

        word, change = host.add_endpoint(lambda _question, _hides: next(answers, None), told.append)

        assert word.endswith("/m")
        name = word.removesuffix("/m")
        assert "m says: hello" in told
        change.write()
        host.reload()
        host.choose(word)
        assert host.front.report().endpoint == name
        list(host.front.prompt("there?"))
        assert len(far.requests) == 2


def test_one_who_would_rather_not_leaves_all_as_it_is(project: Project) -> None:
    with hosting(project, text("near")) as (host, _):
        before = (project.home / "config.toml").read_text()

        with pytest.raises(UsageError, match="nothing was set up"):
            host.add_endpoint(lambda _question, _hides: None, lambda _text: None)

        assert (project.home / "config.toml").read_text() == before
