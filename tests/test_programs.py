"""Programs that agentsh starts by name are never the project's, and get no keys."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from agentsh.programs import OWN_PROGRAM, find_program, plain_environment

SOURCES = Path(__file__).parents[1] / "agentsh"


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    program(tmp_path / "bin/git")
    return tmp_path / "project"


def found(project: Path, *folders: object) -> str | None:
    path = ":".join([*map(str, folders), str(project.parent / "bin")])
    return find_program("git", {"PATH": path}, project)


def test_the_first_on_the_path_is_taken(project: Path) -> None:
    other = program(project.parent / "first/git")
    assert found(project, other.parent) == str(other)


def test_one_that_lies_in_the_project_is_passed_over(project: Path) -> None:
    program(project / ".venv/bin/git")
    assert found(project, project / ".venv/bin") == str(project.parent / "bin/git")


def test_the_whole_repository_is_the_project(project: Path) -> None:
    (project / ".git").mkdir()
    program(project / "node_modules/.bin/git")
    inner = project / "packages/one"
    inner.mkdir(parents=True)
    path = f"{project}/node_modules/.bin:{project.parent}/bin"
    assert find_program("git", {"PATH": path}, inner) == str(project.parent / "bin/git")


@pytest.mark.parametrize("folder", ["", ".", "bin", "./node_modules/.bin"])
def test_a_relative_part_of_the_path_is_passed_over(
    project: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    program(project / folder / "git")
    assert found(project, folder) == str(project.parent / "bin/git")


def test_a_name_with_a_slash_is_an_absolute_path_or_none(project: Path) -> None:
    planted, own = program(project / "git"), project.parent / "bin/git"
    environ = {"PATH": f"{project.parent}"}
    names = (str(own), "bin/git", "./bin/git", str(planted), f"{project}/../project/git")

    assert [find_program(name, environ, project) for name in names] == [
        *(str(own), None, None, None, None),
    ]


def test_links_into_the_project_and_through_it_are_passed_over(project: Path) -> None:
    planted = program(project / "planted")
    outside = project.parent
    (outside / "into").mkdir()
    (outside / "into/git").symlink_to(planted)
    (outside / "folder").symlink_to(project / "tools")
    program(project / "tools/git")
    (project / "hop").symlink_to(outside / "bin/git")
    (outside / "through").mkdir()
    (outside / "through/git").symlink_to(project / "hop")
    folders = [outside / name for name in ("into", "folder", "through")]
    assert found(project, *folders) == str(outside / "bin/git")


def test_a_link_in_the_project_to_a_program_outside_can_be_changed_and_is_none(
    project: Path,
) -> None:
    (project / "bin").mkdir()
    (project / "bin/git").symlink_to(project.parent / "bin/git")
    assert find_program("git", {"PATH": str(project / "bin")}, project) is None


def test_what_is_no_program_is_none(project: Path) -> None:
    (project.parent / "odd/git").mkdir(parents=True)
    (project.parent / "plain").mkdir()
    (project.parent / "plain/git").write_text("x")
    folders = [project.parent / name for name in ("odd", "plain")]
    assert found(project, *folders) == str(project.parent / "bin/git")
    assert find_program("git", {}, project) is None


def test_a_child_gets_its_surroundings_and_no_keys(project: Path) -> None:
    given = {
        "HOME": "/home/user",
        "LC_TIME": "C",
        "PATH": f"rel::{project}/bin:{project.parent}/bin",
        "DISPLAY": ":0",
        "OPENAI_API_KEY": "k",
        "MY_KEY": "k",
        "GIT_DIR": "/x",
        "LD_PRELOAD": "/x.so",
    }
    plain = {"HOME": "/home/user", "LC_TIME": "C", "PATH": f"{project.parent}/bin"}
    assert plain_environment(given, project) == plain
    assert plain_environment(given, project, desktop=True) == {**plain, "DISPLAY": ":0"}


@pytest.mark.parametrize("name", ["json.py", "typing.py", "agentsh/__init__.py"])
def test_we_as_a_child_run_no_module_of_the_folder_that_we_are_started_in(
    project: Path, name: str
) -> None:
    planted = project / name
    planted.parent.mkdir(exist_ok=True)
    planted.write_text("open('ran', 'w')\n")
    path = {"PYTHONPATH": str(SOURCES.parent)}

    subprocess.run([*OWN_PROGRAM, "--version"], cwd=project, env={**os.environ, **path}, check=True)

    assert not (project / "ran").exists()


def test_every_python_that_is_started_is_told_to_import_nothing_from_its_folder() -> None:
    starts = [
        word
        for file in SOURCES.rglob("*.py")
        for word in re.findall(r"sys\.executable,\s*(\S+)", file.read_text("utf-8"))
    ]

    assert len(starts) >= 4
    assert set(starts) <= {'"-P",', '"-I",'}
