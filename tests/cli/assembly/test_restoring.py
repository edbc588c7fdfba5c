"""Going on with a session as it was: whole commands against a scripted endpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentsh.jsontext import JsonObject
from tests.cli.program import agentsh
from tests.cli.working import Project
from tests.support.endpoint import Endpoint, serve, text


def asked(endpoint: Endpoint) -> list[tuple[object, list[str]]]:
    """Model and tools of each request."""
    bodies: list[Any] = [received.body for received in endpoint.requests]
    return [
        (body["model"], sorted(t["function"]["name"] for t in body.get("tools") or []))
        for body in bodies
    ]


def turn(project: Project, *words: str, code: int = 0) -> str:
    ended = agentsh("run", *words, "go", cwd=project.tree)
    assert ended.code == code, ended.err
    return ended.err


def test_model_and_tools_of_the_path_come_back_until_an_option_says_otherwise(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTSH_MODEL", "usual")
    with serve(*[text("ok")] * 5) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        turn(project, "-m", "heron", "--tools", "read,ls")
        turn(project, "-c")
        turn(project, "-c", "-m", "stork", "--no-tools")
        turn(project, "-c")
        turn(project, "-c", "--tools", "all")

    every = asked(endpoint)[4][1]
    assert asked(endpoint) == [
        ("heron", ["ls", "read"]),
        ("heron", ["ls", "read"]),
        ("stork", []),
        ("stork", []),
        ("stork", every),
    ]
    assert {"bash", "edit", "read", "write"} <= set(every)


def test_restore_is_a_setting(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.settings('[resume]\nrestore = false\n[endpoint]\nmodel = "usual"\n')
    with serve(text("ok"), text("ok")) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        turn(project, "-m", "heron", "--tools", "read")
        turn(project, "-c")

    assert [model for model, _ in asked(endpoint)] == ["heron", "usual"]
    assert len(asked(endpoint)[1][1]) > 1


def planted(project: Project, provider: str) -> Path:
    """A file that another program wrote."""
    rows: list[JsonObject] = [
        {"type": "session", "version": 3, "id": "s1", "cwd": str(project.tree)},
        {"type": "model_change", "id": "a", "provider": provider, "modelId": "heron"},
        {"type": "message", "id": "b", "message": {"role": "user", "content": "hello"}},
    ]
    parents = [None, None, "a"]
    for row, parent in zip(rows, parents, strict=True):
        row["timestamp"] = "2026-01-01T00:00:00.000Z"
        row.update({"parentId": parent} if row["type"] != "session" else {})
    return project.put("theirs.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def test_a_model_of_an_endpoint_of_that_name_is_asked_there(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(text("ok")) as own, serve(text("ok")) as usual:
        monkeypatch.setenv("OPENAI_BASE_URL", usual.base_url)
        monkeypatch.setenv("AGENTSH_MODEL", "usual")
        project.settings(f'[endpoints.wren]\nbase_url = "{own.base_url}"\n')
        turn(project, "--session", str(planted(project, "wren")))

    assert ([m for m, _ in asked(own)], asked(usual)) == (["heron"], [])


def test_a_model_of_an_unknown_provider_is_left_and_named_and_nothing_is_asked_to_find_out(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(text("ok")) as usual:
        monkeypatch.setenv("OPENAI_BASE_URL", usual.base_url)
        monkeypatch.setenv("AGENTSH_MODEL", "usual")
        told = turn(project, "--session", str(planted(project, "wren")))

    assert "the session's model heron is left: no endpoint of the name wren is known here" in told
    assert ([m for m, _ in asked(usual)], usual.listings) == (["usual"], [])
