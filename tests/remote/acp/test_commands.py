"""Commands of ours behind a slash, and what is none."""

from __future__ import annotations

import pytest

from tests.cli.working import Project
from tests.remote.acp.direct import direct_editor
from tests.support.endpoint import calls, text


def test_a_name_is_told_as_the_sessions_title(project: Project) -> None:
    with direct_editor(project, text("x")) as editor:
        session = editor.session()
        editor.prompt(session, "/name Heron work")

        assert editor.updates("session_info_update")[-1]["title"] == "Heron work"
        assert editor.endpoint.requests == [] or all(
            request.method == "GET" for request in editor.endpoint.requests
        )


def test_undo_goes_back_before_the_prompt_and_takes_its_files_along(project: Project) -> None:
    project.put("a.txt", "one\n")
    write = calls(("c1", "write", {"path": "a.txt", "content": "two\n"}))
    with direct_editor(project, write, text("done"), text("fine")) as editor:
        session = editor.session()
        editor.prompt(session, "Change it.")
        assert project.files() == {"a.txt": "two\n"}
        since = len(editor.said)

        editor.prompt(session, "/undo")

        assert project.files() == {"a.txt": "one\n"}
        assert "Back before: Change it." in editor.text(since)
        editor.prompt(session, "anew")
        messages = editor.endpoint.requests[-1].body["messages"]
        assert "Change it." not in str(messages)


def test_costs_and_tools_are_said_and_cost_nothing(project: Project) -> None:
    with direct_editor(project, text("x")) as editor:
        session = editor.session()
        editor.prompt(session, "go")
        since, asked = len(editor.said), len(editor.endpoint.requests)
        editor.prompt(session, "/cost")
        editor.prompt(session, "/tools")

        assert "100 tokens in, 10 out" in editor.text(since)
        assert "`bash`: " in editor.text(since)
        assert len(editor.endpoint.requests) == asked


def test_what_a_command_cannot_do_is_an_error_in_words(project: Project) -> None:
    with direct_editor(project, text("x")) as editor:
        session = editor.session()
        for words, error in (("/undo", "no prompt"), ("/undo all", "one of")):
            prompt = [{"type": "text", "text": words}]
            answer = editor.ask("session/prompt", sessionId=session, prompt=prompt)
            assert error in answer["error"]["message"]


def test_a_skill_that_there_is_not_is_wrong_and_nothing_is_sent(project: Project) -> None:
    with direct_editor(project, text("never")) as editor:
        session = editor.session()
        prompt = [{"type": "text", "text": "/skill:nope now"}]
        answer = editor.ask("session/prompt", sessionId=session, prompt=prompt)

        assert answer["error"]["code"] == -32602
        assert "nope" in answer["error"]["message"]
        assert not [r for r in editor.endpoint.requests if r.method == "POST"]


@pytest.mark.parametrize("words", ["/cost\n", "/cost\nthe file that is open: a.py"])
def test_a_command_is_one_whatever_an_editor_puts_behind_it(project: Project, words: str) -> None:
    with direct_editor(project, text("never")) as editor:
        session = editor.session()
        blocks = [
            {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "heron"}},
            {"type": "text", "text": words},
            {"type": "resource_link", "name": "b", "uri": "file:///b.txt"},
        ]

        editor.ok("session/prompt", sessionId=session, prompt=blocks)

        assert "0 tokens in" in editor.text()
        assert [each for each in editor.endpoint.requests if each.method == "POST"] == []
