"""`agentsh acp` as editors meet it: the official client, a process, a loopback endpoint."""

from __future__ import annotations

import base64
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from acp import schema

from tests.cli.program import agentsh
from tests.e2e.editors import (
    bash,
    driven,
    ready,
)
from tests.support.acpclient import acp_client
from tests.support.endpoint import calls, serve, text
from tests.support.pictures import png


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    return place


def test_an_editors_session_is_gone_on_with_by_the_command_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with driven(monkeypatch, folder, text("a heron")) as (client, session):
        answer = client.prompt(session, "Which bird?")

    assert answer.stop_reason == "end_turn"
    assert client.text() == "a heron"
    assert "a heron" in agentsh("show", session, cwd=folder).out


def test_a_call_of_the_same_id_is_another_call_to_the_editor(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = (bash("echo one"), bash("echo two"), text("done"))
    with driven(monkeypatch, folder, *replies, words=("--approve", "all")) as (client, session):
        client.prompt(session, "go")
        ids = [each["toolCallId"] for each in client.updates("tool_call")]
        ends = [each for each in client.updates("tool_call_update") if each["status"] != "pending"]

    assert len(set(ids)) == 2
    assert {each["toolCallId"] for each in ends if each["status"] == "completed"} == set(ids)


def test_the_question_shows_the_whole_difference_before_anything_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("one\ntwo\n")
    edit = calls(("c1", "edit", {"path": "a.txt", "oldText": "two", "newText": "three"}))
    replies, words = (edit, text("done")), ("--approve", "ask")
    with driven(monkeypatch, folder, *replies, words=words) as (client, session):
        client.prompt(session, "go")
        [asked] = client.face.asked

    content = asked.tool_call.content
    assert content is not None
    change = content[0]
    assert isinstance(change, schema.FileEditToolCallContent)
    assert (change.old_text, change.new_text) == ("one\ntwo\n", "one\nthree\n")
    assert change.path == str(folder / "a.txt")
    assert (folder / "a.txt").read_text() == "one\nthree\n"


def test_what_was_always_allowed_is_not_asked_again_in_another_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with driven(
        monkeypatch, folder, bash("touch a"), text("done"), decide=lambda _asked: "allow_always"
    ) as (client, session):
        client.prompt(session, "go")
        assert [o.name for o in client.face.asked[0].options][1] == "Always allow: = touch a"

    with serve(bash("touch a"), text("done")) as endpoint:
        ready(monkeypatch, endpoint)
        assert agentsh("run", "-c", "again", cwd=folder).code == 0


def test_a_cancel_ends_the_command_that_runs_and_the_prompts_that_wait(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = (bash("echo begun; sleep 60"), text("fine"))
    with driven(monkeypatch, folder, *replies, words=("--approve", "all")) as (client, session):
        first = client.send_prompt(session, "go")
        waiting = client.send_prompt(session, "then this")
        client.wait(lambda m: "begun" in json.dumps(m) and "in_progress" in json.dumps(m))
        began = time.monotonic()
        client.ask("cancel", session_id=session)

        assert first.result(10).stop_reason == "cancelled"
        assert waiting.result(10).stop_reason == "cancelled"
        assert time.monotonic() - began < 3
        assert client.updates("tool_call_update")[-1]["status"] == "failed"
        assert client.prompt(session, "again").stop_reason == "end_turn"


def test_output_grows_in_few_updates_and_the_last_piece_is_not_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = "for i in $(seq 300); do echo line $i; sleep 0.002; done; sleep 0.5; echo end"
    replies = (bash(command), text("done"))
    with driven(monkeypatch, folder, *replies, words=("--approve", "all")) as (client, session):
        client.prompt(session, "go")
        updates = client.updates("tool_call_update")

    shown = [json.dumps(each["content"]) for each in updates if "content" in each]
    assert 3 < len(shown) < 40
    assert any("line 300" in each and "\\nend" not in each for each in shown)  # told in the pause
    assert "end" in shown[-1]


def test_a19_a_picture_and_a_file_reach_the_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = base64.b64encode(png(3, 2)).decode()
    picture = schema.ImageContentBlock(type="image", data=data, mime_type="image/png")
    contents = schema.TextResourceContents(uri=f"file://{folder}/a.txt", text="heron")
    file = schema.EmbeddedResourceContentBlock(type="resource", resource=contents)
    with serve(text("fine")) as endpoint:
        ready(monkeypatch, endpoint)
        with acp_client(cwd=folder) as client:
            client.initialize()
            session = client.session(folder)
            client.prompt(session, "What is this? ", picture, file)
        messages: Any = endpoint.requests[-1].body["messages"]

    said_to_model = json.dumps(messages[-1])
    assert data in said_to_model
    assert "heron" in said_to_model
    assert "a.txt" in said_to_model


def test_a_blocked_prompt_is_a_refusal_with_the_hooks_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch, clean_environment: Path
) -> None:
    home = Path(os.environ["AGENTSH_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text("[hooks]\nbefore_prompt = ['echo no herons; exit 1']\n")
    with driven(monkeypatch, folder, text("never")) as (client, session):
        answer = client.prompt(session, "herons")

    assert answer.stop_reason == "refusal"
    assert "no herons" in client.text()


def test_a_cancel_does_not_wait_for_an_editor_that_gives_no_text(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("one\n")
    replies, fs = (calls(("c1", "read", {"path": "a.txt"})), text("fine")), {"readTextFile": True}
    with driven(monkeypatch, folder, *replies, fs=fs) as (client, session):
        client.face.is_deaf = True
        first = client.send_prompt(session, "go")
        client.wait(lambda m: m.get("method") == "fs/read_text_file")
        began = time.monotonic()
        client.ask("cancel", session_id=session)

        assert first.result(10).stop_reason == "cancelled"
        assert time.monotonic() - began < 3
