"""Declares the commands that keep sessions (sessions, export, import), and help.

Signatures only; each has a module of its own. Nothing is deleted that was not asked for.
Annotations are kept as objects (no `from __future__`): typer reads them.
"""

from typing import Annotated, Any

import typer

from agentsh.cli.completing import offer_entries
from agentsh.cli.options import Json, Session, SessionDir, add, taking
from agentsh.cli.plain import LISTING

Yes = Annotated[bool, typer.Option("--yes", help="do not ask")]


def declare(app: typer.Typer) -> None:
    """Register them."""
    group = typer.Typer(
        invoke_without_command=True, rich_markup_mode=None, help="List sessions, and keep them."
    )
    group.callback()(taking(LISTING, sessions))
    add(group, sessions_path, name="path")
    add(group, sessions_relink, name="relink")
    add(group, sessions_pin, name="pin")
    add(group, sessions_unpin, name="unpin")
    add(group, sessions_tag, name="tag")
    add(group, sessions_archive, name="archive")
    add(group, sessions_unarchive, name="unarchive")
    add(group, sessions_rm, name="rm")
    add(group, sessions_trash, name="trash")
    add(group, sessions_restore, name="restore")
    add(group, sessions_gc, name="gc")
    app.add_typer(group, name="sessions")
    add(app, export)
    add(app, import_, name="import")
    add(app, help_, name="help")


def sessions(ctx: typer.Context, **given: Any) -> None:
    """List the sessions of this directory, or all; newest conversation first, pinned above."""
    if ctx.invoked_subcommand is not None:
        return
    from agentsh.cli.listing import listing

    raise typer.Exit(listing(**given))


def sessions_path(session: Session, session_dir: SessionDir = None) -> int:
    """Print the file of a session."""
    from agentsh.cli.sessions import path

    return path(session, session_dir=session_dir)


def sessions_relink(session: Session, session_dir: SessionDir = None) -> int:
    """Tie a session to the folder one stands in; no entry changes."""
    from agentsh.cli.sessions import relink

    return relink(session, session_dir=session_dir)


def sessions_pin(session: Session, session_dir: SessionDir = None) -> int:
    """List a session above the others."""
    from agentsh.cli.marks import pin

    return pin(session, pinned=True, session_dir=session_dir)


def sessions_unpin(session: Session, session_dir: SessionDir = None) -> int:
    """List a session in its place again."""
    from agentsh.cli.marks import pin

    return pin(session, pinned=False, session_dir=session_dir)


def sessions_tag(
    session: Session,
    tags: Annotated[list[str], typer.Argument(help="words without blanks")],
    remove: Annotated[bool, typer.Option("--remove", help="take them away")] = False,
    session_dir: SessionDir = None,
) -> int:
    """Give a session tags, or take them away."""
    from agentsh.cli.marks import tag

    return tag(session, tuple(tags), remove=remove, session_dir=session_dir)


def sessions_archive(session: Session, session_dir: SessionDir = None) -> int:
    """Compress a session and take it out of the list; nothing of it is lost."""
    from agentsh.cli.archive import archive

    return archive(session, session_dir=session_dir)


def sessions_unarchive(
    session: Annotated[str, typer.Argument(help="id or unique prefix")],
    session_dir: SessionDir = None,
) -> int:
    """Bring an archived session back, with the same bytes."""
    from agentsh.cli.archive import unarchive

    return unarchive(session, session_dir=session_dir)


def sessions_rm(session: Session, yes: Yes = False, session_dir: SessionDir = None) -> int:
    """Put a session in the trash folder; `restore` brings it back."""
    from agentsh.cli.trash import remove

    return remove(session, yes=yes, session_dir=session_dir)


def sessions_trash(json: Json = False, session_dir: SessionDir = None) -> int:
    """List what is in the trash folder."""
    from agentsh.cli.trash import trashed

    return trashed(json=json, session_dir=session_dir)


def sessions_restore(
    session: Annotated[str, typer.Argument(help="id or unique prefix, as `trash` lists it")],
    session_dir: SessionDir = None,
) -> int:
    """Bring a session back from the trash folder."""
    from agentsh.cli.trash import restore

    return restore(session, session_dir=session_dir)


def sessions_gc(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only list it")] = False,
    trash_days: Annotated[
        int,
        typer.Option("--trash-days", min=0, metavar="DAYS", help="how old trash may become"),
    ] = 30,
    yes: Yes = False,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Delete leftovers and old trash, after a question; never a session."""
    from agentsh.cli.leftovers import collect

    return collect(
        dry_run=dry_run, trash_days=trash_days, yes=yes, json=json, session_dir=session_dir
    )


def export(
    session: Session,
    to: Annotated[
        str, typer.Option("--to", metavar="FILE", help="a new file: .md, .html or .jsonl (for Pi)")
    ],
    raw: Annotated[bool, typer.Option("--raw", help="redact nothing")] = False,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="ENTRY",
            help="only the path to that entry",
            autocompletion=offer_entries,
        ),
    ] = None,
    session_dir: SessionDir = None,
) -> int:
    """Write a session as Markdown, as one web page or as lines for Pi.

    Keys, tokens and passwords of a known form are redacted.
    """
    from agentsh.cli.export import export as start

    return start(session, to, raw=raw, at=at, session_dir=session_dir)


def import_(
    file: Annotated[str, typer.Argument(help="of Pi, oh-my-pi, Claude Code, Codex or agentsh")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say what would come")] = False,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Bring another program's session into this directory; the file is only read."""
    from agentsh.cli.importing import bring

    return bring(file, dry_run=dry_run, json=json, session_dir=session_dir)


def help_(
    topic: Annotated[str | None, typer.Argument(help="a topic, a command, or `man`")] = None,
) -> int:
    """Print a page of the manual: format, recovery, privacy, keys and more."""
    from agentsh.cli.app import run
    from agentsh.cli.program import COMMANDS, whole_program
    from agentsh.cli.topics import show

    if topic == "man":
        from agentsh.cli.manpage import show as show_man

        return show_man(whole_program())

    if topic is not None and topic in COMMANDS:
        run([topic, "--help"])
    return show(topic)
