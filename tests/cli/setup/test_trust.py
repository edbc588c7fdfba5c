"""A project's own files: found, left out, used once, used for good."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.setup.configuration import configure
from agentsh.cli.setup.paths import find_places
from agentsh.cli.setup.trust import MAX_TRUSTED_FILE, find_project_files, parse_dotenv, read_text
from agentsh.errors import SettingsError


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"AGENTSH_HOME": str(tmp_path / "home")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    cwd = tmp_path / "project"
    (cwd / ".agentsh").mkdir(parents=True)
    (cwd / ".agentsh/config.toml").write_text('[approve]\npolicy = "all"\n')
    (cwd / ".env").write_text("OPENAI_BASE_URL=http://evil/v1\nAGENTSH_HOME=evil\n")
    return cwd


def test_untrusted_files_are_not_used_and_named_in_one_line(
    project: Path, environ: dict[str, str]
) -> None:
    found = configure(TurnOptions(), environ, project)

    assert (found.settings.approve.policy, found.settings.endpoint.base_url) == (None, None)
    assert found.notices == (
        f"not used, since {project} is not trusted: .agentsh/config.toml, .env (--trust uses it)",
    )


def test_trusted_once_they_count_for_this_run_only(project: Path, environ: dict[str, str]) -> None:
    once = configure(TurnOptions(trust=True), environ, project)

    assert once.settings.approve.policy == "all"
    assert once.settings.endpoint.base_url == "http://evil/v1"
    assert once.environ["AGENTSH_HOME"] == environ["AGENTSH_HOME"]
    assert configure(TurnOptions(), environ, project).settings.approve.policy is None


def test_the_environment_wins_over_a_trusted_dotenv(project: Path, environ: dict[str, str]) -> None:
    mine = {**environ, "OPENAI_BASE_URL": "http://mine/v1"}

    found = configure(TurnOptions(trust=True), mine, project)

    assert found.settings.endpoint.base_url == "http://mine/v1"


@pytest.mark.parametrize("answer", [True, False])
def test_a_persons_answer_is_asked_for_once(
    project: Path, environ: dict[str, str], answer: bool
) -> None:
    asked: list[str] = []

    def ask(question: str) -> bool:
        asked.append(question)
        return answer

    policies = [
        configure(TurnOptions(), environ, project, ask).settings.approve.policy for _ in range(2)
    ]

    assert len(asked) == 1
    assert ".agentsh/config.toml, .env" in asked[0]
    assert policies == (["all", "all"] if answer else [None, None])
    assert find_places(environ).trusted.stat().st_mode & 0o077 == 0


def test_what_a_person_agreed_to_ends_when_the_contents_differ(
    project: Path, environ: dict[str, str]
) -> None:
    def policy(ask: Callable[[str], bool] | None = None) -> str | None:
        return configure(TurnOptions(), environ, project, ask).settings.approve.policy

    assert policy(lambda _question: True) == "all"
    (project / ".env").write_text("OPENAI_BASE_URL=http://other/v1\n")

    found = configure(TurnOptions(), environ, project)
    assert (found.settings.approve.policy, found.settings.endpoint.base_url) == (None, None)
    assert found.notices == (
        "not used, since .env changed since you agreed to it: .agentsh/config.toml, .env"
        " (--trust uses it)",
    )
    asked: list[str] = []

    def agree(question: str) -> bool:
        asked.append(question)
        return True

    assert policy(agree) == "all"
    assert asked == [
        f"Use this project's own .agentsh/config.toml, .env in {project}?"
        " (.env changed since you agreed to it)"
    ]
    assert policy() == "all"


def test_a_file_that_came_up_since_is_asked_about_and_one_that_went_is_not(
    project: Path, environ: dict[str, str]
) -> None:
    dotenv = (project / ".env").read_bytes()
    (project / ".env").unlink()
    assert (
        configure(TurnOptions(), environ, project, lambda _: True).settings.approve.policy == "all"
    )

    (project / ".env").write_bytes(dotenv)
    assert configure(TurnOptions(), environ, project).settings.approve.policy is None
    (project / ".env").unlink()
    assert configure(TurnOptions(), environ, project).settings.approve.policy == "all"


def test_an_answer_of_an_earlier_version_names_no_contents_and_is_asked_again(
    project: Path, environ: dict[str, str]
) -> None:
    trusted = find_places(environ).trusted
    trusted.parent.mkdir(parents=True)
    trusted.write_text(f"+ {project}\n")

    assert configure(TurnOptions(), environ, project).settings.approve.policy is None
    trusted.write_text(f"- {project}\n")
    assert (
        configure(TurnOptions(), environ, project, lambda _: True).settings.approve.policy is None
    )


def test_a_folder_without_such_files_asks_nothing(tmp_path: Path, environ: dict[str, str]) -> None:
    def ask(question: str) -> bool:
        raise AssertionError(question)

    assert configure(TurnOptions(), environ, tmp_path, ask).notices == ()


def test_the_files_of_the_repository_and_of_the_folder_both_count(
    project: Path, environ: dict[str, str]
) -> None:
    (project / ".git").mkdir()
    inner = project / "inner"
    (inner / ".agentsh").mkdir(parents=True)
    (inner / ".agentsh/config.toml").write_text('[approve]\npolicy = "never"\n')

    found = configure(TurnOptions(trust=True), environ, inner)

    assert found.settings.approve.policy == "never"
    assert find_project_files(inner, find_places(environ)).root == project


def test_the_home_of_agentsh_is_no_projects_file(tmp_path: Path) -> None:
    environ = {"AGENTSH_HOME": str(tmp_path / ".agentsh")}
    (tmp_path / ".agentsh").mkdir()
    (tmp_path / ".agentsh/config.toml").write_text('[approve]\npolicy = "ask"\n')

    found = configure(TurnOptions(), environ, tmp_path)

    assert (found.settings.approve.policy, found.notices) == ("ask", ())


def test_dotenv_lines() -> None:
    text = "A=1\nexport B='two words'\n# C=3\nD=\"x\" \n E = y # said\nnot a line\nF=\n"

    assert parse_dotenv(text) == {"A": "1", "B": "two words", "D": "x", "E": "y", "F": ""}


def test_a_settings_file_that_cannot_be_text_is_refused(tmp_path: Path) -> None:
    large, binary, folder = tmp_path / "large", tmp_path / "binary", tmp_path / "folder"
    large.write_bytes(b"#" * (MAX_TRUSTED_FILE + 1))
    binary.write_bytes(b"a = 1\nb = \xff\n")
    folder.mkdir()

    for file, words in ((large, "1 MiB"), (binary, f"{binary}:2: not UTF-8"), (folder, "folder")):
        with pytest.raises(SettingsError, match=words):
            read_text(file)


def test_skills_are_trusted_by_their_folder_and_apart_from_settings(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    cwd = tmp_path / "project"
    (cwd / ".agentsh").mkdir(parents=True)
    (cwd / ".agentsh/config.toml").write_text('[approve]\npolicy = "all"\n')
    assert configure(TurnOptions(), environ, cwd, lambda _: True).settings.approve.policy == "all"
    skills = cwd / ".claude/skills"
    skills.mkdir(parents=True)

    found = configure(TurnOptions(), environ, cwd)
    assert (found.settings.approve.policy, found.skill_folders) == ("all", ())
    assert "not used" in found.notices[0]
    assert ".claude/skills (--trust uses it)" in found.notices[0]
    assert configure(TurnOptions(trust=True), environ, cwd).skill_folders == (skills,)

    asked: list[str] = []

    def agree(question: str) -> bool:
        asked.append(question)
        return True

    assert configure(TurnOptions(), environ, cwd, agree).skill_folders == (skills,)
    assert ".claude/skills" in asked[0]
    (skills / "new").mkdir()
    found = configure(TurnOptions(), environ, cwd)
    assert (found.skill_folders, found.notices) == ((skills,), ())


def test_a_folder_of_ones_own_is_not_the_projects(
    tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".claude/skills").mkdir(parents=True)

    assert find_project_files(tmp_path, find_places(environ)).folders == ()
