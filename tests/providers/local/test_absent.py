"""A chat without an endpoint can look around, and says what is missing when asked something."""

from __future__ import annotations

import pytest

from agentsh.errors import UsageError
from agentsh.providers.local.absent import MODEL, AbsentProvider


def test_nothing_is_asked_of_nobody() -> None:
    provider = AbsentProvider("no endpoint is configured", "set OPENAI_BASE_URL")

    assert [info.id for info in provider.models()] == [MODEL]
    with pytest.raises(UsageError, match="no endpoint is configured") as caught:
        provider.shape(MODEL)
    assert caught.value.hint == "set OPENAI_BASE_URL"
