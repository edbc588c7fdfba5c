from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.endpoint import Endpoint, serve
from tests.support.exploring import numbered, repository


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "project")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve(numbered()) as serving:
        yield serving
