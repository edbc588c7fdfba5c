"""What `agentsh schema` prints: nothing but what a run says fits it, and members may come along."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from agentsh.agent.structured.validator import answer_schema
from agentsh.jsontext import JsonValue
from agentsh.remote.schemas import NAMES, published_schema


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
        ("rpc", {"type": "nonsense"}),
        ("rpc", {"type": "message_end", "message": {"role": "user"}}),
        ("rpc", {"type": "response", "command": "get_state", "success": True}),
        ("rpc", {"type": "response", "command": "nosuch", "success": True}),
        ("rpc", {"type": "response", "command": "x", "success": False, "error": "no"}),
        ("rpc-commands", {"type": "nonsense"}),
        ("rpc-commands", {"type": "prompt"}),
        ("rpc-commands", {"type": "extension_ui_response", "confirmed": True}),
    ],
)
def test_what_no_run_prints_does_not_fit(name: str, value: JsonValue) -> None:
    assert checker(name)(value) is not None


def test_members_may_come_along() -> None:
    assert checker("events")({"type": "text", "text": "x", "later": 1}) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rpc", {"type": "agent_settled", "aborted": False, "later": 1}),
        ("rpc", {"id": 1.5, "type": "response", "command": "abort", "success": True}),
        (
            "rpc",
            {"type": "response", "command": "cycle_model", "success": True, "data": None},
        ),
        ("rpc-commands", {"id": "a", "type": "prompt", "message": "x", "images": None}),
        ("rpc-commands", {"type": "extension_ui_response", "id": "q", "confirmed": True}),
    ],
)
def test_what_a_client_reads_and_writes_fits(name: str, value: JsonValue) -> None:
    assert checker(name)(value) is None


@pytest.mark.parametrize("name", NAMES)
def test_each_reference_leads_to_a_part(name: str) -> None:
    schema = published_schema(name)
    parts = schema["$defs"]

    assert isinstance(parts, dict)
    assert set(references(schema)) <= {f"#/$defs/{part}" for part in parts}


def references(value: JsonValue) -> Iterator[str]:
    match value:
        case {"$ref": str(to)}:
            yield to
        case dict():
            for each in value.values():
                yield from references(each)
        case list():
            for each in value:
                yield from references(each)
        case _:
            return
