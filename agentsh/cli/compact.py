"""`agentsh compact`: append a compaction to a session, without a turn.

Read next: wiring.py, agent/compactor.py.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from agentsh.agent.events import Compacted, Compacting
from agentsh.cli.choosing import find_store, opened
from agentsh.cli.configuration import configure
from agentsh.cli.modeloptions import ModelOptions
from agentsh.cli.notices import warn
from agentsh.cli.run import stopping
from agentsh.cli.wiring import wire
from agentsh.jsontext import dumps_text
from agentsh.ui.terminal import describe
from agentsh.ui.ticker import Ticker


def compact(
    session: str | None, options: ModelOptions, *, focus: str | None, keep: int | None, json: bool
) -> int:
    """Do it. Raises RefusedError where there is nothing to compact, ProviderError."""
    cwd = Path.cwd()
    configuration = configure(options, os.environ, cwd)
    warn(configuration.notices)
    store = find_store(configuration.places)
    chosen = opened(store, store.find(session or "last", str(cwd)), cwd)
    with wire(configuration, options, chosen) as wired:
        warn(wired.notices)
        done: Compacted | None = None
        with stopping(wired.agent) as caught:
            ticker = Ticker(describe(sys.stdin, sys.stdout, sys.stderr, os.environ))
            try:
                for event in wired.agent.compact(focus, keep):
                    if isinstance(event, Compacting):
                        ticker.start(f"compacting {event.tokens} tokens")
                    if isinstance(event, Compacted):
                        done = event
            finally:
                ticker.stop()
        if caught:
            return 128 + caught[0]
        if done is None or done.entry is None:
            return 1
        if json:
            value = {"session": chosen.session.header.id, "entry": done.entry}
            sys.stdout.write(dumps_text(value) + "\n")
        else:
            warn([f"compacted: {done.tokens_before} → about {done.tokens_after} tokens"])
    return 0
