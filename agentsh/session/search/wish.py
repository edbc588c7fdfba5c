"""What a search is asked for, in a person's own words: times and folders are not read yet.

It stands alone, so that whoever asks loads nothing of how it is answered.
"""

from __future__ import annotations

from msgspec import Struct


class SearchWish(Struct, frozen=True):
    """What `agentsh search` is asked for."""

    query: str
    project: str | None = None
    since: str | None = None
    until: str | None = None
    role: str | None = None
    tool: str | None = None
    file: str | None = None
    model: str | None = None
    label: str | None = None
    limit: int = 50
