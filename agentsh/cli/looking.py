"""Declares the commands that only look: tree, show, lineage, verify, replay.

Signatures only; each has a module of its own. None of them writes to a session file.
Annotations are kept as objects (no `from __future__`): typer reads them.
"""

from typing import Annotated

import typer

from agentsh.cli.modeloptions import OptionalSession
from agentsh.cli.options import At, Json, Session, SessionDir, add


def declare(app: typer.Typer) -> None:
    """Register them."""
    for command in (tree, show, diff, lineage, verify, replay):
        add(app, command)


def tree(
    session: OptionalSession = None,
    plain: Annotated[bool, typer.Option("--plain", help="text, one line an entry")] = False,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Show a session's tree: a navigator on a terminal, else text."""
    from agentsh.cli.tree import tree as start

    return start(session, plain=plain, json=json, session_dir=session_dir)


def show(
    session: Session,
    view: Annotated[
        str, typer.Option("--view", metavar="VIEW", help="chat, trace, model or raw")
    ] = "chat",
    at: At = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="go on as another process writes to it")
    ] = False,
    timed: Annotated[
        float | None,
        typer.Option(
            "--timed", min=0.01, metavar="SPEED", help="as it happened, SPEED times as fast"
        ),
    ] = None,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Show a session: what was said, done, or is sent; or its lines."""
    from agentsh.cli.show import show as start

    return start(
        session, view=view, at=at, follow=follow, timed=timed, json=json, session_dir=session_dir
    )


def diff(
    session: Session,
    a: Annotated[str, typer.Argument(metavar="A", help="an entry, as for `checkout`")],
    b: Annotated[str, typer.Argument(metavar="B", help="another one")],
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Show what differs between two places: messages and working files."""
    from agentsh.cli.diff import diff as start

    return start(session, a, b, json=json, session_dir=session_dir)


def lineage(session: Session, json: Json = False, session_dir: SessionDir = None) -> int:
    """Name a session's parents and children by fork."""
    from agentsh.cli.lineage import lineage as start

    return start(session, json=json, session_dir=session_dir)


def verify(
    sessions: Annotated[list[str], typer.Argument(help="as for `show`")],
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Check session files line by line, and name each bad line."""
    from agentsh.cli.verify import verify as start

    return start(tuple(sessions), json=json, session_dir=session_dir)


def replay(
    session: Session,
    entry: Annotated[str | None, typer.Argument(help="the request, or its answer")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="rebuild all of them and compare digests")
    ] = False,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Rebuild the body of a recorded request from the file alone."""
    from agentsh.cli.replay import replay as start

    return start(session, entry, check=check, json=json, session_dir=session_dir)
