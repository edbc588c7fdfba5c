"""Modes, models and levels of a session, told the old way and the new one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.working import Project
from tests.remote.acp.direct import direct_editor
from tests.support.endpoint import serve, silence, text

TWO = '[endpoints.far]\nbase_url = "{url}"\nmodel = "far-model"\napi_key_env = "NOTHING"\n'


def values(options: list[Any]) -> dict[str, str]:
    return {each["id"]: each["currentValue"] for each in options}


def test_a_mode_is_the_policy_told_both_ways(project: Project) -> None:
    with direct_editor(project, text("x")) as editor:
        session = editor.session()
        since = len(editor.said)
        editor.ok("session/set_mode", sessionId=session, modeId="never")
        update = editor.wait(lambda m: "config_option_update" in str(m), since)["params"]["update"]
        assert values(update["configOptions"])["mode"] == "never"

        editor.ok("session/set_config_option", sessionId=session, configId="mode", value="all")
        editor.wait(lambda m: "current_mode_update" in str(m), since)
        assert editor.updates("current_mode_update")[-1]["currentModeId"] == "all"


def test_a_model_of_another_endpoint_is_chosen_and_the_first_one_again(project: Project) -> None:
    with serve(text("far"), models=[{"id": "far-model"}]) as far:
        settings = TWO.format(url=far.base_url)
        with direct_editor(project, text("near"), settings=settings) as editor:
            made = editor.new()
            session = made["sessionId"]
            [option] = [each for each in made["configOptions"] if each["id"] == "model"]
            assert {each["value"] for each in option["options"]} == {"m", "n", "far/far-model"}

            for value, words in (("far/far-model", "far"), ("m", "near")):
                change = {"sessionId": session, "configId": "model", "value": value}
                now = editor.ok("session/set_config_option", **change)
                assert values(now["configOptions"])["model"] == value
                since = len(editor.said)
                editor.prompt(session, "go")
                assert editor.text(since) == words


@pytest.mark.parametrize(
    ("option", "value"),
    [("model", "nobody"), ("mode", "yolo"), ("thought_level", "huge"), ("other", "x")],
)
def test_what_cannot_be_chosen_is_wrong_and_changes_nothing(
    project: Project, option: str, value: str
) -> None:
    with direct_editor(project, text("x")) as editor:
        made = editor.new()
        change = {"sessionId": made["sessionId"], "configId": option, "value": value}

        assert editor.code("session/set_config_option", **change) == -32602
        level = {"sessionId": made["sessionId"], "configId": "thought_level", "value": "high"}
        now = editor.ok("session/set_config_option", **level)
        assert values(now["configOptions"]) == {
            **values(made["configOptions"]),
            "thought_level": "high",
        }


def test_a_model_is_not_changed_under_a_turn(project: Project) -> None:
    with direct_editor(project, silence) as editor:
        session = editor.session()
        prompt = [{"type": "text", "text": "wait"}]
        number = editor.send("session/prompt", sessionId=session, prompt=prompt)
        editor.door.sessions.get(session)
        change = {"sessionId": session, "configId": "model", "value": "n"}
        error = editor.ask("session/set_config_option", **change)["error"]
        assert "a turn is running" in error["message"]
        editor.put({"method": "session/cancel", "params": {"sessionId": session}})
        editor.answer(number)


def test_an_endpoint_without_a_list_leaves_the_model_in_use(project: Project) -> None:
    settings = TWO.format(url="http://127.0.0.1:9/v1")
    with direct_editor(project, text("x"), settings=settings) as editor:
        [option] = [each for each in editor.new()["configOptions"] if each["id"] == "model"]

        assert {each["value"] for each in option["options"]} >= {"m", "far/far-model"}
