"""`agentsh tree`: every branch of a session, as JSON or as text. Looks only; needs no lock.

The active path and the leaf are marked. Read next: ui/treetext.py.
"""

from __future__ import annotations

import os
import sys

from agentsh.cli.finding import look_at
from agentsh.cli.output import print_json, print_lines
from agentsh.ui.terminal import describe
from agentsh.ui.treetext import tree_json, tree_text


def tree(session: str | None, *, plain: bool, json: bool, session_dir: str | None) -> int:
    """Show it."""
    with look_at(session, session_dir) as opened:
        index = opened.tree
        path = index.path(opened.leaf)
        if json:
            name = opened.header.id
            file = str(opened.path)
            print_json(tree_json(name, file, opened.leaf, opened.entries(), index.labels, path))
            return 0
        terminal = describe(sys.stdin, sys.stdout, sys.stderr, os.environ)
        width = terminal.size[0] if terminal.stdout_tty else None
        print_lines(
            tree_text(opened.entries(), index.labels, path, unicode=terminal.unicode, width=width)
        )
    return 0
