"""An endpoint by questions: tried before it is written, and no key is ever written."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.setup.configuration import Configuration, configure
from agentsh.cli.setup.interview import Talk, interview, settings_text
from agentsh.errors import ProviderError, UsageError
from agentsh.jsontext import JsonObject
from agentsh.settings import EndpointSettings
from agentsh.settingstext import read_settings
from tests.support.endpoint import Handler, serve, status, text


def configured(tmp_path: Path, **environ: str) -> Configuration:
    return configure(ModelOptions(), {"AGENTSH_HOME": str(tmp_path), **environ}, tmp_path)


def talking(*answers: str) -> tuple[Talk, list[str]]:
    left, said = list(answers), list[str]()
    return Talk(lambda _question, _hides: left.pop(0) if left else None, said.append), said


def test_the_models_are_found_one_word_is_tried_and_the_text_can_be_read(tmp_path: Path) -> None:
    with serve(text("hello")) as endpoint:
        endpoint.models = [{"id": "heron"}, {"id": "egret"}]
        talk, said = talking(endpoint.base_url + "/", "HERON_KEY", "2")
        found = interview(talk, configured(tmp_path, HERON_KEY="k-123"))

    assert found == EndpointSettings(
        base_url=endpoint.base_url, model="egret", api_key_env="HERON_KEY"
    )
    assert "egret says: hello" in said
    assert endpoint.requests[-1].headers["authorization"] == "Bearer k-123"
    written = settings_text(found, "", [])
    assert "k-123" not in written
    assert read_settings(written, "x").tables[("endpoint",)]["model"] == "egret"


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (("http://me:secret@host/v1",), "holds a name or a password"),
        (("http://127.0.0.1:9/v1", "sk-A1b2C3d4A1b2C3d4"), "looks like a key"),
    ],
)
def test_secrets_are_refused_and_leaving_writes_nothing(
    tmp_path: Path, answers: tuple[str, ...], words: str
) -> None:
    talk, said = talking(*answers)

    with pytest.raises(UsageError, match="nothing was set up"):
        interview(talk, configured(tmp_path))
    assert words in said[-1]


def test_an_answer_that_cannot_be_is_asked_for_again(tmp_path: Path) -> None:
    with serve(text("hello")) as endpoint:
        endpoint.models = [{"id": "heron"}, {"id": "egret"}]
        answers = ("http://me:secret@host", endpoint.base_url, "sk-A1b2C3d4A1b2C3d4", "", "3", "2")
        talk, said = talking(*answers)
        found = interview(talk, configured(tmp_path))

    assert found == EndpointSettings(base_url=endpoint.base_url, model="egret")
    assert [line.partition(",")[0] for line in said if "  " not in line] == [
        "the address holds a name or a password",
        "A key is not written into a file; a variable holds it",
        "that looks like a key",
        f"{endpoint.base_url} is asked for its list of models",
        "the list has the numbers 1 to 2",
        "egret says: hello",
    ]


def test_an_address_that_lists_no_models_is_tried_below_v1_as_well(tmp_path: Path) -> None:
    with serve(text("hello")) as endpoint:
        endpoint.listing = _below_v1
        talk, said = talking(endpoint.base_url.removesuffix("/v1"), "", "")
        found = interview(talk, configured(tmp_path))

    assert found == EndpointSettings(base_url=endpoint.base_url, model="heron")
    assert said[-1] == "heron says: hello"


def test_where_no_address_lists_models_the_one_that_was_given_is_named(tmp_path: Path) -> None:
    with serve(text("hello")) as endpoint:
        endpoint.listing = status(404, {"error": {"message": "no such path"}})
        given = endpoint.base_url.removesuffix("/v1")
        talk, _ = talking(given, "")
        with pytest.raises(ProviderError, match="no such path") as caught:
            interview(talk, configured(tmp_path))

    assert f"GET {given}/models was asked" in (caught.value.hint or "")


def _below_v1(handler: Handler) -> None:
    is_there = handler.path == "/v1/models"
    listed: JsonObject = {"object": "list", "data": [{"id": "heron"}]}
    status(200 if is_there else 404, listed if is_there else {"error": {"message": "none"}})(
        handler
    )


def test_a_second_endpoint_gets_a_name_of_its_own() -> None:
    found = EndpointSettings(base_url="https://api.birds.example/v1", model="m")
    before = '[endpoint]\nbase_url = "http://x/v1"\n'

    first = settings_text(found, before, [])
    second = settings_text(found, before, ["example"])

    assert first.startswith("[endpoints.example]\n")
    assert second.startswith("[endpoints.example2]\n")
    assert read_settings(before + first, "x").warnings == ()
