"""What a client of `agentsh rpc` may and may not do while a turn runs, and with pictures."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint import Endpoint, Reply, calls, serve, text
from tests.support.pictures import png
from tests.support.rpcclient import RpcClient, rpc_client

PICTURE = base64.b64encode(png(4, 4)).decode()
ASKS = calls(("c1", "bash", {"command": "touch x"}))


@contextmanager
def driven(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *replies: Reply
) -> Iterator[tuple[RpcClient, Endpoint]]:
    with serve(*replies) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("AGENTSH_MODEL", "m")
        with rpc_client(cwd=folder) as client:
            yield client, endpoint


def answer(client: RpcClient, question: str, **members: bool) -> None:
    said = {"type": "extension_ui_response", "id": question, **members}
    client.put(json.dumps(said).encode() + b"\n")


@pytest.mark.parametrize("prefix", ["", "data:image/png;base64,"])
def test_a_prompt_has_its_pictures_in_whichever_form_they_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    with driven(tmp_path, monkeypatch, text("a dot")) as (client, endpoint):
        images = [{"type": "image", "data": prefix + PICTURE, "mimeType": "image/jpeg"}]
        client.ok("prompt", message="look", images=images)
        client.settled()

    messages: Any = endpoint.requests[0].body["messages"]
    [_, image] = messages[-1]["content"]
    assert image["image_url"]["url"] == f"data:image/png;base64,{PICTURE}"


def test_a_command_of_the_client_waits_for_no_turn_it_is_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with driven(tmp_path, monkeypatch, ASKS, text("done")) as (client, _):
        client.ok("prompt", message="go")
        question = client.question()
        busy = client.ask("bash", command="touch y")
        assert (busy["success"], busy["code"]) == (False, "busy")
        client.ok("abort_bash")  # there is none: the turn is left alone
        assert client.ok("get_state")["isStreaming"]
        answer(client, question["id"], confirmed=True)
        client.settled()
        assert client.ok("bash", command="echo now")["output"].strip() == "now"

    assert (tmp_path / "x").exists()
    assert not (tmp_path / "y").exists()
