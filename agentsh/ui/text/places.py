"""Where one is in a session, in a person's words: prompts, times, what came of them. Pure.

An id is a word of the house: it stands beside these words where somebody may want to copy it, and
never in their place. Read next: differences.py, ui/chat/navigation.py.
"""

from __future__ import annotations

from agentsh.agent.moving import Moved
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    ToolResultMessage,
    UserMessage,
)
from agentsh.sanitize import first_line, safe_line
from agentsh.session.file.resolve import last_said
from agentsh.session.format.entries import (
    Branch,
    BranchSummary,
    Compaction,
    Entry,
    EntryId,
    MessageBody,
)
from agentsh.session.format.times import local_minute
from agentsh.views.describe import message_line

BEGINNING = "before the first prompt"
_MOST = 60


def before_prompt(text: str) -> str:
    """Before a prompt, which is in the editor again."""
    return f"before your prompt {_quoted(first_line(text, _MOST))}"


def where_now(moved: Moved, branch: Branch) -> str:
    """What a move led to; `branch` is that of the new leaf."""
    if moved.editor_text is not None:
        return before_prompt(moved.editor_text)
    return said_last(branch)[0]


def said_last(branch: Branch) -> tuple[str, EntryId | None]:
    """Where the branch ends, and the id of what was said last there."""
    said = last_said(branch.entries)
    return after_entry(next((entry for entry in branch.entries if entry.id == said), None)), said


def after_entry(entry: Entry | None) -> str:
    """Behind what was said last there; None: nothing was."""
    if entry is None:
        return BEGINNING
    return f"after {said_words(entry)}"


def said_words(entry: Entry) -> str:
    """One entry: what it is, how it begins, when it was said."""
    return f"{_what(entry)} of {local_minute(entry.time)}"


def _what(entry: Entry) -> str:
    match entry.body:
        case MessageBody(UserMessage() as message):
            return f"your prompt {_quoted(message_line(message, _MOST))}"
        case MessageBody(AssistantMessage(tool_calls=[call, *_]) as message) if not message.text:
            return f"a call of {safe_line(call.name, 40)}"
        case MessageBody(AssistantMessage() as message):
            return f"the answer {_quoted(message_line(message, _MOST))}"
        case MessageBody(ToolResultMessage(tool_name=name)):
            return f"a result of {safe_line(name, 40)}"
        case MessageBody(BashExecutionMessage(command)):
            return f"your command {_quoted(first_line(command, _MOST))}"
        case Compaction():
            return "the summary of what came before"
        case BranchSummary():
            return "the summary of a branch"
        case _:
            return "what was said"


def _quoted(words: str) -> str:
    return f"“{words}”"
