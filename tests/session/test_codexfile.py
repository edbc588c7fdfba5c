"""A rollout of Codex: items become messages, a rollback a branch, a compaction one of ours."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agentsh.jsontext import JsonObject
from agentsh.messages import (
    AssistantMessage,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agentsh.session.codexfile import is_codex, read_codex
from agentsh.session.entries import (
    Compaction,
    MessageBody,
    ModelChange,
    ThinkingLevelChange,
)
from tests.session.strategies import json_values
from tests.session.test_claudefile import path, told

DATA = Path(__file__).parent.parent / "data"


def lines(name: str = "codex.jsonl") -> list[JsonObject]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def messages(name: str = "codex.jsonl") -> list[object]:
    entries = read_codex(lines(name)).entries
    return [e.body.message for e in entries if isinstance(e.body, MessageBody)]


def test_the_path_to_the_leaf_is_the_conversation_after_the_rollback() -> None:
    foreign = read_codex(lines())

    assert told(path(foreign, foreign.leaf))[2:] == [
        "you: How many herons?",
        "agent: ",
        "result of call_1",
        "result of call_2",
        "agent: Four herons.",
        "you: Count the storks.",
        "agent: ",
        "result of call_4",
        "agent: Two storks.",
        "summary: Herons and storks were counted.",
        "you: And bitterns?",
        "agent: One.",
    ]
    assert (foreign.id[-4:], foreign.cwd, foreign.time) == (
        "c0de",
        "/home/user/birds",
        "2026-04-01T09:00:00.000Z",
    )


def test_what_was_rolled_back_is_a_branch() -> None:
    foreign = read_codex(lines())
    parents = {entry.parent for entry in foreign.entries}
    ends = [entry.name for entry in foreign.entries if entry.name not in parents]

    assert [told(path(foreign, end))[-1] for end in ends] == ["agent: Drawn.", "agent: One."]


def test_model_and_effort_are_changes() -> None:
    bodies = [entry.body for entry in read_codex(lines()).entries]

    assert bodies[:2] == [ModelChange("openai", "gpt-5-codex"), ThinkingLevelChange("medium")]
    assert Compaction("Herons and storks were counted.", None, 0) in bodies


def test_what_the_model_said_until_an_answer_is_one_message() -> None:
    first = next(m for m in messages() if isinstance(m, AssistantMessage))

    assert [type(block) for block in first.content] == [Thinking, ToolCall, ToolCall]
    assert first.tool_calls[0].arguments == {"command": ["bash", "-lc", "cat birds.txt"]}
    assert first.tool_calls[1].raw_arguments == '{"command":["false"]'
    assert first.tool_calls[1].arguments == {}
    assert (first.usage.input, first.usage.cache_read, first.usage.output) == (40, 60, 20)
    assert (first.api, first.model, first.stop_reason) == (
        "openai-responses",
        "gpt-5-codex",
        "toolUse",
    )


def test_results_say_whether_they_failed_and_may_hold_images() -> None:
    results = [m for m in messages() if isinstance(m, ToolResultMessage)]

    assert [(m.tool_name, m.is_error) for m in results] == [
        ("shell", False),
        ("shell", True),
        ("apply_patch", False),
        ("shell", False),
    ]
    assert results[0].content == (Text("heron 4\n"),)
    assert results[3].content == (Text("3 birds.txt"), Image("aGk=", "image/png"))


def test_encrypted_reasoning_and_the_other_programs_own_words_stay_behind() -> None:
    foreign = read_codex(lines())

    assert "gAAAAB" not in repr(foreign)
    assert "environment_context" not in repr(foreign)
    assert foreign.dropped == {
        "encrypted reasoning": 1,
        "ghost_snapshot items": 1,
        "instructions and notes of the other program": 2,
    }


def test_an_old_file_of_bare_items_is_read() -> None:
    assert is_codex(lines("codex-old.jsonl")[0])
    foreign = read_codex(lines("codex-old.jsonl"))

    assert told(path(foreign, foreign.leaf)) == ["you: hello", "agent: hello back"]
    assert foreign.id == "old-1"


def test_a_link_to_an_image_is_words_for_nothing_is_loaded() -> None:
    item = {"type": "input_image", "image_url": "https://example.com/x.png"}
    line: JsonObject = {
        "timestamp": "2026-04-01T09:00:00.000Z",
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [item]},
    }
    [entry] = read_codex([line]).entries

    assert isinstance(entry.body, MessageBody)
    assert isinstance(entry.body.message, UserMessage)
    assert entry.body.message.content == (Text("[an image that is not in the file]"),)


@given(st.lists(st.sampled_from(range(26)), max_size=40), st.data())
def test_lines_in_any_order_or_altered_still_give_a_tree(
    order: list[int], data: st.DataObject
) -> None:
    picked = [json.loads(json.dumps(lines()[n])) for n in order]
    for line in picked[: data.draw(st.integers(0, 3))]:
        holder = data.draw(st.sampled_from([line, line.get("payload") or line]))
        holder[data.draw(st.sampled_from(sorted(holder)))] = data.draw(json_values)

    foreign = read_codex(picked)

    seen: set[str | None] = {None}
    for entry in foreign.entries:
        assert entry.parent in seen
        seen.add(entry.name)
    assert foreign.leaf in seen
