"""A rollout of Codex: items become messages, a rollback a branch, a compaction one of ours."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agentsh.jsontext import JsonObject, JsonValue
from agentsh.messages import (
    AssistantMessage,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agentsh.session.exchange.codex import is_codex, read_codex
from agentsh.session.format.entries import (
    Compaction,
    MessageBody,
    ModelChange,
    ThinkingLevelChange,
)
from tests.session.exchange.test_claude_code import path, told
from tests.session.strategies import json_values

DATA = Path(__file__).parent.parent.parent / "data"


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
    [folded] = [body for body in bodies if isinstance(body, Compaction)]
    assert folded.summary == "Herons and storks were counted."


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


def _rollout(*items: JsonObject) -> list[JsonObject]:
    meta: JsonObject = {"type": "session_meta", "payload": {"id": "s", "cwd": "/x"}}
    rows: list[JsonObject] = [{"type": "response_item", "payload": item} for item in items]
    return [meta, *rows]


def _message(role: str, text: str) -> JsonObject:
    return {"type": "message", "role": role, "content": [{"type": "text", "text": text}]}


def _retained(rows: list[JsonObject]) -> list[tuple[str, str]]:
    """Role and words of what the last compaction keeps, and what follows it on the path."""
    foreign = read_codex(rows)
    at = path(foreign, foreign.leaf)
    folded = max(n for n, e in enumerate(at) if isinstance(e.body, Compaction))
    body = at[folded].body
    assert isinstance(body, Compaction)
    later = [e.body.message for e in at[folded + 1 :] if isinstance(e.body, MessageBody)]
    kept: list[tuple[str, str]] = []
    for message in (*(body.retained_tail or ()), *later):
        assert isinstance(message, UserMessage | AssistantMessage)
        text = "".join(b.text for b in message.content if isinstance(b, Text))
        kept.append(("user" if isinstance(message, UserMessage) else "assistant", text))
    return kept


def test_two_answers_in_a_row_have_a_blank_line_between_them() -> None:
    rows = _rollout(
        _message("user", "Fix it"),
        _message("assistant", "I look."),
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"},
        _message("assistant", "Fixed."),
    )

    [answer] = [
        e.body.message
        for e in read_codex(rows).entries
        if isinstance(e.body, MessageBody) and isinstance(e.body.message, AssistantMessage)
    ]

    assert answer.text == "I look.\n\nFixed."


def test_a_compaction_that_names_messages_goes_on_from_those() -> None:
    named: list[JsonValue] = [
        _message("user", "<environment_context>x"),
        _message("user", "What to keep"),
        _message("user", "SUMMARY"),
        {"type": "compaction", "encrypted_content": "c2VjcmV0"},
    ]
    rows = _rollout(_message("user", "old"), _message("assistant", "said"))
    payload: JsonObject = {"message": "SUMMARY", "replacement_history": named}
    rows.append({"type": "compacted", "payload": payload})
    rows += _rollout(_message("user", "next"))[1:]

    assert _retained(rows) == [("user", "What to keep"), ("user", "next")]


def test_a_compaction_that_names_none_keeps_the_prompts_that_fit_and_no_answers() -> None:
    rows = _rollout(
        _message("user", "too long " * 10_000),
        _message("user", "one"),
        _message("assistant", "said"),
        _message("user", "two"),
    )
    rows.append({"type": "compacted", "payload": {"message": "SUMMARY"}})
    rows.append({"type": "compacted", "payload": {"message": "SUMMARY of it"}})

    assert _retained(rows) == [("user", "one"), ("user", "two")]


def _events(*payloads: JsonObject) -> list[JsonObject]:
    return [{"type": "event_msg", "payload": payload} for payload in payloads]


def _completed(kind: str, block: str, text: str) -> JsonObject:
    item: JsonObject = {"type": kind, "content": [{"type": block, "text": text}]}
    return {"type": "item_completed", "item": item}


def test_a_file_without_items_says_what_its_events_tell() -> None:
    told_by: list[list[JsonObject]] = [
        [
            {"type": "user_message", "message": "How many?"},
            {"type": "agent_message", "message": "4"},
        ],
        [_completed("UserMessage", "text", "How many?"), _completed("AgentMessage", "Text", "4")],
    ]
    for payloads in told_by:
        foreign = read_codex(_rollout() + _events(*payloads))
        assert told(path(foreign, foreign.leaf)) == ["you: How many?", "agent: 4"]

    both = _events(*told_by[1]) + _rollout(_message("user", "How many?"))[1:]
    foreign = read_codex(_rollout() + both)
    assert told(path(foreign, foreign.leaf)) == ["you: How many?"]
