"""What several commands take: each option and argument declared once.

What all take that talk to a model is modeloptions.py's. Read next: words.py.
"""

from __future__ import annotations

from typing import Annotated

from agentsh.cli.parsing.words import Argument, Option

SessionWord = Annotated[
    str, Argument(help="id, unique prefix, path, or `last`", complete="sessions")
]
OptionalSession = Annotated[
    str | None,
    Argument(help="id, unique prefix, path, or `last` (the default)", complete="sessions"),
]
PickedSession = Annotated[
    str | None,
    Argument(help="id, unique prefix, path, or `last`; without it, pick one", complete="sessions"),
]
EntryWord = Annotated[
    str,
    Argument(
        help="id, unique prefix, label, `leaf` or `root`; ENTRY~N goes N up", complete="entries"
    ),
]
At = Annotated[
    str | None,
    Option("--at", metavar="ENTRY", help="an entry other than the leaf", complete="entries"),
]
Json = Annotated[bool, Option("--json", help="one JSON value on stdout")]
SessionDir = Annotated[
    str | None, Option("--session-dir", metavar="FOLDER", help="where sessions are kept")
]
Yes = Annotated[bool, Option("--yes", help="do not ask")]

# ---- where a turn goes on, and what it begins with: chat, run, resume ----------------------------

Continue = Annotated[
    bool, Option("-c", "--continue", help="go on with the last session of this directory")
]
SessionOption = Annotated[
    str | None,
    Option("--session", metavar="SESSION", help="go on with it", complete="sessions"),
]
ForkOption = Annotated[
    str | None,
    Option(
        "--fork",
        metavar="SESSION[:ENTRY]",
        help="go on in a fork of that session",
        complete="sessions",
    ),
]
FromEntry = Annotated[
    str | None,
    Option(
        "--at",
        metavar="ENTRY",
        help="go on at that entry of the session",
        complete="entries",
    ),
]
Attach = Annotated[
    list[str],
    Option("-a", "--attach", metavar="FILE", help="add a file to the prompt; -: standard input"),
]
PlainLines = Annotated[bool, Option("--plain", help="plain lines only, for screen readers")]
