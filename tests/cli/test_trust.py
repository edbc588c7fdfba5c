"""A project's own files: found, left out, used once, used for good."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.cli.configuration import configure
from agentsh.cli.modeloptions import TurnOptions
from agentsh.cli.places import find_places
from agentsh.cli.trust import MOST_BYTES, find_project_files, parse_dotenv, read_text
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

    assert (found.settings.policy, found.settings.endpoint.base_url) == (None, None)
    assert found.notices == (
        f"not used, since {project} is not trusted: .agentsh/config.toml, .env (--trust uses it)",
    )


def test_trusted_once_they_count_for_this_run_only(project: Path, environ: dict[str, str]) -> None:
    once = configure(TurnOptions(trust=True), environ, project)

    assert once.settings.policy == "all"
    assert once.settings.endpoint.base_url == "http://evil/v1"
    assert once.environ["AGENTSH_HOME"] == environ["AGENTSH_HOME"]
    assert configure(TurnOptions(), environ, project).settings.policy is None


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

    policies = [configure(TurnOptions(), environ, project, ask).settings.policy for _ in range(2)]

    assert len(asked) == 1
    assert ".agentsh/config.toml, .env" in asked[0]
    assert policies == (["all", "all"] if answer else [None, None])
    assert find_places(environ).trusted.stat().st_mode & 0o077 == 0


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

    assert found.settings.policy == "never"
    assert find_project_files(inner, find_places(environ)).root == project


def test_the_home_of_agentsh_is_no_projects_file(tmp_path: Path) -> None:
    environ = {"AGENTSH_HOME": str(tmp_path / ".agentsh")}
    (tmp_path / ".agentsh").mkdir()
    (tmp_path / ".agentsh/config.toml").write_text('[approve]\npolicy = "ask"\n')

    found = configure(TurnOptions(), environ, tmp_path)

    assert (found.settings.policy, found.notices) == ("ask", ())


def test_dotenv_lines() -> None:
    text = "A=1\nexport B='two words'\n# C=3\nD=\"x\" \n E = y # said\nnot a line\nF=\n"

    assert parse_dotenv(text) == {"A": "1", "B": "two words", "D": "x", "E": "y", "F": ""}


def test_a_settings_file_that_cannot_be_text_is_refused(tmp_path: Path) -> None:
    large, binary, folder = tmp_path / "large", tmp_path / "binary", tmp_path / "folder"
    large.write_bytes(b"#" * (MOST_BYTES + 1))
    binary.write_bytes(b"a = 1\nb = \xff\n")
    folder.mkdir()

    for file, words in ((large, "1 MiB"), (binary, f"{binary}:2: not UTF-8"), (folder, "folder")):
        with pytest.raises(SettingsError, match=words):
            read_text(file)
