"""What is in force, as a client chooses it: models, thinking levels, the policy, the modes."""

from __future__ import annotations

from typing import Any

import pytest

from agentsh.jsontext import JsonValue
from agentsh.messages import THINKING_LEVELS
from tests.cli.working import Project
from tests.remote.rpc.direct import TWO_MODELS, DirectClient, direct_client, entries, refusal
from tests.support.endpoint import calls, serve, status, stream, text
from tests.support.rpcclient import Record


def model_now(client: DirectClient) -> tuple[str, str]:
    model: Record = client.ok("get_state")["model"]
    return model["provider"], model["id"]


def asked(client: DirectClient) -> list[Any]:
    """Which models the endpoint was asked for, request by request."""
    return [body["model"] for body in client.endpoint.bodies]


# ---- models --------------------------------------------------------------------------------------


def test_cycle_model_goes_through_all_and_begins_again_and_the_next_request_is_the_models(
    project: Project,
) -> None:
    with direct_client(project, text("one"), models=TWO_MODELS) as client:
        provider, first = model_now(client)
        assert first == "m"

        second = client.ok("cycle_model")
        client.prompt("hi")
        again = client.ok("cycle_model")
        client.prompt("hi")

        assert second["model"]["id"] == "n"
        assert (second["thinkingLevel"], second["isScoped"]) == ("off", False)
        assert (again["model"]["id"], again["model"]["provider"]) == ("m", provider)
        assert asked(client) == ["n", "m"]


def test_cycle_model_of_one_model_is_null_and_changes_nothing(project: Project) -> None:
    with direct_client(project, text("one")) as client:
        response = client.ask("cycle_model")

        assert (response["success"], response["data"]) == (True, None)
        assert model_now(client)[1] == "m"


def test_a_model_that_no_list_has_is_not_chosen(project: Project) -> None:
    with direct_client(project, text("one"), models=TWO_MODELS) as client:
        provider, _ = model_now(client)

        code, words = refusal(client.ask("set_model", provider=provider, modelId="heron"))

        assert (code, words) == ("not_found", f"there is no model {provider}/heron")
        assert model_now(client) == (provider, "m")


def test_a_model_of_another_endpoint_is_asked_there(project: Project) -> None:
    with serve(text("far"), models=TWO_MODELS) as far:
        settings = f'[endpoints.far]\nbase_url = "{far.base_url}"\nmodel = "n"\n'
        with direct_client(project, text("near"), settings=settings) as client:
            models = client.ok("get_available_models")["models"]
            assert [(m["provider"], m["id"]) for m in models if m["provider"] == "far"] == [
                ("far", "m"),
                ("far", "n"),
            ]

            chosen = client.ok("set_model", provider="far", modelId="n")
            client.prompt("hi")

            assert (chosen["provider"], chosen["baseUrl"]) == ("far", far.base_url)
            assert client.ok("get_last_assistant_text") == {"text": "far"}
            assert client.endpoint.requests == []


def test_a_model_is_listed_with_what_its_endpoint_says_of_it(project: Project) -> None:
    listed: list[JsonValue] = [{"id": "m", "context_length": 4096, "max_output_length": 512}]
    with direct_client(project, text("x"), models=listed) as client:
        [model] = client.ok("get_available_models")["models"]

        assert (model["id"], model["name"], model["api"]) == ("m", "m", "openai-completions")
        assert model["contextWindow"] == 4096
        assert model["cost"] == {"input": 0.0, "output": 0.0, "cacheRead": 0.0, "cacheWrite": 0.0}
        assert client.ok("get_state")["model"]["contextWindow"] == 4096


def test_no_model_is_chosen_while_a_turn_runs(project: Project) -> None:
    slow = stream({"content": "slow"}, 30.0)
    with direct_client(project, slow, models=TWO_MODELS) as client:
        client.ok("prompt", message="go")
        client.wait(lambda r: r["type"] == "message_update")

        code, _ = refusal(client.ask("cycle_model"))

        assert code == "busy"
        assert client.endpoint.listings == []  # nothing holds up the next command
        assert [m["id"] for m in client.ok("get_available_models")["models"]] == ["m", "n"]
        client.ok("abort")
        assert model_now(client)[1] == "m"


def test_a_model_that_is_in_no_list_any_more_is_told_after_the_response(project: Project) -> None:
    with (
        serve(text("far"), models=[{"id": "other"}]) as far,
        direct_client(
            project,
            text("near"),
            settings=f'[endpoints.far]\nbase_url = "{far.base_url}"\nmodel = "n"\n',
        ) as client,
    ):
        number = client.send("set_model", provider="far", modelId="n")

        assert client.response(number)["success"]
        [notice] = [r for r in client.records if r["type"] == "notice"]
        assert "does not list it" in notice["text"]
        assert client.records.index(client.response(number)) < client.records.index(notice)


# ---- thinking ------------------------------------------------------------------------------------


