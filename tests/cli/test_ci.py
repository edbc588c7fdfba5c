"""docs/ci.md: the commands of the page do what it says, in a repository, with an endpoint."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from agentsh.agent.structured.validator import answer_schema
from agentsh.jsontext import JsonObject
from tests.cli.working import Project
from tests.support.endpoint import Reply, serve, status, text

needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="no jq here")
ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs/ci.md").read_text("utf-8")
SHELL = ("bash", "-eo", "pipefail")
"""How GitHub runs a step whose shell is named."""
FOUND: JsonObject = {"findings": [{"file": "a.py", "text": "no test", "blocking": False}]}
BLOCKING: JsonObject = {"findings": [{"file": "a.py", "text": "no test", "blocking": True}]}


def blocks(kind: str) -> list[str]:
    """The fenced blocks of that kind."""
    return re.findall(rf"(?ms)^```{kind}\n(.*?)^```", PAGE)


def steps() -> dict[str, str]:
    """The commands of the workflow's steps, by name."""
    load: Any = import_module("yaml").safe_load
    (workflow,) = blocks("yaml")
    return {s["name"]: s["run"] for s in load(workflow)["jobs"]["review"]["steps"] if "run" in s}


@pytest.fixture
def repository(project: Project, tmp_path: Path) -> Project:
    """A branch with a change, of a project with the schemas of the page."""
    schema = blocks("json")[0]
    project.put(".github/review.schema.json", schema)
    project.put("answer.schema.json", schema)
    git(project, "init", "-q", "-b", "main")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "first")
    git(project, "clone", "-q", "--bare", ".", str(tmp_path / "origin.git"))
    git(project, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(project, "fetch", "-q", "origin")
    project.put("a.py", "heron = 4\n" * 40_000)
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "second")
    return project


def git(project: Project, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", *who, *words], cwd=project.tree, check=True, capture_output=True)


def shell(
    project: Project,
    script: str,
    *replies: Reply,
    words: tuple[str, ...] = SHELL,
) -> subprocess.CompletedProcess[str]:
    """Run a script of the page as CI would."""
    with serve(*replies) as endpoint:
        environ: Mapping[str, str] = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "OPENAI_BASE_URL": endpoint.base_url,
            "AGENTSH_MODEL": "m",
            "GITHUB_BASE_REF": "main",
            "GITHUB_STEP_SUMMARY": str(project.tree.parent / "summary.md"),
            "RUNNER_TEMP": str(project.tree.parent),
        }
        return subprocess.run(
            [*words, "-c", script],
            cwd=project.tree,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=50,
        )


@needs_jq
def test_the_workflow_reviews_a_change_tells_it_and_keeps_the_session(repository: Project) -> None:
    said, out = steps(), repository.tree.parent
    reviewed = shell(repository, said["Review"], text(json.dumps(FOUND)))
    told = shell(repository, said["Tell"])
    kept = shell(repository, said["Keep the session"])

    assert [reviewed.returncode, told.returncode, kept.returncode] == [0, 0, 0], reviewed.stderr
    result = json.loads((out / "review.json").read_text())
    assert (result["status"], result["data"]) == ("completed", FOUND)
    assert (out / "summary.md").read_text() == "a.py: no test\n"
    assert "heron = 4" in (out / "session.html").read_text()


@needs_jq
def test_a_blocking_finding_and_a_failed_review_are_red(repository: Project) -> None:
    said = steps()
    assert shell(repository, said["Review"], text(json.dumps(BLOCKING))).returncode == 0
    blocked = shell(repository, said["Tell"])
    failed = shell(repository, said["Review"], text("no findings"))

    assert (blocked.returncode, failed.returncode) == (1, 1)
    assert "does not fit the JSON Schema" in failed.stderr


@needs_jq
def test_the_shell_script_gives_data_or_the_exit_code(repository: Project) -> None:
    (script,) = blocks("sh")
    good = shell(repository, script, text(json.dumps(FOUND)), words=("sh",))
    (repository.tree / "session.html").unlink()
    bad = shell(repository, script, status(401, {"error": {"message": "no key"}}), words=("sh",))

    assert (good.returncode, json.loads(good.stdout)) == (0, FOUND), good.stderr
    assert (bad.returncode, bad.stdout) == (1, "")
    assert "no key" in bad.stderr
    assert (repository.tree / "session.html").exists()


def test_the_pipe_reads_a_command_and_writes_a_file(repository: Project) -> None:
    (script,) = blocks("bash")
    piped = shell(repository, script, text("# Notes"))

    assert (piped.returncode, piped.stdout) == (0, "# Notes\n"), piped.stderr
    assert (repository.tree / "notes.md").read_text() == "# Notes\n"


def test_the_schema_of_the_page_is_one() -> None:
    checked = answer_schema(json.loads(blocks("json")[0]), "review.schema.json")

    assert checked.complain(FOUND) is None


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_workflow_installs_what_it_is_told(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin"
    environ = {**os.environ, "PATH": f"{python}:{os.environ['PATH']}", "AGENTSH": str(ROOT)}
    subprocess.run(
        ["bash", "-ec", steps()["Install"]], env=environ, check=True, capture_output=True
    )

    said = subprocess.run([python / "agentsh", "--version"], check=True, capture_output=True)
    assert said.stdout.startswith(b"agentsh ")
