"""What of a path is hidden from the model, and the edits that hide an entry or show it again. Pure.

Hiding is Pi's `context_edit` (docs/session-format.md §4): it counts from its place on the path on,
the latest for an entry wins, and it takes nothing out of the file. Calls and results go together
(S29, S30): with an answer go the results of its calls, an edit each; a result that is hidden by
itself leaves a note, so that its call has an answer. What is shown again gets its own content back,
since there is no edit that takes an edit back. Read next: projection.py, agent/hiding.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agentsh.context.projection import EditContent, project
from agentsh.errors import RefusedError
from agentsh.messages import (
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    Text,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from agentsh.session.format.entries import (
    Branch,
    BranchSummary,
    Compaction,
    ContextEdit,
    CustomMessage,
    Entry,
    EntryId,
    MessageBody,
)

HIDDEN_NOTE = "(hidden by the user)"
Edited: TypeAlias = Literal["hidden", "replaced"]


def edited_on(path: Sequence[Entry]) -> dict[EntryId, Edited]:
    """The entries of a path (root → leaf) whose own content the model is not sent."""
    entries = {entry.id: entry for entry in path}
    edited: dict[EntryId, Edited] = {}
    for target, content in _in_force(path).items():
        own = _own_content(entries[target])
        if content is None or (content == _NOTE and _is_result(entries[target])):
            edited[target] = "hidden"
        elif own is not None and content != own:
            edited[target] = "replaced"
    return edited


def hiding(branch: Branch, targets: Sequence[EntryId], text: str | None) -> tuple[ContextEdit, ...]:
    """The edits that hide these entries, or put `text` in the place of each.

    In the order of the path; what is so already needs none. Raises RefusedError for an entry that
    is not on the path or says nothing to the model, and where there is nothing to do.
    """
    path = _Path.of(branch)
    contents: dict[EntryId, EditContent | None] = {}
    for target in targets:
        entry = path.said(target)
        if _is_result(entry):
            contents.setdefault(target, _NOTE if text is None else (Text(text),))
            continue
        if text is not None and _own_content(entry) is None:
            raise RefusedError(
                f"{target}: {_kind(entry)} can be hidden, but no text can stand in its place",
                hint="leave --with out",
            )
        contents[target] = None if text is None else (Text(text),)
    for target in targets:
        if not _is_result(path.entries[target]):
            contents |= dict.fromkeys(path.results_of(target), None)
    for target in targets:  # a result whose answer is hidden already goes without a note
        if _is_result(path.entries[target]) and path.lost_call(target) is not None:
            contents[target] = None
    return path.edits(contents, "hidden already" if text is None else "replaced so already")


def showing(branch: Branch, targets: Sequence[EntryId]) -> tuple[ContextEdit, ...]:
    """The edits that give these entries their own content back; an answer's results with it.

    Raises RefusedError for an entry that is not on the path, that is not hidden, or whose call is.
    """
    path = _Path.of(branch)
    contents: dict[EntryId, EditContent | None] = {}
    for target in targets:
        entry = path.said(target)
        answer = path.lost_call(target) if _is_result(entry) else None
        if answer is not None and answer not in targets:
            raise RefusedError(
                f"{target} answers a call that is hidden with {answer}",
                hint=f"unhide {answer}, and both are back",
            )
        for each in (target, *path.results_of(target)):
            if each in path.in_force:
                contents[each] = _back(path.entries[each])
    return path.edits(contents, "not hidden")


class _Path(Struct, frozen=True):
    """A path, what of it the model would be sent if nothing was edited, and the edits in force."""

    entries: Mapping[EntryId, Entry]
    sayable: frozenset[EntryId | None]
    in_force: Mapping[EntryId, EditContent | None]

    @staticmethod
    def of(branch: Branch) -> _Path:
        unedited = tuple(e for e in branch.entries if not isinstance(e.body, ContextEdit))
        items = project(replace(branch, entries=unedited)).items
        return _Path(
            {entry.id: entry for entry in branch.entries},
            frozenset(item.entry for item in items),
            _in_force(branch.entries),
        )

    def said(self, target: EntryId) -> Entry:
        """An entry that may be hidden or shown. Raises RefusedError."""
        entry = self.entries.get(target)
        if entry is None:
            raise RefusedError(
                f"{target} is not on the current path, and only there it can be hidden",
                hint=f"`checkout` to it, or to what follows it, brings {target} on to the path",
            )
        if isinstance(entry.body, Compaction):
            raise RefusedError(
                f"{target} is the summary of what was compacted; it cannot be hidden",
                hint="`checkout` to before it goes on without it",
            )
        if target not in self.sayable:
            raise RefusedError(f"{target} says nothing to the model, so nothing is hidden or shown")
        return entry

    def results_of(self, target: EntryId) -> tuple[EntryId, ...]:
        """The stored results of an answer's calls: up to the next answer."""
        answer = _message(self.entries[target])
        if not isinstance(answer, AssistantMessage) or not answer.tool_calls:
            return ()
        calls = {call.id for call in answer.tool_calls}
        results: list[EntryId] = []
        order = list(self.entries)
        for each in order[order.index(target) + 1 :]:
            message = _message(self.entries[each])
            if isinstance(message, AssistantMessage):
                break
            if isinstance(message, ToolResultMessage) and message.tool_call_id in calls:
                results.append(each)
        return tuple(results)

    def lost_call(self, result: EntryId) -> EntryId | None:
        """The answer that called it, where the model is not sent that call."""
        message = _message(self.entries[result])
        assert isinstance(message, ToolResultMessage)
        order = list(self.entries)
        for each in reversed(order[: order.index(result)]):
            if isinstance(_message(self.entries[each]), AssistantMessage):
                if each not in self.in_force:
                    return None
                blocks = self.in_force[each] or ()
                calls = {block.id for block in blocks if isinstance(block, ToolCall)}
                return None if message.tool_call_id in calls else each
        return None

    def edits(
        self, contents: Mapping[EntryId, EditContent | None], nothing: str
    ) -> tuple[ContextEdit, ...]:
        """Those that change something, in the order of the path. Raises RefusedError: none does."""
        edits = tuple(
            ContextEdit(target, contents[target])
            for target in self.entries
            if target in contents and self._now(target) != contents[target]
        )
        if not edits:
            raise RefusedError(f"{nothing}; nothing was written")
        return edits

    def _now(self, target: EntryId) -> EditContent | None:
        """The content that the model is sent for an entry now."""
        own = _back(self.entries[target])
        content = self.in_force.get(target, own)
        can_be_replaced = _own_content(self.entries[target]) is not None
        return content if content is None or can_be_replaced else own


