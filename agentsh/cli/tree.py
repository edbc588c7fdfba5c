"""`agentsh tree`: every branch of a session: the navigator at a terminal, else text, or JSON.

Text and JSON only look, and need no lock. The active path and the leaf are marked.
Read next: ui/treetext.py, navigating.py.
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
        if terminal.is_interactive and not plain:
            from agentsh.cli.navigating import navigate_session  # loads prompt_toolkit

            return navigate_session(opened, terminal, session_dir)
        width = terminal.size[0] if terminal.stdout_tty else None
        entries = opened.entries()
        print_lines(tree_text(entries, index.labels, path, unicode=terminal.unicode, width=width))
    return 0
