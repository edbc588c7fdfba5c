"""What a coordinator tells whoever shows an exploration while it runs: a closed union. Pure.

Read next: coordinator.py, ui/text/explorations.py.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from agentsh.explore.log.state import BranchRow
from agentsh.messages import Usage


class BranchNews(Struct, frozen=True):
    """The row as it is now."""

    row: BranchRow


class StepNews(Struct, frozen=True):
    n: int
    usage: Usage


class WaitNews(Struct, frozen=True):
    endpoint: str
    seconds: float
    why: str


class LimitNews(Struct, frozen=True):
    what: str


class WordsNews(Struct, frozen=True):
    text: str
    level: str = "notice"


ExploreNews: TypeAlias = BranchNews | StepNews | WaitNews | LimitNews | WordsNews