_NOTE: EditContent = (Text(HIDDEN_NOTE),)


def _in_force(path: Sequence[Entry]) -> dict[EntryId, EditContent | None]:
    """Target → content, the latest on the path; an edit reaches only what stands before it."""
    in_force: dict[EntryId, EditContent | None] = {}
    seen: set[EntryId] = set()
    for entry in path:
        if isinstance(entry.body, ContextEdit) and entry.body.target in seen:
            in_force[entry.body.target] = entry.body.content
        seen.add(entry.id)
    return in_force


def _message(entry: Entry) -> object:
    return entry.body.message if isinstance(entry.body, MessageBody) else None


def _is_result(entry: Entry) -> bool:
    return isinstance(_message(entry), ToolResultMessage)


def _own_content(entry: Entry) -> EditContent | None:
    """What a replacement would stand for; None where none can (a command, a summary)."""
    match entry.body:
        case MessageBody(
            UserMessage(content)
            | AssistantMessage(content)
            | CustomRoleMessage(content=content)
            | ToolResultMessage(content=content)
        ):
            return content
        case CustomMessage(content=content):
            return content
        case _:
            return None


def _back(entry: Entry) -> EditContent:
    """The content of the edit that shows an entry again; any does where none can replace it."""
    own = _own_content(entry)
    if own is not None:
        return own
    match entry.body:
        case MessageBody(BashExecutionMessage(command)):
            return (Text(command),)
        case BranchSummary(summary=summary):
            return (Text(summary),)
        case _:
            return ()


def _kind(entry: Entry) -> str:
    return "a summary" if isinstance(entry.body, BranchSummary) else "a command's output"
