"""Completion in real shells: what is offered, and that session text cannot act on the shell."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import agentsh, make_talk

EVIL = "x'$(touch EVIL)`touch EVIL`\\$(touch EVIL)\";touch EVIL;'"
_START = "import sys; from agentsh.__main__ import main; main()"


def complete(line: str, cwd: Path, shell: str = "bash") -> str:
    """What the program gives the shell's script."""
    words = line.split(" ")
    environ = {
        "_AGENTSH_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = subprocess.run(
        [sys.executable, "-c", _START],
        env={**os.environ, **environ},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout


def test_commands_and_their_own_are_offered(tmp_path: Path) -> None:
    assert {"run", "export", "sessions", "help"} <= set(complete("agentsh ", tmp_path).split())
    assert complete("agentsh expo", tmp_path).split() == ["export"]
    assert "archive" in complete("agentsh sessions ", tmp_path).split()
    assert "--raw" in complete("agentsh export --", tmp_path).split()


def test_sessions_of_this_folder_and_by_prefix_of_all(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    mine, other = make_talk(here, "alpha"), make_talk(there, "beta")

    assert complete("agentsh show ", here).split() == ["last", mine.id]
    assert complete(f"agentsh show {other.id[:-2]}", here).split() == [other.id]
    assert complete("agentsh run --session ", here).split() == ["last", mine.id]


@pytest.mark.parametrize("line", ["agentsh checkout {} ", "agentsh show {} --at "])
def test_entries_and_labels_of_the_session_that_was_named(tmp_path: Path, line: str) -> None:
    talk = make_talk(tmp_path, "alpha")
    agentsh("label", talk.id, talk.ids["alpha"], "start")
    agentsh("label", talk.id, talk.ids["answer to alpha"], "two words")

    offered = complete(line.format(talk.id), tmp_path).split()

    assert offered == ["leaf", "root", "start", talk.ids["answer to alpha"], talk.ids["alpha"]]


def test_models_of_the_settings(tmp_path: Path, clean_environment: Path) -> None:
    home = clean_environment / "agentsh"
    home.mkdir()
    (home / "config.toml").write_text('[endpoint]\nbase_url = "http://x/v1"\nmodel = "big-one"\n')

    assert complete("agentsh run --model ", tmp_path).split() == ["big-one"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_nothing_is_offered_that_a_shell_would_obey(tmp_path: Path, shell: str) -> None:
    talk = make_talk(tmp_path, EVIL)
    agentsh("rename", talk.id, EVIL)
    agentsh("label", talk.id, talk.ids[EVIL], EVIL)

    for line in ("agentsh show ", f"agentsh show {talk.id} --at "):
        offered = complete(line, tmp_path, shell)
        told = re.sub(r"^_arguments '\*: :\(\((.*)\)\)'$", r"\1", offered.strip(), flags=re.S)
        assert not re.search(r"[$`\\;']", told)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_the_script_works_in_bash(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, EVIL)
    program = tmp_path / "agentsh"
    program.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -c '{_START}' \"$@\"\n")
    program.chmod(0o700)
    script = (
        'eval "$(_AGENTSH_COMPLETE=source_bash ./agentsh)"; COMP_WORDS=(./agentsh show ""); '
        'COMP_CWORD=2; _agentsh_completion ./agentsh; printf "%s\\n" "${COMPREPLY[@]}"'
    )

    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert done.stdout.split() == ["last", talk.id]
    assert not (tmp_path / "EVIL").exists()
