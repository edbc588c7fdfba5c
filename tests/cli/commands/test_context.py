"""`agentsh context`: what the next request weighs, without a write or a question to anybody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cli.program import agentsh, make_talk
from tests.cli.working import Project


def weighed(project: Project, *words: str) -> Any:
    ended = agentsh("context", "last", *words, "--json", cwd=project.tree)
    assert ended.code == 0, ended
    return ended.json()


def read_something(project: Project) -> None:
    project.put("AGENTS.md", "Mind the herons.\n" * 20)
    project.put("big.txt", "a heron stands in the reeds\n" * 300)
    with project.answering((("c1", "read", {"path": "big.txt"}),)):
        project.run("--approve", "all", "look")


def test_the_parts_add_up_and_name_files_tools_and_results(project: Project) -> None:
    project.settings("[endpoint]\ncontext_window = 50000\n")
    read_something(project)
    before = {p: p.read_bytes() for p in project.home.rglob("*.jsonl")}

    found = weighed(project)

    parts = {section["name"]: section["tokens"] for section in found["sections"]}
    assert sum(parts.values()) == found["tokens"]
    assert any(name.endswith("AGENTS.md") for name in parts)
    assert parts["results: read"] > found["tokens"] // 3
    assert (found["window"], found["reserve"], found["keep"]) == (50000, 10000, 13333)
    assert found["entries"][0]["role"] == "toolResult"
    assert found["entries"][0]["text"] == "a heron stands in the reeds"
    assert {p: p.read_bytes() for p in project.home.rglob("*.jsonl")} == before


def test_the_window_of_a_model_that_is_known_needs_no_setting(project: Project) -> None:
    read_something(project)
    assert weighed(project)["window"] is None
    assert weighed(project, "-m", "gpt-4o")["window"] == 128_000
    assert weighed(project, "--context-window", "9000")["window"] == 9000


def test_at_another_place(project: Project) -> None:
    read_something(project)
    prompt = project.prompt("look")

    there = weighed(project, "--at", prompt)
    assert (there["leaf"], [e["entry"] for e in there["entries"]]) == (prompt, [prompt])
    assert weighed(project, "--at", "root")["entries"] == []


def test_as_text_it_says_that_it_is_an_estimate(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "alpha")

    shown = agentsh("context", talk.id)

    assert shown.code == 0
    assert "estimated; no prompt of this path was measured" in shown.out
    assert f"{talk.ids['answer to alpha']}  agent   answer to alpha" in shown.out
    assert agentsh("context", "no-such-session").code == 3
    assert agentsh("context", talk.id, "--at", "zzzzzzzz").code == 3
