"""What a resumed session shows: its last messages, as they looked when they were said.

Takes the branch that the session can give without reading all of it. Long histories are cut to the
last messages, with a line that says so; the tree has the rest. Read next: transcript.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    Thinking,
    ToolCall,
    ToolCallId,
    ToolResultMessage,
    UserMessage,
)
from agentsh.session.format.entries import (
    Branch,
    BranchSummary,
    Compaction,
    CustomMessage,
    Entry,
    MessageBody,
)
from agentsh.ui.paper.cards import shell_card
from agentsh.ui.paper.render import Renderer
from agentsh.ui.paper.transcript import Transcript
from agentsh.views.describe import blocks_text, shown_prompt
from agentsh.views.treeitem import is_stop

MESSAGES_SHOWN = 60


def show_backlog(
    branch: Branch, transcript: Transcript, renderer: Renderer, messages: int = MESSAGES_SHOWN
) -> None:
    """Feed the end of a branch into the transcript."""
    shown = [e for e in branch.entries if _is_shown(e)]
    left_out = len(shown) - messages
    if left_out > 0:
        shown = shown[left_out:]
        transcript.say(f"… {left_out} earlier messages (/tree shows everything)")
    elif not branch.complete:
        transcript.say("… earlier messages (/tree shows everything)")
    calls = {call.id: call for e in branch.entries for call in _calls_of(e)}
    before: Entry | None = None
    for entry in shown:
        if not is_stop(entry):
            _replay_entry(entry, transcript, renderer, calls)
        elif before is None or not _was_aborted(before):
            transcript.say("stopped", "warn")
        before = entry


def _is_shown(entry: Entry) -> bool:
    match entry.body:
        case MessageBody(
            UserMessage()
            | AssistantMessage()
            | ToolResultMessage()
            | BashExecutionMessage()
            | CustomRoleMessage(display=True)
        ):
            return True
        case Compaction() | BranchSummary() | CustomMessage(display=True):
            return True
        case _:
            return is_stop(entry)


def _calls_of(entry: Entry) -> Sequence[ToolCall]:
    """Of what is left out, too: a result that is shown may be that of an earlier call."""
    body = entry.body
    if isinstance(body, MessageBody) and isinstance(body.message, AssistantMessage):
        return body.message.tool_calls
    return ()


def _was_aborted(entry: Entry) -> bool:
    """An answer that says so itself."""
    body = entry.body
    return (
        isinstance(body, MessageBody)
        and isinstance(body.message, AssistantMessage)
        and body.message.stop_reason == "aborted"
    )


def _replay_entry(
    entry: Entry, transcript: Transcript, renderer: Renderer, calls: Mapping[ToolCallId, ToolCall]
) -> None:
    match entry.body:
        case MessageBody(UserMessage(content)):
            transcript.add(renderer.user(shown_prompt(content)))
        case MessageBody(AssistantMessage() as message):
            transcript.thought(thinking_of(message), None)
            if message.text.strip():
                transcript.markdown(message.text)
            if message.stop_reason == "aborted":
                transcript.say("stopped", "warn")
            elif message.error_message:
                transcript.say(f"error: {message.error_message}", "error")
        case MessageBody(ToolResultMessage() as result):
            call = calls.get(result.tool_call_id) or ToolCall(
                result.tool_call_id, result.tool_name, {}
            )
            seconds = None if result.duration_ms is None else result.duration_ms / 1000
            transcript.card(call, result, seconds)
        case MessageBody(BashExecutionMessage() as message):
            transcript.add(shell_card(renderer, message))
        case MessageBody(CustomRoleMessage(content=content)) | CustomMessage(content=content):
            transcript.add(renderer.user(blocks_text(content)))
        case Compaction(summary=summary):
            transcript.say("what came before was compacted to:")
            transcript.markdown(summary)
        case BranchSummary(summary=summary):
            transcript.say("what was left in the tree, in short:")
            transcript.markdown(summary)
        case _:
            pass


def thinking_of(message: AssistantMessage) -> str:
    return "\n\n".join(
        b.thinking for b in message.content if isinstance(b, Thinking) and b.thinking
    )
