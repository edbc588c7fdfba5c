"""What an editor may ask for in a way of its own, and when it is told what."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from agentsh.remote.acp import options
from agentsh.tools.shell import groups
from tests.cli.working import Project
from tests.remote.acp.direct import TWO_MODELS, direct_editor
from tests.support.endpoint import Handler, calls, silence, status, text
from tests.support.mcpservers import faulty


@pytest.mark.parametrize("params", [{"protocolVersion": v} for v in (1, 99, "2024-11-05")] + [{}])
def test_whatever_version_is_asked_for_this_one_is_spoken(
    project: Project, params: dict[str, Any]
) -> None:
    with direct_editor(project, text("x")) as editor:
        assert editor.ok("initialize", **params)["protocolVersion"] == 1


def test_a_session_is_known_to_the_editor_before_anything_is_told_of_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "_LISTS", 0.0)
    is_known = threading.Event()

    def late(handler: Handler) -> None:
        is_known.wait(20)
        status(200, {"object": "list", "data": TWO_MODELS})(handler)

    with direct_editor(project, text("x")) as editor:
        editor.endpoint.listing = late
        session = editor.session()
        is_known.set()
        editor.wait(lambda m: "config_option_update" in str(m))

        made = next(n for n, m in enumerate(editor.said) if "result" in m)
        told = [n for n, m in enumerate(editor.said) if m.get("method") == "session/update"]
        assert session in str(editor.said[made])
        assert min(told) > made


def test_servers_are_missing_from_a_request_as_from_an_editor_that_has_none(
    project: Project,
) -> None:
    with direct_editor(project, text("x")) as editor:
        assert editor.ok("session/new", cwd=str(project.tree))["sessionId"]


def test_a_server_that_takes_a_connection_and_says_nothing_holds_up_no_session(
    project: Project,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        stuck = {"type": "http", "name": "stuck", "url": url, "headers": []}
        settings = "[mcp]\nstart_timeout = 1\n"
        with direct_editor(project, text("fine"), settings=settings) as editor:
            began = time.monotonic()
            made = editor.ok("session/new", cwd=str(project.tree), mcpServers=[stuck])
            assert time.monotonic() - began < 3
            assert editor.prompt(made["sessionId"], "go")["stopReason"] == "end_turn"


def test_a_session_that_is_closed_leaves_no_server_behind(project: Project, tmp_path: Path) -> None:
    birds = faulty(tmp_path / "birds")
    server = {"name": "birds", "command": birds.argv[0], "args": birds.argv[1:], "env": []}
    count = calls(("c1", "mcp__birds__count", {"bird": "owl"}))
    with direct_editor(project, count, text("done"), approve="all") as editor:
        made = editor.ok("session/new", cwd=str(project.tree), mcpServers=[server])
        editor.prompt(made["sessionId"], "go")
        running = {row.pid for row in groups.table()}
        assert set(birds.pids()) & running

        editor.ok("session/close", sessionId=made["sessionId"])

        assert not set(birds.pids()) & {row.pid for row in groups.table()}


def test_instructions_are_those_of_the_sessions_folder(project: Project) -> None:
    project.put("AGENTS.md", "Count herons twice.\n")
    with direct_editor(project, text("x")) as editor:  # this process works elsewhere
        editor.prompt(editor.session(), "go")

        assert "Count herons twice." in str(editor.endpoint.requests[-1].body["messages"])


def test_two_calls_of_one_answer_with_the_same_id_are_two_calls(project: Project) -> None:
    twice = calls(("c1", "bash", {"command": "echo one"}), ("c1", "bash", {"command": "echo two"}))
    with direct_editor(project, twice, text("done"), approve="all") as editor:
        editor.prompt(editor.session(), "go")
        ends = [u for u in editor.updates("tool_call_update") if u["status"] == "completed"]

        assert len({each["toolCallId"] for each in editor.updates("tool_call")}) == 2
        assert len({each["toolCallId"] for each in ends}) == 2


def test_a_replayed_call_reads_as_it_did_when_it_ran(project: Project) -> None:
    command = calls(("c1", "bash", {"command": "echo one"}))
    with direct_editor(project, command, text("done"), approve="all") as editor:
        session = editor.session()
        editor.prompt(session, "go")
        [live] = editor.updates("tool_call")
        ended = editor.updates("tool_call_update")[-1]
        editor.ok("session/close", sessionId=session)
        since = len(editor.said)
        editor.load(session)

        assert editor.updates("tool_call", since) == [live]
        assert editor.updates("tool_call_update", since) == [ended]


def test_a_cancelled_turn_tells_no_usage_that_nobody_measured(project: Project) -> None:
    with direct_editor(project, silence) as editor:
        session = editor.session()
        prompt = [{"type": "text", "text": "wait"}]
        number = editor.send("session/prompt", sessionId=session, prompt=prompt)
        time.sleep(0.2)
        editor.put({"method": "session/cancel", "params": {"sessionId": session}})

        assert editor.answer(number)["result"] == {"stopReason": "cancelled"}
