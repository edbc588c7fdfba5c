from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.files.desk import Desk, at_work


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    tree, state = tmp_path / "project", tmp_path / "home"
    tree.mkdir()
    state.mkdir()
    return at_work(tree, state)
