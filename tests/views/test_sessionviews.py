"""The readings of a session as values."""

from __future__ import annotations

from agentsh.jsontext import JsonObject
from agentsh.messages import (
    BashExecutionMessage,
    SystemMessage,
    Text,
    ToolCallId,
    ToolResultMessage,
)
from agentsh.session.format.entries import (
    Body,
    BranchSummary,
    Compaction,
    Custom,
    Damaged,
    Entry,
    EntryId,
    Label,
    MessageBody,
    ModelChange,
    ThinkingLevelChange,
    Unknown,
)
from agentsh.views.sessionviews import chat_view, raw_view, trace_view
from tests.ui.fakes import answer_entry, call, user_entry

RESULT = ToolResultMessage(ToolCallId("c1"), "bash", (Text("out\x1b[2J"),), is_error=True)


def entry(name: str, body: Body) -> Entry:
    return Entry(EntryId(name), None, "T", body)


PATH = [
    entry("o", Custom("agentsh.session", {"origin": "user"})),
    entry("m", ModelChange("p", "m")),
    entry("t", ThinkingLevelChange("off")),
    entry("s", MessageBody(SystemMessage("be brief"))),
    entry("ts", Custom("agentsh.turn", {"ev": "start", "n": 1})),
    user_entry("u", None, "do [/x]\nit"),
    answer_entry("a", None, "I run it", call("bash", command="ls")),
    entry("r", MessageBody(RESULT)),
    entry("c", Compaction("what was", None, 900)),
    entry("b", BranchSummary("the lesson", "x")),
    entry("!", MessageBody(BashExecutionMessage("pwd", "/x\n", 0))),
    entry("d", Damaged("not JSON")),
    entry("l", Label(EntryId("u"), "here")),
    entry("?", Unknown("later", {"type": "later"})),
    entry("f", Custom("other.thing", {"a": 1})),
]


def test_the_chat_has_what_a_person_reads_in_order() -> None:
    shown = [(i["entry"], i["role"], i["text"]) for i in chat_view(PATH) if isinstance(i, dict)]

    assert shown == [
        ("u", "user", "do [/x]\nit"),
        ("a", "assistant", "I run it"),
        ("r", "toolResult", "out\x1b[2J"),
        ("c", "compaction", "what was"),
        ("b", "branch_summary", "the lesson"),
        ("!", "bashExecution", "pwd\n/x\n"),
        ("d", "damaged", "not JSON"),
    ]


def test_the_trace_has_every_entry_with_its_type() -> None:
    events = [i for i in trace_view(PATH) if isinstance(i, dict)]

    assert [(i["entry"], i["type"]) for i in events] == [
        ("o", "session"),
        ("m", "model_change"),
        ("t", "thinking_level_change"),
        ("s", "system"),
        ("ts", "turn_start"),
        ("u", "user"),
        ("a", "assistant"),
        ("r", "tool_result"),
        ("c", "compaction"),
        ("b", "branch_summary"),
        ("!", "shell"),
        ("d", "damaged"),
        ("l", "label"),
        ("?", "later"),
        ("f", "custom"),
    ]
    assert events[4]["n"] == 1
    calls: list[JsonObject] = [{"id": "c1", "name": "bash", "arguments": {"command": "ls"}}]
    assert events[6]["calls"] == calls


def test_raw_lines_that_parse_are_given_as_they_are() -> None:
    lines = [b'{"type":"a","n":1.0}', b"not json", b"[1]", '{"t":"ü\x07"}'.encode()]

    assert list(raw_view(lines)) == [{"type": "a", "n": 1.0}]
