"""`agentsh retry`: the request that led to an answer once more, as a sibling branch.

What stands before it is kept, recorded results too; what the new answer calls is asked about as in
`run`. Read next: agent/moving.py, wiring.py.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.notices import warn
from agentsh.cli.output import print_json, print_lines
from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.cli.parsing.options import Json, SessionWord
from agentsh.cli.parsing.words import Argument
from agentsh.sanitize import safe_line

if TYPE_CHECKING:
    from agentsh.agent.agent import Agent
    from agentsh.agent.events import MessageDone, TurnEnd
    from agentsh.session.format.entries import Entry

OptionalAnswer = Annotated[
    str | None, Argument(help="an answer of a model (default: the last one)", complete="entries")
]


def retry(
    options: TurnOptions,
    session: SessionWord,
    entry: OptionalAnswer = None,
    json: Json = False,
) -> int:
    """Ask for an answer once more, beside the old one."""
    from agentsh.agent.events import code_of
    from agentsh.agent.moving import Sibling
    from agentsh.cli.assembly.safety import confine
    from agentsh.cli.assembly.wiring import wire
    from agentsh.cli.commands.run import stopping
    from agentsh.cli.lookup.choosing import opened
    from agentsh.cli.lookup.finding import find_session
    from agentsh.cli.setup.configuration import configure

    cwd = Path.cwd()
    configuration = configure(options, os.environ, cwd)
    warn(configuration.notices)
    confine(configuration, cwd)
    chosen = opened(configuration.places, find_session(session, options.session_dir), cwd)
    try:
        old = Sibling.of(chosen.session, entry)
        # model, level and tools are those of that place, unless an option names others
        chosen = chosen.standing_at(old.place, old.asked)
    except BaseException:
        chosen.session.close()
        raise
    with wire(configuration, options, chosen) as wired:
        warn(wired.notices)
        with stopping(wired.agent) as caught:
            new, end = _asked(wired.agent)
        if json and new is not None:
            print_json({"session": chosen.session.header.id, "entry": new.entry})
        elif new is not None:
            _print_both(old.entry, new)
        if caught:
            return 128 + caught[0]
        return 1 if end is None else code_of(end.reason)


def _print_both(old: Entry, new: MessageDone) -> None:
    """The old answer, or the prompt that had none, and the new answer, a line each."""
    from agentsh.session.format.entries import MessageBody
    from agentsh.views.describe import message_line

    if isinstance(old.body, MessageBody):
        said = ((old.id, old.body.message), (new.entry, new.message))
        print_lines(f"{safe_line(name)}  {message_line(message)}" for name, message in said)


def _asked(agent: Agent) -> tuple[MessageDone | None, TurnEnd | None]:
    """The last answer of the turn, and its end."""
    from agentsh.agent.events import MessageDone, Notice, TurnEnd

    new: MessageDone | None = None
    end: TurnEnd | None = None
    for event in agent.again():
        match event:
            case MessageDone():
                new = event
            case Notice(text=text):
                warn([text])
            case TurnEnd(error=error, hint=hint):
                end = event
                warn([f"error: {error}"] if error else [])
                warn([hint] if hint else [])
            case _:
                pass
    return new, end
