"""`agentsh rpc` as programs meet it: a process of its own against a loopback endpoint."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentsh.jsontext import JsonValue
from tests.cli.program import agentsh
from tests.support.endpoint import Endpoint, Reply, calls, chunk, serve, status, stream, text
from tests.support.rpcclient import Record, RpcClient, rpc_client

ROOT = Path(__file__).resolve().parents[2]
MODELS: list[JsonValue] = [{"id": "m"}, {"id": "n"}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    return place


def ready(monkeypatch: pytest.MonkeyPatch, endpoint: Endpoint) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
    monkeypatch.setenv("AGENTSH_MODEL", "m")


@contextmanager
def rpc_ready(
    monkeypatch: pytest.MonkeyPatch, endpoint: Endpoint, cwd: Path, *words: str
) -> Iterator[RpcClient]:
    ready(monkeypatch, endpoint)
    with rpc_client(*words, cwd=cwd) as client:
        yield client


def write_settings(toml: str) -> None:
    settings = Path(os.environ["AGENTSH_HOME"]) / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(toml)


def bash(command: str) -> Reply:
    return calls(("c1", "bash", {"command": command}))


def deltas(records: list[Record]) -> str:
    events = [r["assistantMessageEvent"] for r in records if r["type"] == "message_update"]
    return "".join(e["delta"] for e in events if e["type"] == "text_delta")


def test_j14_a_slow_command_holds_up_no_other_and_ids_tell_the_answers_apart(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(text("hi")) as endpoint, rpc_ready(monkeypatch, endpoint, folder) as client:
        slow = client.send("bash", command="sleep 1; echo done")
        quick = client.send("get_state")
        busy = client.ask("prompt", message="hi")

        assert client.response(quick)["success"]
        assert (busy["success"], busy["code"]) == (False, "busy")
        assert client.response(slow)["data"]["output"].strip() == "done"
        numbers = [r["id"] for r in client.records if r["type"] == "response"]
        assert numbers == [quick, quick + 1, slow]
        updates = [r for r in client.records if r["type"] == "bash_execution_update"]
        assert [(r["id"], r["delta"].strip()) for r in updates] == [(slow, "done")]
        assert client.prompt("now")[-1]["type"] == "agent_settled"


def test_j15_ten_thousand_pieces_reach_a_slow_reader_and_wait_in_no_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = 10_000
    pieces = [chunk({"content": f"{number:04} "}) for number in range(many)]
    with serve(stream(*pieces, chunk({}, "stop"))) as endpoint:
        ready(monkeypatch, endpoint)
        process = subprocess.Popen(
            [sys.executable, "-m", "agentsh", "rpc"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        with process:
            process.stdin.write(b'{"type":"prompt","message":"go"}\n')
            process.stdin.flush()
            time.sleep(2)
            before = resident(process.pid)
            time.sleep(1)
            assert resident(process.pid) - before < 2_000  # it waits for us
            process.stdin.close()
            records = [json.loads(line) for line in process.stdout]

    assert process.returncode == 0
    assert deltas(records) == "".join(f"{number:04} " for number in range(many))
    assert records[-1]["type"] == "agent_settled"


def resident(pid: int) -> int:
    """Kilobytes."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1])


PRINTING = """
import os, subprocess
from agentsh.tools.plugin_loader import hookimpl
print("printed by a plugin", flush=True)

@hookimpl
def agentsh_before_tool(tool, arguments):
    os.write(1, b"written by a plugin\\n")
    subprocess.run("cat; echo said by a child", shell=True)
"""


