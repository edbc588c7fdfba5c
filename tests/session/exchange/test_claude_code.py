"""A file of Claude Code: one answer a message, one chain a step, one compaction, its branches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
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
from agentsh.session.exchange.claude_code import read_claude
from agentsh.session.exchange.foreign import Foreign, ForeignEntry
from agentsh.session.format.entries import Compaction, CustomMessage, MessageBody
from tests.session.strategies import json_values

FILE = Path(__file__).parent.parent.parent / "data/claude-code.jsonl"


def lines() -> list[JsonObject]:
    return [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]


def path(foreign: Foreign, name: str | None) -> list[ForeignEntry]:
    entries = {entry.name: entry for entry in foreign.entries}
    found = []
    while name is not None:
        found.append(entries[name])
        name = entries[name].parent
    return found[::-1]


def told(entries: list[ForeignEntry]) -> list[str]:
    words = []
    for entry in entries:
        match entry.body:
            case MessageBody(UserMessage(content)):
                words.append("you: " + "".join(b.text for b in content if isinstance(b, Text)))
            case MessageBody(AssistantMessage() as message):
                words.append("agent: " + message.text)
            case MessageBody(ToolResultMessage(call)):
                words.append(f"result of {call}")
            case Compaction(summary):
                words.append(f"summary: {summary}")
            case CustomMessage(kind):
                words.append(kind)
            case _:
                words.append("?")
    return words


def test_the_path_to_the_leaf_is_the_conversation() -> None:
    foreign = read_claude(lines())

    assert told(path(foreign, foreign.leaf)) == [
        "claude-code.meta",
        "you: How many herons?",
        "agent: I look.",
        "result of toolu_1",
        "result of toolu_2",
        "agent: Four herons.",
        "you: And bitterns?",
        "agent: One bittern.",
        "summary: Herons were counted: four.",
        "you: Thanks. Which is the rarest?",
        "agent: The bittern.",
    ]
    assert (foreign.id[-4:], foreign.cwd, foreign.title) == (
        "c1a0",
        "/home/user/birds",
        "Counting birds",
    )


def test_an_answer_in_several_lines_is_one_message_with_its_usage_once() -> None:
    [answer] = [
        e.body.message
        for e in read_claude(lines()).entries
        if isinstance(e.body, MessageBody)
        and isinstance(e.body.message, AssistantMessage)
        and e.body.message.response_id == "msg_1"
    ]

    assert [type(block) for block in answer.content] == [Thinking, Text, ToolCall, ToolCall]
    assert (answer.stop_reason, answer.usage.input, answer.usage.output) == ("toolUse", 12, 7)
    assert (answer.usage.cache_read, answer.usage.cache_write) == (40, 3)
    assert (answer.api, answer.provider, answer.model) == (
        "anthropic-messages",
        "anthropic",
        "claude-sonnet-4",
    )


def test_signatures_and_redacted_thinking_stay_behind_and_are_counted() -> None:
    foreign = read_claude(lines())

    assert "c2VjcmV0" not in repr(foreign)
    assert "b3BhcXVl" not in repr(foreign)
    assert foreign.dropped == {
        "encrypted reasoning": 2,
        "lines beside the conversation": 1,
        "progress lines": 1,
    }


def test_branches_stay_branches_and_a_subagent_is_one_of_its_own() -> None:
    foreign = read_claude(lines())
    parents = {entry.parent for entry in foreign.entries}
    ends = [entry.name for entry in foreign.entries if entry.name not in parents]

    assert [told(path(foreign, end))[-1] for end in ends] == [
        "agent: Two storks.",
        "agent: No owls.",
        "agent: The bittern.",
    ]
    assert told(path(foreign, "s2")) == ["you: Search for owls", "agent: No owls."]


def test_an_image_and_a_failed_result_come_along() -> None:
    bodies = [
        e.body.message for e in read_claude(lines()).entries if isinstance(e.body, MessageBody)
    ]
    prompt = next(b for b in bodies if isinstance(b, UserMessage))
    failed = [b for b in bodies if isinstance(b, ToolResultMessage) and b.is_error]

    assert prompt.content[1] == Image("aGk=", "image/png")
    assert [(b.tool_name, b.content) for b in failed] == [("Read", (Text("no such file"),))]


def test_a_compaction_says_how_much_was_folded() -> None:
    [body] = [e.body for e in read_claude(lines()).entries if isinstance(e.body, Compaction)]

    assert body == Compaction("Herons were counted: four.", None, 1234)


@given(st.lists(st.sampled_from(range(23)), max_size=30), st.data())
def test_lines_in_any_order_lost_doubled_or_altered_still_give_a_tree(
    order: list[int], data: st.DataObject
) -> None:
    picked = [dict(lines()[n]) for n in order]
    for line in picked[: data.draw(st.integers(0, 3))]:
        line[data.draw(st.sampled_from(sorted(line)))] = data.draw(json_values)

    foreign = read_claude(picked)

    seen: set[str | None] = {None}
    for entry in foreign.entries:
        assert entry.parent in seen
        assert entry.name not in seen
        seen.add(entry.name)
    assert foreign.leaf in seen


@pytest.mark.parametrize(
    "content",
    [
        "<system-reminder>\nnote\n</system-reminder>\n\nCount them.",
        [
            {"type": "text", "text": '<system-reminder data-x="1">note</system-reminder>'},
            {"type": "text", "text": "Count them."},
        ],
    ],
)
def test_what_a_person_asked_behind_a_note_in_one_row_is_a_prompt(content: object) -> None:
    row: JsonObject = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "message": {"role": "user", "content": content},  # type: ignore[dict-item]
    }
    foreign = read_claude([row])
    assert told(path(foreign, foreign.leaf)) == ["claude-code.note", "you: Count them."]
