"""Agent events in a client's words: their order, the blocks of an answer, waits, and ends."""

from __future__ import annotations

from agentsh.agent.events import (
    AgentEvent,
    ApprovalNeeded,
    CallPart,
    Compacted,
    Compacting,
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
from agentsh.agent.turn.loop import NEARLY_FULL
from agentsh.jsontext import JsonObject, loads_object
from agentsh.messages import Text, ToolCallId, ToolResultMessage, Usage, UserMessage
from agentsh.remote.rpc.events import PiEvents
from agentsh.remote.rpc.records import encode_record
from agentsh.remote.values.rpcrecords import CompactionEndRecord
from agentsh.session.format.entries import Compaction, Entry, EntryId
from tests.ui.fakes import NO_USAGE, answer, call

PROMPT = UserMessage((Text("go"),))
CALL = call("read", path="a.txt")
RESULT = ToolResultMessage(ToolCallId("c1"), "read", (Text("heron"),), is_error=False)


def entry(name: str) -> EntryId:
    return EntryId(name)


def made(target: EntryId) -> Entry:
    return Entry(target, None, "2026-01-01T00:00:00.000Z", Compaction("so far", entry("u"), 900))


def said(*events: AgentEvent) -> list[JsonObject]:
    pi = PiEvents(made, lambda: 4)
    return [loads_object(encode_record(record)) for event in events for record in pi.of(event)]


def kinds(records: list[JsonObject]) -> list[object]:
    return [record["type"] for record in records]


def updates(records: list[JsonObject]) -> list[tuple[object, ...]]:
    """(type, block, what it brings) of each update."""
    inner = [r["assistantMessageEvent"] for r in records if r["type"] == "message_update"]
    events = [each for each in inner if isinstance(each, dict)]
    return [
        (e["type"], e["contentIndex"], e.get("delta", e.get("content", e.get("toolName"))))
        for e in events
    ]


def end(reason: str = "completed", error: str | None = None) -> TurnEnd:
    return TurnEnd(reason, entry("e"), entry("a"), NO_USAGE, error)  # type: ignore[arg-type]


BEGIN = (TurnStart(PROMPT, entry("u")), StepStart(1, "m"))
STEP = StepEnd(1, NO_USAGE, 100, 8000)


def test_a_turn_with_a_call_comes_in_pis_order() -> None:
    records = said(
        *BEGIN,
        MessageDone(answer("", CALL), entry("a1")),
        ToolStart(CALL, entry("s")),
        ToolProgress(CALL, "her"),
        ToolEnd(CALL, RESULT, entry("r")),
        STEP,
        StepStart(2, "m"),
        TextPart("one"),
        MessageDone(answer("one"), entry("a2")),
        STEP,
        end(),
    )

    assert kinds(records) == [
        *("agent_start", "turn_start", "message_start", "message_end"),
        *("message_start", "message_end"),
        *("tool_execution_start", "tool_execution_update", "tool_execution_end"),
        *("message_start", "message_end", "turn_end", "turn_start"),
        *("message_start", "message_update", "message_update", "message_update", "message_end"),
        *("turn_end", "agent_end"),
    ]
    ends = [record for record in records if record["type"] == "message_end"]
    assert [record["entryId"] for record in ends] == ["u", "a1", "r", "a2"]
    assert records[-1]["messages"] == [record["message"] for record in ends]
    first = next(record for record in records if record["type"] == "turn_end")
    assert first["message"] == ends[1]["message"]
    assert first["toolResults"] == [ends[2]["message"]]


def test_the_blocks_of_an_answer_are_numbered_and_end_whole() -> None:
    records = said(
        *BEGIN,
        ThinkingPart("hm"),
        ThinkingPart("m"),
        TextPart("I "),
        TextPart("look"),
        CallPart(0, "read", '{"pa'),
        CallPart(1, "ls", ""),
        CallPart(0, "read", 'th":1}'),
        MessageDone(answer("I look", CALL, call("ls", "c2")), entry("a")),
    )

    assert updates(records) == [
        ("thinking_start", 0, None),
        ("thinking_delta", 0, "hm"),
        ("thinking_delta", 0, "m"),
        ("thinking_end", 0, "hmm"),
        ("text_start", 1, None),
        ("text_delta", 1, "I "),
        ("text_delta", 1, "look"),
        ("text_end", 1, "I look"),
        ("toolcall_start", 2, "read"),
        ("toolcall_delta", 2, '{"pa'),
        ("toolcall_start", 3, "ls"),
        ("toolcall_delta", 2, 'th":1}'),
        ("toolcall_end", 2, None),
        ("toolcall_end", 3, None),
    ]
    assert kinds(records)[-1] == "message_end"


def test_what_broke_off_begins_anew_and_the_repeat_has_an_end() -> None:
    records = said(
        *BEGIN,
        ThinkingPart("hm"),
        Restarted(),
        Retry(1, 1.5, "overloaded"),
        TextPart("fine"),
        MessageDone(answer("fine"), entry("a")),
    )

    assert kinds(records)[4:] == [
        *("message_start", "message_update", "message_update"),
        "auto_retry_start",
        *("message_start", "message_update", "message_update", "message_update", "message_end"),
        "auto_retry_end",
    ]
    assert updates(records)[2:4] == [("text_start", 0, None), ("text_delta", 0, "fine")]
    start, over = (record for record in records if "retry" in str(record["type"]))
    assert start == {
        "type": "auto_retry_start",
        "attempt": 1,
        "maxAttempts": 4,
        "delayMs": 1500,
        "errorMessage": "overloaded",
    }
    assert over == {"type": "auto_retry_end", "success": True, "attempt": 1}


def test_a_failure_that_no_repeat_helped_says_why() -> None:
    failed = answer("", stop="error")
    records = said(
        *BEGIN,
        Retry(1, 0.5, "no"),
        MessageDone(failed, entry("a")),
        end("error", "no such thing"),
    )

    assert kinds(records)[4:] == [
        *("auto_retry_start", "message_start", "message_end"),
        *("auto_retry_end", "turn_end", "agent_end"),
    ]
    assert records[7]["finalError"] == "no such thing"


def test_a_step_that_was_stopped_before_its_answer_has_an_end_all_the_same() -> None:
    records = said(*BEGIN, end("aborted"))

    assert kinds(records)[4:] == ["turn_end", "agent_end"]
    message = records[4]["message"]
    assert isinstance(message, dict)
    assert (message["role"], message["stopReason"]) == ("assistant", "aborted")


def test_a_steer_stands_within_the_turn_that_it_goes_with() -> None:
    records = said(
        *BEGIN,
        MessageDone(answer("one"), entry("a")),
        STEP,
        Steered(UserMessage((Text("left"),)), entry("s")),
        StepStart(2, "m"),
    )

    assert kinds(records)[6:] == ["turn_end", "turn_start", "message_start", "message_end"]


def test_a_compaction_says_why_and_what_came_of_it() -> None:
    records = said(
        Compacting(1000, NEARLY_FULL),
        Retry(1, 1.0, "busy"),
        Compacted(entry("c"), 1000, 300, usage=Usage(input=9)),
        Compacting(1000, "the prompt is too long"),
        Compacted(None, 1000, 1000, "no room"),
        Compacting(1000),
    )

    assert kinds(records) == [
        *("compaction_start", "summarization_retry_scheduled", "compaction_end", "leaf_changed"),
        *("compaction_start", "compaction_end", "compaction_start"),
    ]
    assert [r["reason"] for r in records if r["type"] == "compaction_start"] == [
        *("threshold", "overflow", "manual"),
    ]
    result = records[2]["result"]
    assert isinstance(result, dict)
    assert (result["summary"], result["firstKeptEntryId"]) == ("so far", "u")
    assert (result["tokensBefore"], result["estimatedTokensAfter"]) == (1000, 300)
    assert (records[5]["errorMessage"], records[5]["willRetry"]) == ("no room", False)


def test_a_compaction_that_fails_outside_of_a_turn_ends_too() -> None:
    pi = PiEvents(made, lambda: 4)
    pi.of(Compacting(1000))

    assert [*map(type, pi.failed("nobody answers"))] == [CompactionEndRecord]
    assert pi.failed("nobody answers") == []


def test_what_a_person_should_read_is_a_notice() -> None:
    records = said(Notice("careful", "warning"), ApprovalNeeded(CALL, "a.txt", "@edit a.txt"))

    assert records[0] == {"type": "notice", "level": "warning", "text": "careful"}
    assert "--allow" in str(records[1]["text"])
