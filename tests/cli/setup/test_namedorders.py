"""Which files of a project are obeyed since git's settings or variables name them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agentsh.cli.setup.namedorders import (
    git_orders,
    linked_orders,
    variable_orders,
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def orders(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in git_orders(folder, os.environ)}


def beside(folder: Path) -> set[str]:
    """Without those in `.git`, which give orders by their names."""
    return {name for name in orders(folder) if not name.startswith(".git/")}


def test_a_plain_repository_has_none_beside_its_own(project: Path) -> None:
    (project / "README.md").write_text("")
    git(project, "config", "user.name", "README.md x")
    git(project, "remote", "add", "origin", "https://localhost/x.git")

    assert orders(project) - {"README.md"} == {".git/config", ".git/config.worktree"}


@pytest.mark.parametrize("section", ["include", "includeIf.gitdir:**.path"])
def test_a_settings_file_that_another_includes_there_already_or_new(
    project: Path, section: str
) -> None:
    git(project, "config", f"{section.removesuffix('.path')}.path", "../conf/git")
    assert beside(project) == {"conf/git"}

    (project / "conf").mkdir()
    (project / "conf/git").write_text("[include] path = deeper  # x\n[core]\n\tpager = ./p.sh\n")
    (project / "p.sh").write_text("")
    assert beside(project) == {"conf/git", "conf/deeper", "p.sh"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("core.fsmonitor", "./tools/run"),
        ("core.sshCommand", "sh -x tools/run"),
        ("alias.st", "!tools/run --fast"),
        ("filter.x.clean", "'tools/run' %f"),
        ("diff.x.textconv", 'sh "tools/run"'),
        ("credential.helper", "!f() { tools/run; }; f"),
        ("gpg.program", "~/project/tools/run"),
    ],
)
def test_a_program_that_a_value_names(project: Path, name: str, value: str) -> None:
    (project / "tools").mkdir()
    (project / "tools/run").write_text("")
    (project / "tools/other").write_text("")
    git(project, "config", name, value)

    assert beside(project) == {"tools/run"}


@pytest.mark.parametrize(
    ("name", "value"),
    [("blame.ignoreRevsFile", "revs"), ("alias.st", "revs"), ("commit.template", "revs")],
)
def test_a_file_that_runs_nothing_is_none(project: Path, name: str, value: str) -> None:
    (project / "revs").write_text("")
    git(project, "config", name, value)

    assert beside(project) == set()


def test_a_folder_of_hooks(project: Path) -> None:
    git(project, "config", "core.hooksPath", ".githooks")

    assert beside(project) == {".githooks"}


def test_a_linked_work_tree_has_the_settings_of_its_repository(project: Path) -> None:
    git(project, "commit", "-q", "--allow-empty", "-m", "x")
    git(project, "config", "core.hooksPath", "hooks")
    git(project, "worktree", "add", "-q", "../linked")

    assert "hooks" in orders(project.parent / "linked")


def test_the_persons_own_settings_where_they_lie_in_the_project(project: Path) -> None:
    (project / "gitconfig").write_text("")
    (project.parent / ".gitconfig").symlink_to(project / "gitconfig")
    (project.parent / ".config").mkdir()
    (project.parent / ".config/git").symlink_to(project)

    assert beside(project) == {"gitconfig", "config"}


def test_what_can_be_no_settings_file_is_passed_over(project: Path) -> None:
    (project / ".git/config").unlink()
    os.mkfifo(project / ".git/config")
    (project.parent / ".gitconfig").symlink_to(project.parent / ".gitconfig")

    assert beside(project) == set()


def test_a_circle_of_files_ends(project: Path) -> None:
    git(project, "config", "include.path", "../a")
    (project / "a").write_text("[include]\npath = a\npath = b\n")
    (project / "b").write_text("[include]\npath = a\n")

    assert beside(project) == {"a", "b"}


def test_files_that_variables_name_give_orders_and_folders_of_the_path(project: Path) -> None:
    for name in ("env.sh", "deep/kube", "less.sh", "package.json", "C"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("")
    environ = {
        "HOME": str(project.parent),
        "PATH": f"{project}/.venv/bin:/bin::./node_modules/.bin:.",
        "BASH_ENV": "new.sh",
        "KUBECONFIG": f"/etc/kube:{project}/deep/kube",
        "LESSOPEN": f"|{project}/less.sh %s",
        "ENVIRONMENT": "~/project/env.sh",
        "LANG": "C",
        "PWD": str(project),
        "npm_package_json": f"{project}/package.json",
    }

    orders = {str(path.relative_to(project)) for path in variable_orders(project, environ)}

    files = {"new.sh", "deep/kube", "less.sh", "env.sh"}
    assert orders == {".venv/bin", "node_modules/.bin", *files}


def test_settings_of_the_person_that_are_links_into_the_project_give_orders(project: Path) -> None:
    home = project.parent
    for name in ("bashrc", "ssh", "nvim/init.lua", "plain", "tool"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("")
    (home / ".ssh").mkdir()
    (home / ".config").mkdir()
    for link, target in ((".bashrc", "bashrc"), (".ssh/config", "ssh"), (".config/nvim", "nvim")):
        (home / link).symlink_to(project / target)
    (home / ".new").symlink_to(project / "to-be-made")
    (home / "work").symlink_to(project / "tool")
    (home / ".project").symlink_to(project)

    orders = {str(path.relative_to(project)) for path in linked_orders(project, os.environ)}

    assert orders == {"bashrc", "ssh", "nvim", "to-be-made"}
    assert linked_orders(project, {"HOME": "/none"}) == ()
