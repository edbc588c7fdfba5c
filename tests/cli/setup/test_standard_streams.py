"""What a command stands on: streams that the caller closed or filled, a folder that went away."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentsh.cli.setup.standard_streams import read_any_bytes
from agentsh.jsontext import dumps_text
from tests.cli.program import make_talk
from tests.cli.working import Project, results
from tests.support.endpoint import Endpoint, serve, text
from tests.support.terminal import pty_terminal

FULL = Path("/dev/full")


def shell(
    project: Project, words: str, *, unbuffered: str = ""
) -> subprocess.CompletedProcess[str]:
    """A line of shell in the project; `agentsh` is this one."""
    program = f'agentsh() {{ {shlex.quote(sys.executable)} -m agentsh "$@"; }}; '
    environ = {**os.environ, "AGENTSH_HOME": str(project.home), "PYTHONUNBUFFERED": unbuffered}
    return subprocess.run(
        ["sh", "-c", program + words],
        cwd=project.tree,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def prompts(endpoint: Endpoint) -> list[str]:
    """What the model was told that the person said."""
    messages = endpoint.requests[-1].body["messages"]
    assert isinstance(messages, list)
    return [str(m["content"]) for m in messages if isinstance(m, dict) and m["role"] == "user"]


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["config", "show last", "--help", "--version", "-V"])
def test_results_that_cannot_be_written_are_no_bug_and_no_success(
    project: Project, command: str, unbuffered: str
) -> None:
    make_talk(project.tree, "one")

    ended = shell(project, f"agentsh {command} > /dev/full", unbuffered=unbuffered)

    assert (ended.returncode, ended.stderr) == (
        1,
        "agentsh: the output cannot be written: No space left on device\n",
    )


def no_waiting(end: int) -> None:
    os.set_blocking(end, False)


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_pipe_that_does_not_wait_loses_nothing(project: Project, form: str) -> None:
    reading, writing = os.pipe()
    no_waiting(writing)
    long = "word " * 100_000
    with serve(text(long)) as endpoint:
        project.monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        words = [sys.executable, "-m", "agentsh", "run", "-m", "m", "--output", form, "hi"]
        running = subprocess.Popen(
            words, cwd=project.tree, stdin=subprocess.DEVNULL, stdout=writing, stderr=writing
        )
        os.close(writing)
        time.sleep(1)
        with os.fdopen(reading, "rb") as file:
            said = file.read().decode()

    assert running.wait() == 0
    assert (said if form == "text" else json.loads(said)["text"]).strip() == long.strip()


def test_standard_input_that_does_not_wait_is_waited_for(project: Project) -> None:
    reading, writing = os.pipe()
    no_waiting(reading)
    with project.answering() as endpoint:
        words = [sys.executable, "-m", "agentsh", "run", "-m", "m", "-"]
        running = subprocess.Popen(
            words, cwd=project.tree, stdin=reading, stdout=subprocess.PIPE, text=True
        )
        os.close(reading)
        time.sleep(0.5)
        with os.fdopen(writing, "w") as file:
            file.write("heron " * 100_000)
        out, _ = running.communicate(timeout=30)

    assert (running.returncode, out) == (0, "done\n")
    assert prompts(endpoint) == ["heron " * 100_000]


@pytest.mark.parametrize("command", ["config", "show last", "--help", "--version", "verify last"])
def test_a_closed_stdout_is_said(project: Project, command: str) -> None:
    make_talk(project.tree, "one")

    ended = shell(project, f"agentsh {command} >&-")

    assert (ended.returncode, ended.stderr) == (
        1,
        "agentsh: the output cannot be written: Bad file descriptor\n",
    )


def test_no_file_takes_the_number_of_a_closed_stream(project: Project) -> None:
    talk = make_talk(project.tree, "one")
    before = talk.path.read_bytes()

    renamed = shell(project, "agentsh rename last heron <&- >&- 2>&-; echo $?")
    shown = shell(project, "agentsh show last <&- 2>&-")

    assert (renamed.stdout, shown.returncode) == ("0\n", 0)
    assert "> one" in shown.stdout
    added = talk.path.read_bytes().removeprefix(before)
    assert [line[:1] for line in added.splitlines()] == [b"{"] * added.count(b"\n")


def test_a_prompt_from_a_closed_stdin_is_none(project: Project) -> None:
    ended = shell(project, "agentsh run -m m --base-url http://127.0.0.1:9/v1 - <&-")

    assert (ended.returncode, ended.stderr) == (2, "agentsh: there is no prompt\n")


ENVIRONMENTS = {
    "C": "LC_ALL=C",
    "C, and no mode of UTF-8": "LC_ALL=C PYTHONCOERCECLOCALE=0 PYTHONUTF8=0",
    "ASCII": "PYTHONIOENCODING=ascii",
    "strict": "PYTHONIOENCODING=utf-8:strict",
    "an encoding without ASCII": "PYTHONIOENCODING=utf-16",
}
BYTES = r"printf 'caf\351 \303\251 \200\201'"
REPLACED = "agentsh: standard input has bytes that are not UTF-8; each is read as U+FFFD"


@pytest.mark.parametrize("environment", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_u17_a_prompt_from_stdin_may_be_any_bytes(project: Project, environment: str) -> None:
    with project.answering() as endpoint:
        ended = shell(project, BYTES + f" | {environment} agentsh run -m m -")

    assert ended.returncode == 0
    assert prompts(endpoint) == ["caf\ufffd é \ufffd\ufffd"]
    assert ended.stderr.replace("\0", "").count(REPLACED) == 1


def test_u17_a_locale_of_another_encoding_is_read_in_it(project: Project) -> None:
    with project.answering() as endpoint:
        ended = shell(
            project, r"printf 'caf\351 \201' | PYTHONIOENCODING=cp1252 agentsh run -m m -"
        )

    assert prompts(endpoint) == ["café \ufffd"]
    assert "bytes that are not CP1252" in ended.stderr


@pytest.mark.parametrize("encoding", ["idna", "utf-16", "ascii", "utf-32"])
def test_u17_an_encoding_that_no_locale_has_is_read_as_utf8(
    encoding: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = io.TextIOWrapper(io.BytesIO("é".encode() + b"\xe9"), encoding=encoding)
    monkeypatch.setattr(sys, "stdin", stream)
    read_any_bytes()

    assert stream.read() == "é\ufffd"
    assert REPLACED in capsys.readouterr().err


def test_u17_what_is_utf8_is_read_without_a_word(project: Project) -> None:
    with project.answering() as endpoint:
        ended = shell(project, "printf 'café' | LC_ALL=C agentsh run -m m -")

    assert prompts(endpoint) == ["café"]
    assert "U+FFFD" not in ended.stderr


def test_u17_lines_of_a_chat_and_answers_to_questions_may_be_any_bytes(project: Project) -> None:
    project.settings("[ui]\nplain = true\n")
    environ = {**os.environ, "AGENTSH_HOME": str(project.home), "TERM": "xterm", "LC_ALL": "C"}
    with project.answering((("c1", "bash", {"command": "touch made"}),)) as endpoint:
        environ["OPENAI_BASE_URL"] = endpoint.base_url
        argv = [sys.executable, "-m", "agentsh", "-m", "m"]
        with pty_terminal(argv, env=environ, cwd=project.tree) as terminal:
            terminal.wait(">")
            terminal.send("caf\udce9\r")
            terminal.wait("allow it?")
            terminal.send("n caf\udce9\r")
            terminal.wait("done")
            terminal.send("/quit\r")
            assert terminal.ends() == 0
            assert terminal.everything.replace("\n", "").count(REPLACED) == 1

    assert prompts(endpoint) == ["caf\ufffd"]
    assert ["caf\ufffd" in result for result in results(endpoint)] == [True]
    assert not (project.tree / "made").exists()


@pytest.mark.parametrize("command", ["sessions", "show last", "config", "run hi", "doctor"])
def test_a_folder_that_is_gone_is_said(project: Project, command: str) -> None:
    ended = shell(project, f"mkdir away && cd away && rmdir ../away && agentsh {command}")

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        "agentsh: the folder that this was started in is gone\n  cd to one that is there\n"
    )


def test_a_session_that_cannot_be_saved_says_what_helps(project: Project) -> None:
    project.home.parent.mkdir(exist_ok=True)
    project.home.write_text("in the way")

    with project.answering():
        ended = project.run("hi")

    assert (ended.code, ended.out) == (1, "")
    assert "was not written: Not a directory" in ended.err
    assert "keep sessions elsewhere: --session-dir, AGENTSH_HOME" in ended.err


def test_all_folders_of_ours_are_private_from_the_first_turn(project: Project) -> None:
    home = project.home / "not" / "yet"
    project.monkeypatch.setenv("AGENTSH_HOME", str(home))
    with project.answering():
        assert project.run("hello").code == 0
    made = [home, *(path for path in home.rglob("*") if path.is_dir())]
    assert {path: oct(path.stat().st_mode & 0o777) for path in made} == dict.fromkeys(made, "0o700")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("words", [("-",), ("see", "-a", "-")])
def test_u17_a_mark_says_how_standard_input_is_spelled(
    tmp_path: Path, encoding: str, words: tuple[str, ...]
) -> None:
    with serve(text("ok")) as endpoint:
        environ = {**os.environ, "OPENAI_BASE_URL": endpoint.base_url}
        argv = [sys.executable, "-m", "agentsh", "run", "-m", "m", *words]
        data = "Größe 测试".encode(encoding)
        done = subprocess.run(argv, cwd=tmp_path, env=environ, input=data, capture_output=True)
        asked = dumps_text(endpoint.requests[-1].body["messages"])

    assert (done.returncode, done.stderr) == (0, b"")
    assert "Größe 测试" in asked
    assert "\ufeff" not in asked


def test_where_python_is_to_hold_nothing_back_nothing_is() -> None:
    script = (
        "import os, sys; from agentsh.cli.setup.standard_streams import wait_for_streams;"
        "wait_for_streams(); sys.stdout.write('out'); sys.stderr.write('a\\n'); os._exit(0)"
    )

    ended = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        capture_output=True,
        check=True,
    )

    assert (ended.stdout, ended.stderr) == (b"out", b"a\n")
