"""`agentsh acp` as editors meet it: the official client, a process, a loopback endpoint."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from acp import schema
from acp.exceptions import RequestError

from agentsh.tools.shell import groups
from tests.cli.program import agentsh
from tests.support.acpclient import AcpClient, Decide, acp_client
from tests.support.endpoint import Endpoint, Reply, calls, chunk, serve, stream, text
from tests.support.rpcclient import RpcClient, rpc_client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    return place


def ready(monkeypatch: pytest.MonkeyPatch, endpoint: Endpoint) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
    monkeypatch.setenv("AGENTSH_MODEL", "m")


@contextmanager
def driven(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    *replies: Reply,
    words: tuple[str, ...] = (),
    decide: Decide = lambda _asked: "allow_once",
    **can: Any,
) -> Iterator[tuple[AcpClient, str]]:
    """An editor with one session."""
    with serve(*replies) as endpoint:
        ready(monkeypatch, endpoint)
        with acp_client(*words, cwd=folder, decide=decide) as client:
            client.initialize(**can)
            yield client, client.session(folder)


@contextmanager
def raw(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *replies: Reply
) -> Iterator[tuple[RpcClient, str]]:
    """Lines by hand, with one session."""
    with serve(*replies) as endpoint:
        ready(monkeypatch, endpoint)
        with rpc_client(cwd=folder, command=("acp",)) as client:
            answer = request(client, "session/new", {"cwd": str(folder), "mcpServers": []})
            yield client, answer["result"]["sessionId"]


def line_of(number: int, method: str, params: object) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


def put(client: RpcClient, number: int, method: str, params: object) -> None:
    client.put(line_of(number, method, params))


def request(client: RpcClient, method: str, params: object, number: int = 1) -> Any:
    since = len(client.records)
    put(client, number, method, params)
    return client.wait(lambda r: r.get("id") == number and "method" not in r, since)


def said(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def bash(command: str, name: str = "c1") -> Reply:
    return calls((name, "bash", {"command": command}))


def test_an_editors_session_is_gone_on_with_by_the_command_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with driven(monkeypatch, folder, text("a heron")) as (client, session):
        answer = client.prompt(session, "Which bird?")

    assert answer.stop_reason == "end_turn"
    assert client.text() == "a heron"
    assert "a heron" in agentsh("show", session, cwd=folder).out


def test_a_call_of_the_same_id_is_another_call_to_the_editor(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = (bash("echo one"), bash("echo two"), text("done"))
    with driven(monkeypatch, folder, *replies, words=("--approve", "all")) as (client, session):
        client.prompt(session, "go")
        ids = [each["toolCallId"] for each in client.updates("tool_call")]
        ends = [each for each in client.updates("tool_call_update") if each["status"] != "pending"]

    assert len(set(ids)) == 2
    assert {each["toolCallId"] for each in ends if each["status"] == "completed"} == set(ids)


def test_the_question_shows_the_whole_difference_before_anything_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("one\ntwo\n")
    edit = calls(("c1", "edit", {"path": "a.txt", "oldText": "two", "newText": "three"}))
    replies, words = (edit, text("done")), ("--approve", "ask")
    with driven(monkeypatch, folder, *replies, words=words) as (client, session):
        client.prompt(session, "go")
        [asked] = client.face.asked

    content = asked.tool_call.content
    assert content is not None
    change = content[0]
    assert isinstance(change, schema.FileEditToolCallContent)
    assert (change.old_text, change.new_text) == ("one\ntwo\n", "one\nthree\n")
    assert change.path == str(folder / "a.txt")
    assert (folder / "a.txt").read_text() == "one\nthree\n"


def test_what_was_always_allowed_is_not_asked_again_in_another_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with driven(
        monkeypatch, folder, bash("touch a"), text("done"), decide=lambda _asked: "allow_always"
    ) as (client, session):
        client.prompt(session, "go")
        assert [o.name for o in client.face.asked[0].options][1] == "Always allow: = touch a"

    with serve(bash("touch a"), text("done")) as endpoint:
        ready(monkeypatch, endpoint)
        assert agentsh("run", "-c", "again", cwd=folder).code == 0


def test_a_cancel_ends_the_command_that_runs_and_the_prompts_that_wait(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = (bash("echo begun; sleep 60"), text("fine"))
    with driven(monkeypatch, folder, *replies, words=("--approve", "all")) as (client, session):
        first = client.send_prompt(session, "go")
        waiting = client.send_prompt(session, "then this")
        client.wait(lambda m: "begun" in json.dumps(m) and "in_progress" in json.dumps(m))
        began = time.monotonic()
        client.ask("cancel", session_id=session)

        assert first.result(10).stop_reason == "cancelled"
        assert waiting.result(10).stop_reason == "cancelled"
        assert time.monotonic() - began < 3
        assert client.updates("tool_call_update")[-1]["status"] == "failed"
        assert client.prompt(session, "again").stop_reason == "end_turn"


def test_output_grows_in_few_updates_and_the_last_piece_is_not_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = "for i in $(seq 300); do echo line $i; sleep 0.002; done; sleep 0.5; echo end"
    replies = (bash(command), text("done"))
    with driven(monkeypatch, folder, *replies, words=("--approve", "all")) as (client, session):
        client.prompt(session, "go")
        updates = client.updates("tool_call_update")

    shown = [json.dumps(each["content"]) for each in updates if "content" in each]
    assert 3 < len(shown) < 40
    assert any("line 300" in each and "\\nend" not in each for each in shown)  # told in the pause
    assert "end" in shown[-1]


def test_a_blocked_prompt_is_a_refusal_with_the_hooks_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch, clean_environment: Path
) -> None:
    home = Path(os.environ["AGENTSH_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text("[hooks]\nbefore_prompt = ['echo no herons; exit 1']\n")
    with driven(monkeypatch, folder, text("never")) as (client, session):
        answer = client.prompt(session, "herons")

    assert answer.stop_reason == "refusal"
    assert "no herons" in client.text()


def test_a_cancel_does_not_wait_for_an_editor_that_gives_no_text(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("one\n")
    replies, fs = (calls(("c1", "read", {"path": "a.txt"})), text("fine")), {"readTextFile": True}
    with driven(monkeypatch, folder, *replies, fs=fs) as (client, session):
        client.face.is_deaf = True
        first = client.send_prompt(session, "go")
        client.wait(lambda m: m.get("method") == "fs/read_text_file")
        began = time.monotonic()
        client.ask("cancel", session_id=session)

        assert first.result(10).stop_reason == "cancelled"
        assert time.monotonic() - began < 3


# ---- bad input -----------------------------------------------------------------------------------


BAD_LINES = [
    (b"no json\n", -32700),
    (b'{"half": \n', -32700),
    (b"[1, 2]\n", -32600),
    (b'"text"\n', -32600),
    (b'{"jsonrpc": "2.0", "id": 5}\n', -32600),
    (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "initialize"}\n', -32600),
    (b'{"jsonrpc": "2.0", "id": 5, "method": "initialize", "params": [1]}\n', -32600),
    (b"[" * 100_000 + b"\n", -32700),
    (b'{"id": 5, "method": "session/new", "params": {"cwd": "/\\u0000"}}\n', -32602),
    (b'{"id": 5, "method": "session/new", "params": {}}\n', -32602),
    (b'{"id": 5, "method": "session/prompt", "params": {"sessionId": "x"}}\n', -32602),
    (b"\xff\xfe\n", -32700),
]


def test_a_bad_line_costs_only_itself(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with raw(monkeypatch, folder, text("fine")) as (client, session):
        for line, code in BAD_LINES:
            since = len(client.records)
            client.put(line)
            assert client.wait(lambda r: "error" in r, since)["error"]["code"] == code, line
        params = {"sessionId": session, "prompt": said("go")}
        assert request(client, "session/prompt", params, 9)["result"]["stopReason"] == "end_turn"
        assert client.end() == 0


def test_a_frame_of_a_hundred_megabytes_is_an_error_and_no_memory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with raw(monkeypatch, folder, text("fine")) as (client, _):
        for _ in range(100):
            client.put(b"x" * (1 << 20))
        client.put(b"\n")

        assert client.wait(lambda r: "error" in r)["error"]["code"] == -32700
        peak = Path(f"/proc/{client.process.pid}/status").read_text().split("VmHWM:")[1].split()[0]
        assert int(peak) < 250_000
        assert request(client, "initialize", {"protocolVersion": 1})["result"]


def test_an_id_comes_back_as_it_was_and_a_notification_gets_no_answer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with raw(monkeypatch, folder, text("fine")) as (client, session):
        since = len(client.records)
        client.put(b'{"method": "session/cancel", "params": {}}\n{"method": "no/such"}\n')
        client.put(json.dumps({"method": "session/cancel", "params": {"sessionId": "x"}}).encode())
        client.put(b'\n{"id": "seven", "method": "no/such"}\n')

        assert client.wait(lambda r: "error" in r, since)["id"] == "seven"
        assert len([r for r in client.records[since:] if "id" in r]) == 1
        assert session


BAD_BLOCKS: list[object] = [
    {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
    {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    {"type": "image", "data": "%%%", "mimeType": "image/png"},
    {"type": "text", "text": "  "},
    {"type": "hologram"},
]


def test_a_block_that_is_not_taken_is_wrong_parameters(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with raw(monkeypatch, folder, text("never")) as (client, session):
        for block in BAD_BLOCKS:
            params = {"sessionId": session, "prompt": [block]}
            assert request(client, "session/prompt", params)["error"]["code"] == -32602, block


# ---- the end -------------------------------------------------------------------------------------


def test_an_editor_that_vanishes_leaves_no_process_and_a_log_that_ends_well(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(bash("echo $$ >pid; sleep 300")) as endpoint:
        ready(monkeypatch, endpoint)
        with rpc_client("--approve", "all", cwd=folder, command=("acp",)) as client:
            answer = request(client, "session/new", {"cwd": str(folder), "mcpServers": []})
            session = answer["result"]["sessionId"]
            put(client, 2, "session/prompt", {"sessionId": session, "prompt": said("go")})
            pid = waited_for(folder / "pid")
            began = time.monotonic()

            assert client.end() == 0
            assert time.monotonic() - began < 5

    assert not any(row.pid == pid for row in groups.table())
    assert agentsh("verify", session).code == 0
    assert "aborted" in agentsh("show", session, "--view", "trace").out


def test_an_editor_that_reads_nothing_any_more_does_not_hold_up_the_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = [chunk({"content": "word " * 400}) for _ in range(2000)]
    with serve(stream(*pieces, chunk({}, "stop"))) as endpoint:
        ready(monkeypatch, endpoint)
        child = subprocess.Popen(
            [sys.executable, "-m", "agentsh", "acp"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        with child:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(line_of(1, "session/new", {"cwd": str(folder), "mcpServers": []}))
            child.stdin.flush()
            session = json.loads(child.stdout.readline())["result"]["sessionId"]
            prompt = {"sessionId": session, "prompt": said("go")}
            child.stdin.write(line_of(2, "session/prompt", prompt))
            child.stdin.flush()
            time.sleep(2)  # the pipe is full, and the turn waits
            child.stdin.close()
            assert child.wait(6) == 0

    assert agentsh("verify", session).code == 0


def waited_for(path: Path) -> int:
    for _ in range(400):
        if path.exists() and (words := path.read_text().split()):
            return int(words[0])
        time.sleep(0.02)
    raise AssertionError(path)


def test_a_session_that_is_closed_can_be_written_by_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with driven(monkeypatch, folder, text("fine")) as (client, session):
        client.prompt(session, "go")
        assert agentsh("rename", session, "x", cwd=folder).code == 4
        client.ask("close_session", session_id=session)

        assert agentsh("rename", session, "x", cwd=folder).code == 0
        with pytest.raises(RequestError) as caught:
            client.prompt(session, "more")
        assert caught.value.code == -32002


def test_nothing_configured_fails_with_the_ways_to_get_going(folder: Path) -> None:
    with rpc_client(cwd=folder, command=("acp",)) as client:
        answer = request(client, "session/new", {"cwd": str(folder), "mcpServers": []})

        assert answer["error"]["code"] == -32000
        assert "agentsh setup" in answer["error"]["message"]
        assert client.end() == 0
