"""Skills and templates in whole runs: what is sent, what is stored, what comes back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.program import agentsh
from tests.cli.working import Project, results
from tests.support.endpoint import Endpoint


def said(endpoint: Endpoint) -> str:
    """The last message of the last request."""
    messages = endpoint.requests[-1].body["messages"]
    assert isinstance(messages, list)
    content = messages[-1]["content"]
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content)


def system(endpoint: Endpoint) -> str:
    messages = endpoint.requests[-1].body["messages"]
    assert isinstance(messages, list)
    return "\n".join(str(m["content"]) for m in messages if m["role"] in ("system", "developer"))


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


SKILL = "---\nname: heron\ndescription: care for herons\n---\n\nFeed it $1.\n"


@pytest.fixture
def heron(project: Project) -> Path:
    return put(project.home, "skills/heron/SKILL.md", SKILL)


def test_a_skill_is_called_and_what_was_typed_comes_back(project: Project, heron: Path) -> None:
    with project.answering() as endpoint:
        assert project.run("/skill:heron twice\na day").code == 0

    assert said(endpoint) == (
        f'<skill name="heron" location="{heron}">\nReferences are relative to {heron.parent}.\n\n'
        "Feed it $1.\n</skill>\n\ntwice\na day"
    )
    moved = agentsh("checkout", "last", project.prompt("Feed it"), cwd=project.tree)
    assert "/skill:heron twice" in moved.err + moved.out
    assert "Feed it" not in moved.err + moved.out


def test_an_unknown_skill_sends_nothing_and_names_those_there_are(
    project: Project, heron: Path
) -> None:
    with project.answering() as endpoint:
        ended = project.run("/skill:stork now")

    assert (ended.code, ended.out, endpoint.requests) == (3, "", [])
    assert "there is no skill 'stork'; there are: heron" in ended.err


def test_without_skills_a_call_says_so_and_without_templates_it_is_a_prompt(
    project: Project, heron: Path
) -> None:
    put(project.home, "prompts/ship.md", "Ship $1")
    with project.answering() as endpoint:
        ended = project.run("--no-skills", "/skill:heron")
        assert (ended.code, endpoint.requests) == (3, [])
        assert "--no-skills" in ended.err
        project.run("--no-templates", "/ship it")

    assert said(endpoint) == "/ship it"
    assert "heron" in system(endpoint)


def test_a_template_of_ones_own_goes_before_one_that_is_brought_along(project: Project) -> None:
    with project.answering() as endpoint:
        project.run("/review HEAD~2")
    assert said(endpoint).startswith("Review HEAD~2. Change no files.\n\nRead the difference")
    with project.answering() as endpoint:
        project.run("/init")
    assert said(endpoint).startswith("Write AGENTS.md")

    put(project.home, "prompts/review.md", "MINE: $@")
    with project.answering() as endpoint:
        project.run("/review", "--approve", "never")
    assert said(endpoint) == "MINE: "


def test_a_projects_own_count_once_the_folder_is_trusted(project: Project) -> None:
    put(project.tree, ".claude/skills/own/SKILL.md", SKILL.replace("heron", "own"))
    put(project.tree, ".agentsh/prompts/ship.md", "Ship $1")
    with project.answering() as endpoint:
        ended = project.run("/ship it")
    assert said(endpoint) == "/ship it"
    assert "<name>own</name>" not in system(endpoint)
    assert "not used, since" in ended.err
    assert ".claude/skills" in ended.err

    with project.answering() as endpoint:
        assert "not used" not in project.run("--trust", "/ship it").err
    assert said(endpoint) == "Ship it"
    assert "<name>own</name>" in system(endpoint)


def test_what_stdin_says_is_a_call_and_what_a_file_says_is_none(
    project: Project, heron: Path
) -> None:
    put(project.tree, "note.txt", "/skill:heron")
    with project.answering((("c1", "read", {"path": "note.txt"}),)) as endpoint:
        project.run("look")

    assert "Feed it" not in json.dumps(endpoint.requests[-1].body)


def test_the_list_names_all_with_their_source(project: Project, heron: Path) -> None:
    quiet = "---\ndescription: q\ndisable-model-invocation: true\n---\n"
    put(project.home, "skills/quiet/SKILL.md", quiet)
    put(project.home, "skills/bad/SKILL.md", "nothing")
    put(project.home, "prompts/ship.md", "Ship $1")

    ended = agentsh("skills", "--json", cwd=project.tree)
    found = ended.json()

    assert isinstance(found, dict)
    assert [(f["name"], f["source"], f["listed"]) for f in found["skills"]["found"]] == [
        ("heron", "user", True),
        ("quiet", "user", False),
    ]
    assert "bad/SKILL.md was left out" in found["skills"]["left_out"][0]
    assert [(f["name"], f["source"]) for f in found["templates"]["found"]] == [
        ("ship", "user"),
        ("review", "built-in"),
        ("init", "built-in"),
    ]
    shown = agentsh("skills", cwd=project.tree)
    assert f"/skill:heron  user\n  care for herons\n  {heron}\n" in shown.out
    assert "/skill:quiet  user  (not told to the model)" in shown.out
    assert "bad/SKILL.md was left out" in shown.err


def test_a_resumed_session_says_that_the_skills_are_others(project: Project, heron: Path) -> None:
    with project.answering():
        project.run("hello")
    put(project.home, "skills/stork/SKILL.md", SKILL.replace("heron", "stork"))

    with project.answering() as endpoint:
        ended = project.run("-c", "again")

    assert "changed since: system prompt: skills" in ended.err
    assert "stork" in system(endpoint)


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="no bubblewrap here")
def test_in_the_sandbox_skills_can_be_read_and_the_rest_of_the_home_cannot(
    project: Project, heron: Path
) -> None:
    put(project.home, "other.txt", "OTHER")
    with project.answering(
        (("c1", "read", {"path": str(heron)}),),
        (("c2", "bash", {"command": f"cat {heron}; echo x > {heron.parent}/new"}),),
        (("c3", "read", {"path": str(project.home / "other.txt")}),),
    ) as endpoint:
        project.run("--sandbox", "go")

    read, printed, other = results(endpoint)
    assert "Feed it" in read
    assert "Feed it" in printed
    assert not (heron.parent / "new").exists()
    assert "OTHER" not in other
