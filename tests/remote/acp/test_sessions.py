"""Sessions of an editor: loaded, resumed, listed, whoever made them."""

from __future__ import annotations

import json
import uuid

from agentsh.messages import ToolCallId
from tests.cli.program import agentsh, make_talk
from tests.cli.working import Project
from tests.remote.acp.direct import direct_editor
from tests.support.endpoint import calls, silence, text


def flow(updates: list[dict[str, object]]) -> list[str]:
    """What was said, and which calls there were, in order."""
    told = []
    for update in updates:
        kind = str(update["sessionUpdate"]).removesuffix("_chunk")
        content = update.get("content")
        if isinstance(content, dict):
            told.append(f"{kind}: {content.get('text', content['type'])}")
        elif kind in ("tool_call", "tool_call_update"):
            told.append(f"{kind}: {update['status']}")
    return told


def test_a_load_shows_what_a_compaction_folded_and_each_call_has_its_end(project: Project) -> None:
    project.put("a.txt", "heron\n")
    script = (
        calls(("c1", "read", {"path": "a.txt"})),
        text("It says heron."),
        text("a summary"),
        text("Still heron."),
    )
    settings = "[compaction]\nkeep = 1\n"
    with direct_editor(project, *script, settings=settings) as editor:
        session = editor.session()
        editor.prompt(session, "What does it say?")
        assert editor.prompt(session, "/compact")["stopReason"] == "end_turn"
        editor.prompt(session, "And now?")
        editor.ok("session/close", sessionId=session)
        since = len(editor.said)

        editor.load(session)

        assert flow(editor.updates(since=since)) == [
            "user_message: What does it say?",
            "tool_call: pending",
            "tool_call_update: completed",
            "agent_message: It says heron.",
            "user_message: And now?",
            "agent_message: Still heron.",
        ]


def test_a_call_that_a_crash_cut_off_has_failed(project: Project) -> None:
    path = make_talk(project.tree, "hello").path
    lines = path.read_text().splitlines()
    leaf = [json.loads(line) for line in lines][-1]["id"]
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "sleep 9"}}
    message = {
        "role": "assistant",
        "content": [call],
        "api": "openai-completions",
        "provider": "p",
        "model": "m",
        "usage": {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2},
        "stopReason": "toolUse",
        "timestamp": 1,
    }
    line = {"type": "message", "id": uuid.uuid4().hex[:8], "parentId": leaf}
    lines.append(json.dumps(line | {"timestamp": "2026-01-01T00:00:00.000Z", "message": message}))
    path.write_text("\n".join(lines) + "\n")
    session = json.loads(lines[0])["id"]
    with direct_editor(project, text("never")) as editor:
        editor.load(session)

        told = [u for u in editor.updates() if u.get("toolCallId") == ToolCallId("c1")]
        assert [each["status"] for each in told] == ["pending", "failed"]


def test_what_is_called_after_a_load_has_an_id_of_its_own(project: Project) -> None:
    project.put("a.txt", "heron\n")
    read = calls(("c1", "read", {"path": "a.txt"}))
    with direct_editor(project, read, text("one"), read, text("two")) as editor:
        session = editor.session()
        editor.prompt(session, "go")
        editor.ok("session/close", sessionId=session)
        editor.load(session)
        editor.prompt(session, "again")

        ids = [each["toolCallId"] for each in editor.updates("tool_call")]
        assert ids == ["c1", "c1", "c1~2"]  # as it was, as it is shown again, another one


def test_a_session_that_is_open_here_is_loaded_again_and_while_a_turn_runs_refused(
    project: Project,
) -> None:
    with direct_editor(project, text("one"), silence) as editor:
        session = editor.session()
        editor.prompt(session, "go")
        since = len(editor.said)
        editor.load(session)
        assert flow(editor.updates(since=since))[:2] == ["user_message: go", "agent_message: one"]

        prompt = [{"type": "text", "text": "wait"}]
        number = editor.send("session/prompt", sessionId=session, prompt=prompt)
        error = editor.ask("session/load", sessionId=session, cwd=str(project.tree), mcpServers=[])[
            "error"
        ]
        assert error["code"] == -32603
        assert "a turn is running" in error["message"]
        editor.put({"method": "session/cancel", "params": {"sessionId": session}})
        assert editor.answer(number)["result"]["stopReason"] == "cancelled"


