"""What differs between two places of the session in front: the chat's `/diff`, and key d.

It stands alone since few chats ask for it and it brings git's plumbing along. What differs is
agent/files/differences.py's. Read next: ui/text/differences.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agentsh.agent.agent import Agent
from agentsh.agent.files.differences import Differences, compare
from agentsh.cli.setup.configuration import Configuration
from agentsh.messages import UserMessage
from agentsh.sanitize import safe_text
from agentsh.session.file.session import Session
from agentsh.session.format.entries import EntryId, MessageBody
from agentsh.tools.undo.checkpointer import Checkpointer
from agentsh.ui.paper.pages import PageLine


def compared_here(
    front: Agent,
    configuration: Configuration,
    a: EntryId | None,
    b: EntryId | None,
    lines: Callable[[Differences], Iterable[PageLine]],
) -> tuple[PageLine, ...]:
    """From `a` to `b`, in those lines, with what is odd about it before them."""
    differences = differences_here(front, configuration, a, b)
    notices = (PageLine(safe_text(notice), "warn") for notice in differences.notices)
    return (*notices, *lines(differences))


def differences_here(
    front: Agent, configuration: Configuration, a: EntryId | None, b: EntryId | None
) -> Differences:
    """The same as a value."""
    places, environ = configuration.places, configuration.environ
    checkpointer = Checkpointer(front.workbench.cwd, places.checkpoints, environ)
    return compare(front.session, checkpointer, a, b)


def before_last_prompt(session: Session) -> EntryId | None:
    """Where the newest prompt of the path would be taken back to."""
    for entry in reversed(session.live().entries):
        if isinstance(entry.body, MessageBody) and isinstance(entry.body.message, UserMessage):
            return entry.parent
    return session.leaf
