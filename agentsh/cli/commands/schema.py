"""`agentsh schema`: the JSON Schema of what scripts and programs get. Read next: remote/values."""

from __future__ import annotations

from typing import Annotated

from agentsh.cli.output import print_json
from agentsh.cli.parsing.words import Argument


def schema(
    name: Annotated[str, Argument(help="events, result or sessions", metavar="NAME")],
) -> int:
    """Print the JSON Schema of what scripts get: events, result or sessions."""
    from agentsh.remote.values.schemas import published_schema

    print_json(published_schema(name))
    return 0
