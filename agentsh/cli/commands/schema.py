"""`agentsh schema`: the JSON Schema of what scripts and programs get.

Read next: remote/schemas.py.
"""

from __future__ import annotations

from typing import Annotated

from agentsh.cli.output import print_json
from agentsh.cli.parsing.words import Argument


def schema(
    name: Annotated[
        str, Argument(help="events, result, rpc, rpc-commands or sessions", metavar="NAME")
    ],
) -> int:
    """Print the JSON Schema of events, result, rpc or sessions."""
    from agentsh.remote.schemas import published_schema

    print_json(published_schema(name))
    return 0
