"""The history tool in a whole program: a scripted model finds what a compaction folded away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentsh.jsontext import JsonObject
from tests.cli.program import Ended, agentsh, make_talk, run_for_oneself
from tests.support.endpoint import Endpoint, Reply, calls, serve, text

FACT = "The codeword of the deploy is marmalade-heron-42."
FILL = "Nothing of note. " * 40


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def run(cwd: Path, *words: str, replies: tuple[Reply, ...]) -> tuple[Ended, Endpoint]:
    with serve(*replies) as endpoint:
        ended = agentsh(
            *words, "--base-url", endpoint.base_url, "-m", "m", "--context-window", "9000", cwd=cwd
        )
        return ended, endpoint


def fold(cwd: Path) -> None:
    """A session of this folder whose fact is behind a compaction."""
    run(cwd, "run", FACT, replies=(text("Noted."),))
    run(cwd, "run", "-c", "Go on. " + FILL, replies=(text(FILL),))
    ended, _ = run(cwd, "compact", "--keep", "10", replies=(text("They talked."),))
    assert ended.code == 0, ended.err


def asked(endpoint: Endpoint, number: int) -> list[JsonObject]:
    messages = endpoint.requests[number].body["messages"]
    assert isinstance(messages, list)
    return messages


def sent(endpoint: Endpoint, number: int = -1) -> str:
    return json.dumps(asked(endpoint, number), ensure_ascii=False)


def last_result(endpoint: Endpoint) -> str:
    return str(asked(endpoint, -1)[-1]["content"])


def test_a_model_finds_what_a_compaction_folded_away(cwd: Path) -> None:
    fold(cwd)
    query: JsonObject = {"query": "codeword deploy"}

    ended, endpoint = run(
        cwd,
        "run",
        "-c",
        "--tools",
        "history",
        "What is the codeword of the deploy?",
        replies=(calls(("c1", "history", query)), text("marmalade-heron-42")),
    )

    assert ended.out.strip() == "marmalade-heron-42"
    assert "marmalade" not in sent(endpoint, 0)
    found = last_result(endpoint)
    assert "Untrusted background" in found
    assert f"| {FACT}" in found
    assert "summarised away" in found
    # neither its own question nor its own call is what it looked for
    assert found.count("entry ") == 1, found


def test_it_is_off_until_somebody_names_it(cwd: Path, tmp_path: Path) -> None:
    _, endpoint = run(cwd, "run", "hello", replies=(text("hi"),))

    assert '"history"' not in json.dumps(endpoint.requests[0].body["tools"])


def test_a_setting_offers_it_with_the_others(
    cwd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTSH_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text("[tools]\nhistory = true\n")

    _, endpoint = run(cwd, "run", "hello", replies=(text("hi"),))

    tools = json.dumps(endpoint.requests[0].body["tools"])
    assert '"history"' in tools
    assert '"bash"' in tools


def test_words_that_do_not_all_occur_find_what_holds_most_of_them(cwd: Path) -> None:
    fold(cwd)
    query: JsonObject = {"query": "What was the secret codeword for our deploy?"}

    _, endpoint = run(
        cwd,
        "run",
        "-c",
        "--tools",
        "history",
        "x",
        replies=(calls(("c1", "history", query)), text(".")),
    )

    assert FACT in last_result(endpoint)
    assert "no entry holds all of these words" in last_result(endpoint)


def test_an_entry_is_read_whole_and_other_sessions_only_when_asked(
    cwd: Path, tmp_path: Path
) -> None:
    fold(cwd)
    found = agentsh("search", "--json", "codeword", cwd=cwd).json()
    assert isinstance(found, list)
    (hit,) = [f for f in found if f["role"] == "user"]
    other: JsonObject = {"query": "codeword"}
    replies = (
        calls(("c1", "history", other)),
        calls(("c2", "history", {**other, "other_sessions": True})),
        calls(("c3", "history", {"entry": f"{hit['session']}:{hit['entry']}"})),
        calls(("c4", "history", {"entry": "nonsense"})),
        text("."),
    )

    _, endpoint = run(cwd, "run", "--tools", "history", "hello", replies=replies)

    results = [str(m["content"]) for m in asked(endpoint, -1) if m["role"] == "tool"]
    assert "nothing in this session" in results[0]
    assert f"{hit['session']}:{hit['entry']}" in results[1]
    assert f"| {FACT}" in results[2]
    assert "no entry" in results[3]


def test_sessions_of_other_folders_are_not_shown(cwd: Path, tmp_path: Path) -> None:
    fold(cwd)
    found = agentsh("search", "--json", "codeword", cwd=cwd).json()
    assert isinstance(found, list)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    replies = (
        calls(("c1", "history", {"query": "codeword", "other_sessions": True})),
        calls(("c2", "history", {"entry": f"{found[0]['session']}:{found[0]['entry']}"})),
        text("."),
    )

    _, endpoint = run(elsewhere, "run", "--tools", "history", "hello", replies=replies)

    results = [str(m["content"]) for m in asked(endpoint, -1) if m["role"] == "tool"]
    assert "nothing in the other sessions" in results[0]
    assert "not of this project" in results[1]


def test_what_a_person_ran_for_themself_only_is_shown_to_no_model(cwd: Path) -> None:
    talk = make_talk(cwd, "hello")
    run_for_oneself(talk, "cat diary", "dear egret")
    hits = agentsh("search", "--json", "egret", cwd=cwd).json()
    assert isinstance(hits, list)
    query: JsonObject = {"query": "dear egret"}
    replies = (
        calls(("c1", "history", query)),
        calls(("c2", "history", {"entry": hits[0]["entry"]})),
        text("."),
    )
    other: JsonObject = {"query": "dear egret", "other_sessions": True}

    _, own = run(cwd, "run", "-c", "--tools", "history", "x", replies=replies)
    _, far = run(
        cwd, "run", "--tools", "history", "x", replies=(calls(("c1", "history", other)), text("."))
    )

    results = [str(m["content"]) for m in asked(own, -1) if m["role"] == "tool"]
    assert "nothing in this session" in results[0]
    assert "holds no text" in last_result(own)
    assert "nothing in" in last_result(far)