def test_whatever_prints_lands_on_stderr_and_no_child_eats_commands(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "site/loud-1.dist-info"
    info.mkdir(parents=True)
    (tmp_path / "site/loud.py").write_text(PRINTING)
    (info / "METADATA").write_text("Name: loud\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[agentsh.tools]\nloud = loud\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'site'}{os.pathsep}{ROOT}")
    write_settings('[tools]\nplugins = ["loud"]\n')
    (folder / "a.txt").write_text("heron\n")
    read = calls(("c1", "read", {"path": "a.txt"}))
    with (
        serve(read, text("done")) as endpoint,
        rpc_ready(monkeypatch, endpoint, folder) as client,
    ):
        client.put(b'{"id":1,"type":"prompt","message":"go"}\n{"id":2,"type":"get_state"}\n')

        assert client.response(2)["success"]
        client.settled()
        assert client.end() == 0
        for words in (b"printed by a plugin", b"written by a plugin", b"said by a child"):
            assert words in client.err


def test_the_same_command_by_pis_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(text("hi"), models=MODELS) as near, serve(text("far"), models=MODELS) as far:
        ready(monkeypatch, near)
        write_settings(f'[endpoints.far]\nbase_url = "{far.base_url}"\nmodel = "n"\n')
        words = ("--provider", "far", "--name", "heron work")
        with rpc_client(*words, cwd=folder, command=("--mode", "rpc")) as client:
            state = client.ok("get_state")
            assert (state["model"]["provider"], state["model"]["id"]) == ("far", "n")
            assert state["sessionName"] == "heron work"
            client.prompt("hi")
            assert client.ok("get_last_assistant_text") == {"text": "far"}
            models = client.ok("get_available_models")["models"]
            assert ("far", "n") in [(each["provider"], each["id"]) for each in models]


def test_another_provider_than_those_there_are_is_exit_2(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with rpc_client("--provider", "nowhere", cwd=folder) as client:
        assert client.wait_for_end() == 2
        assert client.records == []
        assert b"[endpoints.nowhere]" in client.err


def test_without_a_session_nothing_is_stored_and_what_needs_the_store_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        serve(text("one"), text("two")) as endpoint,
        rpc_ready(monkeypatch, endpoint, folder, "--no-session") as client,
    ):
        client.prompt("first")
        for kind, more in (
            ("clone", {}),
            ("list_sessions", {}),
            ("switch_session", {"sessionPath": "last"}),
            ("search", {"query": "first"}),
            ("get_cost", {}),
        ):
            refused = client.ask(kind, **more)
            assert (refused["success"], refused["code"]) == (False, "refused"), refused
        assert "sessionFile" not in client.ok("get_state")
        assert client.ok("new_session") == {"cancelled": False}
        assert client.ok("get_state")["messageCount"] == 0
        client.prompt("second")
        assert client.end() == 0
    assert agentsh("sessions", "--all", "--json").json() == []


def test_input_that_ends_in_a_question_leaves_it_unanswered_and_gives_6(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        serve(bash("echo a > a.txt"), text("x")) as endpoint,
        rpc_ready(monkeypatch, endpoint, folder) as client,
    ):
        client.ok("prompt", message="go")
        client.question()
        assert client.end() == 6
        assert client.records[-1] == {"type": "agent_settled", "aborted": False}
    assert not (folder / "a.txt").exists()


def test_an_abort_answers_a_question_with_no_and_the_next_prompt_is_taken(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        serve(bash("echo a > a.txt"), text("still here")) as endpoint,
        rpc_ready(monkeypatch, endpoint, folder) as client,
    ):
        client.ok("prompt", message="go")
        client.question()
        client.ok("abort")
        assert client.settled()["aborted"] is True
        since = len(client.records)
        client.prompt("and now?")
        assert deltas(client.records[since:]) == "still here"
        assert client.end() == 0
    assert not (folder / "a.txt").exists()


def test_a_command_that_was_changed_runs_as_it_was_changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        serve(bash("echo a > a.txt"), text("ok")) as endpoint,
        rpc_ready(monkeypatch, endpoint, folder) as client,
    ):
        client.ok("prompt", message="go")
        question = client.question()
        answer = {"id": question["id"], "decision": "once", "command": "echo b > b.txt"}
        client.put(json.dumps({"type": "extension_ui_response", **answer}).encode() + b"\n")
        client.settled()
    assert (folder / "b.txt").read_text() == "b\n"
    assert not (folder / "a.txt").exists()