def test_a18_a_session_that_another_process_writes_says_who(project: Project) -> None:
    with direct_editor(project, text("one")) as first, direct_editor(project, text("x")) as second:
        session = first.session()
        first.prompt(session, "go")

        error = second.ask("session/load", sessionId=session, cwd=str(project.tree), mcpServers=[])[
            "error"
        ]

        assert error["code"] == -32603
        assert "process" in error["message"]
        assert "fork" in error["message"]


def test_a_session_that_there_is_not_is_not_found_and_no_path_is_one(project: Project) -> None:
    path = make_talk(project.tree, "hello").path
    session = json.loads(path.read_text().splitlines()[0])["id"]
    cwd = str(project.tree)
    with direct_editor(project, text("never")) as editor:
        for name in (str(uuid.uuid4()), str(path), "last", session[:8], "../../etc/passwd", ""):
            code = editor.code("session/load", sessionId=name, cwd=cwd, mcpServers=[])
            assert code == -32002, name
        assert editor.code("session/load", sessionId=session, cwd="x", mcpServers=[]) == -32602


def test_lists_come_in_pages_and_a_cursor_is_one_of_ours(project: Project) -> None:
    for number in range(3):
        make_talk(project.tree, f"prompt {number}")
    with direct_editor(project, text("never")) as editor:
        whole = editor.ok("session/list", cwd=str(project.tree))
        assert "nextCursor" not in whole
        assert {each["title"] for each in whole["sessions"]} == {f"prompt {n}" for n in range(3)}
        rest = editor.ok("session/list", cwd=str(project.tree), cursor="2")
        assert rest["sessions"] == whole["sessions"][2:]
        for cursor in ("x", "-1", "9" * 40, "²"):
            assert editor.code("session/list", cursor=cursor) == -32602
        assert editor.code("session/list", cwd="relative") == -32602


def test_what_the_terminal_did_meanwhile_is_there_when_an_editor_resumes(project: Project) -> None:
    with direct_editor(project, text("one"), text("two"), text("three")) as editor:
        session = editor.session()
        editor.prompt(session, "first")
        editor.ok("session/close", sessionId=session)
        project.monkeypatch.setenv("OPENAI_BASE_URL", editor.endpoint.base_url)
        agentsh("run", "-m", "m", "-c", "second", cwd=project.tree)
        since = len(editor.said)

        editor.ok("session/resume", sessionId=session, cwd=str(project.tree), mcpServers=[])
        editor.prompt(session, "third")

        assert editor.updates("user_message_chunk", since) == []
        messages = editor.endpoint.requests[-1].body["messages"]
        assert isinstance(messages, list)
        assert "second" in json.dumps(messages)


def test_a_folder_has_its_sessions_whatever_link_an_editor_names_it_by(project: Project) -> None:
    link = project.tree.parent / "link"
    link.symlink_to(project.tree)
    with direct_editor(project, text("one")) as editor:
        session = editor.ok("session/new", cwd=str(link), mcpServers=[])["sessionId"]
        editor.prompt(session, "by the link")

        for name in (str(link), str(project.tree), f"{project.tree}/../link/"):
            [listed] = editor.ok("session/list", cwd=name)["sessions"]
            assert (listed["sessionId"], listed["cwd"]) == (session, str(project.tree))
        editor.ok("session/close", sessionId=session)

    assert session in agentsh("sessions", cwd=project.tree).out


def test_a_server_that_does_not_start_is_told_where_the_person_looks(project: Project) -> None:
    server = {"name": "birds", "command": "/no/such/program", "args": [], "env": []}
    with direct_editor(project, text("one")) as editor:
        cwd = str(project.tree)
        session = editor.ok("session/new", cwd=cwd, mcpServers=[server])["sessionId"]
        editor.prompt(session, "go")

        assert "birds: it could not be started" in editor.text(kind="agent_thought_chunk")
