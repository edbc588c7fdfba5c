"""Moves in the tree: checkout, with a summary of what is left where that was asked for.

A user (or custom) message means before it, with its text for the editor; anything else, on to it
(R74). With a summary: the old path is summarised first, and only then does the leaf move, so a
summary that fails leaves everything as it was (R78). Read next: compactor.py, context/branching.py.
"""

from __future__ import annotations

from collections.abc import Generator

from msgspec import Struct

from agentsh.agent.compactor import Compactor, Job
from agentsh.agent.events import AgentEvent
from agentsh.agent.recorder import Recorder
from agentsh.messages import CustomRoleMessage, Text, UserBlock, UserMessage
from agentsh.session.entries import CustomMessage, Entry, EntryId, MessageBody


class Moved(Struct, frozen=True):
    """Where the leaf is now. `editor_text`: the prompt that it stands before."""

    leaf: EntryId | None
    editor_text: str | None = None
    notices: tuple[str, ...] = ()


class Mover:
    """Moves the leaf of one session."""

    def __init__(self, recorder: Recorder, compactor: Compactor) -> None:
        self._recorder = recorder
        self._compactor = compactor

    def move(
        self,
        target: EntryId | None,
        summary_job: Job | None,
    ) -> Generator[AgentEvent, None, Moved]:
        """Go there. Raises ProviderError where the summary fails; nothing has moved then."""
        session = self._recorder.session
        place, text = (None, None) if target is None else destination(session.entry(target))
        notices: tuple[str, ...] = ()
        if summary_job is None:
            session.move(place, "tree")
        else:
            summary = yield from self._compactor.summarize_branch(place, summary_job)
            session.move(place, "tree")
            if summary is None:
                notices = ("there was nothing to summarise",)
            else:
                self._recorder.derived(*summary)
        self._recorder.settle()
        return Moved(session.leaf, text, notices)


def destination(entry: Entry) -> tuple[EntryId | None, str | None]:
    """Where a move to this entry ends, and the text that goes back into the editor."""
    match entry.body:
        case MessageBody(UserMessage(content)) | MessageBody(CustomRoleMessage(_, content)):
            return entry.parent, _text(content)
        case CustomMessage(_, content):
            return entry.parent, _text(content)
        case _:
            return entry.id, None


def _text(content: tuple[UserBlock, ...]) -> str:
    return "\n".join(block.text for block in content if isinstance(block, Text))