def test_cycle_thinking_level_goes_through_all_and_begins_again(project: Project) -> None:
    with direct_client(project, text("x")) as client:
        levels = client.ok("get_available_thinking_levels")["levels"]
        assert tuple(levels) == THINKING_LEVELS

        seen = [client.ok("cycle_thinking_level")["level"] for _ in levels]

        assert seen == [*levels[1:], levels[0]]
        said = [r["level"] for r in client.records if r["type"] == "thinking_level_changed"]
        assert said == seen
        assert client.ok("get_state")["thinkingLevel"] == levels[0]


def test_a_level_is_told_after_the_response_and_on_record_with_the_next_prompt(
    project: Project,
) -> None:
    with direct_client(project, text("x")) as client:
        number = client.send("set_thinking_level", level="high")

        response, event = client.records[-2:]
        assert (response["id"], response["success"], "data" in response) == (number, True, False)
        assert event == {"type": "thinking_level_changed", "level": "high"}
        client.prompt("hi")
        levels = [e["thinkingLevel"] for e in entries(client) if "thinkingLevel" in e]
        assert levels == ["high"]


def test_a_level_that_is_none_changes_nothing(project: Project) -> None:
    with direct_client(project, text("x")) as client:
        code, words = refusal(client.ask("set_thinking_level", level="heron"))

        assert code == "usage"
        assert "heron" in words
        assert client.ok("get_state")["thinkingLevel"] == "off"
        assert [r for r in client.records if r["type"] == "thinking_level_changed"] == []


def test_a_model_that_does_not_reason_has_one_level_and_cycling_it_is_null(
    project: Project,
) -> None:
    settings = "[models.m]\nreasoning = false\n"
    with direct_client(project, text("x"), settings=settings) as client:
        assert client.ok("get_available_thinking_levels") == {"levels": ["off"]}
        assert client.ask("cycle_thinking_level")["data"] is None


# ---- the policy and the modes --------------------------------------------------------------------


def test_a_policy_counts_at_once_and_a_wrong_one_changes_nothing(project: Project) -> None:
    write = calls(("c1", "bash", {"command": "echo a > a.txt"}))
    with direct_client(project, write, text("done")) as client:
        client.ok("set_policy", policy="all")
        assert refusal(client.ask("set_policy", policy="maybe"))[0] == "usage"

        records = client.prompt("go")

        assert client.ok("get_state")["policy"] == "all"
        assert [r for r in records if r["type"] == "extension_ui_request"] == []
        assert project.files() == {"a.txt": "a\n"}


@pytest.mark.parametrize(
    ("command", "member"),
    [("set_steering_mode", "steeringMode"), ("set_follow_up_mode", "followUpMode")],
)
def test_how_what_waits_is_said_holds_in_the_next_session_too(
    command: str, member: str, project: Project
) -> None:
    with direct_client(project, text("x")) as client:
        usual = client.ok("get_state")[member]
        other = "all" if usual == "one-at-a-time" else "one-at-a-time"

        client.ok(command, mode=other)
        client.ok("new_session")

        assert client.ok("get_state")[member] == other
        inbox = client.host.front.inbox
        at_once = {"steeringMode": inbox.steers_at_once, "followUpMode": inbox.follow_ups_at_once}
        assert at_once[member] is (other == "all")


def test_without_repeats_a_failure_stands_at_once_in_the_next_session_too(
    project: Project,
) -> None:
    down = status(503, {"error": {"message": "overloaded"}})
    with direct_client(project, down) as client:
        usual = client.host.max_retries
        assert usual > 0
        client.ok("set_auto_retry", enabled=False)
        client.ok("new_session")

        records = client.prompt("hi")

        assert [r for r in records if r["type"] == "auto_retry_start"] == []
        assert len(client.endpoint.requests) == 1
        assert client.ok("get_state")["autoRetryEnabled"] is False
        client.ok("set_auto_retry", enabled=True)
        assert client.host.max_retries == usual


def test_repeats_are_not_switched_while_a_turn_runs(project: Project) -> None:
    with direct_client(project, stream({"content": "slow"}, 30.0)) as client:
        client.ok("prompt", message="go")
        client.wait(lambda r: r["type"] == "message_update")

        assert refusal(client.ask("set_auto_retry", enabled=False))[0] == "busy"

        assert client.ok("get_state")["autoRetryEnabled"] is True
        client.ok("abort")


def test_compaction_by_itself_is_switched_for_every_session(project: Project) -> None:
    with direct_client(project, text("x")) as client:

        def is_on() -> bool:
            return client.host.front.config.auto_compact

        assert is_on()
        client.ok("set_auto_compaction", enabled=False)
        assert not is_on()
        client.ok("new_session")
        assert not is_on()
        assert client.ok("get_state")["autoCompactionEnabled"] is False
        client.ok("set_auto_compaction", enabled=True)
        assert is_on()
