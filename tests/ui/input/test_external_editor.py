"""The draft in an editor: only text comes back, and whatever else is left is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.errors import UsageError
from agentsh.ui.input.external_editor import edited

PROJECT = Path("/nowhere/project")


def editor(folder: Path, does: str) -> dict[str, str]:
    program = folder / "editor"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    return {"EDITOR": str(program)}


@pytest.mark.parametrize(
    ("does", "text"),
    [
        (":", "a draft\nof é"),
        ('printf "more\\n" >> "$1"', "a draft\nof émore"),
        ('printf "" > "$1"', ""),
        ('mv "$1" "$1.new"; printf "anew\\n\\n" > "$1"', "anew\n"),
    ],
)
def test_what_the_editor_left_is_the_draft(tmp_path: Path, does: str, text: str) -> None:
    assert edited("a draft\nof é", editor(tmp_path, does), PROJECT) == text


@pytest.mark.parametrize(
    ("does", "words"),
    [
        ('printf "caf\\351" > "$1"', "no UTF-8"),
        ('rm "$1"', "no file"),
        ('rm "$1"; mkdir "$1"', "no regular file"),
        ('rm "$1"; mkfifo "$1"', "no regular file"),
        ('rm -r "$(dirname "$1")"', "no file"),
        ('head -c 5000000 /dev/zero > "$1"', "too much"),
        ("exit 3", "exit code 3"),
    ],
)
def test_anything_else_is_an_error_of_ours(tmp_path: Path, does: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        edited("a draft", editor(tmp_path, does), PROJECT)


def test_half_a_character_in_the_draft_does_no_harm(tmp_path: Path) -> None:
    assert edited("caf\udce9", editor(tmp_path, ":"), PROJECT) == "caf?"


def test_an_editor_that_is_not_there_is_named_and_no_other_one_opens(tmp_path: Path) -> None:
    gone = {"VISUAL": str(tmp_path / "gone")}
    assert edited("x", {**gone, **editor(tmp_path, ":")}, PROJECT) == "x"

    with pytest.raises(UsageError, match=r"VISUAL=.*/gone cannot be started"):
        edited("x", gone, PROJECT)


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("{project}/planted --wait", "/bin"),
        ("planted", "{project}:/bin"),
        ("{links}/planted", "/bin"),
        ("planted", "{links}:/bin"),
        ("./planted", "/bin"),
        ("planted", ".:/bin"),
    ],
)
def test_l10_an_editor_of_the_project_is_refused_and_named(
    tmp_path: Path, said: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, links = tmp_path / "project", tmp_path / "links"
    project.mkdir()
    links.mkdir()
    editor(project, "touch ran")
    (project / "editor").rename(project / "planted")
    (links / "planted").symlink_to(project / "planted")
    monkeypatch.chdir(project)
    places = {"project": project, "links": links}
    environ = {"VISUAL": said.format(**places), "PATH": path.format(**places)}

    with pytest.raises(UsageError, match="lies in the project, and is not started"):
        edited("x", environ, project)
    assert not (project / "ran").exists()


def test_l10_a_name_on_the_path_is_a_program_of_the_person(tmp_path: Path) -> None:
    editor(tmp_path, 'printf " more" >> "$2"; test "$1" = --wait')

    environ = {"EDITOR": "editor --wait", "PATH": f"{tmp_path}:/usr/bin:/bin"}
    assert edited("x", environ, PROJECT) == "x more"


def test_l17_an_editor_gets_no_key_and_what_editors_need(tmp_path: Path) -> None:
    environ = {
        **editor(tmp_path, 'env > "$1"'),
        "OPENAI_API_KEY": "sk-secret",
        "MY_TOKEN": "secret",
        "PATH": "/usr/bin:/bin",
        "TERM": "xterm",
        "DISPLAY": ":0",
        "VIMINIT": "set nu",
        "EMACS_SOCKET_NAME": "mine",
    }
    seen = dict(line.split("=", 1) for line in edited("x", environ, PROJECT).splitlines())

    assert {"TERM", "DISPLAY", "VIMINIT", "EMACS_SOCKET_NAME", "PATH"} <= set(seen)
    assert "secret" not in str(seen)
