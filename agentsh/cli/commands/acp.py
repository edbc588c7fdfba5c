"""`agentsh acp`: an editor drives sessions over the Agent Client Protocol on stdin and stdout.

stdout is the protocol and nothing else; what a person should know goes to stderr, which editors
keep as a log. Read next: remote/acp/serving.py, cli/assembly/editing/hosting.py, docs/editors.md.
"""

from __future__ import annotations

import os

from agentsh.cli.parsing.modeloptions import TurnOptions
from agentsh.errors import UsageError


def acp(options: TurnOptions) -> int:
    """Be driven by an editor: Agent Client Protocol on stdin, stdout."""
    from importlib.util import find_spec

    from agentsh.cli.lookup.interrupted import check_way
    from agentsh.remote.stdio.streams import Streams

    check_way(options.on_interrupted)
    if find_spec("acp") is None:
        raise UsageError(
            "the package that speaks to editors is not here",
            hint="pip install 'agentsh[acp]' brings it",
        )
    streams = Streams.take()  # before anything could be printed
    from agentsh.cli.assembly.editing.hosting import ProgramForEditors
    from agentsh.remote.acp.serving import AcpServer

    return AcpServer(ProgramForEditors(options, os.environ), streams).serve()
