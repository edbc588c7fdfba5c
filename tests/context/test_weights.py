"""What the next request weighs: parts that add up, by the last measured prompt of the path."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.context.hiding import hiding
from agentsh.context.projection import project
from agentsh.context.prompt import ContextFile, PromptFacts, sections
from agentsh.context.tokens import Room, estimate_context, room_of
from agentsh.context.weights import HEAVIEST, Weights, weigh
from agentsh.messages import Message, SystemMessage, ToolSchema, Usage
from agentsh.session.format.entries import Body, Branch, EntryId, MessageBody
from tests.context.builders import bodies, call, kept, path, result, said, user

ROOM = Room(None, None, 20)
FILES = (ContextFile("/p/AGENTS.md", "herons " * 40), ContextFile("/p/lib/AGENTS.md", "reeds"))
PROMPT = SystemMessage(
    sections={**sections(PromptFacts("/p", ("read",), context_files=FILES))},
    tools_added=(ToolSchema("read", "reads a file", {"type": "object"}),),
)


def measured(tokens: int) -> Usage:
    return Usage(input=tokens, output=5, total_tokens=tokens + 5)


def weight(*said_so: Body | Message, room: Room = ROOM) -> Weights:
    return weigh(Branch(path(*said_so)), room)


def parts(found: Weights) -> dict[str, int]:
    return {section.name: section.tokens for section in found.sections}


TALK = (
    PROMPT,
    user("look"),
    said("I look.", call("a"), usage=measured(2000), stop="toolUse"),
    result("a", "heron " * 2000),
    said("Many herons.", usage=measured(9000)),
)


def test_the_parts_are_named_by_section_file_role_and_tool() -> None:
    found = weight(*TALK, result("b", "x", tool="bash"), kept(None), user("on"))
    assert list(parts(found)) == [
        "system: preamble",
        "system: tools",
        "system: rules",
        "system: cwd",
        "system: context",
        "context file: /p/AGENTS.md",
        "context file: /p/lib/AGENTS.md",
        *(f"tool schema: {tool.name}" for tool in PROMPT.tools_added),
        "summary",
        "prompts",
    ]
    assert list(parts(weight(*TALK)))[-3:] == ["prompts", "answers", "results: read"]


@given(bodies(), st.integers(0, 50))
def test_the_parts_of_any_path_add_up(made: list[Body], keep: int) -> None:
    found = weigh(Branch(path(*made)), Room(None, None, keep))

    assert sum(section.tokens for section in found.sections) == found.tokens
    assert all(section.tokens >= 0 for section in found.sections)
    sizes = [heavy.tokens for heavy in found.heaviest]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) <= HEAVIEST


def test_without_a_measurement_it_is_the_estimate() -> None:
    talk = (PROMPT, user("x" * 400), said("y" * 40))
    found = weight(*talk)
    estimate = estimate_context(project(Branch(path(*talk))))

    assert found.measured is None
    assert abs(found.tokens - estimate) <= len(FILES) + 1  # each part is rounded by itself
    assert parts(found)["prompts"] == 100


def test_the_last_measured_prompt_weighs_what_the_server_said() -> None:
    found = weight(*TALK)

    assert found.measured == 9000
    assert found.tokens == pytest.approx(9000, rel=0.01)  # that prompt, and one short answer
    assert parts(found)["results: read"] > 6000
    assert (found.heaviest[0].entry, found.heaviest[0].role) == ("e3", "toolResult")


def test_a_hidden_result_weighs_nothing_and_the_others_what_they_did() -> None:
    edits = hiding(Branch(path(*TALK)), [EntryId("e3")], None)
    before, after = weight(*TALK), weight(*TALK, *edits)

    assert after.measured == 9000
    assert after.tokens < before.tokens // 4
    assert parts(after)["prompts"] == parts(before)["prompts"]
    for tool in PROMPT.tools_added:
        name = f"tool schema: {tool.name}"
        assert parts(after)[name] == pytest.approx(parts(before)[name], abs=1)


def test_after_a_compaction_the_old_measurement_scales_and_is_not_the_weight() -> None:
    found = weight(*TALK, kept(None))

    assert found.measured == 9000
    assert found.tokens < 9000 // 4
    assert "results: read" not in parts(found)


def test_a_figure_far_from_any_estimate_is_no_measurement() -> None:
    assert weight(user("x" * 400), said("y", usage=measured(900_000))).measured is None
    assert weight(user("x" * 400), said("y", usage=measured(0))).measured is None


def test_before_the_first_message_there_is_nothing() -> None:
    assert weigh(Branch(()), ROOM) == Weights(0, None, ROOM, (), ())


def test_what_a_compaction_would_keep_is_scaled_as_well() -> None:
    talk = [MessageBody(user("x" * 400)), MessageBody(said("y" * 400)), MessageBody(user("z" * 80))]
    assert weight(*talk, room=Room(None, None, 10)).kept == 20
    assert weight(*talk, room=Room(None, None, 10_000)).kept is None


def test_the_room_of_a_window() -> None:
    assert room_of(None) == Room(None, None, 20_000)
    assert room_of(50_000) == Room(50_000, 10_000, 13_333)
    assert room_of(50_000, 4_000, 12_000, 7) == Room(50_000, 12_000, 7)
