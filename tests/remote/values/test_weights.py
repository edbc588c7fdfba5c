"""What fills the window, as a value."""

from __future__ import annotations

from agentsh.context.tokens import room_of
from agentsh.remote.values.weights import context_json
from tests.context.builders import path
from tests.context.test_weights import TALK, weight


def test_as_a_value_it_has_the_members_of_the_contract() -> None:
    value = context_json(weight(*TALK, room=room_of(50_000)), path(*TALK))

    assert (value["window"], value["measured"]) == (50_000, 9000)
    assert isinstance(value["entries"], list)
    first = value["entries"][0]
    assert isinstance(first, dict)
    assert (first["entry"], first["role"]) == ("e3", "toolResult")
    assert str(first["text"]).startswith("heron heron")
