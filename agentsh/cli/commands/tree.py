"""`agentsh tree`: every branch of a session: the navigator at a terminal, else text, or JSON.

Text and JSON only look, and need no lock. The active path and the leaf are marked.
Read next: ui/tree/treetext.py, navigating.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.output import print_json, print_lines
from agentsh.cli.parsing.options import Json, OptionalSession, SessionDir
from agentsh.cli.parsing.words import Option

if TYPE_CHECKING:
    from agentsh.jsontext import JsonObject
    from agentsh.session.file.session import Session
    from agentsh.session.format.entries import EntryId


def tree(
    session: OptionalSession = None,
    plain: Annotated[bool, Option("--plain", help="text, one line an entry")] = False,
    everything: Annotated[bool, Option("--all", help="with what was folded (--plain)")] = False,
    json: Json = False,
    session_dir: SessionDir = None,
) -> int:
    """Show a session's tree: a navigator on a terminal, else text."""
    from agentsh.cli.lookup.finding import look_at
    from agentsh.ui.terminal import describe_terminal
    from agentsh.ui.tree.treetext import tree_text

    with look_at(session, session_dir) as opened:
        index = opened.tree
        path = index.path(opened.leaf)
        if json:
            from agentsh.remote.values.tree import tree_json

            about = (opened.header.id, str(opened.path), opened.leaf)
            value = tree_json(*about, opened.entries(), index.labels, path)
            print_json(value | _explorations_json(opened))
            return 0
        terminal = describe_terminal(sys.stdin, sys.stdout, sys.stderr, os.environ)
        if terminal.is_interactive and not plain:
            from agentsh.cli.commands.navigating import navigate_session  # loads prompt_toolkit

            return navigate_session(opened, terminal, session_dir)
        width = terminal.size[0] if terminal.stdout_tty else None
        lines = tree_text(
            opened.entries(),
            index.labels,
            path,
            unicode=terminal.unicode,
            width=width,
            unfolds=everything,
            beside=_explored(opened, unicode=terminal.unicode),
            folder=opened.header.cwd,
        )
        print_lines(lines)
    return 0


def _explorations_json(session: Session) -> JsonObject:
    """What began at entries of it; nothing where there are none."""
    from agentsh.cli.lookup.finding import has_explorations

    if not has_explorations(session.path):
        return {}
    from agentsh.cli.lookup.explorations import explorations_of
    from agentsh.explore.log.values import explored_json

    looked = explorations_of(session)
    return {"explorations": [explored_json(each.folders, each.now) for each in looked]}


def _explored(session: Session, *, unicode: bool) -> Mapping[EntryId | None, list[str]]:
    """Lines of the branches that began at an entry."""
    from agentsh.cli.lookup.finding import has_explorations

    if not has_explorations(session.path):
        return {}
    from agentsh.cli.lookup.explorations import explorations_of
    from agentsh.session.format.entries import EntryId
    from agentsh.ui.text.explorations import branch_lines

    below: dict[EntryId | None, list[str]] = {}
    for each in explorations_of(session):
        trunk = each.now.plan.trunk
        leaf = None if trunk is None or trunk.leaf is None else EntryId(trunk.leaf)
        lines = branch_lines(each.folders.name, each.now, unicode=unicode)
        below.setdefault(leaf, []).extend(lines)
    return below
