"""`agentsh acp` before an editor says anything: what it lacks, what it loads."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import agentsh

NAMES = "import sys; sys.argv = ['agentsh', 'acp']\nfrom agentsh.__main__ import main\n"


def test_a17_without_its_package_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    ended = agentsh("acp", cwd=tmp_path)

    assert ended.code == 2
    assert "pip install 'agentsh[acp]'" in ended.err


def test_a_wrong_option_ends_it_before_it_takes_the_streams(tmp_path: Path) -> None:
    ended = agentsh("acp", "--on-interrupted", "perhaps", cwd=tmp_path)

    assert ended.code == 2
    assert "perhaps" in ended.err


def test_until_a_session_there_is_no_client_and_no_screen(tmp_path: Path) -> None:
    wish = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n'
    code = NAMES + "try: main()\nfinally: sys.stderr.write(','.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], input=wish, capture_output=True, check=True, cwd=tmp_path
    )
    names = set(done.stderr.decode().split(","))

    assert b'"protocolVersion":1' in done.stdout
    assert not [name for name in names if name.startswith("agentsh.ui")]
    assert names & {"mcp", "rich", "prompt_toolkit", "typer"} == set()
