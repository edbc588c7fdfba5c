from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    tree = tmp_path / "project"
    tree.mkdir()
    return Project(tree, tmp_path / "home" / "store")
