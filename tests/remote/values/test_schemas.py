"""What `agentsh schema` prints: nothing but what a run says fits it, and members may come along."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agentsh.agent.structured.validator import answer_schema
from agentsh.jsontext import JsonValue
from agentsh.remote.values.schemas import published_schema


def checker(name: str) -> Callable[[JsonValue], str | None]:
    return answer_schema(published_schema(name), name).complain


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("events", {"type": "nonsense"}),
        ("events", {"type": "text"}),
        ("events", {"type": "text", "text": 5}),
        ("events", {"text": "x"}),
        ("result", {"type": "nonsense"}),
        ("sessions", [{"id": "x"}]),
        ("sessions", {}),
    ],
)
def test_what_no_run_prints_does_not_fit(name: str, value: JsonValue) -> None:
    assert checker(name)(value) is not None


def test_members_may_come_along() -> None:
    assert checker("events")({"type": "text", "text": "x", "later": 1}) is None
