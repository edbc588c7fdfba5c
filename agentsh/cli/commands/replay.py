"""`agentsh replay`: the bodies of recorded requests, rebuilt from the file alone.

Without ENTRY a list; with it the body's bytes as they were sent, no newline added; with --check
all are rebuilt and their digests compared (exit 5 where one differs). Nothing is sent or written.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.notices import warn
from agentsh.cli.output import DAMAGED, print_json, print_lines
from agentsh.cli.parsing.options import Json, SessionDir, SessionWord
from agentsh.cli.parsing.words import Argument, Option
from agentsh.errors import EntryNotFoundError
from agentsh.sanitize import safe_line

if TYPE_CHECKING:
    from agentsh.agent.replay import Recorded
    from agentsh.jsontext import JsonObject
    from agentsh.session.file.session import Session


def replay(
    session: SessionWord,
    entry: Annotated[str | None, Argument(help="the request, or its answer")] = None,
    check: Annotated[
        bool, Option("--check", help="rebuild all of them and compare digests")
    ] = False,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Rebuild the body of a recorded request from the file alone."""
    from agentsh.agent.replay import recorded
    from agentsh.cli.lookup.finding import look_at

    with look_at(session, session_dir) as opened:
        if check:
            return _check(opened, json=json)
        if entry is not None:
            return _body(opened, entry)
        items = recorded(opened)
        if json:
            rows = [_as_json(item) for item in items]
            print_json({"session": opened.header.id, "requests": rows})
        else:
            print_lines(_line(item) for item in items)
    return 0


def _check(session: Session, *, json: bool) -> int:
    from agentsh.agent.replay import check as mismatches
    from agentsh.agent.replay import recorded

    wrong = list(mismatches(session))
    warn(mismatch.words for mismatch in wrong)
    if json:
        rows: list[JsonObject] = [{"entry": each.entry, "words": each.words} for each in wrong]
        checked = sum(1 for _ in recorded(session))
        print_json(
            {
                "session": session.header.id,
                "ok": not wrong,
                "checked": checked,
                "mismatches": rows,
            }
        )
    return DAMAGED if wrong else 0


def _body(session: Session, entry: str) -> int:
    from agentsh.agent.replay import body, find_request

    target = session.resolve(entry)
    if target is None:
        raise EntryNotFoundError(f"{entry}: no request was sent before the first message")
    sys.stdout.buffer.write(body(session, find_request(session, target)))
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
