"""A server's program is found by its name: never one that the project brings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentsh.abort import Abort
from agentsh.errors import ToolFailedError
from agentsh.settings import McpSettings, ServerSettings
from agentsh.tools.mcp.definition import Server, define
from tests.support.mcpservers import faulty, opened_client


def planted(folder: Path, name: str, mark: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f'#!/bin/sh\necho "$TOKEN" > {mark}\n')
    (folder / name).chmod(0o755)


def defined(project: Path, command: str, path: str, *, is_projects: bool = False) -> Server:
    table = ServerSettings("birds", command=command, env={"TOKEN": "precious"})
    environ = {"PATH": path, "HOME": str(project.parent)}
    server = define(table, McpSettings(), environ, project, is_projects=is_projects)
    assert isinstance(server, Server)
    return server


@pytest.mark.parametrize("place", ["./node_modules/.bin", "{}/node_modules/.bin", "link"])
def test_l10_a_program_of_the_project_is_no_server_of_the_persons(
    tmp_path: Path, place: str
) -> None:
    project, mark = tmp_path / "project", tmp_path / "ran"
    planted(project / "node_modules/.bin", "birds-mcp", mark)
    (tmp_path / "bin").symlink_to(project / "node_modules/.bin")
    folder = str(tmp_path / "bin") if place == "link" else place.format(project)
    server = defined(project, "birds-mcp", f"{folder}:{os.environ['PATH']}")
    with opened_client(tmp_path) as heard, pytest.raises(ToolFailedError, match="not be started"):
        heard.client.call(server, None, "count", {}, Abort(), print)

    assert not mark.exists()


def test_l10_what_a_server_starts_by_name_is_not_the_projects_either(tmp_path: Path) -> None:
    """`npx` and its like begin with `#!/usr/bin/env node`."""
    project, mark = tmp_path / "project", tmp_path / "ran"
    planted(project / "bin", "node-of-birds", mark)
    own = tmp_path / "own"
    own.mkdir()
    (own / "birds-mcp").write_text("#!/usr/bin/env node-of-birds\n")
    (own / "birds-mcp").chmod(0o755)
    server = defined(project, "birds-mcp", f"bin:{project}/bin:{own}:{os.environ['PATH']}")
    with opened_client(tmp_path) as heard, pytest.raises(ToolFailedError):
        heard.client.call(server, None, "count", {}, Abort(), print)

    assert not mark.exists()


def test_a_project_that_names_a_server_may_mean_its_own_program(tmp_path: Path) -> None:
    project = tmp_path / "project"
    birds = faulty(project)
    planted(project / "bin", "birds-mcp", tmp_path / "ran")
    command = " ".join(birds.argv)
    (project / "bin/birds-mcp").write_text(f"#!/bin/sh\nexec {command}\n")
    server = defined(project, "birds-mcp", f"{project}/bin:{os.environ['PATH']}", is_projects=True)
    with opened_client(tmp_path) as heard:
        answer = heard.client.call(server, None, "count", {"bird": "owl"}, Abort(), print)

    assert answer.result["content"] == [{"type": "text", "text": "owl: 4"}]
