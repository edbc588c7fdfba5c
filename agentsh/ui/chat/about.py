"""What `/session` says: which session this is, where it lies, how large it is, where one is in it.

Reads the session; the counts are one pass over all of its entries. Read next: actions.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from agentsh.agent.driven.host import ReadableSession
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    SystemMessage,
    ToolResultMessage,
    UserMessage,
)
from agentsh.sanitize import safe_line
from agentsh.session.format.entries import (
    BranchSummary,
    Compaction,
    CustomMessage,
    Entry,
    EntryId,
    MessageBody,
)
from agentsh.shellwords import shell_word
from agentsh.ui.text.places import said_last

_ONE_OF = ("prompt", "answer", "call", "command", "summary", "branch")
_SEVERAL = {"summary": "summaries", "branch": "branches"}


def session_text(session: ReadableSession, *, counted: bool) -> str:
    """Lines to be shown as they are: a path is one of them, whole. `counted`: with the counts."""
    where, leaf = said_last(session.live())
    lines: list[tuple[str, str]] = [("session", session.header.id)]
    lines += [("name", safe_line(name))] if (name := session.tree.name) else []
    if session.path is None:
        lines.append(("file", "(not saved yet)"))
    else:
        lines += [("file", shell_word(str(session.path))), ("size", _size(session))]
    if counted:
        lines.append(("holds", counts_text(session.entries())))
    if (parent := session.header.parent_session) is not None:
        lines.append(("fork of", shell_word(parent)))
    lines += [("folder", shell_word(session.header.cwd)), ("you are", where)]
    lines += [("entry", leaf)] if leaf is not None else []
    return "\n".join(f"{name:<9}{value}" for name, value in lines)


def counts_text(entries: Iterable[Entry]) -> str:
    """`2 prompts, 2 answers, 5 calls, 1 branch`."""
    counts: Counter[str] = Counter()
    nearest: dict[EntryId, EntryId | None] = {}
    """Of each entry the last said one on its path."""
    ends: set[EntryId] = set()
    for entry in entries:
        above = None if entry.parent is None else nearest.get(entry.parent)
        kind = _kind(entry)
        nearest[entry.id] = above if kind is None else entry.id
        if kind is None:
            continue
        ends.discard(above) if above is not None else None
        ends.add(entry.id)
        counts[kind] += 1
        if isinstance(entry.body, MessageBody) and isinstance(entry.body.message, AssistantMessage):
            counts["call"] += len(entry.body.message.tool_calls)
    counts["branch"] = len(ends)
    counted = [_counted(counts[kind], kind) for kind in _ONE_OF if counts[kind]]
    return ", ".join(counted) or "nothing yet"


def _kind(entry: Entry) -> str | None:
    """What it counts as; None for what is not said."""
    match entry.body:
        case MessageBody(SystemMessage()):
            return None
        case MessageBody(UserMessage()):
            return "prompt"
        case MessageBody(AssistantMessage()):
            return "answer"
        case MessageBody(BashExecutionMessage()):
            return "command"
        case MessageBody(ToolResultMessage()):
            return "result"
        case Compaction() | BranchSummary():
            return "summary"
        case MessageBody() | CustomMessage():
            return "message"
        case _:
            return None


def _counted(count: int, kind: str) -> str:
    return f"{count} {kind if count == 1 else _SEVERAL.get(kind, f'{kind}s')}"


def _size(session: ReadableSession) -> str:
    assert session.path is not None
    try:
        return f"{session.path.stat().st_size:,} bytes"
    except OSError as e:
        return f"not known: {e.strerror or e}"
