"""`agentsh search`: full text over every session, with the index where it can be had.

Hits go to stdout; that some were left out, or something was not searched whole, to stderr.
Read next: session/search/search.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.notices import unread_words, warn
from agentsh.cli.output import columns, fitted, print_json, print_lines
from agentsh.cli.parsing.options import Json, SessionDir
from agentsh.cli.parsing.words import Argument, Option
from agentsh.errors import UsageError
from agentsh.sanitize import safe_line

if TYPE_CHECKING:
    from agentsh.session.search.search import SearchResults


_PLACES = {"path": "", "compacted": "  (before a compaction)", "branch": "  (another branch)"}


_Words = Annotated[list[str], Argument(help='words, begin*, "a phrase"; all must occur')]
_Project = Annotated[
    str | None, Option("--project", metavar="DIR", help="only sessions of that directory")
]
_Everywhere = Annotated[bool, Option("--all", help="sessions of every directory (the default)")]
_Since = Annotated[
    str | None, Option("--since", metavar="WHEN", help="2026-01-31, or 3d, 2w, 12h ago")
]
_Until = Annotated[
    str | None, Option("--until", metavar="WHEN", help="the same; a day counts whole")
]
_OfRole = Annotated[
    str | None,
    Option("--role", help="user, assistant, tool, bash, compaction, branch_summary, …"),
]
_OfTool = Annotated[
    str | None, Option("--tool", metavar="NAME", help="calls and results of that tool")
]
_AboutFile = Annotated[
    str | None,
    Option("--file", metavar="PATH", help="calls and results about that file or folder"),
]
_OfModel = Annotated[str | None, Option("--model", metavar="ID", help="what that model said")]
_OfLabel = Annotated[str | None, Option("--label", metavar="NAME", help="entries of that label")]
_Most = Annotated[int, Option("--limit", least=1, metavar="N", help="hits to show at most")]


def search(
    query: _Words,
    project: _Project = None,
    everywhere: _Everywhere = False,
    since: _Since = None,
    until: _Until = None,
    role: _OfRole = None,
    tool: _OfTool = None,
    file: _AboutFile = None,
    model: _OfModel = None,
    label: _OfLabel = None,
    limit: _Most = 50,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Find words in all that was said or printed, on any branch.

    An identifier is found by its parts, too; what is all punctuation is looked for as it is.
    """
    from agentsh.cli.lookup.searching import find_hits
    from agentsh.cli.setup.paths import find_places
    from agentsh.session.search.wish import SearchWish

    if project is not None and everywhere:
        raise UsageError("--project and --all exclude each other")
    width = None if json else columns()
    # the hit itself must be in what is seen of a line
    around = None if width is None else (min(80, width // 3), 160)
    words = " ".join(query)
    wish = SearchWish(words, project, since, until, role, tool, file, model, label, limit)
    places = find_places(os.environ, session_dir)
    results, unread = find_hits(wish, places, Path.cwd(), around=around)
    _print(results, width, json=json)
    warn([*_notes(results, limit), *unread_words(unread)])
    return 1 if unread and not results.hits else 0


def _print(results: SearchResults, width: int | None, *, json: bool) -> None:
    if json:
        from agentsh.remote.values.hits import hit_json

        print_json([hit_json(hit) for hit in results.hits])
    else:
        print_lines(fitted(line, width) for line in _lines(results))


def _notes(results: SearchResults, limit: int) -> Iterator[str]:
    from agentsh.session.search.searchable import MAX_TEXT

    if not results.hits:
        yield "nothing was found"
    if results.more:
        yield f"the first {limit} hits are shown and there are more: --limit shows more of them"
    if results.cut:
        yield (
            f"{results.cut} entries are longer than {MAX_TEXT:,} characters:"
            " of these only the beginning and the end were searched"
        )


def _lines(results: SearchResults) -> Iterator[str]:
    """For people: where it is, as `--session` and `checkout` take it, and the text around it."""
    from agentsh.session.format.times import local_minute

    for hit in results.hits:
        what = f"{hit.role} {' '.join(dict.fromkeys(hit.tools))}".strip()
        time = local_minute(hit.time)
        yield safe_line(
            f"{hit.session} {hit.entry}  {time}  {what}  {hit.name or hit.cwd}{_PLACES[hit.place]}"
        )
        yield f"    {safe_line(hit.text, 300)}"
