"""Calls and results: each call has one result, right after its message, in the order of the calls.

Servers refuse everything else, and a history with one fault would be refused for ever (S29, S30).
Pairing goes by neighbourhood, not by a map of all ids, because some models count their ids anew in
each message (E20): the results of a call are looked for between its message and the next answer.
The first fitting result wins, so that what was sent once stays as it was when more is appended.
`problems` is the strict check of the same rules; it shares no code with `pair`. Pure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from agentsh.context.wording import NO_RESULT
from agentsh.messages import (
    AssistantBlock,
    AssistantMessage,
    SentMessage,
    Text,
    ToolCall,
    ToolCallId,
    ToolResultMessage,
)

MAX_ID = 40
_ACCEPTABLE = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""What every server takes."""
_NATIVE = re.compile(r"[A-Za-z0-9_.:-]{1,40}")
"""What goes back to the model that gave it: Kimi's `functions.read:0` means something to Kimi."""


def pair(messages: Sequence[SentMessage]) -> list[SentMessage]:
    """Close open calls with an error result, drop results without a call, put the rest in order."""
    sent: list[SentMessage] = []
    calls: Sequence[ToolCall] = ()
    results: list[ToolResultMessage] = []
    others: list[SentMessage] = []
    """What stands behind an answer with calls, up to the next answer."""
    for message in messages:
        if isinstance(message, ToolResultMessage):
            results.append(message)
        elif isinstance(message, AssistantMessage):
            sent += _answers(calls, results)
            sent += others
            sent.append(message)
            calls, results, others = message.tool_calls, [], []
        else:
            others.append(message)
    sent += _answers(calls, results)
    sent += others
    return sent


def _answers(
    calls: Sequence[ToolCall], results: list[ToolResultMessage]
) -> list[ToolResultMessage]:
    if len(calls) == len(results) == 1 and _fits(calls[0], results[0]):
        return results  # most steps
    left = list(results)
    answers: list[ToolResultMessage] = []
    for call in calls:
        fitting = next((r for r in left if r.tool_call_id == call.id), None)
        if fitting is None:
            answers.append(_missing(call))
        else:
            left.remove(fitting)
            same = fitting.tool_name == call.name
            answers.append(fitting if same else replace(fitting, tool_name=call.name))
    return answers


def _fits(call: ToolCall, result: ToolResultMessage) -> bool:
    return (result.tool_call_id, result.tool_name) == (call.id, call.name)


def _missing(call: ToolCall) -> ToolResultMessage:
    return ToolResultMessage(call.id, call.name, (Text(NO_RESULT),), is_error=True)


def with_unique_ids(
    messages: Sequence[SentMessage],
    *,
    short: bool = False,
    is_native: Callable[[AssistantMessage], bool] = lambda message: False,
) -> list[SentMessage]:
    """Paired messages with ids that every server accepts and that occur once in the conversation.

    An id that may stay, stays (E15, E20), and so does one that goes back to the model that gave it
    (`is_native`). Where ids must be `short`, all are made anew. Stored ids never change. Renaming
    looks back only, never ahead, so that appended messages cannot change earlier ids.
    """
    sent: list[SentMessage] = []
    taken: set[str] = set()
    answers: list[ToolCallId] = []
    for message in messages:
        if isinstance(message, ToolResultMessage):
            name = answers.pop(0)
            if name != message.tool_call_id:
                message = replace(message, tool_call_id=name)
        elif isinstance(message, AssistantMessage):
            ids = [block.id for block in message.content if isinstance(block, ToolCall)]
            if short:
                answers = [_short_id(original, taken) for original in ids]
            elif all(map(_ACCEPTABLE.fullmatch, ids)):
                answers = [_free_id(original, taken) for original in ids]
            else:
                allowed = _NATIVE if is_native(message) else _ACCEPTABLE
                answers = [_free_id(_acceptable(each, allowed), taken) for each in ids]
            if answers != ids:
                message = _renamed(message, answers)
        sent.append(message)
    return sent


def _renamed(message: AssistantMessage, names: Sequence[ToolCallId]) -> AssistantMessage:
    left = iter(names)
    blocks: list[AssistantBlock] = [
        replace(block, id=next(left)) if isinstance(block, ToolCall) else block
        for block in message.content
    ]
    return replace(message, content=tuple(blocks))


def _free_id(base: str, taken: set[str]) -> ToolCallId:
    chosen, n = base, 1
    while chosen in taken:
        n += 1
        suffix = f"_{n}"
        chosen = base[: MAX_ID - len(suffix)] + suffix
    taken.add(chosen)
    return ToolCallId(chosen)


def _short_id(original: str, taken: set[str]) -> ToolCallId:
    """Nine hexadecimal digits, a function of the id and of how often it occurred before."""
    for turn in range(len(taken) + 1):
        digest = hashlib.sha256(f"{turn}:{original}".encode("utf-8", "surrogatepass")).hexdigest()
        if digest[:9] not in taken:
            break
    taken.add(digest[:9])
    return ToolCallId(digest[:9])


def _acceptable(original: str, allowed: re.Pattern[str]) -> str:
    if allowed.fullmatch(original):
        return original
    if not original:
        return "call"
    head, bar, _ = original.partition("|")
    # `call_…|fc_…` names one call twice; the first half alone is what other servers take
    if bar and allowed.fullmatch(head):
        return head
    if allowed is _ACCEPTABLE and _NATIVE.fullmatch(original):
        return re.sub(r"[.:]", "_", original)
    return "call_" + hashlib.sha256(original.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def problems(messages: Sequence[SentMessage]) -> tuple[str, ...]:
    """What a strict server would refuse in these messages; empty when they are sound."""
    wrong: list[str] = []
    seen: set[str] = set()
    waiting: list[ToolCall] = []
    for i, message in enumerate(messages):
        if isinstance(message, ToolResultMessage):
            if not waiting:
                wrong.append(f"message {i}: a result for {message.tool_call_id!r} without a call")
                continue
            call = waiting.pop(0)
            if call.id != message.tool_call_id:
                wrong.append(
                    f"message {i}: {message.tool_call_id!r} answers where {call.id!r} waits"
                )
            continue
        if waiting:
            wrong.append(f"message {i}: comes while {[c.id for c in waiting]} have no result")
        waiting = []
        if isinstance(message, AssistantMessage):
            waiting = list(message.tool_calls)
            for call in waiting:
                if call.id in seen or not _NATIVE.fullmatch(call.id):
                    wrong.append(f"message {i}: the id {call.id!r} is not unique or not acceptable")
                seen.add(call.id)
    if waiting:
        wrong.append(f"at the end {[c.id for c in waiting]} have no result")
    return tuple(wrong)
