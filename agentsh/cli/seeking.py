"""Declares the commands that look through many sessions: search, cost.

Signatures only; each has a module of its own. None of them writes to a session file.
Annotations are kept as objects (no `from __future__`): typer reads them.
"""

from typing import Annotated

import typer

from agentsh.cli.options import Json, SessionDir, add

Query = Annotated[list[str], typer.Argument(help='words, begin*, "a phrase"; all must occur')]
Project = Annotated[
    str | None, typer.Option("--project", metavar="DIR", help="only sessions of that directory")
]
AnyProject = Annotated[
    bool, typer.Option("--all", help="sessions of every directory (the default)")
]
Since = Annotated[
    str | None, typer.Option("--since", metavar="WHEN", help="2026-01-31, or 3d, 2w, 12h ago")
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="WHEN", help="the same; a day counts whole")
]
Role = Annotated[
    str | None,
    typer.Option("--role", help="user, assistant, tool, bash, compaction, branch_summary, …"),
]
ToolName = Annotated[
    str | None, typer.Option("--tool", metavar="NAME", help="calls and results of that tool")
]
File = Annotated[
    str | None,
    typer.Option("--file", metavar="PATH", help="calls and results about that file or folder"),
]
Model = Annotated[str | None, typer.Option("--model", metavar="ID", help="what that model said")]
LabelName = Annotated[
    str | None, typer.Option("--label", metavar="NAME", help="entries of that label")
]
Limit = Annotated[int, typer.Option("--limit", min=1, metavar="N", help="hits to show at most")]
Everywhere = Annotated[bool, typer.Option("--all", help="sessions of every directory")]
Grouping = Annotated[
    str | None,
    typer.Option("--by", metavar="WHAT", help="turn, branch, session, project or month"),
]


def declare(app: typer.Typer) -> None:
    """Register them."""
    for command in (search, cost):
        add(app, command)


def search(
    query: Query,
    project: Project = None,
    everywhere: AnyProject = False,
    since: Since = None,
    until: Until = None,
    role: Role = None,
    tool: ToolName = None,
    file: File = None,
    model: Model = None,
    label: LabelName = None,
    limit: Limit = 50,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Find words in everything that was said, called or printed, in any session and branch.

    An identifier is found by its parts, too; what is all punctuation is looked for as it is.
    """
    from agentsh.cli.search import Asked
    from agentsh.cli.search import search as start

    asked = Asked(since, until, role, tool, file, model, label)
    if project is not None and everywhere:
        raise typer.BadParameter("--project and --all exclude each other")
    return start(
        " ".join(query), asked, project=project, limit=limit, json=json, session_dir=session_dir
    )


def cost(
    session: Annotated[
        str | None,
        typer.Argument(help="id, unique prefix, path, or `last`; without it, of this directory"),
    ] = None,
    by: Grouping = None,
    everywhere: Everywhere = False,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Add up tokens and cost; what a fork copied is counted once, where it was spent."""
    from agentsh.cli.cost import cost as start

    return start(session, by=by, everywhere=everywhere, json=json, session_dir=session_dir)
