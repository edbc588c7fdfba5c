"""`agentsh compact`: append a compaction to a session, without a turn.

Read next: wiring.py, agent/summaries/compactor.py.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agentsh.cli.notices import warn
from agentsh.cli.output import print_json
from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.cli.parsing.options import OptionalSession
from agentsh.cli.parsing.words import Option
from agentsh.errors import UsageError

if TYPE_CHECKING:
    from agentsh.agent.agent import Agent
    from agentsh.agent.events import Compacted
    from agentsh.session.format.entries import EntryId


Until = Annotated[
    str | None,
    Option(
        "--until",
        metavar="ENTRY",
        help="summarise what is before it, keep the rest",
        complete="entries",
    ),
]


def compact(
    options: ModelOptions,
    session: OptionalSession = None,
    focus: Annotated[
        str | None, Option("--focus", metavar="TEXT", help="what the summary must keep")
    ] = None,
    keep: Annotated[
        int | None, Option("--keep", least=0, metavar="TOKENS", help="what stays as it is")
    ] = None,
    until: Until = None,
    json: Annotated[bool, Option("--json", help="one JSON value on stdout")] = False,
) -> int:
    """Let the model summarise what is old; the file keeps it all."""
    from agentsh.cli.assembly.wiring import wire
    from agentsh.cli.commands.run import stopping
    from agentsh.cli.lookup.choosing import opened
    from agentsh.cli.lookup.finding import said_entry, store_of
    from agentsh.cli.setup.configuration import configure

    if until is not None and keep is not None:
        raise UsageError("--keep and --until exclude each other")
    cwd = Path.cwd()
    configuration = configure(options, os.environ, cwd)
    warn(configuration.notices)
    store = store_of(configuration.places)
    chosen = opened(configuration.places, store.find(session or "last", str(cwd)), cwd)
    with wire(configuration, options, chosen) as wired:
        warn(wired.notices)
        before = None if until is None else said_entry(wired.agent.session, until)
        with stopping(wired.agent) as caught:
            done = _compacted(wired.agent, focus, keep, before)
        if caught:
            return 128 + caught[0]
        return _told(done, chosen.session.header.id, json)


def _told(done: Compacted | None, session: str, json: bool) -> int:
    """What came of it; the exit code."""
    from agentsh.views.describe import compacted_words

    if done is None or done.entry is None:
        return 1
    if json:
        print_json({"session": session, "entry": done.entry})
    else:
        warn([compacted_words(done.tokens_before, done.tokens_after)])
    return 0


def _compacted(
    agent: Agent, focus: str | None, keep: int | None, until: EntryId | None
) -> Compacted | None:
    """Do it, while a clock shows that it goes on."""
    from agentsh.agent.events import Compacted, Compacting, Notice
    from agentsh.ui.state.activity import Activity
    from agentsh.ui.terminal import describe_terminal
    from agentsh.ui.text.waiting import Ticker

    done: Compacted | None = None
    activity = Activity()
    activity.hear(agent.report())
    ticker = Ticker(describe_terminal(sys.stdin, sys.stdout, sys.stderr, os.environ))
    try:
        for event in agent.compact(focus, keep, until):
            activity.hear(event)
            if isinstance(event, Notice):
                ticker.stop()
                warn([event.text])
            if isinstance(event, Compacting):
                ticker.start(activity.words)
            if isinstance(event, Compacted):
                done = event
    finally:
        ticker.stop()
    return done
