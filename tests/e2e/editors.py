"""Editors for whole processes of `agentsh acp`: the official client, and lines by hand."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.acpclient import AcpClient, Decide, acp_client
from tests.support.endpoint import Endpoint, Reply, calls, serve
from tests.support.rpcclient import RpcClient, rpc_client


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


def waited_for(path: Path) -> int:
    for _ in range(400):
        if path.exists() and (words := path.read_text().split()):
            return int(words[0])
        time.sleep(0.02)
    raise AssertionError(path)
