"""NAME/ID means the same everywhere, and what is shown is what gets the prompt (Q01, Q13)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from agentsh.agent.moving import answer_of
from agentsh.cli.assembly.host import ChatHost
from agentsh.cli.assembly.models import meant
from agentsh.cli.assembly.restoring import restored
from agentsh.cli.lookup.choosing import StartAt, open_chosen
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.setup.configuration import configure
from agentsh.cli.setup.endpoint import make_provider
from agentsh.errors import UsageError
from agentsh.session.format.entries import ModelChange
from agentsh.settings import EndpointSettings
from tests.cli.program import agentsh
from tests.cli.working import Project
from tests.support.endpoint import Endpoint, serve, text

KEY = "sk-usual-0123456789abcdef"


def asked(endpoint: Endpoint) -> list[str]:
    bodies: list[Any] = [received.body for received in endpoint.requests]
    return [body["model"] for body in bodies]


@contextmanager
def hosted(project: Project, **environ: str) -> Iterator[ChatHost]:
    options = TurnOptions()
    surroundings = {"HOME": str(project.tree), "AGENTSH_HOME": str(project.home), **environ}
    configuration = configure(options, surroundings, project.tree)
    chosen = open_chosen(configuration.places, project.tree, StartAt(False, None, None, None))
    back = restored(configuration, options, chosen.session, resumed=False)
    provider = make_provider(configuration, options, lambda _: None)
    host = ChatHost(configuration, options, provider, project.tree)
    host.start(chosen, back)
    try:
        yield host
    finally:
        host.close()


@contextmanager
def two(project: Project) -> Iterator[tuple[Endpoint, Endpoint]]:
    with (
        serve(text("near"), models=[{"id": "m"}, {"id": "n"}]) as near,
        serve(text("far"), text("far"), models=[{"id": "m", "context_length": 4096}]) as far,
    ):
        project.settings(
            f'[endpoint]\nbase_url = "{near.base_url}"\nmodel = "m"\n'
            f'[endpoints.far]\nbase_url = "{far.base_url}"\nmodel = "m"\nmax_tokens = 77\n'
            '[endpoints.gone]\nbase_url = "http://127.0.0.1:9/v1"\n'
        )
        yield near, far


def test_q01_the_endpoint_that_is_shown_gets_the_prompt(project: Project) -> None:
    with two(project) as (near, far), hosted(project) as host:
        agent = host.agent
        assert agent is not None
        assert host.choose("far/m") == (
            "a new chat begins with another; with this one: `agentsh -m far/m`",
        )
        assert host.choose("far/m") == ()
        shown = agent.report()
        assert (shown.endpoint, shown.model) == ("far", "m")
        list(agent.prompt("go"))
        assert (asked(near), asked(far)) == ([], ["m"])
        body: Any = far.requests[0].body
        assert 77 in (body.get("max_tokens"), body.get("max_completion_tokens"))
        assert agent.report().context_window == 4096

        fresh = host.new_session()
        assert (fresh.report().endpoint, fresh.report().model) == ("far", "m")
        list(fresh.prompt("go"))
        assert asked(far) == ["m", "m"]

        assert host.choose("openai-compatible/n") == ()
        list(fresh.prompt("go"))
        assert (asked(near), asked(far)) == (["n"], ["m", "m"])


def test_q01_a_model_that_no_list_holds_is_said_so_and_used(project: Project) -> None:
    with two(project) as (near, _), hosted(project) as host:
        assert "does not list it" in host.choose("odd")[0]
        assert host.agent is not None
        list(host.agent.prompt("go"))
        assert asked(near) == ["odd"]


def test_q01_a_choice_that_fails_leaves_all_as_it_was(project: Project) -> None:
    with two(project) as (near, _), hosted(project) as host:
        agent = host.agent
        assert agent is not None
        agent.running = True
        with pytest.raises(Exception, match="a turn is running"):
            host.choose("far/m")
        agent.running = False
        list(agent.prompt("go"))
        assert asked(near) == ["m"]


def test_what_is_asked_for_again_is_asked_where_it_was(project: Project) -> None:
    with two(project) as (near, far), hosted(project) as host:
        agent = host.agent
        assert agent is not None
        list(agent.prompt("one"))
        first = answer_of(agent.session, None).id
        host.choose("far/m")
        list(agent.prompt("two"))

        list(agent.retry(first))
        assert (asked(near), asked(far)) == (["m", "m"], ["m"])
        assert agent.report().endpoint == "openai-compatible"

        moved = agent.checkout(None)
        assert moved.notices == ()
        host.choose("far/m")
        list(agent.prompt("three"))
        there = answer_of(agent.session, None).id
        assert agent.checkout(first).notices == ("as it was here: model openai-compatible/m",)
        assert agent.checkout(there).notices == ("as it was here: model far/m",)
        assert agent.report().endpoint == "far"


def test_a_place_whose_endpoint_cannot_be_had_is_gone_to_all_the_same(project: Project) -> None:
    with two(project) as (near, far), hosted(project) as host:
        agent = host.agent
        assert agent is not None
        list(agent.prompt("one"))
        first = agent.session.leaf
        agent.session.append(ModelChange("elsewhere", "odd"))
        agent.session.barrier()
        odd = agent.session.leaf
        agent.checkout(first)

        told = agent.checkout(odd).notices

        assert told == ("the model odd is left: it is of another endpoint",)
        list(agent.prompt("two"))
        assert (asked(near), asked(far)) == (["m", "m"], [])


def test_q01_the_choices_are_of_every_endpoint_and_the_dead_one_is_told(project: Project) -> None:
    with two(project) as _, hosted(project) as host:
        choices = host.choices()
        assert [c.word for c in choices if c.model] == [
            "openai-compatible/m",
            "openai-compatible/n",
            "far/m",
        ]
        (dead,) = [c for c in choices if not c.model]
        assert (dead.endpoint, "127.0.0.1:9" in dead.note) == ("gone", True)
        assert host.named_models() == ("openai-compatible/m", "far/m")


def test_q01_the_list_of_an_endpoint_that_nobody_chose_is_asked_without_the_usual_key(
    project: Project,
) -> None:
    with two(project) as (near, far), hosted(project, OPENAI_API_KEY=KEY) as host:
        host.choices()
        assert KEY in str(near.listings)
        assert KEY not in str(far.listings)


def test_a_name_in_front_decides_and_a_slash_is_part_of_an_id_otherwise() -> None:
    names = {"far": EndpointSettings(), "near": EndpointSettings()}
    assert meant("far/a/b", names, "near") == ("far", "a/b")
    assert meant("some/a", names, "near") == ("near", "some/a")
    assert meant("far/", names, "near") == ("near", "far/")
    assert meant("far", names, "near") == ("near", "far")


def test_q01_models_and_m_know_the_same_words(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with two(project) as (near, far):
        shown = agentsh("models", "-m", "odd", cwd=project.tree)
        assert [line.split()[:2] for line in shown.out.splitlines()][-1][0] == "far/m"
        assert "odd" in shown.out
        assert "in no list" in shown.out
        assert "gone: " in shown.err
        assert agentsh("run", "-m", "far/m", "go", cwd=project.tree).code == 0
        assert agentsh("run", "-m", "openai-compatible/n", "go", cwd=project.tree).code == 0
        assert (asked(near), asked(far)) == (["n"], ["m"])


def test_q13_a_key_without_a_url_is_told_where_it_could_go_and_goes_nowhere(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentsh.providers.local.local.find_model", lambda _: None)
    with serve(text("x")) as far:
        project.settings(f'[endpoints.far]\nbase_url = "{far.base_url}"\n')
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        ended = agentsh("run", "go", cwd=project.tree)
        assert (ended.code, ended.out) == (2, "")
        (line,) = [line for line in ended.err.splitlines() if "OPENAI_API_KEY is set" in line]
        assert "--base-url" in line
        assert "-m far/ID" in line
        assert KEY not in ended.err
        assert far.requests == []
    options = TurnOptions()
    environ = {"HOME": str(project.tree), "AGENTSH_HOME": str(project.home)}
    with pytest.raises(UsageError) as caught:
        make_provider(configure(options, environ, project.tree), options, lambda _: None)
    assert "OPENAI_API_KEY is set" not in str(caught.value)
