"""A session that was → what an editor is shown of it, as if it happened now.

The whole path, what a compaction folded too. A prompt reads as it was typed; each call has its end,
and one that a crash cut off has failed. Read next: updates.py, session/format/entries.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentsh.agent.driven.host import ReadableSession
from agentsh.agent.prompts.expansion import typed_text
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolCallId,
    ToolResultMessage,
    UserMessage,
)
from agentsh.remote.acp.shown.calls import asked_differences, image_block, words_content
from agentsh.remote.acp.shown.updates import (
    CallIds,
    Update,
    call_end,
    call_start,
    progress,
    said,
    said_by_person,
    shown_by_person,
    thought,
)
from agentsh.session.format.entries import BranchSummary, CustomMessage, Entry, MessageBody
from agentsh.views.describe import blocks_text
from agentsh.views.fences import fenced


def replayed(session: ReadableSession, ids: CallIds, folder: str) -> Iterator[Update]:
    """All of the path. `ids`: of the session's calls, those that come included."""
    calls: dict[str, ToolCall] = {}
    for entry in session.branch().entries:
        match entry.body:
            case MessageBody(UserMessage(content)):
                yield from _prompt(session, entry, content)
            case MessageBody(AssistantMessage() as message):
                yield from _answer(message, calls, ids, folder)
            case MessageBody(ToolResultMessage() as result):
                yield from _result(result, calls, ids, folder)
            case MessageBody(BashExecutionMessage() as ran):
                yield from _command(entry, ran, ids, folder)
            case CustomMessage(_, content, display) if display:
                yield said_by_person(blocks_text(content))
            case BranchSummary(summary=summary):
                yield thought(f"(What was tried on a branch that was left: {summary})")
            case _:
                continue
    for name in ids.end_all():
        yield progress(name, "failed", [words_content("(cut off: nothing came of it)")])


def _prompt(
    session: ReadableSession, entry: Entry, content: tuple[Text | Image, ...]
) -> Iterator[Update]:
    typed = typed_text(session, entry)
    if typed is not None:
        yield said_by_person(typed)
    for block in content:
        match block:
            case Text(text) if typed is None:
                yield said_by_person(text)
            case Image():
                yield shown_by_person(image_block(block))
            case _:
                continue


def _answer(
    message: AssistantMessage, calls: dict[str, ToolCall], ids: CallIds, folder: str
) -> Iterator[Update]:
    for block in message.content:
        match block:
            case Thinking(text) if text:
                yield thought(text)
            case Text(text) if text:
                yield said(text)
            case ToolCall() as call:
                calls[call.id] = call
                yield call_start(ids.begin(call), call, folder)
            case _:
                continue


def _result(
    result: ToolResultMessage, calls: dict[str, ToolCall], ids: CallIds, folder: str
) -> Iterator[Update]:
    call, name = calls.get(result.tool_call_id), ids.end(result.tool_call_id)
    if call is None or name is None:
        return  # of a call that is not on the path
    change = [] if result.is_error else asked_differences(call, folder)
    yield call_end(name, call, result, folder, change)


def _command(
    entry: Entry, ran: BashExecutionMessage, ids: CallIds, folder: str
) -> Iterator[Update]:
    """A command that the person ran."""
    call = ToolCall(ToolCallId(f"person-{entry.id}"), "bash", {"command": ran.command})
    name = ids.begin(call)
    yield call_start(name, call, folder)
    ids.end(call.id)
    is_good = ran.exit_code == 0 and not ran.cancelled
    yield progress(name, "completed" if is_good else "failed", [words_content(fenced(ran.output))])
