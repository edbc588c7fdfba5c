"""`agentsh ask`: a side question, answered from the context of the leaf; the place stays.

Read next: agent/asides.py, wiring.py.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from agentsh.cli.notices import warn
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.parsing.options import Json, SessionWord
from agentsh.cli.parsing.words import Argument
from agentsh.errors import NoPromptError
from agentsh.sanitize import safe_text


def ask(
    options: ModelOptions,
    session: SessionWord,
    question: Annotated[str, Argument(help="what to ask (after -- if it has a dash)")],
    json: Json = False,
) -> int:
    """Ask a side question; the conversation stays as it was."""
    from agentsh.abort import Abort
    from agentsh.agent.events import MessageDone, Notice
    from agentsh.cli.assembly.wiring import wire
    from agentsh.cli.commands.run import stopping
    from agentsh.cli.lookup.choosing import opened
    from agentsh.cli.lookup.finding import find_session
    from agentsh.cli.setup.configuration import configure

    if not question.strip():
        raise NoPromptError("there is no question")
    cwd = Path.cwd()
    configuration = configure(options, os.environ, cwd)
    warn(configuration.notices)
    chosen = opened(configuration.places, find_session(session, options.session_dir), cwd)
    with wire(configuration, options, chosen) as wired:
        warn(wired.notices)
        abort, is_answered = Abort(), False
        with stopping(wired.agent, abort) as caught:
            for event in wired.agent.aside(question, abort):
                if isinstance(event, Notice):
                    warn([event.text])
                if not isinstance(event, MessageDone):
                    continue
                is_answered = bool(event.message.text.strip())
                if json:
                    name = wired.agent.session.header.id
                    print_json({"session": name, "entry": event.entry})
                elif is_answered:
                    print_lines([safe_text(event.message.text)])
        return 128 + caught[0] if caught else int(not is_answered)
