"""`agentsh replay`: the bodies of recorded requests, rebuilt from the file alone.

Without ENTRY a list; with it the body's bytes as they were sent, no newline added; with --check
all are rebuilt and their digests compared (exit 5 where one differs). Nothing is sent or written.
"""

from __future__ import annotations

import sys

from agentsh.agent.replay import Recorded, body, find, recorded
from agentsh.agent.replay import check as mismatches
from agentsh.cli.finding import look_at
from agentsh.cli.notices import warn
from agentsh.cli.output import print_json, print_lines
from agentsh.errors import EntryNotFoundError
from agentsh.jsontext import JsonObject
from agentsh.session.session import Session
from agentsh.ui.sanitize import safe_line

DAMAGED = 5


def replay(
    session: str, entry: str | None, *, check: bool, json: bool, session_dir: str | None
) -> int:
    """Do what was asked of the three."""
    with look_at(session, session_dir) as opened:
        if check:
            return _check(opened)
        if entry is not None:
            return _body(opened, entry)
        items = recorded(opened)
        if json:
            rows = [_as_json(item) for item in items]
            print_json({"session": opened.header.id, "requests": rows})
        else:
            print_lines(_line(item) for item in items)
    return 0


def _check(session: Session) -> int:
    wrong = list(mismatches(session))
    warn(mismatch.words for mismatch in wrong)
    return DAMAGED if wrong else 0


def _body(session: Session, entry: str) -> int:
    target = session.resolve(entry)
    if target is None:
        raise EntryNotFoundError(f"{entry}: no request was sent before the first message")
    sys.stdout.buffer.write(body(session, find(session, target)))
    sys.stdout.buffer.flush()
    return 0


def _as_json(item: Recorded) -> JsonObject:
    return {
        "entry": item.entry,
        "reply": item.reply,
        "sha256": item.fact.body_sha256,
        "bytes": item.fact.body_bytes,
        "model": item.fact.model,
    }


def _line(item: Recorded) -> str:
    fact = item.fact
    reply = item.reply or "no reply"
    return (
        f"{item.entry}  {fact.kind:<10} {safe_line(fact.model):<24} "
        f"{fact.body_bytes:>9} bytes  {fact.body_sha256[:16]}  {reply}"
    )
