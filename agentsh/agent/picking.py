"""Brings what another branch, or another session, found to the current leaf: `pick`, and key b.

The text of one entry becomes a message of ours on this path, with its source on record; nothing
else of its branch comes along; or a summary of that branch does. Refused is refused before anything
is written. Read next: agent/summaries/compactor.py.
"""

from __future__ import annotations

from msgspec.structs import replace

from agentsh.agent.summaries.compactor import SummedUp
from agentsh.errors import RefusedError
from agentsh.jsontext import JsonObject
from agentsh.messages import (
    OWN_DETAILS,
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    Text,
    ToolResultMessage,
    UserMessage,
)
from agentsh.session.file.session import Session
from agentsh.session.format.entries import (
    PICKED,
    BranchSummary,
    Compaction,
    CustomMessage,
    Entry,
    EntryId,
    MessageBody,
)


def pick_entry(session: Session, source: Session, target: EntryId) -> Entry:
    """Put the text of an entry of `source` on the path of `session`; durable.

    Raises RefusedError: that entry says nothing, or is on this path already.
    """
    entry = source.entry(target)
    text = said_text(entry)
    if not text.strip():
        raise RefusedError(f"{target} says nothing that could be brought")
    is_own = source is session
    if is_own and target in session.tree.path(session.leaf):
        raise RefusedError(f"{target} is on this path already")
    where = "another branch of this session" if is_own else "another session"
    body = CustomMessage(
        PICKED, (Text(f"(From {where}:)\n\n{text}"),), details=source_details(source, target)
    )
    session.check_writable()
    session.begin()
    made = session.append(body, sources=(target,) if is_own else ())
    session.barrier()
    return made


def place_summary(
    session: Session, source: Session, target: EntryId, summed: SummedUp | None
) -> EntryId:
    """Put the summary of the branch that ends there on this path; durable. Its entry.

    Raises RefusedError for None: nothing was said there that is not here.
    """
    if summed is None:
        raise RefusedError(f"the branch that ends at {target} says nothing that is not here")
    summary, request = summed
    if source is not session:
        details = summary.details if isinstance(summary.details, dict) else {}
        summary = replace(summary, details={**details, **source_details(source, target)})
    entry = session.append(summary, request=request.id)
    session.barrier()
    return entry.id


def source_details(source: Session, target: EntryId) -> JsonObject:
    """What goes on record of where a text came from."""
    return {OWN_DETAILS: {"pick": {"session": source.header.id, "entry": target}}}


def said_text(entry: Entry) -> str:
    """What an entry says in words: no thinking, no calls, no pictures."""
    match entry.body:
        case MessageBody(AssistantMessage() as said):
            return said.text
        case MessageBody(BashExecutionMessage(command=command, output=output)):
            return f"$ {command}\n{output}"
        case (
            MessageBody(
                UserMessage(content=content)
                | ToolResultMessage(content=content)
                | CustomRoleMessage(content=content)
            )
            | CustomMessage(content=content)
        ):
            return "\n".join(block.text for block in content if isinstance(block, Text))
        case Compaction(summary=summary) | BranchSummary(summary=summary):
            return summary
        case _:
            return ""
