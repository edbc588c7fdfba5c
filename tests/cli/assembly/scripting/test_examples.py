"""The examples of docs/python.md run, and do what their page says."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
from pathlib import Path

import pytest

from agentsh import Session
from tests.cli.working import Project
from tests.support.endpoint import Reply, calls, serve, text

PAGE = Path(__file__).resolve().parents[4] / "docs/python.md"
ASK, TOOLS, BRANCHES, REVIEW = re.findall(r"(?ms)^```python\n(.*?)^```$", PAGE.read_text("utf-8"))


def printed(project: Project, code: str, *replies: Reply) -> list[str]:
    """What the example prints, with these answers of a model."""
    project.monkeypatch.chdir(project.tree)
    project.monkeypatch.setenv("AGENTSH_MODEL", "m")
    out = io.StringIO()
    with serve(*replies) as endpoint, contextlib.redirect_stdout(out):
        project.monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        exec(compile(code, "docs/python.md", "exec"), {"__name__": "example"})
    return out.getvalue().splitlines()


def test_a_script_asks_and_goes_on(project: Project) -> None:
    assert printed(project, ASK, text("the bittern"), text("one, two"), text("the grey heron")) == [
        "the bittern (10 tokens)",
        "one, two",
        "the grey heron",
    ]


def test_own_tools_run_and_the_callback_decides(project: Project) -> None:
    replies = (
        calls(("c1", "count", {"kind": "grey", "minimum": "2"})),
        calls(("c2", "release", {"kind": "grey"})),
        calls(("c3", "bash", {"command": "ls -l"})),
        text("done"),
    )

    assert printed(project, TOOLS, *replies) == [
        '? release {"kind":"grey"}',
        "? ls -l",
        "done",
    ]


def test_three_branches_from_one_point_are_compared(project: Project) -> None:
    replies = [text(words) for words in ("a plan", "reeds", "now", "stone")]

    assert printed(project, BRANCHES, *replies) == [
        "cheap: reeds (10 tokens)",
        "quick: now (10 tokens)",
        "lasting: stone (10 tokens)",
        "2 messages are only in the first",
    ]


def test_what_has_changed_is_reviewed_file_by_file(project: Project) -> None:
    project.put("herons.py", "one\n")
    project.put("nests.py", "one\n")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        subprocess.run([*git, *words], cwd=project.tree, check=True)
    project.put("herons.py", "two\n")
    project.put("nests.py", "two\n")
    verdicts = ({"verdict": "broken", "remarks": ["line 1"]}, {"verdict": "fine", "remarks": []})

    with pytest.raises(SystemExit) as ended:
        printed(project, REVIEW, *(text(json.dumps(each)) for each in verdicts))

    assert ended.value.code == 1
    report = (project.tree / "review.md").read_text()
    assert report.startswith("# Review\n## herons.py: broken\n- line 1\n## nests.py: fine\n\n2 req")
    with Session.open("last", cwd=project.tree) as s:
        assert len([e for e in s.tree()["entries"] if e.get("label")]) == 2


@pytest.mark.slow
def test_the_examples_are_typed(tmp_path: Path) -> None:
    from mypy import api

    scripts = [tmp_path / f"{name}.py" for name in ("ask", "tools", "branches", "review")]
    for script, code in zip(scripts, (ASK, TOOLS, BRANCHES, REVIEW), strict=True):
        script.write_text(code)
    silent = ("--strict", "--no-incremental", "--follow-imports=silent")
    out, err, _ = api.run([*silent, *map(str, scripts)])

    assert (out, err) == ("Success: no issues found in 4 source files\n", "")
