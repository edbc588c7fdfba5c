from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.working import Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    tree = tmp_path / "project"
    tree.mkdir()
    home = tmp_path / "state"
    monkeypatch.setenv("AGENTSH_HOME", str(home))
    return Project(tree, home, monkeypatch)
