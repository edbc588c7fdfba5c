"""`agentsh why`: who wrote a line: a prompt of a session, a person, or what was there before.

Looks only: no session, no state and no repository is written. What it says is
agent/authors/why.py's, and how it reads is ui/text/authors.py's: the chat's /why shows the same.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.notices import warn
from agentsh.cli.output import columns, fitted, print_json, print_lines
from agentsh.cli.parsing.options import Json, SessionDir
from agentsh.cli.parsing.words import Argument, Option

if TYPE_CHECKING:
    from agentsh.agent.authors.why import AuthoredLine
    from agentsh.jsontext import JsonObject


def why(
    place: Annotated[
        str, Argument(metavar="FILE[:LINE[-LINE]]", help="a file, and which of its lines")
    ],
    session: Annotated[
        str | None,
        Option(
            "--session",
            metavar="SESSION",
            help="by the record of that one alone",
            complete="sessions",
        ),
    ] = None,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Show who wrote each line of a file: a prompt, or a person.

    LINE WHO text, of all sessions of this directory that touched the file, and of others that name
    it: the prompt's entry, its first line and the call that did it; you; before (what was there
    before the first session); unknown. git is not asked. From there: `agentsh show SESSION --at
    ENTRY`.
    """
    from agentsh.cli.lookup.finding import find_session, find_store
    from agentsh.cli.lookup.origins import find_origins
    from agentsh.cli.setup.paths import find_places
    from agentsh.ui.text.authors import author_lines, prompt_hints

    only = None if session is None else find_session(session, session_dir)
    places = find_places(os.environ, session_dir)
    origins = find_origins(place, Path.cwd(), find_store(session_dir), places, only)
    warn(origins.notices)
    if json:
        print_json([_as_json(line) for line in origins.lines])
        return 0
    width = columns()
    print_lines(fitted(line, width) for line in author_lines(origins.lines))
    if len({id(line.author) for line in origins.lines}) == 1:
        warn(prompt_hints(origins.lines))
    return 0


def _as_json(line: AuthoredLine) -> JsonObject:
    calls = line.author.calls
    row: JsonObject = {"line": line.number, "text": line.text, "who": line.author.who}
    if not calls:
        return row | dict.fromkeys(("session", "entry", "prompt", "call", "tool", "time"))
    first = calls[0]
    is_one = len(calls) == 1
    tools = {call.tool for call in calls}
    row |= {
        "session": first.session,
        "entry": first.entry,
        "prompt": first.prompt,
        "call": first.id if is_one else None,
        "tool": first.tool if len(tools) == 1 else None,
        "time": first.time,
    }
    if not is_one:
        row["calls"] = [call.id for call in calls]
    elif first.command:
        row["command"] = first.command
    return row
