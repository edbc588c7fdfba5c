"""`agentsh acp` with what no editor should say, and with one that goes: nothing is left."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from acp.exceptions import RequestError

from agentsh.providers.local.local import find_model
from agentsh.tools.shell import groups
from tests.cli.program import agentsh
from tests.e2e.editors import (
    bash,
    driven,
    line_of,
    put,
    raw,
    ready,
    request,
    said,
    waited_for,
)
from tests.support.endpoint import chunk, serve, stream, text
from tests.support.rpcclient import rpc_client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    return place


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


def test_a_signal_in_a_turn_ends_it_well(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(bash("echo $$ >pid; sleep 300")) as endpoint:
        ready(monkeypatch, endpoint)
        with rpc_client("--approve", "all", cwd=folder, command=("acp",)) as client:
            answer = request(client, "session/new", {"cwd": str(folder), "mcpServers": []})
            session = answer["result"]["sessionId"]
            put(client, 2, "session/prompt", {"sessionId": session, "prompt": said("go")})
            pid = waited_for(folder / "pid")
            client.process.terminate()

            assert client.wait_for_end() == 128 + signal.SIGTERM

    assert not any(row.pid == pid for row in groups.table())
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


@pytest.mark.skipif(find_model() is not None, reason="the embedded model answers")
def test_nothing_configured_fails_with_the_ways_to_get_going(folder: Path) -> None:
    with rpc_client(cwd=folder, command=("acp",)) as client:
        answer = request(client, "session/new", {"cwd": str(folder), "mcpServers": []})

        assert answer["error"]["code"] == -32000
        assert "agentsh setup" in answer["error"]["message"]
        assert client.end() == 0
