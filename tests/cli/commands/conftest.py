"""What the tests of several commands begin with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.explored import Explored, explored_in


@pytest.fixture
def explored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Explored]:
    with explored_in(tmp_path, monkeypatch) as project:
        yield project
