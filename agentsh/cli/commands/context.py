"""`agentsh context`: the next request by weight. Looks only, and asks nobody.

What it weighs is context/weights.py's; how it reads, ui/text/weights.py's: the chat's /context
shows the same.
"""

from __future__ import annotations

import os
from pathlib import Path

from agentsh.cli.notices import warn
from agentsh.cli.output import columns, fitted, print_json, print_lines
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.parsing.options import At, Json, SessionWord


def context(
    options: ModelOptions,
    session: SessionWord,
    at: At = None,
    json: Json = False,
) -> int:
    """Show what fills the window, by weight."""
    from agentsh.cli.assembly.room import find_room
    from agentsh.cli.lookup.finding import look_at
    from agentsh.cli.setup.configuration import configure
    from agentsh.context.weights import weigh
    from agentsh.ui.text.weights import context_lines

    configuration = configure(options, os.environ, Path.cwd())
    warn(configuration.notices)
    with look_at(session, options.session_dir) as opened:
        leaf = opened.leaf if at is None else opened.resolve(at)
        branch = opened.branch() if leaf == opened.leaf else opened.branch(leaf)
        weights = weigh(branch, find_room(configuration, options, opened))
        if json:
            from agentsh.remote.values.weights import context_json

            head = {"session": opened.header.id, "leaf": leaf}
            print_json(head | context_json(weights, branch.entries))
        else:
            width = columns()
            lines = context_lines(weights, branch.entries, width, opened.header.cwd)
            print_lines(fitted(line, width) for line in lines)
    return 0
