"""Whatever `agentsh rpc` says fits the schema that `agentsh schema rpc` prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.endpoint import calls, serve, text
from tests.support.rpcclient import RpcClient, rpc_client

LOOKS: list[tuple[str, dict[str, object]]] = [
    *((name, {}) for name in ("get_state", "get_messages", "get_session_stats", "get_commands")),
    *((name, {}) for name in ("get_last_assistant_text", "get_tools", "get_entries", "get_tree")),
    *((name, {}) for name in ("get_fork_messages", "get_diff", "get_cost", "list_sessions")),
    ("get_view", {"view": "chat"}),
    ("get_view", {"view": "trace"}),
    ("get_view", {"view": "model"}),
    ("get_view", {"view": "raw"}),
    ("search", {"query": "heron"}),
    ("undo_files", {"targetId": "root", "dryRun": True}),
    *((name, {}) for name in ("get_available_models", "get_available_thinking_levels")),
    *((name, {}) for name in ("cycle_model", "cycle_thinking_level", "clear_queue")),
    ("bash", {"command": "echo heron"}),
    ("set_label", {"entryId": "leaf", "label": "here"}),
    ("get_tree", {}),
    ("navigate_tree", {"targetId": "root"}),
    ("export_html", {"outputPath": "page.html"}),
    *((name, {}) for name in ("clone", "new_session", "abort", "abort_bash", "abort_retry")),
    ("set_session_name", {"name": "herons"}),
]


def test_whatever_is_asked_for_fits_the_schema_that_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client holds each line against it at its end (tests/support/rpcclient.py)."""
    folder = tmp_path / "project"
    folder.mkdir()
    heron = calls(("c1", "write", {"path": "heron.txt", "content": "one"}))
    with serve(heron, text("a heron"), models=[{"id": "m"}, {"id": "n"}]) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("AGENTSH_MODEL", "m")
        with rpc_client("--approve", "all", cwd=folder) as client:
            asked_for_all(client)


def asked_for_all(client: RpcClient) -> None:
    client.prompt("a heron, please")
    failed = [name for name, words in LOOKS if not client.ask(name, **words)["success"]]
    provider = client.ok("get_state")["model"]["provider"]
    client.ok("set_model", provider=provider, modelId="n")

    assert failed == []
    assert not client.ask("switch_session", sessionPath="nosuch")["success"]
