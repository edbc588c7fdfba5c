"""Short conversations in a session, and what of them can be read back."""

from __future__ import annotations

from pathlib import Path

from agentsh.session.file.session import Session, new_session
from agentsh.session.format.entries import (
    Branch,
    Custom,
    Entry,
    Header,
    MessageBody,
    SessionId,
)
from agentsh.session.format.factcodec import decode_fact
from agentsh.session.format.facts import TurnEnded, TurnStarted
from tests.session.builders import said, user
from tests.session.disks import around

HEADER = Header(SessionId("01a2-4000-5e551011"), "2026-01-01T00:00:00.000Z", "/home/user/p")


def talk(session: Session, *texts: str) -> list[Entry]:
    """Closed turns of a prompt and an answer."""
    made = []
    for text in texts:
        start = session.append(TurnStarted(1))
        made.append(session.append(MessageBody(user(text))))
        made.append(session.append(MessageBody(said(f"about {text}"))))
        session.append(TurnEnded(start.id, "completed"))
    session.barrier()
    return made


def made_session(path: Path, *texts: str) -> list[Entry]:
    with new_session(path, HEADER, around=around()) as session:
        return talk(session, *texts)


def texts(branch: Branch) -> list[str]:
    return [
        entry.body.message.content[0].text  # type: ignore[union-attr]
        for entry in branch.entries
        if isinstance(entry.body, MessageBody)
    ]


def facts(branch: Branch) -> list[str]:
    facts = [decode_fact(e.body) for e in branch.entries if isinstance(e.body, Custom)]
    return [type(fact).__name__ for fact in facts]
