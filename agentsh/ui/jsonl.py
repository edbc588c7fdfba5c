"""`run --output events` and `--output json`: JSON for scripts, in the contract's stable names.

Events: one line each, flushed at once; `session` first, `done` last; `entry` where it is stored.
JSON: one value when the turn is over. Text is given as it came (JSON escapes what a terminal would
obey). Names here are public: add members, never change one. Read next: agent/events.py.
"""

from __future__ import annotations

from typing import TextIO, assert_never

from msgspec import Struct, field

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
from agentsh.jsontext import JsonObject, dumps_text
from agentsh.messages import Usage
from agentsh.ui.describe import blocks_text


class SessionLine(Struct, frozen=True):
    """The first line: which session this is."""

    id: str
    path: str | None
    cwd: str
    model: str
    leaf: str | None
    context_files: tuple[str, ...] = ()


class DoneLine(Struct, frozen=True):
    """The last line: how it ended. `status` is the turn's reason, `exit` the process's code."""

    status: str
    leaf: str | None
    usage: Usage
    exit: int
    error: str | None = None


class EventLines:
    """`--output events`."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def session(self, line: SessionLine) -> None:
        self._write({"type": "session", **session_json(line)})

    def show(self, event: AgentEvent) -> None:
        value = event_json(event)
        if value is not None:
            self._write(value)

    def done(self, line: DoneLine) -> None:
        self._write({"type": "done", **done_json(line)})

    def _write(self, value: JsonObject) -> None:
        self._out.write(dumps_text(value) + "\n")
        self._out.flush()


class JsonSummary(Struct):
    """`--output json`: collects a turn, then gives one value."""

    out: TextIO
    _session: JsonObject = field(default_factory=dict)
    _text: list[str] = field(default_factory=list)
    _steps: int = 0

    def session(self, line: SessionLine) -> None:
        self._session = session_json(line)

    def show(self, event: AgentEvent) -> None:
        """The text is that of the last answer: what the turn was about."""
        match event:
            case MessageDone(message):
                self._text = [message.text]
            case StepStart():
                self._steps += 1
            case _:
                pass

    def done(self, line: DoneLine) -> None:
        value: JsonObject = {
            "session": self._session.get("id"),
            **{k: v for k, v in self._session.items() if k not in ("id", "leaf")},
            "text": "".join(self._text),
            "steps": self._steps,
            **done_json(line),
        }
        self.out.write(dumps_text(value) + "\n")
        self.out.flush()


def session_json(line: SessionLine) -> JsonObject:
    return {
        "id": line.id,
        "path": line.path,
        "cwd": line.cwd,
        "model": line.model,
        "leaf": line.leaf,
        "context_files": list(line.context_files),
    }


def done_json(line: DoneLine) -> JsonObject:
    value: JsonObject = {
        "status": line.status,
        "leaf": line.leaf,
        "usage": usage_json(line.usage),
        "cost": line.usage.cost.total,
        "exit": line.exit,
    }
    if line.error is not None:
        value["error"] = line.error
    return value


def usage_json(usage: Usage) -> JsonObject:
    return {
        "input": usage.input,
        "output": usage.output,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "reasoning": usage.reasoning,
        "total_tokens": usage.total_tokens,
    }


def event_json(event: AgentEvent) -> JsonObject | None:
    """The line of one event; None for what is for a screen only. Pure."""
    match event:
        case TextPart(text):
            return {"type": "text", "text": text}
        case ThinkingPart(text):
            return {"type": "thinking", "text": text}
        case CallPart() | ToolProgress():
            return None
        case TurnStart() | Steered() | MessageDone() | Restarted() | StepStart() | StepEnd():
            return _message_json(event)
        case ToolStart() | ToolEnd() | ApprovalNeeded():
            return _tool_json(event)
        case Retry() | Compacting() | Compacted() | Notice() | TurnEnd():
            return _status_json(event)
        case _:
            assert_never(event)


def _status_json(event: Retry | Compacting | Compacted | Notice | TurnEnd) -> JsonObject:
    match event:
        case Retry(attempt, seconds, error):
            return {"type": "retry", "attempt": attempt, "seconds": seconds, "error": error}
        case Compacting(tokens, why):
            return {"type": "compaction_start", "tokens": tokens, "why": why}
        case Compacted(entry, before, after, failure):
            return {
                "type": "compaction",
                "entry": entry,
                "tokens_before": before,
                "tokens_after": after,
                "error": failure,
            }
        case Notice(text, level):
            return {"type": "notice", "level": level, "text": text}
        case TurnEnd(reason, entry, leaf, usage, failure, _):
            return {
                "type": "turn_end",
                "reason": reason,
                "entry": entry,
                "leaf": leaf,
                "usage": usage_json(usage),
                "error": failure,
            }


def _message_json(
    event: TurnStart | Steered | MessageDone | Restarted | StepStart | StepEnd,
) -> JsonObject:
    match event:
        case TurnStart(message, entry):
            return {"type": "turn_start", "entry": entry, "prompt": blocks_text(message.content)}
        case Steered(message, entry):
            return {"type": "steer", "entry": entry, "prompt": blocks_text(message.content)}
        case StepStart(number, model, entry):
            return {"type": "step_start", "number": number, "model": model, "entry": entry}
        case MessageDone(message, entry):
            return {
                "type": "message",
                "entry": entry,
                "stop_reason": message.stop_reason,
                "error": message.error_message,
            }
        case Restarted():
            return {"type": "restart"}
        case StepEnd(number, usage, tokens, window):
            return {
                "type": "step_end",
                "number": number,
                "usage": usage_json(usage),
                "context_tokens": tokens,
                "context_window": window,
            }


def _tool_json(event: ToolStart | ToolEnd | ApprovalNeeded) -> JsonObject:
    call = event.call
    match event:
        case ToolStart(entry=entry):
            return {
                "type": "tool_call",
                "id": call.id,
                "name": call.name,
                "arguments": call.arguments,
                "entry": entry,
            }
        case ToolEnd(result=result, entry=entry):
            return {
                "type": "tool_result",
                "id": call.id,
                "name": call.name,
                "is_error": result.is_error,
                "content": blocks_text(result.content),
                "entry": entry,
            }
        case ApprovalNeeded(shown=shown, rule_hint=hint):
            return {
                "type": "approval",
                "id": call.id,
                "name": call.name,
                "shown": shown,
                "allow": hint or None,
            }
