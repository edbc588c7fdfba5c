from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.providers.asking import OPENED


@pytest.fixture(autouse=True)
def close_providers() -> Iterator[None]:
    """Close what `provider_for` opened: an open socket at the end is an error of the run."""
    yield
    while OPENED:
        OPENED.pop().close()
