"""`run --max-cost`, `--max-time`, `-a -`: how an unwatched run ends, and what it is given."""

from __future__ import annotations

import io
import shlex
import signal
import subprocess
import sys

import pytest

from agentsh.jsontext import JsonObject
from tests.cli.program import agentsh
from tests.cli.working import Project
from tests.support.endpoint import calls, serve, silence, status, stream, text
from tests.support.mcpservers import until

PRICES = "[models.m.prices]\ninput = 1000.0\noutput = 1000.0\n"
LOOK = calls(("c", "ls", {}))


def test_a_run_over_its_cost_ends_with_6_and_a_command_that_goes_on(project: Project) -> None:
    project.settings(PRICES)
    with serve(LOOK, LOOK, text("done")) as endpoint:
        project.monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        stopped = project.run("--max-cost", "0.15", "--output", "json", "go")
        said = stopped.json()
        assert isinstance(said, dict)
        again = f"agentsh run --session {said['session']} 'Go on.'"
        gone_on = project.run("--session", str(said["session"]), "Go on.")

    assert (stopped.code, said["status"]) == (6, "max_cost")
    assert "stopped: this run has cost $0.22" in stopped.err
    assert again in stopped.err
    assert (gone_on.code, gone_on.out) == (0, "done\n")


def test_a_run_over_its_time_ends_while_the_answer_comes(project: Project) -> None:
    slow = stream({"content": "word "}, 30.0, {"content": "never"})
    with serve(slow) as endpoint:
        project.monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        stopped = project.run("--max-time", "0.5", "--output", "json", "go")

    said = stopped.json()
    assert isinstance(said, dict)
    assert (stopped.code, said["exit"], said["status"]) == (6, 6, "max_time")
    assert agentsh("verify", "last", cwd=project.tree).code == 0


def test_u23_a_run_that_failed_half_way_says_how_to_go_on(project: Project) -> None:
    with serve(LOOK, status(400, "no"), text("done")) as endpoint:
        project.monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        failed = project.run("go")
        hint = failed.err.splitlines()[-1].removeprefix("agentsh: go on with: agentsh ")
        gone_on = agentsh(*shlex.split(hint), cwd=project.tree)

    assert failed.code == 1
    assert (gone_on.code, gone_on.out) == (0, "done\n")


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_u23_a_run_that_is_stopped_from_outside_says_how_to_go_on(
    project: Project, sign: signal.Signals
) -> None:
    with serve(silence, text("done")) as endpoint:
        project.monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        argv = [sys.executable, "-m", "agentsh", "run", "-m", "m", "go"]
        with subprocess.Popen(argv, cwd=project.tree, stderr=subprocess.PIPE, text=True) as running:
            assert until(lambda: endpoint.requests)
            running.send_signal(sign)
            _, err = running.communicate(timeout=30)
        hint = err.splitlines()[-1].removeprefix("agentsh: go on with: agentsh ")
        gone_on = agentsh(*shlex.split(hint), "-m", "m", cwd=project.tree)

    assert running.returncode == 128 + sign
    assert (gone_on.code, gone_on.out) == (0, "done\n")


def test_u23_what_is_not_on_the_disk_is_not_gone_on_with(project: Project) -> None:
    with serve(text("done")) as endpoint:
        project.monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        failed = project.run("--session-dir", "/proc/closed", "go")

    assert failed.code != 0
    assert "go on with" not in failed.err


@pytest.mark.parametrize("option", ["--max-cost", "--max-time"])
@pytest.mark.parametrize("value", ["0", "-1", "x", "nan"])
def test_a_limit_that_is_none_is_wrong_use(project: Project, option: str, value: str) -> None:
    assert project.run(option, value, "go").code == 2


def test_a_call_that_was_refused_is_told_though_the_model_says_that_all_is_well(
    project: Project,
) -> None:
    arguments: JsonObject = {"path": "p.txt", "content": "x"}
    write = (("c", "write", arguments),)
    with project.answering(write):
        told = project.run("--approve", "never", "write it")
    with project.answering(write):
        said = project.run("--approve", "never", "--output", "json", "write it").json()

    assert (told.code, told.out, told.err) == (0, "done\n", "refused: write: p.txt\n")
    assert isinstance(said, dict)
    assert said["refused"] == [{"id": "c", "name": "write", "arguments": arguments}]


def piped(project: Project, said: str) -> None:
    project.monkeypatch.setattr("sys.stdin", io.StringIO(said))


def test_standard_input_is_attached_once_and_by_name(project: Project) -> None:
    piped(project, "\ufeff+heron\n")
    with project.answering() as endpoint:
        ended = project.run("Review this.", "-a", "-")

    messages = endpoint.requests[0].body["messages"]
    assert isinstance(messages, list)
    said = 'Review this.\n\n<file name="standard input">\n+heron\n\n</file>'
    assert messages[-1] == {"role": "user", "content": said}
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize(
    ("words", "said", "why"),
    [
        (("-", "-a", "-"), "x", "read for something else"),
        (("p", "-a", "-", "-a", "-"), "x", "read for something else"),
        (("p", "-a", "-"), "x" * 300_000, "head -c 262144"),
        (("p", "-a", "-"), "\N{SNOWMAN}" * 100_000, "head -c 262144"),
        (("p", "-a", "-"), "GIF\0", "binary"),
    ],
)
def test_what_standard_input_cannot_be_is_said_before_anything_is_sent(
    project: Project, words: tuple[str, ...], said: str, why: str
) -> None:
    piped(project, said)
    with project.answering() as endpoint:
        ended = project.run(*words)

    assert (ended.code, ended.out, endpoint.requests) == (2, "", [])
    assert why in ended.err


def test_empty_standard_input_is_told(project: Project) -> None:
    piped(project, "")
    with project.answering():
        ended = project.run("Review this.", "-a", "-")

    assert (ended.code, ended.err) == (0, "agentsh: standard input is empty\n")
