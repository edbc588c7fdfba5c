"""The door: exit codes, messages, what a bug looks like, what is loaded for which command."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from agentsh import errors
from agentsh.cli import app
from agentsh.cli.crash import crash_report, report
from agentsh.cli.parsing.program import COMMANDS
from tests.cli.program import agentsh, make_talk


def test_every_error_has_its_exit_code() -> None:
    two = {
        errors.SettingsError,
        errors.UsageError,
        errors.NoPromptError,
        errors.NotConfiguredError,
        errors.ModelNotFoundError,
    }
    three = {
        errors.SessionNotFoundError,
        errors.AmbiguousSessionError,
        errors.EntryNotFoundError,
        errors.LineNotFoundError,
        errors.ExplorationNotFoundError,
        errors.SkillNotFoundError,
    }
    four = {
        errors.SessionLockedError,
        errors.UnsupportedVersionError,
        errors.SessionChangedError,
        errors.RefusedError,
        errors.ExplorationError,
        errors.BusyError,
    }
    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.AgentshError)
    ]

    found = {kind: kind.exit_code for kind in kinds}

    assert found == {
        kind: 2 if kind in two else 3 if kind in three else 4 if kind in four else 1
        for kind in kinds
    }


def ends(*words: str) -> int:
    with pytest.raises(SystemExit) as caught:
        app.run_program(words)
    assert isinstance(caught.value.code, int)
    return caught.value.code


def test_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert ends("--version") == 0
    assert capsys.readouterr().out.startswith("agentsh 0.")


@pytest.mark.parametrize("words", [["--help"], ["-h"]])
def test_help_names_every_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert ends(*words) == 0
    shown = capsys.readouterr().out
    assert [name for name in COMMANDS if f"\n  {name} " not in shown] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ends(name, "--help") == 0
    shown = capsys.readouterr()
    assert shown.out.startswith(f"Usage: agentsh {name} ")
    assert shown.err == ""


@pytest.mark.parametrize(
    "words",
    [
        ["rub"],
        ["run"],
        ["run", "--nope", "x"],
        ["run", "--max-steps", "x", "y"],
        ["run", "--idle-timeout", "nan", "x"],
        ["show"],
    ],
)
def test_wrong_use_is_exit_2_on_stderr(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ends(*words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Error" in shown.err


def test_a_broken_settings_file_is_exit_2_with_its_place(
    clean_environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = clean_environment / "agentsh"
    home.mkdir()
    (home / "config.toml").write_text("[approve]\npolicy = 7\n")

    assert ends("config") == 2
    assert f"{home}/config.toml:2: approve.policy must be" in capsys.readouterr().err


def test_control_characters_of_a_message_are_not_printed(
    clean_environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = clean_environment / "agentsh"
    home.mkdir()
    (home / "config.toml").write_text('"\\u001b]52;c;x\\u0007" = 1\n')

    assert ends("config") == 0
    assert "\x1b" not in capsys.readouterr().err


class BuggyError(Exception):
    pass


def failing(words: str) -> BuggyError:
    """A bug as it is caught, with another one below it."""
    local = f"local {words}"
    with pytest.raises(BuggyError) as caught:
        raise BuggyError(f"bad {words}") from KeyError(f"inner {len(local)}")
    return caught.value


def test_a_bug_is_a_short_message_and_a_log_without_secrets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = "sk-0123456789abcdef"
    environ = {"AGENTSH_HOME": str(tmp_path / "home"), "OPENAI_API_KEY": key}

    assert report(failing(key), environ) == 70

    [log] = (tmp_path / "home/logs").iterdir()
    shown = capsys.readouterr().err
    assert str(log) in shown
    assert "BuggyError" in shown
    assert key not in shown + log.read_text()
    assert "bad <OPENAI_API_KEY>" in log.read_text()
    assert "test_app.py:" in log.read_text()
    assert [p.stat().st_mode & 0o077 for p in (log, log.parent, log.parent.parent)] == [0, 0, 0]


def test_a_bug_is_said_even_where_no_log_can_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")

    assert report(BuggyError("x"), {"AGENTSH_HOME": str(tmp_path / "file/home")}) == 70
    assert "no log could be written" in capsys.readouterr().err


def test_a_log_names_what_lies_below_and_holds_no_values_of_variables() -> None:
    log = crash_report(failing("heron"), {})

    assert "KeyError: 'inner 11'" in log
    assert "local heron" not in log


@pytest.mark.parametrize(
    "words",
    [
        ("import", "~nobody-here/x.jsonl"),
        ("export", "last", "--to", "~nobody-here/x.html"),
        ("repair", "last", "--to", "~nobody-here/x.jsonl"),
        ("run", "-m", "m", "-a", "~nobody-here/x.txt", "hi"),
        ("run", "-m", "m", "--session-dir", "~nobody-here/x", "--output-schema", "~n-o/x", "hi"),
        ("show", "~nobody-here/x.jsonl"),
        ("search", "--project", "~nobody-here", "heron"),
    ],
    ids=lambda words: words[0],
)
def test_a_home_that_nobody_has_is_no_crash(words: tuple[str, ...], tmp_path: Path) -> None:
    make_talk(tmp_path, "heron")

    assert agentsh(*words, cwd=tmp_path).code < 70


SIGNALLED = """
import signal, sys
class Loading:
    def find_spec(self, name, path=None, target=None):
        if name == NAME:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Loading())
from agentsh.__main__ import main
main()
"""


@pytest.mark.parametrize("module", ["agentsh.cli.setup.standard_streams", "agentsh.cli.app"])
def test_l31_ctrl_c_while_the_program_is_loaded_ends_it_without_a_word(module: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SIGNALLED.replace("NAME", repr(module))],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")
