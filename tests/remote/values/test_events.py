"""`--output events` and `--output json`."""

from __future__ import annotations

import io
import json

import pytest
from msgspec import to_builtins

from agentsh.agent.events import (
    AgentEvent,
    ApprovalNeeded,
    CallPart,
    Compacted,
    MessageDone,
    Notice,
    Restarted,
    Retry,
    Steered,
    StepEnd,
    StepStart,
    TextPart,
    ThinkingPart,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from agentsh.messages import Cost, Text, ToolResultMessage, Usage, UserMessage
from agentsh.remote.values.events import EventLines, JsonSummary
from agentsh.remote.values.lines import SessionLine, done_line, event_line
from agentsh.session.format.entries import EntryId
from tests.ui.fakes import NO_USAGE, answer, call

LS = call("ls", path=".")
RESULT = ToolResultMessage(LS.id, "ls", (Text("a\nb"),), is_error=False)
SESSION = SessionLine("id", "/f.jsonl", "/proj", "m", None, ("AGENTS.md",))
GO = UserMessage((Text("go"),))
E = EntryId("e")


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (TurnStart(GO, E), {"type": "turn_start", "entry": "e", "prompt": "go"}),
        (Steered(GO, E), {"type": "steer", "entry": "e", "prompt": "go"}),
        (
            StepStart(1, "m", E),
            {"type": "step_start", "number": 1, "model": "m", "entry": "e"},
        ),
        (TextPart("hi\x1b"), {"type": "text", "text": "hi\x1b"}),
        (ThinkingPart("hm"), {"type": "thinking", "text": "hm"}),
        (Restarted(), {"type": "restart"}),
        (
            ToolStart(LS, E),
            {
                "type": "tool_call",
                "id": "c1",
                "name": "ls",
                "arguments": {"path": "."},
                "entry": "e",
            },
        ),
        (
            ToolEnd(LS, RESULT, E),
            {
                "type": "tool_result",
                "id": "c1",
                "name": "ls",
                "is_error": False,
                "content": "a\nb",
                "entry": "e",
                "refused": False,
            },
        ),
        (
            ApprovalNeeded(LS, "ls .", "ls"),
            {"type": "approval", "id": "c1", "name": "ls", "shown": "ls .", "allow": "ls"},
        ),
        (Retry(1, 2.5, "busy"), {"type": "retry", "attempt": 1, "seconds": 2.5, "error": "busy"}),
        (Notice("careful"), {"type": "notice", "level": "info", "text": "careful"}),
        (
            Compacted(E, 10, 5),
            {
                "type": "compaction",
                "entry": "e",
                "tokens_before": 10,
                "tokens_after": 5,
                "error": None,
            },
        ),
        (
            MessageDone(answer("x"), E),
            {"type": "message", "entry": "e", "stop_reason": "stop", "error": None},
        ),
        (ToolProgress(LS, "half"), None),
        (CallPart(0, "ls", "{"), None),
    ],
)
def test_the_line_of_each_event(event: AgentEvent, shown: object) -> None:
    line = event_line(event)
    assert (None if line is None else to_builtins(line)) == shown


def test_a_run_as_lines_begins_with_its_session_and_ends_with_done() -> None:
    out = io.StringIO()
    lines = EventLines(out)
    lines.session(SESSION)
    for event in (StepEnd(1, NO_USAGE, 100, None), TurnEnd("completed", E, E, NO_USAGE)):
        lines.show(event)
    lines.done(done_line(TurnEnd("completed", E, E, Usage(output=1, cost=Cost(total=0.5))), 0))
    values = [json.loads(line) for line in out.getvalue().splitlines()]

    assert [v["type"] for v in values] == ["session", "step_end", "turn_end", "done"]
    assert {"id", "path", "cwd", "model", "leaf"} <= values[0].keys()
    assert values[-1] | {"usage": None} == {
        "type": "done",
        "status": "completed",
        "leaf": "e",
        "usage": None,
        "cost": 0.5,
        "exit": 0,
    }


def test_a_run_as_one_value_has_the_last_answer() -> None:
    out = io.StringIO()
    summary = JsonSummary(out)
    summary.session(SESSION)
    for event in (
        StepStart(1, "m"),
        MessageDone(answer("I look"), E),
        StepStart(2, "m"),
        MessageDone(answer("It is so"), E),
    ):
        summary.show(event)
    summary.done(done_line(TurnEnd("error", E, E, NO_USAGE, "the server's words"), 1))
    value = json.loads(out.getvalue())

    assert (value["session"], value["text"], value["steps"]) == ("id", "It is so", 2)
    assert (value["status"], value["exit"], value["error"]) == ("error", 1, "the server's words")