def test_what_stands_behind_a_shutdown_is_not_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = stream({"content": "slow "}, 30.0, {"content": "never"})
    with serve(slow, text("x")) as endpoint, rpc_ready(monkeypatch, endpoint, folder) as client:
        client.ok("prompt", message="go")
        client.wait(lambda r: r["type"] == "message_update")
        client.put(b'{"id":"s","type":"shutdown","abort":true}\n{"type":"get_state"}\n')
        assert client.wait_for_end() == 0
        assert client.records[-1] == {"type": "agent_settled", "aborted": True}
        assert [r["command"] for r in client.records if r["type"] == "response"][-1] == "shutdown"
    assert "aborted" in agentsh("show", "last", "--view", "trace", cwd=folder).out


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)
def test_a_signal_ends_it_at_rest(
    number: signal.Signals, code: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve() as endpoint, rpc_ready(monkeypatch, endpoint, folder) as client:
        client.ok("get_state")
        client.process.send_signal(number)
        assert client.wait_for_end() == code


def test_a_second_signal_ends_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        serve(bash("trap '' TERM; sleep 60"), text("x")) as endpoint,
        rpc_ready(monkeypatch, endpoint, folder, "--approve", "all") as client,
    ):
        client.ok("prompt", message="go")
        client.wait(lambda r: r["type"] == "tool_execution_start")
        client.process.send_signal(signal.SIGTERM)
        client.process.send_signal(signal.SIGHUP)
        assert client.wait_for_end() in (143, 129)


def test_a_reader_that_is_gone_stops_the_turn(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = [chunk({"content": "x" * 200}) for _ in range(5000)]
    with serve(stream(*pieces, chunk({}, "stop"))) as endpoint:
        ready(monkeypatch, endpoint)
        process = subprocess.Popen(
            [sys.executable, "-m", "agentsh", "rpc"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        with process:
            process.stdin.write(b'{"type":"prompt","message":"go"}\n')
            process.stdin.flush()
            process.stdout.readline()
            process.stdout.close()
            assert process.wait(30) == 1
            assert b"Traceback" not in process.stderr.read()
    assert agentsh("verify", "last", cwd=folder).code == 0


def test_a_line_that_is_too_long_costs_only_itself(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve() as endpoint, rpc_ready(monkeypatch, endpoint, folder) as client:
        writer = threading.Thread(target=lambda: client.put(b"x" * (65 << 20) + b"\n"))
        writer.start()
        failed = client.wait(lambda r: r["type"] == "response")
        writer.join()
        assert (failed["command"], failed["success"], "id" in failed) == ("parse", False, False)
        assert client.ask("get_state")["success"]


def test_the_example_of_the_page_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = (ROOT / "docs/rpc.md").read_text("utf-8")
    [example] = re.findall(r"(?s)```python\n(.*?)```", page)
    (tmp_path / "example.py").write_text(example)
    bin_folder = str(Path(sys.executable).parent)
    with serve(text("the bittern")) as endpoint:
        ready(monkeypatch, endpoint)
        monkeypatch.setenv("PATH", bin_folder + os.pathsep + os.environ["PATH"])
        ran = subprocess.run(
            [sys.executable, str(tmp_path / "example.py")],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    assert ran.stdout == "the bittern"


def test_messages_that_wait_are_said_as_the_client_wants_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = stream({"content": "slow"}, 1.5, chunk({}, "stop"))
    with (
        serve(slow, text("two"), text("three"), text("four")) as endpoint,
        rpc_ready(monkeypatch, endpoint, folder) as client,
    ):
        client.ok("set_steering_mode", mode="one-at-a-time")
        client.ok("set_follow_up_mode", mode="all")
        client.ok("prompt", message="go")
        for words in ("later a", "later b"):
            client.ok("follow_up", message=words)
        for words in ("left", "right"):
            client.ok("steer", message=words)
        client.settled()
        assert client.end() == 0
        prompts = [r["message"]["content"] for r in client.records if is_prompt(r)]
    assert [content[0]["text"] for content in prompts] == [
        *("go", "left", "right", "later a", "later b"),
    ]
    assert len(endpoint.requests) == 4  # each steer with its own, both follow-ups with one


def is_prompt(record: Record) -> bool:
    return bool(record["type"] == "message_end" and record["message"]["role"] == "user")


def test_a_wait_for_a_repeat_can_be_ended_and_the_failure_stands(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    down = status(503, {"error": {"message": "overloaded"}}, headers={"Retry-After": "30"})
    with (
        serve(down, text("x")) as endpoint,
        rpc_ready(monkeypatch, endpoint, folder) as client,
    ):
        client.ok("prompt", message="go")
        assert client.wait(lambda r: r["type"] == "auto_retry_start")["delayMs"] > 5_000
        began = time.monotonic()
        client.ok("abort_retry")
        client.settled()
        assert time.monotonic() - began < 5
        ended = client.wait(lambda r: r["type"] == "auto_retry_end")
        assert (ended["success"], "overloaded" in ended["finalError"]) == (False, True)
        assert client.end() == 1
        assert len(endpoint.requests) == 1
