"""`run --output-schema`: stdout is the value and nothing else, whatever else the model says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentsh.jsontext import JsonObject
from tests.cli.program import Ended, agentsh
from tests.cli.working import Project
from tests.support.endpoint import Reply, serve, status, text

SCHEMA = {"type": "object", "properties": {"birds": {"type": "integer"}}, "required": ["birds"]}
GOOD = text('{"birds": 4,\n "name": "gr\u00fcn \u009b"}')


def ask(
    project: Project, *replies: Reply, more: tuple[str, ...] = (), times: int = 1
) -> tuple[Ended, list[JsonObject]]:
    file = project.put("schema.json", "\ufeff" + json.dumps(SCHEMA))
    with serve(*replies) as endpoint:
        project.monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        for _ in range(times):
            ended = project.run("--output-schema", str(file), *more, "how many?")
    return ended, [received.body for received in endpoint.requests if received.method == "POST"]


def test_stdout_is_the_value_alone(project: Project) -> None:
    ended, bodies = ask(project, text("four"), GOOD)

    assert (ended.code, ended.out) == (0, '{"birds":4,"name":"gr\u00fcn \u009b"}\n')
    assert bodies[1]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": SCHEMA},
    }


@pytest.mark.parametrize("more", [(), ("--output", "json"), ("--output", "events")])
def test_json_is_utf_8_whatever_the_locale_says(project: Project, more: tuple[str, ...]) -> None:
    file = project.put("schema.json", json.dumps(SCHEMA))
    with serve(GOOD) as endpoint:
        words = ("run", "-m", "m", *more, "--output-schema", str(file), "how many?")
        ended = subprocess.run(
            [sys.executable, "-m", "agentsh", *words],
            cwd=project.tree,
            env={
                **os.environ,
                "PYTHONIOENCODING": "latin-1",
                "OPENAI_BASE_URL": endpoint.base_url,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )

    last = json.loads(ended.stdout.decode().strip().split("\n")[-1])
    assert (ended.returncode, last.get("data", last)["name"]) == (0, "gr\u00fcn \u009b")


@pytest.mark.parametrize("form", ["json", "events"])
def test_programs_get_it_as_data(project: Project, form: str) -> None:
    ended, _ = ask(project, GOOD, more=("--output", form))

    last = json.loads(ended.out.strip().split("\n")[-1])
    assert (last["status"], last["data"]["birds"]) == ("completed", 4)


def test_an_answer_that_never_fits_is_exit_1_and_an_empty_stdout(project: Project) -> None:
    ended, bodies = ask(project, text("four"))

    assert (ended.code, ended.out, len(bodies)) == (1, "", 3)
    assert "does not fit the JSON Schema: it is no JSON" in ended.err


def test_what_a_server_refused_is_not_sent_to_it_again(project: Project) -> None:
    no = status(400, {"error": {"message": "Unknown field response_format"}})
    _, bodies = ask(project, text("four"), no, GOOD, text("four"), GOOD, times=2)

    sent = ["response_format" in body for body in bodies]
    assert sent == [False, True, False, False, False]
    assert agentsh("replay", "last", "--check", cwd=project.tree).code == 0


def test_an_answer_that_was_cut_is_no_value(project: Project) -> None:
    ended, _ = ask(project, status(500, {"error": "no"}), more=("--max-retries", "0"))

    assert (ended.code, ended.out) == (1, "")


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("gone.json", None, "cannot be read"),
        ('{"type":"object"}', None, "takes a file"),
        (".", None, "no regular file"),
        ("half.json", "{half", "is no JSON"),
        ("list.json", "[1]", "is no JSON Schema"),
        ("long.json", " " * 300_000, "more than 262144 bytes"),
    ],
)
def test_a_file_that_is_no_schema_is_wrong_use_before_anything_is_sent(
    project: Project, tmp_path: Path, name: str, content: str | None, why: str
) -> None:
    if content is not None:
        project.put(name, content)
    with project.answering() as endpoint:
        ended = project.run("--output-schema", name, "hi")

    assert (ended.code, ended.out, endpoint.requests) == (2, "", [])
    assert name in ended.err
    assert why in ended.err
